"""DebugViewModel: what the page Debug shows, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from psygnal import SignalGroupDescriptor

from studio.session.debug.breakpoints import (
    Breakpoint,
    Change,
    Conditions,
    Stop,
    ValueRow,
    value_row,
)
from studio.session.problem_view import ProblemView

State = Literal["idle", "starting", "running", "stopping", "standing", "ended"]


@dataclass(frozen=True, eq=False)
class Part:
    """Forward, backward or update of a batch.

    ``program`` is a Program as plain values, empty where ``rows`` are the parameters that are updated one by
    one.
    """

    name: str
    program: Mapping[str, Any] = field(default_factory=dict)
    rows: tuple[str, ...] = ()

    def operator_at(self, block: int, operator: int) -> dict[str, Any] | None:
        """The operator of that index, or None."""
        blocks = self.program.get("blocks", [])
        if 0 <= block < len(blocks) and 0 <= operator < len(blocks[block]["ops"]):
            found: dict[str, Any] = blocks[block]["ops"][operator]
            return found
        return None


@dataclass(frozen=True)
class UpdateRow:
    """A parameter that is updated outside of a Program: figures before the update, of its gradient, and
    after it; None where they are not known yet."""

    name: str
    before: ValueRow | None = None
    gradient: ValueRow | None = None
    after: ValueRow | None = None

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> UpdateRow:
        """From what the child sent."""
        rows = (plain.get(name) for name in ("before", "gradient", "after"))
        return cls(str(plain["name"]), *(None if row is None else value_row(row) for row in rows))


@dataclass
class DebugViewModel:
    """``state`` is idle before the first start, ``starting`` while the batch is prepared, ``running`` while
    operators are computed, ``stopping`` until the next one is reached after a stop was requested,
    ``standing`` at a position, and ``ended`` when the child process exited: breakpoints, conditions and
    watches stay.

    ``notes`` are sentences about the subject, such as where compiled kernels round otherwise. ``all_values``
    are the names that have a value at the position, where ``lists_values`` is True; the tensor view shows
    ``shown_value``.
    """

    state: State = "idle"
    title: str = ""
    message: str = ""
    parts: tuple[Part, ...] = ()
    source: str = ""
    source_file: str = ""
    notes: tuple[str, ...] = ()
    stop: Stop = field(default_factory=Stop)
    lists_values: bool = False
    all_values: tuple[ValueRow, ...] = ()
    updates: tuple[UpdateRow, ...] = ()
    breakpoints: tuple[Breakpoint, ...] = ()
    conditions: Conditions = field(default_factory=Conditions)
    watches: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    shown_value: str = ""
    last_problem: ProblemView | None = None

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    def part(self, name: str) -> Part | None:
        """The part of that name, or None."""
        return next((each for each in self.parts if each.name == name), None)

    def operator(self) -> dict[str, Any] | None:
        """The operator at the position, or None."""
        part, at = self.part(self.stop.part), self.stop.at
        return None if part is None or at is None else part.operator_at(*at)

    def begin(self, title: str) -> None:
        """A batch is being prepared."""
        self.clear()
        self.title, self.state = title, "starting"

    def clear(self) -> None:
        """Show nothing that a child has sent; what the user has set stays."""
        self.parts, self.notes, self.all_values, self.updates, self.changes = (), (), (), (), ()
        self.source = self.source_file = self.shown_value = self.message = ""
        self.stop, self.last_problem = Stop(), None

    def forget(self) -> None:
        """Another project is open."""
        self.clear()
        self.title, self.state = "", "idle"
        self.breakpoints, self.watches = (), ()
