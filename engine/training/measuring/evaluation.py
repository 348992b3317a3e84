"""Measures a network on a split: classes by their confusion, numbers by R² and mean absolute error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.training.measuring.metrics import TOP_CLASSES, Metric, mean_absolute_error, metric_of, r2_score
from engine.training.measuring.predictions import (
    NumberPredictions,
    Predictions,
    Tally,
)
from engine.training.measuring.shown_samples import ShownSamples, image_bytes, shown_samples
from engine.training.sources.preparing.prepare import Prepare
from engine.training.sources.preparing.prepared import Prepared
from engine.training.sources.several_inputs import first_input
from engine.training.sources.spec import DataSpec
from resources.training_events import Hard, Worst

HARDEST = 40
TOP = 5


@dataclass(frozen=True)
class Evaluation:
    """How well the network does on a split.

    For classes ``confusion[label, predicted]`` counts samples, ``hardest`` are those read worst, and ``top5``
    is measured above 20 classes. For numbers ``r2`` is the mean over the targets and ``mae`` the mean
    absolute error in their unit; ``worst`` are the samples with the largest errors. ``shown`` are those
    samples, or ``hardest``.
    """

    loss: float
    accuracy: float = math.nan
    confusion: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    hardest: list[Hard] = field(default_factory=list)
    shown: ShownSamples = field(default_factory=lambda: np.zeros((0, 1, 1), np.uint8))
    predictions: Predictions | NumberPredictions | None = None
    top5: float | None = None
    r2: float = math.nan
    mae: float = math.nan
    worst: list[Worst] = field(default_factory=list)
    task: str = "classes"

    @property
    def metric(self) -> Metric:
        """The value by which evaluations of the task are compared."""
        return metric_of(self.task)

    @property
    def value(self) -> float:
        """That value of this evaluation."""
        return self.r2 if self.task == "numbers" else self.accuracy

    def measured(self) -> dict[str, float]:
        """The figures by their names in the event ``epoch``."""
        if self.task == "numbers":
            return {"validation_loss": self.loss, "validation_r2": self.r2, "validation_mae": self.mae}
        top5 = {} if self.top5 is None else {"validation_top5": self.top5}
        return {"validation_loss": self.loss, "validation_accuracy": self.accuracy, **top5}


def evaluate(
    scores: Callable[[Any], np.ndarray],
    batches: Iterable[Any],
    classes: int,
    stopped: Callable[[], bool] = lambda: False,
    spec: DataSpec | None = None,
) -> Evaluation | None:
    """Measure ``scores`` on all ``batches`` of (images, labels); None if ``stopped()`` became true.

    Args:
        spec: of the data, by which the hardest samples are shown.
    """
    confusion = np.zeros((classes, classes), np.int64)
    losses: list[np.ndarray] = []
    rows: list[tuple[float, int, int, int, np.ndarray]] = []
    tally, seen, among_top = Tally(), 0, 0
    for inputs, labels in batches:
        if stopped():
            return None
        values = scores(inputs).astype(np.float64)
        truth = np.asarray(labels.numpy()).reshape(-1)
        logs = values - values.max(axis=1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
        of_truth = logs[np.arange(len(truth)), truth]
        predicted = values.argmax(axis=1)
        width = max(classes, values.shape[1])
        if width > len(confusion):
            confusion = np.pad(confusion, (0, width - len(confusion)))
        np.add.at(confusion, (truth, predicted), 1)
        if classes > TOP_CLASSES:
            among_top += int(((values > values[np.arange(len(truth)), truth, None]).sum(axis=1) < TOP).sum())
        tally.add(truth, logs)
        losses.append(-of_truth)
        worst = np.argsort(of_truth, kind="stable")[:HARDEST]
        images = np.asarray(first_input(inputs).numpy())
        rows += [
            (float(of_truth[i]), seen + int(i), int(truth[i]), int(predicted[i]), images[i]) for i in worst
        ]
        rows = sorted(rows, key=lambda row: row[:2])[:HARDEST]
        seen += len(truth)
    _require_some(seen)
    shown = _shown(batches, [row[1] for row in rows], [row[4] for row in rows], spec)
    return Evaluation(
        loss=float(np.concatenate(losses).mean()),
        accuracy=float(np.trace(confusion) / seen),
        confusion=confusion,
        hardest=[
            Hard(index=index, label=label, predicted=predicted, probability=math.exp(log))
            for log, index, label, predicted, _ in rows
        ],
        shown=shown,
        predictions=tally.result(len(confusion), [index for _, index, *_ in rows], shown),
        top5=among_top / seen if classes > TOP_CLASSES else None,
    )


def evaluate_numbers(
    outputs: Callable[[Any], np.ndarray],
    batches: Iterable[Any],
    scale: Prepare,
    stopped: Callable[[], bool] = lambda: False,
    spec: DataSpec | None = None,
) -> Evaluation | None:
    """Measure ``outputs`` on all ``batches`` of (inputs, scaled targets); None if ``stopped()`` became true.

    The loss is the mean squared error of scaled targets, whatever was trained with, so that runs can be
    compared; ``scale`` gives the units of the targets back.
    """
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    rows: list[tuple[float, int, np.ndarray]] = []
    seen = 0
    for inputs, targets in batches:
        if stopped():
            return None
        truth = np.asarray(targets.numpy(), np.float64)
        guess = outputs(inputs).astype(np.float64)
        errors = np.sqrt(((guess - truth) ** 2).mean(axis=1))
        parts.append((truth, guess))
        values = np.asarray(first_input(inputs).numpy())
        order = np.argsort(-errors, kind="stable")[:HARDEST]
        rows += [(float(errors[i]), seen + int(i), values[i]) for i in order]
        rows = sorted(rows, key=lambda row: (-row[0], row[1]))[:HARDEST]
        seen += len(truth)
    _require_some(seen)
    truth, guess = (np.concatenate(each) for each in zip(*parts, strict=True))
    true, predicted = scale.raw_targets(truth), scale.raw_targets(guess)
    places = [row[1] for row in rows]
    shown = _shown(batches, places, [row[2] for row in rows], spec)
    return Evaluation(
        loss=float(((guess - truth) ** 2).mean()),
        task="numbers",
        r2=r2_score(true, predicted),
        mae=mean_absolute_error(true, predicted),
        worst=[
            Worst(index=place, target=true[place].tolist(), predicted=predicted[place].tolist(), error=error)
            for error, place, _ in rows
        ],
        shown=shown,
        predictions=NumberPredictions.of(true, predicted, places, shown),
    )


def _require_some(seen: int) -> None:
    if not seen:
        raise ArgumentError(
            "evaluate: there is nothing to measure: 0 images; give a test split that has some"
        )


def _shown(
    batches: Iterable[Any], places: list[int], inputs: list[np.ndarray], spec: DataSpec | None
) -> ShownSamples:
    """The samples at these places as people know them; ``inputs`` is what the model was fed."""
    data = getattr(batches, "dataset", None)
    if isinstance(data, Prepared):
        return shown_samples(data, places, spec)
    return image_bytes(np.stack(inputs))


def check_output(shape: tuple[int, ...], classes: int, batch: int, targets: int = 0) -> None:
    """Refuse a network whose output shape can't stand for so many classes, or for these numbers.

    Args:
        targets: how many numbers are predicted; 0 for classes.

    Raises:
        ArgumentError: not [N, at least one score a class], or not [N, targets].
    """
    if targets and shape != (batch, targets):
        raise ArgumentError(
            f"model: its output does not fit the data: shape {list(shape)} for {batch} samples with "
            f"{targets} numbers to predict; end the model with {targets} values a sample, e.g. "
            f"Linear(..., {targets})"
        )
    if not targets and (len(shape) != 2 or shape[0] != batch or shape[1] < classes):
        raise ArgumentError(
            f"model: its output does not fit the data: shape {list(shape)} for {batch} images of {classes} "
            f"classes; end the model with {classes} scores an image, e.g. Linear(..., {classes})"
        )
