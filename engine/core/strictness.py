"""Arguments that Paddle silently ignores: a warning by default, an error under ``strict()``."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager

from engine.core.context import Setting
from engine.core.errors import EngineError
from engine.core.frames import user_frame

_STRICT: Setting[bool] = Setting("strict", False)


class LeniencyWarning(UserWarning):
    """A call that has no effect, or not the one it seems to have, and that Paddle accepts without a word."""


def strict(on: bool = True) -> AbstractContextManager[bool]:
    """Within the block, the error of the same text is raised instead of a LeniencyWarning."""
    return _STRICT.guard(on)


def tolerate(error: EngineError) -> None:
    """Warn with the message of ``error`` at the user's line; raise it under ``strict()``."""
    if _STRICT.get():
        raise error
    warn_at_user(str(error), LeniencyWarning)


def warn_at_user(message: str, category: type[Warning]) -> None:
    """Warn at the user's line."""
    frame = user_frame()
    if frame is None:
        warnings.warn(message, category, stacklevel=2)
        return
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, registry=registry)
