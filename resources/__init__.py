"""Files that ship with the application: icons, translations, stroke prototypes, example models."""

from pathlib import Path


def folder(name: str) -> str:
    """The full path of one of the resource folders."""
    return str(Path(__file__).parent / name)
