"""Planning: what a child process finds out about the passes over a model's Program and the plan that runs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, Literal, TypedDict

from studio.session.code.inputs import parse_inputs
from studio.session.code.trial import Wrong, tried
from studio.session.work.job import TYPING_DELAY, Emit, Inbox, job


class CodePlanned(TypedDict):
    """The passes over a model's Program, and the plan that runs.

    ``passes`` has the Program as it was built and after each pass: name, ``operators`` (how many), ``lines``
    ("-" for what the pass took, "+" for what it made, ""; text; depth; the lines of the text that the
    operator comes from), ``gone`` and ``made`` (name and count), moved, changed.
    ``parts`` has a plan each: title, ``rows`` (what :class:`engine.program.run.explain.Explained` says),
    ``peak``, ``during``, ``given``, ``owners`` (operator, line, bytes). ``updates`` are the optimizer's
    calls over flat arrays, ``alone`` how many parameters it updates one by one.
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
    from engine.training.config import TrainingConfig

    config = TrainingConfig.from_dict({**job.config, "model": model})
    shown = planned(config, inputs=parse_inputs(job.input_text))

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
    }
