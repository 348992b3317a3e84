"""Checks whether the packages for compiled kernels are installed, without loading llvmlite or the engine."""

from __future__ import annotations

import importlib.util

INSTALL = "pip install 'model-studio[fast]'"


def missing() -> str:
    """The missing packages and how to install them; empty when everything is installed."""
    try:
        found = importlib.util.find_spec("llvmlite")
    except ValueError:  # a test hides it
        found = None
    return "" if found is not None else f"llvmlite is not installed; {INSTALL}"
