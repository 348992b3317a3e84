"""Measuring: what a child process finds out about where the time of a model's training goes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NotRequired, TypedDict

from studio.session.code.inputs import parse_inputs
from studio.session.code.trial import Wrong, tried
from studio.session.work.job import Emit, Inbox, job

if TYPE_CHECKING:
    from engine.profiler.training import Profiled

STEPS = 10


class CodeMeasured(TypedDict):
    """Where the time of a step goes.

    ``operators`` and ``lines`` have a row each with name, line (0 for none of the text), calls, seconds,
    share, bytes of a step and gflops (None where nothing is counted), the longest first; the rows of
    ``operators`` have ``parts``, such rows by line. Those of ``layers`` are calls of layers, with the calls
    in each as ``parts``, in the order in which they run; a row's ``fused`` is how many operators one kernel
    computes there, 0 for none. ``seconds`` is a recorded step, ``unrecorded`` one
    without the recording, ``between`` the share of the time between the kernels.
    """

    event: Literal["code_measured"]
    time: float
    steps: int
    seconds: float
    unrecorded: float
    between: float
    static: bool
    batch_size: int
    data: str
    input_text: str
    threads: int
    compiled: list[str]
    operators: list[dict[str, Any]]
    lines: list[dict[str, Any]]
    layers: NotRequired[list[dict[str, Any]]]


class MeasureFailed(Wrong):
    """The measurement failed."""

    event: Literal["measure_failed"]


@job
class MeasureCode:
    """Train the class ``class_name`` of a text for a few steps and measure them.

    ``text`` is what the editor holds, ``file`` where it belongs: modules in its folder can be imported; it is
    not read. ``config`` is a TrainingConfig as plain values, whose model is not used. ``input_text`` says
    what is fed (``parse_inputs``), with random numbers; images of the data where empty.
    """

    TITLE: ClassVar = "Measuring {0}"
    PAGE: ClassVar = "code"
    EVENTS: ClassVar = (CodeMeasured, MeasureFailed)

    text: str
    file: str
    class_name: str
    config: dict[str, Any]
    steps: int = STEPS
    input_text: str = ""
    agreed: str = ""

    @property
    def subject(self) -> str:
        return self.class_name

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one ``code_measured`` or ``measure_failed``."""
        tried(self, emit, "measure_failed", lambda model, copy: _measured(self, model, copy))


def _measured(job: MeasureCode, model: str, copy: Path) -> dict[str, Any]:
    import studio
    from engine.profiler.report import rows_by_place, rows_of
    from engine.profiler.training import profile
    from engine.training.config import TrainingConfig

    config = TrainingConfig.from_dict({**job.config, "model": model})
    found = profile(config, job.steps, inputs=parse_inputs(job.input_text))
    own = str(Path(studio.__file__).parent)
    kernels = rows_of(found.result, "operator", own)
    places = rows_by_place(found.result, own)

    def plain(rows: Sequence[Any]) -> list[dict[str, Any]]:
        return [
            {
                "name": row.name,
                "line": _line(row.name, copy),
                "calls": row.calls / found.steps,
                "seconds": row.seconds / found.steps,
                "share": row.seconds / found.seconds,
                "bytes": row.bytes / found.steps,
                "gflops": row.gflops,
            }
            for row in rows
        ]

    return {
        "event": "code_measured",
        "time": time.time(),
        "steps": found.steps,
        "seconds": found.seconds / found.steps,
        "unrecorded": found.unrecorded,
        "between": 1 - sum(row.seconds for row in kernels) / found.seconds,
        "static": config.static,
        "batch_size": config.batch_size,
        "data": config.data,
        "input_text": job.input_text,
        "threads": found.threads,
        "compiled": list(found.compiled),
        "operators": [row | {"parts": plain(places[row["name"]])} for row in plain(kernels)],
        "layers": _by_layer(found, copy),
        "lines": [row for row in plain(rows_of(found.result, "line", own)) if row["line"]],
    }


def _by_layer(found: Profiled, copy: Path) -> list[dict[str, Any]]:
    """Calls of layers as rows, each with those in it."""
    from engine.profiler.costs import by_layer
    from resources.operator_keys import LOSS, OPTIMIZER

    step = found.seconds / found.steps
    lines: dict[str, int] = {}
    for cost in found.costs:
        if cost.file == str(copy):
            lines.setdefault(cost.layer, cost.line)
    tops: list[dict[str, Any]] = []
    rows: dict[str, dict[str, Any]] = {}
    for costs in by_layer(found.costs):
        path = costs.layer
        outside = path in (LOSS, OPTIMIZER)
        around, _, name = ("", "", path) if outside else path.rpartition(".")
        row = {
            "name": name,
            "line": lines.get(path, 0),
            "calls": costs.calls,
            "seconds": costs.total,
            "share": costs.total / step,
            "bytes": costs.bytes,
            "gflops": costs.gflops,
            "fused": costs.fused,
            "parts": [],
        }
        rows[path] = row
        (tops if outside or not path else rows[around]["parts"]).append(row)
    return tops


def _line(place: str, copy: Path) -> int:
    """The line of the text that a row by line is about; 0 for other files and for rows by operator."""
    file, _, line = place.rpartition(":")
    return int(line) if file == str(copy) and line.isdecimal() else 0
