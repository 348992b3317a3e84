"""Measuring: what a child process finds out about where the time of a model's training goes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from studio.session.code.inputs import parse_inputs
from studio.session.code.trial import Emit, tried

STEPS = 10


def measure_code_job(
    text: str, file: str, class_name: str, config: Mapping[str, Any], steps: int = STEPS, input_text: str = ""
) -> dict[str, Any]:
    """The job that trains the class ``class_name`` of a text for a few steps and measures them.

    Args:
        text: what the editor holds.
        file: where it belongs; modules in its folder can be imported. It is not read.
        config: a TrainingConfig as plain values; its model is not used.
        input_text: what is fed (``parse_inputs``), with random numbers; pictures of the data where empty.
    """
    return {
        "job": "measure_code",
        "text": text,
        "file": file,
        "class_name": class_name,
        "config": dict(config),
        "steps": steps,
        "input_text": input_text,
    }


def measure_code(job: Mapping[str, Any], emit: Emit) -> None:
    """Train a few steps and tell one ``code_measured``, or ``measure_failed`` with what, do and line.

    ``operators`` and ``lines`` have a row each with name, line (0 for none of the text), calls, seconds,
    share, bytes of a step and gflops (None where nothing is counted), the longest first; the rows of
    ``operators`` have ``parts``, such rows by line. ``seconds`` is a recorded step, ``unrecorded`` one
    without the recording, ``between`` the share of the time between the kernels.
    """
    tried(job, emit, "measure_failed", lambda model, copy: _measured(job, model, copy))


def _measured(job: Mapping[str, Any], model: str, copy: Path) -> dict[str, Any]:
    import studio
    from engine.profiler.report import rows_by_place, rows_of
    from engine.profiler.training import profile
    from engine.training.config import TrainingConfig

    config = TrainingConfig.from_dict({**job["config"], "model": model})
    found = profile(config, job["steps"], inputs=parse_inputs(job["input_text"]))
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
        "input_text": job["input_text"],
        "threads": found.threads,
        "compiled": list(found.compiled),
        "operators": [row | {"parts": plain(places[row["name"]])} for row in plain(kernels)],
        "lines": [row for row in plain(rows_of(found.result, "line", own)) if row["line"]],
    }


def _line(place: str, copy: Path) -> int:
    """The line of the text that a row by line is about; 0 for other files and for rows by operator."""
    file, _, line = place.rpartition(":")
    return int(line) if file == str(copy) and line.isdecimal() else 0
