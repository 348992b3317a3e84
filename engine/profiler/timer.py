"""The timer of whole steps: how long reading and computing a batch takes, how many samples a second pass."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from engine.core.spans import watch

SKIPPED = 10  # steps that a summary skips: they compile and fill caches


@dataclass
class Average:
    """Seconds and samples since the last ``step_info``."""

    seconds: float = 0.0
    count: int = 0
    samples: float = 0.0

    def add(self, seconds: float, samples: float = 0.0) -> None:
        self.seconds += seconds
        self.count += 1
        self.samples += samples

    def mean(self) -> float:
        return self.seconds / self.count if self.count else 0.0

    def speed(self, by_samples: bool) -> float:
        return (self.samples if by_samples else self.count) / self.seconds if self.seconds else 0.0


@dataclass
class _Part:
    """What is measured between one ``begin()`` and its ``end()``."""

    dataset: Any = None
    paused: bool = False  # while a loader of another dataset is read: an evaluation within training
    steps: int = 0
    by_samples: bool = True
    unit: str = "samples/s"
    reading: Average = field(default_factory=Average)
    batches: Average = field(default_factory=Average)
    all_reading: list[float] = field(default_factory=list)
    all_batches: list[tuple[float, float]] = field(default_factory=list)


class Benchmark:
    """The timer that ``Profiler`` starts; parts nest, as an evaluation within training does."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []
        self._step_began = self._reading_began = 0.0

    def begin(self) -> None:
        self._parts.append(_Part())
        watch.timer = self
        self._step_began = time.perf_counter()

    def end(self) -> None:
        """Print the summary of the part and go back to the one around it."""
        if not self._parts:
            return
        print(_summary(self._parts.pop()), end="")
        if not self._parts:
            watch.timer = None
        self._step_began = time.perf_counter()

    # -- calls of data loading -----------------------------------------------------------------------------
    def reads(self, dataset: object) -> None:
        part = self._parts[-1]
        if part.dataset is None:
            part.dataset = dataset
        if part.paused and part.dataset is dataset:
            self._step_began = time.perf_counter()
        part.paused = part.dataset is not dataset
        self._reading_began = time.perf_counter()

    def has_read(self) -> None:
        part, seconds = self._parts[-1], time.perf_counter() - self._reading_began
        if part.paused:
            return
        part.reading.add(seconds)
        if part.steps >= SKIPPED:
            part.all_reading.append(seconds)

    # -- calls of the profiler -----------------------------------------------------------------------------
    def step(self, num_samples: float | None = None) -> None:
        """A step ends."""
        if not self._parts or self._parts[-1].paused:
            return
        part, now = self._parts[-1], time.perf_counter()
        seconds, self._step_began = now - self._step_began, now
        if num_samples is None:
            part.by_samples, part.unit = False, "steps/s"
        part.batches.add(seconds, num_samples or 0)
        part.steps += 1
        if part.steps > SKIPPED:
            part.all_batches.append((seconds, 1 if num_samples is None else num_samples))

    def step_info(self, unit: str) -> str:
        """Means since the last call."""
        if not self._parts:
            return ""
        part, said = self._parts[-1], ""
        if part.reading.mean():
            said += f" reader_cost: {part.reading.mean():.5f} s"
        if part.batches.mean():
            part.unit = f"{unit}/s" if part.by_samples else "steps/s"
            said += f" batch_cost: {part.batches.mean():.5f} s"
        speed = part.batches.speed(part.by_samples)
        if speed:
            said += f" ips: {speed:.3f} {part.unit}"
        part.reading, part.batches = Average(), Average()
        return said


def _summary(part: _Part) -> str:
    """The table of all steps after the first ones; nothing where there are none."""
    if not part.all_batches:
        return ""
    costs = [seconds for seconds, _ in part.all_batches]
    speeds = [count / seconds for seconds, count in part.all_batches if seconds]
    total = sum(costs)
    reading = sum(part.all_reading) / len(costs)
    lines = ["Perf Summary".center(100, "=")]
    if reading:
        lines.append(f"Reader Ratio: {reading / (total / len(costs)) * 100:.3f}%")
    lines.append(f"Time Unit: s, IPS Unit: {part.unit}")
    lines.append(_row("", "avg", "max", "min"))
    if reading:
        lines.append(_row("reader_cost", reading, max(part.all_reading), min(part.all_reading)))
    lines.append(_row("batch_cost", total / len(costs), max(costs), min(costs)))
    lines.append(_row("ips", sum(count for _, count in part.all_batches) / total, max(speeds), min(speeds)))
    return "\n".join(lines) + "\n"


def _row(*cells: str | float) -> str:
    shown = [cell if isinstance(cell, str) else f"{cell:.5f}" for cell in cells]
    return "| " + " | ".join(cell.center(15) for cell in shown) + " |"


_benchmark = Benchmark()


def benchmark() -> Benchmark:
    """The timer of this process."""
    return _benchmark
