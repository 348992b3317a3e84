"""Paddle's ``profiler.utils``: spans of the user's code, and results from files."""

from __future__ import annotations

from engine.core.spans import watch
from engine.profiler.events import RecordEvent
from engine.profiler.result import load_profiler_result

__all__ = ["RecordEvent", "in_profiler_mode", "load_profiler_result"]


def in_profiler_mode() -> bool:
    """Whether a Profiler records now."""
    return watch.recorder is not None
