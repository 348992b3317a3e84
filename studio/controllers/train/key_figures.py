"""The key figures loss and accuracy, or R², of the page Train: a number, and in words which one it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QObject

from resources import quantities
from resources.metrics import metric_of, rank_of
from studio.session.runs.run_history import RunHistory
from studio.session.train.train_view import TrainViewModel


class Figure(NamedTuple):
    """A number, NaN where it is not known, and what it is."""

    value: float
    note: str = ""


def of_training(view: TrainViewModel, where: QObject) -> tuple[Figure, Figure]:
    """Loss and accuracy (0 to 1), or R², of the training that goes on or ended last; ``where`` translates."""
    tr, epoch = where.tr, view.measured_epoch
    if not view.busy and not math.isnan(view.validation_loss):
        loss = Figure(view.validation_loss, tr("validation, epoch {0}").format(epoch))
    else:
        loss = Figure(view.loss, "" if math.isnan(view.loss) else tr("of the last batch"))
    if math.isnan(view.figure):
        return loss, Figure(math.nan)
    best = view.best_r2 if view.task == "numbers" else view.best_accuracy
    is_best = view.best_epoch == epoch
    baseline = of_baseline(view.baseline, view.task, where)
    if not view.busy and not math.isnan(best):
        error = error_words(view.best_mae, view.units, where)
        return loss, Figure(
            best, _joined(where, error, tr("best, epoch {0}").format(view.best_epoch), baseline)
        )
    error = error_words(view.validation_mae, view.units, where)
    words = tr("last and best, epoch {0}") if is_best else tr("last, epoch {0}")
    return loss, Figure(view.figure, _joined(where, error, words.format(epoch), baseline))


def of_baseline(baseline: Mapping[str, Any], task: str, where: QObject) -> str:
    """What simple models reach, as the event ``baseline`` says; empty without one."""
    tr, found = where.tr, []
    constant = tr("mean") if task == "numbers" else tr("majority class")
    for name, words in (("constant", constant), ("linear", tr("linear model"))):
        value = baseline_figure(baseline, task, name)
        if math.isfinite(value):
            found.append(tr("{0} {1}").format(words, metric_of(task).text(value)))
    return tr(", ").join(found)


def baseline_figure(baseline: Mapping[str, Any], task: str, name: str) -> float:
    """The metric of the task that the simple model ``constant`` or ``linear`` reaches; NaN where unknown."""
    figures = baseline.get(name)
    value = figures.get("r2" if task == "numbers" else "accuracy") if isinstance(figures, Mapping) else None
    return float(value) if isinstance(value, int | float) else math.nan


def error_words(error: float, units: Sequence[str], where: QObject) -> str:
    """The mean absolute error with its unit, where all targets have the same; empty where it is unknown."""
    if math.isnan(error):
        return ""
    unit = units[0] if len(set(units)) == 1 else ""
    return where.tr("MAE {0}").format(quantities.loss(error, unit))


def _joined(where: QObject, *texts: str) -> str:
    return where.tr("; ").join(text for text in texts if text)


def of_run(history: RunHistory, where: QObject) -> tuple[Figure, Figure]:
    """Loss and best accuracy, or R², of a run from its journal."""
    tr, epochs, losses = where.tr, history.epochs, history.losses
    loss = Figure(losses[-1], tr("of the last batch")) if losses else Figure(math.nan)
    measured = [each for each in epochs if _finite(each, "validation_loss")]
    if measured:
        loss = Figure(measured[-1]["validation_loss"], _epoch(measured[-1], tr("validation, epoch {0}")))
    elif epochs and _finite(epochs[-1], "train_loss"):
        loss = Figure(epochs[-1]["train_loss"], _epoch(epochs[-1], tr("mean of epoch {0}")))
    name = metric_of(history.task).name
    known = [each for each in epochs if _finite(each, name)]
    if not known:
        return loss, Figure(math.nan)
    best = max(
        known, key=lambda each: rank_of(float(each[name]), float(each.get("validation_loss", math.nan)))
    )
    error = error_words(float(best.get("validation_mae", math.nan)), history.units, where)
    baseline = of_baseline(history.baseline, history.task, where)
    return loss, Figure(best[name], _joined(where, error, _epoch(best, tr("best, epoch {0}")), baseline))


def _finite(epoch: Mapping[str, Any], name: str) -> bool:
    return math.isfinite(epoch.get(name, math.nan))


def _epoch(epoch: Mapping[str, Any], words: str) -> str:
    return words.format(int(epoch["epoch"])) if _finite(epoch, "epoch") else ""
