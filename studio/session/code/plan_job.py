"""Planning: what a child process finds out about the passes over a model's Program and the plan that runs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypedDict

from studio.session.code.inputs import parse_inputs
from studio.session.code.trial import Wrong, tried
from studio.session.export.compared_programs import ComparedPrograms
from studio.session.export.program_pair import ProgramPair, pair_of
from studio.session.work.job import TYPING_DELAY, Emit, Inbox, job

if TYPE_CHECKING:
    from engine.program.graph.program import Program

MOST_OPERATORS = 1000
"""Larger Programs are not sent whole: these trials run while a text is edited."""


class CodePlanned(TypedDict):
    """The passes over a model's Program, and the plan that runs.

    ``passes`` has the Program as it was built and after each pass: name, ``operators`` (how many), ``lines``
    ("-" for what the pass took, "+" for what it made, ""; text; depth; the lines of the text that the
    operator comes from), ``gone`` and ``made`` (name and count), moved, changed.
    ``parts`` has a plan each: title, ``rows`` (what :class:`engine.program.run.explain.Explained` says),
    ``peak``, ``during``, ``given``, ``owners`` (operator, line, bytes). ``updates`` are the optimizer's
    calls over flat arrays, ``alone`` how many parameters it updates one by one. ``pairs`` has for each of
    ``passes`` the Programs before and after it; None where it changed nothing, and in large Programs.
    """

    event: Literal["code_planned"]
    time: float
    batch_size: int
    threads: int
    static: bool
    passes: list[dict[str, Any]]
    parts: list[dict[str, Any]]
    updates: list[dict[str, Any]]
    alone: int
    pairs: list[ProgramPair | None]


class PlanFailed(Wrong):
    """The planning failed."""

    event: Literal["plan_failed"]


@job
class PlanCode:
    """Plan steps of the class ``class_name`` of a text; see ``MeasureCode``."""

    TITLE: ClassVar = "Planning {0}"
    PAGE: ClassVar = "code"
    DELAY: ClassVar = TYPING_DELAY
    EVENTS: ClassVar = (CodePlanned, PlanFailed)

    text: str
    file: str
    class_name: str
    config: dict[str, Any]
    input_text: str = ""
    agreed: str = ""

    @property
    def subject(self) -> str:
        return self.class_name

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Train two steps, statically, and report one ``code_planned`` or ``plan_failed``."""
        tried(self, emit, "plan_failed", lambda model, copy: _planned(self, model, copy))


def _planned(job: PlanCode, model: str, copy: Path) -> dict[str, Any]:
    from engine.profiler.planned import planned
    from engine.program.saved.serialize import to_plain
    from engine.training.config import TrainingConfig

    config = TrainingConfig.from_dict({**job.config, "model": model})
    programs: list[dict[str, Any]] = []

    def watch(program: Program) -> None:
        if sum(len(block.ops) for block in program.blocks) <= MOST_OPERATORS:
            programs.append(dict(to_plain(program)))

    shown = planned(config, inputs=parse_inputs(job.input_text), watch=watch)

    def lines(places: Iterable[tuple[str, int]]) -> list[int]:
        return [line for file, line in places if file == str(copy)]

    return {
        "event": "code_planned",
        "time": time.time(),
        "batch_size": config.batch_size,
        "threads": shown.threads,
        "static": config.static,
        "passes": [
            {
                "name": each.name,
                "gone": list(each.gone),
                "made": list(each.made),
                "moved": each.moved,
                "changed": each.changed,
                "operators": len(each.lines),
                "lines": [
                    (mark, line.text, line.depth, lines(line.places)) for mark, line in each.difference
                ],
            }
            for each in shown.passes
        ],
        "parts": [
            {
                "title": part.title,
                "peak": part.report.peak,
                "during": part.report.during,
                "given": part.report.given,
                "unknown": part.report.unknown,
                "owners": [
                    (each.operator, each.line if each.file == str(copy) else 0, each.bytes)
                    for each in part.report.owners
                ],
                "rows": [
                    {
                        "name": row.name,
                        "text": row.text,
                        "depth": row.depth,
                        "parts": list(row.parts),
                        "lines": lines(row.places),
                        "how": row.how,
                        "reuses": row.reuses,
                        "bytes": row.bytes,
                        "kernel": row.kernel,
                        "why": row.why,
                    }
                    for row in part.rows
                ],
            }
            for part in shown.parts
        ],
        "updates": [
            {
                "name": each.name,
                "parameters": each.parameters,
                "numbers": each.numbers,
                "kernel": each.kernel,
                "why": each.why,
            }
            for each in shown.updates
        ],
        "alone": shown.alone,
        "pairs": _pairs([each.name for each in shown.passes], programs),
    }


def _pairs(names: list[str], programs: list[dict[str, Any]]) -> list[dict[str, Any] | None]:
    """For each pass the Programs before and after it, where it changed something."""
    from engine.jit.saved.structure import compare_structure

    if len(programs) != len(names):
        return []
    found: list[dict[str, Any] | None] = [None for _ in names]
    for number in range(1, len(names)):
        before, after = programs[number - 1 : number + 1]
        structure = compare_structure(before, after)
        if not structure.equal:
            compared = ComparedPrograms(names[number], before, after, structure)
            found[number] = vars(pair_of(compared))
    return found
