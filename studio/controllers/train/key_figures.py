"""The key figures loss and accuracy of the page Train: a number, and in words which one it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QObject

from studio.session.train.train_view import TrainViewModel


class Figure(NamedTuple):
    """A number, NaN where it is not known, and what it is."""

    value: float
    note: str = ""


def of_training(view: TrainViewModel, where: QObject) -> tuple[Figure, Figure]:
    """Loss and accuracy (0 to 1) of the training that goes on or ended last; ``where`` translates."""
    tr, epoch = where.tr, view.measured_epoch
    if not view.busy and not math.isnan(view.validation_loss):
        loss = Figure(view.validation_loss, tr("validation, epoch {0}").format(epoch))
    else:
        loss = Figure(view.loss, "" if math.isnan(view.loss) else tr("of the last batch"))
    if math.isnan(view.validation_accuracy):
        return loss, Figure(math.nan)
    if not view.busy and not math.isnan(view.best_accuracy):
        return loss, Figure(view.best_accuracy, tr("best, epoch {0}").format(view.best_epoch))
    words = tr("last and best, epoch {0}") if view.best_epoch == epoch else tr("last, epoch {0}")
    return loss, Figure(view.validation_accuracy, words.format(epoch))


def of_run(
    epochs: Sequence[Mapping[str, Any]], losses: Sequence[float], where: QObject
) -> tuple[Figure, Figure]:
    """Loss and best accuracy of a run from its journal: its epochs, and the losses of its batches."""
    tr = where.tr
    loss = Figure(losses[-1], tr("of the last batch")) if losses else Figure(math.nan)
    measured = [each for each in epochs if _finite(each, "validation_loss")]
    if measured:
        loss = Figure(measured[-1]["validation_loss"], _epoch(measured[-1], tr("validation, epoch {0}")))
    elif epochs and _finite(epochs[-1], "train_loss"):
        loss = Figure(epochs[-1]["train_loss"], _epoch(epochs[-1], tr("mean of epoch {0}")))
    known = [each for each in epochs if _finite(each, "validation_accuracy")]
    if not known:
        return loss, Figure(math.nan)
    best = max(known, key=lambda each: float(each["validation_accuracy"]))
    return loss, Figure(best["validation_accuracy"], _epoch(best, tr("best, epoch {0}")))


def _finite(epoch: Mapping[str, Any], name: str) -> bool:
    return math.isfinite(epoch.get(name, math.nan))


def _epoch(epoch: Mapping[str, Any], words: str) -> str:
    return words.format(int(epoch["epoch"])) if _finite(epoch, "epoch") else ""
