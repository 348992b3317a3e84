"""Checks whether llvmlite, which compiles kernels, is installed, without loading it or the engine."""

from __future__ import annotations

import importlib.util
import sys

from resources import installing

INSTALL = installing.fast()
REINSTALL = installing.fast(repair=True)


def missing() -> str:
    """What is missing and how to install it; empty when everything is installed. Whether llvmlite can be
    loaded is known only to those who load it: ``engine.kernels.fast.compiler.load``."""
    hidden = sys.modules.get("llvmlite", sys) is None  # by a test
    return f"llvmlite is not installed; run: {INSTALL}" if hidden or not _is_installed() else ""


_found = False


def _is_installed() -> bool:
    """Found once: the window asks at each change of a training, and each look reads folders."""
    global _found
    _found = _found or importlib.util.find_spec("llvmlite") is not None
    return _found
