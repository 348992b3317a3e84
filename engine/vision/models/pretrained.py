"""What is said where a script asks for trained weights."""

from __future__ import annotations

from engine.core.errors import ArgumentError


def refuse_pretrained(name: str, pretrained: bool) -> None:
    """Raise ArgumentError if trained weights are asked for.

    Differs from Paddle: the weights that Paddle publishes are pickled files, which are not read here.
    """
    if pretrained:
        raise ArgumentError(
            f"{name}: there are no trained weights: got pretrained=True, and Paddle's are pickled files, not "
            "read here; use pretrained=False, and set_state_dict with weights of your own"
        )
