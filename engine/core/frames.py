"""Frames of the running code: the user's line among those of the engine."""

from __future__ import annotations

import contextlib
import os
import sys
from types import CodeType, FrameType, ModuleType

from engine.core.errors import EngineError

# Python's own file whose frames lie between the engine's and the user's `with`.
_CONTEXTS = contextlib.__file__
ENGINE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


# Whether a file belongs to the engine, by name. A plain dict, because every recorded operator reads it; it is
# emptied when it is full, since code that is generated while a program runs may have new file names all the
# time.
INTERNAL: dict[str, bool] = {}
_MOST_FILES = 4096
_FLUID = __name__.partition(".")[0] + ".fluid."


def is_internal(filename: str) -> bool:
    """Whether a file belongs to the engine; remembered in ``INTERNAL``."""
    found = INTERNAL.get(filename)
    if found is None:
        if len(INTERNAL) >= _MOST_FILES:
            INTERNAL.clear()
        found = INTERNAL[filename] = filename.startswith((ENGINE_FOLDER, "<apply ", _CONTEXTS))
    return found


def outside(frame: FrameType) -> FrameType:
    """The first frame outside the engine's own files, from ``frame`` outwards; the outermost if all are
    inside."""
    known = INTERNAL.get
    while True:
        filename = frame.f_code.co_filename
        inside = known(filename)
        if not (is_internal(filename) if inside is None else inside):
            return frame
        back = frame.f_back
        if back is None:
            return frame
        frame = back


def user_frame() -> FrameType | None:
    """The innermost frame outside the engine's own files, the user's line; None if there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_internal(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def of_paddle_1(frame: FrameType | None) -> bool:
    """Whether the code of ``frame`` is of Paddle 1.x: its module has a name from ``paddle.fluid``."""
    if frame is None:
        return False
    places = (
        getattr(value, "__name__" if isinstance(value, ModuleType) else "__module__", None)
        for value in tuple(frame.f_globals.values())
    )
    return any(isinstance(place, str) and f"{place}.".startswith(_FLUID) for place in places)


def located(error: EngineError, frame: FrameType | None) -> EngineError:
    """``error`` with the file and line of ``frame`` in front; unchanged if it has them already."""
    if frame is None or error.located:
        return error
    made = type(error)(f"{frame.f_code.co_filename}:{frame.f_lineno}: {error.message}")
    if error.kind:
        made.set_kind(error.kind)
    made.located = True
    return made


def line_of(code: CodeType, instruction: int) -> int:
    """The source line of a byte offset into ``code``."""
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            return line
    return code.co_firstlineno
