"""The line that shows the progress of a run: ``step 2/3 [====>...] - loss: 1.0180 - ETA: 0s - 2ms/step``."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterable
from typing import Any

_WIDTH = 30
_REST = 50  # columns that the texts next to the bar need


class Bar:
    """Prints the steps of one epoch, evaluation or prediction.

    With ``verbose=1`` the line is written over again and has a bar; with 2 each is a line of its own; 3 adds
    what reading and computing cost. ``steps`` is None where it is not known.
    """

    def __init__(self, steps: int | None, verbose: int) -> None:
        self.steps = steps
        self.verbose = verbose
        self._start = time.perf_counter()
        self._width = max(0, min(_WIDTH, shutil.get_terminal_size((200, 24)).columns - _REST))
        self._shown = 0  # characters of the line that is to be written over

    def update(self, step: int, values: Iterable[tuple[str, Any]]) -> None:
        """Show that ``step`` steps are done, and named values."""
        per_step = (time.perf_counter() - self._start) / step if step else 0.0
        shown = "".join(f" - {name}: {value_text(value)}" for name, value in values)
        last = self.steps is not None and step >= self.steps
        if self.verbose != 1:
            self._write(f"{self._count(step)}{shown}{_pace(per_step)}\n")
            return
        line = self._count(step)
        if self.steps is not None:
            line += self._bar(step, self.steps)
        line += shown
        if self.steps is not None and not last:
            line += f" - ETA: {_duration(per_step * (self.steps - step))}"
        line += _pace(per_step)
        ended = last or self.steps is None
        padding = " " * max(0, self._shown - len(line)) if self.steps is not None else ""
        self._write("\b" * self._shown + "\r" + line + padding + ("\n" if ended else ""))
        self._shown = len(line)

    def _count(self, step: int) -> str:
        if self.steps is None:
            return f"step {step:3d}"
        return f"step {step:{len(str(self.steps))}d}/{self.steps}"

    def _bar(self, step: int, steps: int) -> str:
        done = int(self._width * step / steps)
        bar = "=" * (done - 1) + (">" if step < steps else "=") if done > 0 else ""
        return f" [{bar}{'.' * (self._width - done)}]"

    @staticmethod
    def _write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def value_text(value: object) -> str:
    """A loss or metric in four digits, several of them next to each other."""
    if isinstance(value, (list, tuple)):
        return " ".join(value_text(each) for each in value)
    if isinstance(value, float):  # NumPy's float64, too
        return f"{value:.4f}" if abs(value) > 1e-3 else f"{value:.4e}"
    return str(value)


def _pace(seconds: float) -> str:
    if seconds >= 1:
        return f" - {seconds:.0f}s/step"
    if seconds >= 1e-3:
        return f" - {seconds * 1e3:.0f}ms/step"
    return f" - {seconds * 1e6:.0f}us/step"


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole >= 3600:
        return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
    if whole >= 60:
        return f"{whole // 60}:{whole % 60:02d}"
    return f"{whole}s"
