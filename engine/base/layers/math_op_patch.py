"""Paddle's path to the operators of Variables, which they have from the start here."""


def monkey_patch_variable() -> None:
    """Nothing is left to do."""
