"""PlanSteps: what passes made of a model's Program and what its plans run, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from studio.session.export.program_pair import ProgramPair

Counts = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class PassLine:
    """An operator: ``mark`` is "-" for one that the pass took, "+" for one that it made, else empty;
    ``lines`` are those of the text that it comes from."""

    mark: str
    text: str
    depth: int
    lines: tuple[int, ...]


@dataclass(frozen=True)
class PassStep:
    """The Program after a pass (the first one: as it was built), and what the pass did."""

    name: str
    operators: int
    lines: tuple[PassLine, ...]
    gone: Counts
    made: Counts
    moved: int
    changed: int


@dataclass(frozen=True)
class PlanRow:
    """An operator of a plan; see :class:`engine.program.run.explain.Explained`."""

    name: str
    text: str
    depth: int
    parts: tuple[str, ...]
    lines: tuple[int, ...]
    how: str
    reuses: bool
    bytes: int
    kernel: str
    why: str


@dataclass(frozen=True)
class PlanPart:
    """One plan with what it holds at its fullest moment: ``owners`` are operator, line and bytes."""

    title: str
    rows: tuple[PlanRow, ...]
    peak: int
    during: str
    given: int
    unknown: int
    owners: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class UpdateCall:
    """One call of the optimizer over parameters that lie side by side."""

    name: str
    parameters: int
    numbers: int
    kernel: str
    why: str


@dataclass(frozen=True)
class PlanSteps:
    """All of it. ``static`` is whether the settings train by these plans at all; ``alone`` how many
    parameters are updated one by one."""

    passes: tuple[PassStep, ...]
    parts: tuple[PlanPart, ...]
    updates: tuple[UpdateCall, ...]
    alone: int
    batch_size: int
    threads: int
    static: bool
    pairs: tuple[ProgramPair | None, ...] = ()

    def pair(self, which: int) -> ProgramPair | None:
        """The Programs before and after a pass; None where it changed nothing, and for large Programs."""
        return self.pairs[which] if 0 <= which < len(self.pairs) else None

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> PlanSteps:
        """From the event ``code_planned``."""
        return cls(
            tuple(_pass(each) for each in event["passes"]),
            tuple(_part(each) for each in event["parts"]),
            tuple(UpdateCall(**each) for each in event["updates"]),
            event["alone"],
            event["batch_size"],
            event["threads"],
            event["static"],
            tuple(event.get("pairs", ())),
        )


def _pass(each: Mapping[str, Any]) -> PassStep:
    lines = (PassLine(mark, text, depth, tuple(at)) for mark, text, depth, at in each["lines"])
    gone, made = (tuple((name, count) for name, count in each[key]) for key in ("gone", "made"))
    return PassStep(each["name"], each["operators"], tuple(lines), gone, made, each["moved"], each["changed"])


def _part(each: Mapping[str, Any]) -> PlanPart:
    rows = (
        PlanRow(**{**row, "parts": tuple(row["parts"]), "lines": tuple(row["lines"])}) for row in each["rows"]
    )
    return PlanPart(
        each["title"],
        tuple(rows),
        each["peak"],
        each["during"],
        each["given"],
        each["unknown"],
        tuple((name, line, size) for name, line, size in each["owners"]),
    )
