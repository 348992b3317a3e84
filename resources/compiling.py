"""Checks whether the packages for compiled kernels are installed, without loading llvmlite or the engine."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache

INSTALL = "pip install 'model-studio[fast]'"


def missing() -> str:
    """The missing packages and how to install them; empty when everything is installed."""
    hidden = sys.modules.get("llvmlite", sys) is None  # by a test
    return f"llvmlite is not installed; {INSTALL}" if hidden or not _is_installed() else ""


@cache
def _is_installed() -> bool:
    """Looked for once: the window asks at each change of a training, and each look reads folders."""
    return importlib.util.find_spec("llvmlite") is not None
