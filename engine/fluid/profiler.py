"""``fluid.profiler``: the engine's profile under the names of 1.x."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engine.core.errors import ArgumentError
from engine.profiler import Profiler, SortedKeys

__all__ = ["cuda_profiler", "profiler", "reset_profiler", "start_profiler", "stop_profiler"]

_STATES = ("CPU", "GPU", "All")
_ORDERS = {
    None: SortedKeys.CPUTotal,
    "default": SortedKeys.CPUTotal,
    "calls": SortedKeys.CPUTotal,
    "total": SortedKeys.CPUTotal,
    "max": SortedKeys.CPUMax,
    "min": SortedKeys.CPUMin,
    "ave": SortedKeys.CPUAvg,
}
_running: list[Profiler] = []


def start_profiler(state: str, tracer_option: Any = None) -> None:
    """Record operators from here on. Raises ArgumentError for a ``state`` other than CPU, GPU and All."""
    if state not in _STATES:
        raise ArgumentError(f"start_profiler: state must be 'CPU', 'GPU' or 'All': got {state!r}")
    if not _running:
        _running.append(Profiler(on_trace_ready=lambda _: None))  # written where it is stopped
        _running[0].start()


def stop_profiler(sorted_key: str | None = None, profile_path: str = "/tmp/profile") -> None:
    """Print the table of operators, longest first by ``sorted_key``, and write what Chrome's tracing shows.

    ``calls`` orders by the total time. Raises ArgumentError for another key.
    """
    if sorted_key not in _ORDERS:
        raise ArgumentError(
            f"stop_profiler: sorted_key must be one of {sorted(k for k in _ORDERS if k)}: got {sorted_key!r}"
        )
    if _running:
        ended = _running.pop()
        ended.stop()
        ended.summary(sorted_by=_ORDERS[sorted_key])
        ended.export(profile_path)


def reset_profiler() -> None:
    """Discard the records and continue recording."""
    if _running:
        _running.pop().stop()
        start_profiler("All")


@contextmanager
def profiler(
    state: str, sorted_key: str | None = None, profile_path: str = "/tmp/profile", tracer_option: Any = None
) -> Iterator[None]:
    """Record operators within the block and print their table at its end."""
    start_profiler(state, tracer_option)
    try:
        yield
    finally:
        stop_profiler(sorted_key, profile_path)


@contextmanager
def cuda_profiler(output_file: str, output_mode: str | None = None, config: Any = None) -> Iterator[None]:
    """A block that runs as it is: NVIDIA's own tools profile a GPU from outside."""
    yield
