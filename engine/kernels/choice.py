"""Which kernels plans use on the CPU: NumPy's, or those that are compiled in the background."""

from __future__ import annotations

import os

from engine.core.context import Setting
from engine.core.errors import ArgumentError, ModeError

VARIABLE = "MODEL_STUDIO_KERNELS"
CHOICES = ("auto", "numpy", "fast")

# "auto": compiled ones where llvmlite is installed; "fast": an error where it is not.
kernels: Setting[str] = Setting("kernels", os.environ.get(VARIABLE) or "auto")


def wants_fast() -> bool:
    """Whether a plan that is made now asks for compiled kernels.

    Raises ArgumentError for a choice that does not exist, ModeError where "fast" is chosen and llvmlite is
    not installed.
    """
    choice = kernels.get()
    if choice == "numpy":
        return False
    if choice not in CHOICES:
        raise ArgumentError(f"kernels: there is no choice {choice!r}; {VARIABLE} takes {', '.join(CHOICES)}")
    from engine.kernels.fast.compiler import available

    if choice == "fast" and not available():
        raise ModeError(
            "kernels: 'fast' needs llvmlite, which is not installed; run: pip install 'model-studio[fast]', "
            "or choose 'auto'"
        )
    if not available():
        return False
    from engine.kernels.fast import register

    register()
    return True
