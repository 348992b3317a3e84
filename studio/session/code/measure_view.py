"""Measurement: where the time of the steps of an edited model goes, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figures:
    """What the calls of one operator, or those of one line, take in one step.

    ``line`` is that of the text, 0 for none. ``share`` is of the time of a recorded step, from 0 to 1;
    ``gflops`` is None where no operations are counted. ``parts`` are the lines of an operator, or the calls
    in a call of a layer. ``fused`` is how many operators one kernel computes there, 0 for none.
    """

    name: str
    line: int
    calls: float
    seconds: float
    share: float
    bytes: float
    gflops: float | None
    parts: tuple[Figures, ...] = ()
    fused: int = 0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Figures:
        """From a row of the event ``code_measured``."""
        return cls(
            row["name"],
            row["line"],
            row["calls"],
            row["seconds"],
            row["share"],
            row["bytes"],
            row["gflops"],
            tuple(cls.of(part) for part in row.get("parts", ())),
            row.get("fused", 0),
        )


@dataclass(frozen=True)
class Measurement:
    """The rows of operators and of lines, the longest first, those of calls of layers, and how they were
    measured.

    ``seconds`` is a recorded step, ``unrecorded`` one without the recording; ``between`` the share of the
    time between the kernels; ``compiled`` the operators that had compiled kernels; ``inputs`` what was fed
    with random numbers, empty for images of the data.
    """

    operators: tuple[Figures, ...]
    lines: tuple[Figures, ...]
    steps: int
    seconds: float
    unrecorded: float
    between: float
    static: bool
    batch_size: int
    threads: int
    compiled: tuple[str, ...]
    inputs: str
    layers: tuple[Figures, ...] = ()

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Measurement:
        """From the event ``code_measured``."""
        operators, lines = (tuple(Figures.of(row) for row in event[key]) for key in ("operators", "lines"))
        return cls(
            operators,
            lines,
            event["steps"],
            event["seconds"],
            event["unrecorded"],
            event["between"],
            event["static"],
            event["batch_size"],
            event["threads"],
            tuple(event["compiled"]),
            event["input_text"],
            tuple(Figures.of(row) for row in event.get("layers", ())),
        )

    def at_line(self, line: int) -> Figures | None:
        """What a line of the text takes; None where nothing was called for it."""
        return next((row for row in self.lines if row.line == line), None)
