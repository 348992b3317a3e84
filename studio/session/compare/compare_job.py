"""The job that compares the numbers of two runs or models, or of one computed in two ways."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar, Literal, TypedDict

from resources.compared_numbers import ComparedRow, UnmatchedRow
from resources.typed_values import fields_of
from studio.session.work.job import Emit, Inbox, job

MOST_ROWS = 10_000


class CompareProgress(TypedDict):
    """What is being done."""

    event: Literal["compare_progress"]
    time: float
    message: str


class NumbersCompared(TypedDict):
    """The verdict, the rows in their order and the operators without counterpart, the first of them; the
    position of the first diverging one among each, -1 for none."""

    event: Literal["numbers_compared"]
    time: float
    a: str
    b: str
    verdict: str
    equal: bool
    notes: list[str]
    rows: list[ComparedRow]
    unmatched: list[UnmatchedRow]
    total: int
    first: int
    first_unmatched: int


@job
class CompareNumbers:
    """Compare ``a`` with ``b``, or ``a`` computed in two ways.

    ``pair`` is two, eager-static, passes or devices. Both are folders of runs, or saved models. ``step_a``
    and ``step_b`` are steps of checkpoints, -1 for the newest; ``agreed`` and ``agreed_b`` the digests of
    their code that may run. ``tolerance`` 0 takes the usual ones; ``batch`` is the number of the step whose
    batch is taken; 0 for the one after the checkpoint.
    """

    TITLE: ClassVar = "Comparing numbers of {0}"
    EVENTS: ClassVar = (CompareProgress, NumbersCompared)

    a: str
    b: str = ""
    pair: str = "two"
    step_a: int = -1
    step_b: int = -1
    batch: int = 0
    tolerance: float = 0.0
    device: str = "gpu"
    agreed: str = ""
    agreed_b: str = ""

    @property
    def subject(self) -> str:
        return ", ".join(Path(each).name for each in (self.a, self.b) if each)

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report progress and one event ``numbers_compared``."""
        from engine.comparison import Request, Subject

        def report(message: str) -> None:
            emit({"event": "compare_progress", "time": time.time(), "message": message})

        def subject(path: str, step: int, agreed: str) -> Subject:
            return Subject(path, None if step < 0 else step, agreed)

        found = Request(
            subject(self.a, self.step_a, self.agreed),
            subject(self.b, self.step_b, self.agreed_b) if self.b else None,
            self.pair,
            self.batch,
            tolerance=self.tolerance or None,
            devices=("cpu", self.device),
        ).carry_out(report)
        emit(
            {
                "event": "numbers_compared",
                "time": time.time(),
                "a": found.a,
                "b": found.b,
                "verdict": found.verdict,
                "equal": found.equal,
                "notes": found.notes,
                "rows": [fields_of(row) for row in found.rows[:MOST_ROWS]],
                "unmatched": [fields_of(each) for each in found.unmatched[:MOST_ROWS]],
                "total": len(found.rows),
                "first": -1 if found.first is None else found.first,
                "first_unmatched": -1 if found.first_unmatched is None else found.first_unmatched,
            }
        )
