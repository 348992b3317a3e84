"""How a missing package is installed: with pip, and in the bundle, which has no pip, another way."""

from __future__ import annotations

import sys

BUNDLED: bool = getattr(sys, "frozen", False)
"""Whether this is the bundle (``packaging/build.py``), which contains its own Python."""


def extra(name: str) -> str:
    """What to do for the packages of an extra, such as ``gpu``."""
    return _from_pip(f"pip install 'model-studio[{name}]'")


def fast(repair: bool = False) -> str:
    """The command for llvmlite; ``repair`` where it is installed but can't be loaded."""
    if BUNDLED:
        again = "--reinstall " if repair else ""
        return f"sudo apt install {again}./model-studio-fast_*.deb"
    return f"pip install {'--force-reinstall ' if repair else ''}llvmlite"


def _from_pip(command: str) -> str:
    return f"use Model Studio from pip instead of this bundle: {command}" if BUNDLED else command
