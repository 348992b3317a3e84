"""What the data sets of images check of their arguments."""

from __future__ import annotations

from collections.abc import Collection

from engine.core.errors import ArgumentError, ConditionError
from engine.vision.image import get_image_backend


def chosen_mode(where: str, mode: str, modes: Collection[str]) -> str:
    """``mode`` in lower case. Raises ConditionError, an AssertionError, unless it is one of ``modes``."""
    if not isinstance(mode, str) or mode.lower() not in modes:
        raise ConditionError(f"{where}: mode should be one of {sorted(modes)}: got {mode!r}; choose one")
    return mode.lower()


def chosen_backend(where: str, backend: str | None) -> str:
    """``backend``, or that of ``set_image_backend``. Raises ArgumentError for another one."""
    chosen = get_image_backend() if backend is None else backend
    if chosen not in ("pil", "cv2"):
        raise ArgumentError(f"{where}: Expected backend are one of ['pil', 'cv2']: got {chosen!r}")
    return chosen
