"""The contents of a report: read from a run's folder, whose values are not trusted."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resources import quantities
from resources.settings import RUN_SETTINGS, Setting
from resources.training_events import NO_EFFECT
from studio.session.runs.epoch_tables import EpochTable, table_of
from studio.session.runs.run_names import project_folder, run_names
from studio.session.runs.runs_folder import Run, list_runs, read_run_line

if TYPE_CHECKING:
    from engine.training.measuring.predictions import NumberPredictions, Predictions


@dataclass(frozen=True)
class Series:
    """Points of one curve, in the order of their steps."""

    name: str
    xs: list[float]
    ys: list[float]


@dataclass(frozen=True)
class ReportData:
    """Everything about one run.

    ``started`` is its first event. ``settings`` has title, value, and the value in the run before, whose name
    is ``before``: empty where it is the same, or where there is none before. ``layers`` has name, size, norm,
    norm of the gradient, and update by weights of each parameter at the last look at them. ``accuracies`` are
    R² of a run that predicts ``numbers``; ``baseline`` is the event about simple models, empty for none.
    """

    run: Run
    name: str
    started: Mapping[str, Any]
    settings: list[tuple[str, str, str]]
    before: str
    losses: list[Series]
    accuracies: list[Series]
    epochs: Sequence[Mapping[str, float]]
    table: EpochTable | None
    classes: tuple[str, ...]
    predictions: Predictions | None
    numbers: NumberPredictions | None
    baseline: Mapping[str, Any]
    layers: Sequence[tuple[str, ...]]
    alerts: Sequence[str]
    seconds: float
    problem: str
    notes: tuple[str, ...]


def gather(folder: Path, name: str = "") -> ReportData:
    """The contents of the run in ``folder``, under its ``name`` or the one among the runs of its folder.

    Raises:
        DataError, FormatError: there is no run, or its journal can't be read.
    """
    from engine.core.errors import DataError, EngineError
    from engine.files.journal import read_run
    from engine.training.measuring.predictions import PredictionsFolder

    run = read_run_line(folder)
    if run is None:
        raise DataError(f"report: run not found: {folder}; give the folder of a run")
    record = read_run(folder)
    steps, epochs = record.columns.get("step", {}), record.columns.get("epoch", {})
    started: Mapping[str, Any] = {}
    tables: list[EpochTable] = []
    seconds, problem, ended = 0.0, "", 0
    baseline: Mapping[str, Any] = {}
    layers: list[tuple[str, ...]] = []
    alerts: list[str] = []
    for event in record.events:
        kind = event.get("event")
        if kind == "started":
            started = event
        elif kind == "baseline":
            baseline = event
        elif kind == "epoch":
            table = table_of(event)
            tables += [] if table is None else [table]
            step = event.get("step")
            ended = step if isinstance(step, int) else ended
        elif kind == "layers":
            layers = _layers(event.get("parameters"))
        elif kind == "layer_alert":
            hint = "Hint: " if event.get("kind") == NO_EFFECT else ""
            alerts.append(f"{hint}{event.get('message')}")
        elif kind in ("failed", "diverged"):
            problem = str(event.get("message", ""))
        last = event.get("seconds") if kind in ("finished", "stopped", "epoch") else None
        seconds = float(last) if isinstance(last, int | float) else seconds
    rows = [
        {name: float(column[i]) for name, column in epochs.items()}
        for i in range(len(epochs.get("step", ())))
    ]
    predictions, numbers, notes = None, None, [*record.notes]
    table = tables[-1] if tables else None
    try:
        if run.task == "numbers":
            numbers = PredictionsFolder(folder).read_numbers(ended)
        elif table is not None:
            predictions = PredictionsFolder(folder).read(table.step)
    except EngineError as error:
        notes.append(str(error))
    classes = started.get("classes")
    listed = list_runs(project_folder(folder))
    names, before = run_names(listed), _run_before(run, listed)
    return ReportData(
        run=run,
        started=started,
        settings=_settings(run, before),
        name=name or names.get(run.path, run.name),
        before=names[before.path] if before else "",
        losses=_series(steps, "loss", epochs, "validation_loss"),
        accuracies=_series(steps, "accuracy", epochs, run.metric.name),
        epochs=rows,
        table=table,
        classes=tuple(map(str, classes)) if isinstance(classes, list) else (),
        predictions=predictions,
        numbers=numbers,
        baseline=baseline,
        layers=layers,
        alerts=alerts,
        seconds=seconds,
        problem=problem,
        notes=tuple(notes),
    )


def _series(steps: Mapping[str, Any], name: str, epochs: Mapping[str, Any], validation: str) -> list[Series]:
    found = []
    for title, columns, column in (("train", steps, name), ("validation", epochs, validation)):
        if "step" in columns and column in columns:
            xs, ys = columns["step"].tolist(), columns[column].tolist()
            pairs = [(x, y) for x, y in zip(xs, ys, strict=True) if _finite(x) and _finite(y)]
            if pairs:
                found.append(Series(title, [x for x, _ in pairs], [y for _, y in pairs]))
    return found


def _finite(value: float) -> bool:
    return abs(value) < 1e300  # the distance of two of them is a number too


def _layers(parameters: Any) -> list[tuple[str, ...]]:
    """Rows about the parameters of a ``layers`` event; those that are none are left out."""
    rows = []
    for each in parameters if isinstance(parameters, list) else ():
        if not isinstance(each, Mapping):
            continue
        numbers = [each.get(name) for name in ("norm", "gradient_norm", "ratio")]
        if isinstance(each.get("name"), str) and type(each.get("size")) is int:
            shown = (
                f"{number:.3g}" if isinstance(number, int | float) else str(number) for number in numbers
            )
            rows.append((each["name"], quantities.count(each["size"]), *shown))
    return rows


def _run_before(run: Run, listed: Iterable[Run]) -> Run | None:
    """The run of the same folder that was started last before this one."""
    others = [
        each
        for each in listed
        if Path(each.path).parent == Path(run.path).parent
        and each.path != run.path
        and each.started < run.started
        and not each.of_script
    ]
    return max(others, key=lambda each: each.started, default=None)


def _settings(run: Run, before: Run | None) -> list[tuple[str, str, str]]:
    rows = []
    for name, setting in RUN_SETTINGS.items():
        if name not in run.config:
            continue
        value = _written(setting, run.config[name])
        other = value if before is None else _written(setting, before.config.get(name, setting.default))
        rows.append((setting.title, value, "" if other == value else other or "\u2013"))
    known = RUN_SETTINGS.keys() | {"out"}
    rows += [(name, str(value), "") for name, value in run.config.items() if name not in known]
    return rows


def _written(setting: Setting, value: Any) -> str:
    if setting.name == "static":
        return "static" if value else "eager"
    if isinstance(value, dict):
        return ", ".join(f"{name}={Setting.write(each)}" for name, each in value.items())
    try:
        return Setting.write(value)
    except (TypeError, ValueError):
        return str(value)


def when(moment: float) -> str:
    """A moment in this computer's time zone."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment)) if moment else ""
