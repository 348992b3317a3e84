"""Figures of the window: one measured number against its budget, and the times of frames and paints."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QEvent, QEventLoop, QObject
from PySide6.QtWidgets import QApplication, QWidget

LIMIT = 60.0
Moment = tuple[float, float]  # the time on the clock, and what this process had computed by then


def moment() -> Moment:
    """Now."""
    return time.perf_counter(), time.process_time()


class Figure(NamedTuple):
    """One measured number and what it should be: at most ``budget``, or at least where ``least``.

    ``own`` is what this process computed meanwhile, NaN where that says nothing; the budget is for that where
    ``by_own``.
    """

    name: str
    value: float
    budget: float
    own: float = math.nan
    unit: str = "ms"
    least: bool = False
    by_own: bool = False

    @property
    def holds(self) -> bool:
        """Whether the result is within the budget."""
        value = self.own if self.by_own else self.value
        return value >= self.budget if self.least else value <= self.budget


class Paints(QObject):
    """Notes when a widget was painted: on the clock, and what this process had computed by then."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.times: list[Moment] = []
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.times.append(moment())
        return False


class Frames:
    """The times of frames, on the clock and of this process, in seconds."""

    def __init__(self) -> None:
        self._taken: list[tuple[float, float]] = []

    @contextmanager
    def frame(self) -> Iterator[None]:
        """Measure what is done within the block."""
        clock, own = time.perf_counter(), time.process_time()
        yield
        self._taken.append((time.perf_counter() - clock, time.process_time() - own))

    def p95(self, name: str, budget: float) -> list[Figure]:
        """The 95th percentiles."""
        clock, own = (float(np.percentile(times, 95)) * 1e3 for times in zip(*self._taken, strict=True))
        return [Figure(f"{name}, p95", clock, budget, own)]


def wait(condition: Callable[[], bool]) -> None:
    """Let the window live until the condition holds. Raises SystemExit after a minute."""
    end = time.perf_counter() + LIMIT
    while not condition():
        if time.perf_counter() > end:
            raise SystemExit(
                f"gui_plots: nothing came within {LIMIT:.0f} s; look whether the training starts"
            )
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 10)
