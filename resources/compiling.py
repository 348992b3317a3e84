"""What compiled kernels need and whether it is there; looks, and loads neither llvmlite nor the engine."""

from __future__ import annotations

import importlib.util

INSTALL = "pip install 'model-studio[fast]'"


def missing() -> str:
    """What is not installed, and how to install it; empty where all is there."""
    try:
        found = importlib.util.find_spec("llvmlite")
    except ValueError:  # a test hides it
        found = None
    return "" if found is not None else f"llvmlite is not installed; {INSTALL}"
