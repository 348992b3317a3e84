"""Attacks on the events of a journal that the pages show: layers, alerts, rates, mistakes, a report."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

from engine.core.errors import EngineError
from tests.robust.mutations import json_text, mutated
from tests.robust.networks import EVENTS
from tests.robust.reader import Reader, one_line

_HISTOGRAM = {"low": -1.0, "high": 1.0, "counts": [0, 3, 1], "bad": 0}
_PARAMETER = {
    "name": "conv.weight",
    "size": 4,
    "matrix": True,
    "norm": 1.0,
    "gradient_norm": 0.1,
    "ratio": 1e-3,
    "weights": _HISTOGRAM,
    "gradients": _HISTOGRAM,
}
_APPLIED = {
    "sha256": "0" * 64,
    "count": 2,
    "relabelled": {"train": 1, "test": 0},
    "dropped": {"train": 0, "test": 1},
    "missing": 0,
}
LATER_EVENTS: list[dict[str, Any]] = [
    EVENTS[0] | {"corrections": _APPLIED, "environment": {"device": "cpu"}, "shape": [1, 28, 28]},
    EVENTS[1] | {"learning_rate": 0.1, "gradient_norm": 1.0, "samples_per_second": 9.0, "memory": 10**9},
    EVENTS[2],
    {
        "event": "layers",
        "time": 1.0e9,
        "step": 2,
        "epoch": 1,
        "seconds": 0.1,
        "parameters": [_PARAMETER],
        "units": [{"name": "relu #1", "operator": "relu", "units": 4, "dead": 1}],
    },
    {
        "event": "layer_alert",
        "time": 1.0e9,
        "step": 2,
        "epoch": 1,
        "layer": "conv",
        "kind": "dead",
        "value": 0.9,
        "message": "dead: 90 %",
    },
    {
        "event": "rate_changed",
        "time": 1.0e9,
        "step": 2,
        "epoch": 1,
        "learning_rate": 0.01,
        "before": 0.1,
        "factor": 0.1,
    },
    EVENTS[3]
    | {
        "partial": False,
        "seconds": 1.0,
        "scalars": {"lr": 0.1},
        "hardest": [{"index": 1, "label": 0, "predicted": 1, "probability": 0.1}],
    },
    {"event": "failed", "time": 1.0e9, "error": "x", "message": "m", "file": "net.py", "line": 3},
    EVENTS[4] | {"epoch": 1, "seconds": 2.0, "best_step": 2, "folder": "r", "checkpoint": "c"},
]


def journal_case(draw: random.Random) -> bytes:
    """Lines, some with other values; their order may change."""
    events = list(LATER_EVENTS)
    if draw.random() < 0.2:
        draw.shuffle(events)
    chosen = draw.sample(range(len(events)), draw.randint(1, 3))
    lines = [
        json_text(mutated(event, draw, 0.9), draw) if place in chosen else json_text(event, random.Random(1))
        for place, event in enumerate(events)
    ]
    return b"\n".join(lines) + b"\n"


def read_shown(data: bytes, folder: Path) -> object:
    """What the pages Train, Layers and Mistakes show of it, what a resume repeats, and the report."""
    from engine.training.folder.recorded import rate_changes
    from studio.session.runs.comparison import compared_results, compared_settings
    from studio.session.runs.report.report_page import write_report
    from studio.session.runs.run_history import read_history
    from studio.session.runs.runs_folder import read_run_line
    from studio.session.train.layers_view import LayersViewModel
    from studio.session.train.mistakes import _hard_samples

    run = folder / "shown" / "run"
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir(parents=True)
    (run / "journal.jsonl").write_bytes(data)
    rate_changes(run / "journal.jsonl", 0)
    listed = read_run_line(run)
    if listed is not None:
        compared_settings([listed, listed])
        compared_results([listed, listed])
    one_line(lambda: write_report(run, folder / "report.html"), (EngineError,))
    history = read_history(run)
    view = LayersViewModel()
    view.show(history.layers)
    for look in view.looks:
        [view.history(row.name) for row in look.rows]
    return [_hard_samples(table, [None] * len(table.hardest)) for table in history.tables]


def journal_readers() -> list[Reader]:
    """The readers of journals behind the pages."""
    return [Reader("journal as shown", journal_case, read_shown, (EngineError,), 20, 128)]
