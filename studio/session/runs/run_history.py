"""The whole history of a run: all points and epochs of its journal."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from resources.metrics import task_of
from studio.session.runs.epoch_tables import EpochTable, table_of

_SERIES = {
    "rate": "learning_rate",
    "throughput": "samples_per_second",
    "memory": "memory",
    "gradient": "scalar:gradient_norm",
    "elapsed": "elapsed",
}


@dataclass(frozen=True)
class RunHistory:
    """All points and epochs of a run, and the confusion matrices of its epochs.

    ``task`` is classes or numbers, ``targets`` the names of the numbers and ``units`` their units.
    ``baseline`` is the event about simple models, empty where the run has none. ``series`` has what else was
    measured at each step, as long as ``steps``: rate, throughput (images a second), memory (bytes), gradient
    (the norm of all gradients), elapsed (seconds of training). ``layers`` are the events ``layers`` and
    ``layer_alert``, as the journal has them.
    """

    steps: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    epochs: list[dict[str, Any]] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    tables: tuple[EpochTable, ...] = ()
    classes: tuple[str, ...] = ()
    series: dict[str, list[float]] = field(default_factory=dict)
    layers: list[dict[str, Any]] = field(default_factory=list)
    steps_per_epoch: int = 0
    task: str = "classes"
    targets: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    baseline: dict[str, Any] = field(default_factory=dict)


def read_history(path: Path) -> RunHistory:
    """Every point of the run in ``path``.

    Raises:
        DataError, FormatError: its journal can't be read. Imports the engine.
    """
    from engine.files.journal import read_run

    record = read_run(path)
    points = record.columns.get("step", {})
    epochs = record.columns.get("epoch", {})
    ends = epochs["step"].tolist() if "step" in epochs else []
    tables: list[EpochTable] = []
    classes: list[str] = []
    for event in record.events:
        if event.get("event") == "started":
            names = event.get("classes", classes)
            classes = [str(name) for name in names] if isinstance(names, list) else classes
        elif event.get("event") == "epoch":
            table = table_of(event)
            tables += [] if table is None else [table]
    length, task, baseline = 0, "classes", dict[str, Any]()
    targets: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    layers: list[dict[str, Any]] = []
    for event in record.events:
        kind = event.get("event")
        if kind == "started" and type(count := event.get("steps_per_epoch")) is int and count > 0:
            length = count
        if kind == "started":
            task, targets, units = task_of(event), _texts(event.get("targets")), _texts(event.get("units"))
        elif kind == "baseline":
            baseline = dict(event)
        elif kind in ("layers", "layer_alert"):
            layers.append(dict(event))
    steps = points["step"].tolist() if "step" in points else []
    nothing = [math.nan] * len(steps)
    return RunHistory(
        steps=[0 if math.isnan(step) else int(step) for step in steps],
        losses=points["loss"].tolist() if "loss" in points else nothing,
        accuracies=points["accuracy"].tolist() if "accuracy" in points else nothing,
        epochs=[
            {name: column[i].item() for name, column in epochs.items()}
            for i, end in enumerate(ends)
            if math.isfinite(end)
        ],  # else it has no place in a curve
        notes=tuple(record.notes),
        tables=tuple(tables),
        classes=tuple(classes),
        layers=layers,
        steps_per_epoch=length,
        task=task,
        targets=targets,
        units=units,
        baseline=baseline,
        series={name: points[column].tolist() for name, column in _SERIES.items() if column in points},
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
