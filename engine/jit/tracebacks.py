"""Tracebacks of converted functions: the user's lines, without the engine's frames."""

from __future__ import annotations

import linecache
import os
import re
from types import TracebackType

from engine.core.errors import EngineError
from engine.jit.convert.translator_log import verbosity

_ENGINE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PLACE = re.compile(r"(?P<file>[^\n]+?):(?P<line>\d+): ")
AROUND = 2


def fold(error: Exception) -> None:
    """Remove the engine's frames from the error's traceback, and add the source lines that it names.

    An error that the engine did not raise on purpose keeps all frames, and so does any error after
    ``jit.set_verbosity(1)``.
    """
    if verbosity() > 0:
        return
    frames = _frames(error.__traceback__)
    if isinstance(error, EngineError):
        _add_source(error)
    elif frames and (_is_engines(frames[-1]) or _called_by_engine(frames)):
        return
    traceback = None
    for frame in reversed([f for f in frames if not _is_engines(f)]):
        traceback = TracebackType(traceback, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    error.__traceback__ = traceback


def _frames(trace: TracebackType | None) -> list[TracebackType]:
    found = []
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found


def _is_engines(frame: TracebackType) -> bool:
    return frame.tb_frame.f_code.co_filename.startswith((_ENGINE, "<apply ", "<plan>"))


def _called_by_engine(frames: list[TracebackType]) -> bool:
    """Whether a library that the engine called failed, such as NumPy in a kernel."""
    ours = False
    for frame in frames:
        filename = frame.tb_frame.f_code.co_filename
        ours = _is_engines(frame) or (ours and f"{os.sep}site-packages{os.sep}" in filename)
    return ours


def _add_source(error: EngineError) -> None:
    """The named line with its neighbours, marked, once."""
    place = _PLACE.match(str(error))
    if place is None or getattr(error, "_shows_source", False):
        return
    number = int(place["line"])
    last = number + AROUND
    lines = {n: linecache.getline(place["file"], n) for n in range(max(1, number - AROUND), last + 1)}
    if not lines.get(number):
        return
    shown = [
        f"{'>' if n == number else ' '} {n:>{len(str(last))}} | {text.rstrip()}"
        for n, text in lines.items()
        if text
    ]
    error.add_note("\n".join(shown))
    error._shows_source = True  # type: ignore[attr-defined]
