"""What simple models reach on a run's data: the most frequent class or the mean, and a linear model.

NumPy alone, no random numbers, and a bounded part of the training samples, so that it takes well below a
second and changes nothing in the training.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import EngineError
from engine.training.events import now
from engine.training.measuring.metrics import mean_absolute_error, r2_score
from engine.training.sources.preparing.prepared import Prepared
from resources.training_events import Baseline, BaselineFigures

if TYPE_CHECKING:
    from engine.training.data import DataSplits

MOST_VALUES = 2_000_000
"""Values of samples that are read for each split: so many samples are taken as have no more."""
MOST_SAMPLES = 2_000
SIDE = 10
"""Images are averaged to at most so many values a side, sequences to so many steps."""
MOST_FEATURES = 256
MOST_WORDS = 50
_ROUNDS = 25
_RIDGE = 1e-2
_AT_ONCE = 100

Values = NDArray[np.float64]


def baseline_event(splits: DataSplits) -> Baseline:
    """What the most frequent class, or the mean, and a linear model reach on the split that is measured."""
    measured = splits.measured
    split = "test" if splits.validation is None else "validation"
    event = Baseline(event="baseline", time=now(), step=0, split=split, constant=_constant(splits, measured))
    try:
        figures, samples = _linear(splits, measured)
    except (EngineError, np.linalg.LinAlgError):
        return event  # a sample that can't be read is the training's to report
    if figures is not None:
        event["linear"], event["samples"] = figures, samples
    return event


def _raw_targets(data: Prepared) -> Values:
    assert data.targets is not None
    return np.asarray(data.targets, np.float64)


def _constant(splits: DataSplits, measured: Prepared) -> BaselineFigures:
    if splits.spec.task == "numbers":
        true = _raw_targets(measured)
        mean = np.broadcast_to(_raw_targets(splits.train).mean(axis=0), true.shape)
        return BaselineFigures(r2=r2_score(true, mean), mae=mean_absolute_error(true, mean))
    counts = np.bincount(splits.train.labels.reshape(-1), minlength=max(1, len(splits.classes)))
    return BaselineFigures(accuracy=float((measured.labels.reshape(-1) == counts.argmax()).mean()))


def _linear(splits: DataSplits, measured: Prepared) -> tuple[BaselineFigures | None, int]:
    """The figures of a linear model, and of how many samples it was made."""
    per_sample = max(1, int(np.prod(splits.shape)))
    count = min(MOST_SAMPLES, max(1, MOST_VALUES // per_sample), len(splits.train))
    if count < 2 or len(splits.classes) * MOST_FEATURES > 100_000:
        return None, 0
    words = splits.spec.model_spec().words
    inputs = _features(splits.train, count, words, splits.spec.kind)
    tested_count = min(len(measured), max(MOST_SAMPLES, count))
    tested = _features(measured, tested_count, words, splits.spec.kind)
    mean, deviation = inputs.mean(axis=0), inputs.std(axis=0)
    deviation = np.where(deviation > 1e-6, deviation, 1.0)
    inputs, tested = (_with_one((each - mean) / deviation) for each in (inputs, tested))
    if splits.spec.task == "numbers":
        targets = _raw_targets(splits.train)[_places(splits.train, count)]
        true = _raw_targets(measured)[_places(measured, tested_count)]
        answers = tested @ ridge(inputs, targets)
        return BaselineFigures(r2=r2_score(true, answers), mae=mean_absolute_error(true, answers)), count
    labels = splits.train.labels.reshape(-1)[_places(splits.train, count)]
    scores = tested @ softmax_regression(inputs, labels, len(splits.classes))
    right = scores.argmax(axis=1) == measured.labels.reshape(-1)[_places(measured, tested_count)]
    return BaselineFigures(accuracy=float(right.mean())), count


def ridge(inputs: Values, targets: Values, strength: float = 1.0) -> Values:
    """Weights [features, k] that minimize squared errors plus ``strength`` times their squares; the last
    input, which is 1, has a weight without penalty."""
    penalty = strength * np.eye(inputs.shape[1])
    penalty[-1, -1] = 0.0
    return np.asarray(np.linalg.solve(inputs.T @ inputs + penalty, inputs.T @ targets))


def softmax_regression(inputs: Values, labels: NDArray[np.int64], classes: int) -> Values:
    """Weights [features, classes] of a multinomial logistic regression.

    Newton steps with the fixed upper bound of the Hessian of Böhning (1992), half the matrix of the inputs'
    products, which is factored once.
    """
    count, features = inputs.shape
    wanted = np.zeros((count, classes))
    wanted[np.arange(count), labels] = 1.0
    bound = np.linalg.inv(0.5 * inputs.T @ inputs / count + _RIDGE * np.eye(features))
    weights = np.zeros((features, classes))
    moved, speed = weights, 1.0
    for _ in range(_ROUNDS):
        scores = inputs @ moved
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        step = moved - bound @ (inputs.T @ (shares - wanted) / count + _RIDGE * moved)
        # Nesterov's momentum.
        faster = (1 + np.sqrt(1 + 4 * speed**2)) / 2
        moved, weights, speed = step + (speed - 1) / faster * (step - weights), step, faster
    return weights


def _places(data: Prepared, count: int) -> NDArray[np.int64]:
    """``count`` places of the split, evenly from the first to the last."""
    return np.linspace(0, len(data) - 1, count).astype(np.int64)


def _features(data: Prepared, count: int, words: tuple[int, ...], kind: str) -> Values:
    """``count`` samples of a split as rows of few values, without random variation."""
    plain = Prepared(data.rows, data.chosen, data.classes, data.prepare, None, data.labels, data.targets)
    places = _places(data, count)
    parts = []
    for first in range(0, count, _AT_ONCE):
        values, _ = plain.__getitems__(places[first : first + _AT_ONCE].tolist())
        first, *others = values if isinstance(values, tuple) else (values,)
        reduced = [_reduced(np.asarray(first, np.float64), words, kind)]
        reduced += [_reduced(np.asarray(each, np.float64), (), _kind_of(each)) for each in others]
        parts.append(np.concatenate(reduced, axis=1) if others else reduced[0])
    return np.concatenate(parts)


def _kind_of(values: NDArray[Any]) -> str:
    """What a further input is, which is fed as it is stored."""
    return {4: "images", 3: "sequences"}.get(values.ndim, "table")


def _reduced(values: Values, words: tuple[int, ...], kind: str) -> Values:
    if kind == "images" and values.ndim == 4:
        values = _averaged(_averaged(values, 2, SIDE), 3, SIDE)
    elif kind == "sequences" and values.ndim == 3:
        values = _averaged(values, 1, SIDE * SIDE)
    elif any(words):
        known = [
            np.eye(min(size, MOST_WORDS) + 1)[np.minimum(values[:, column], MOST_WORDS).astype(np.int64)]
            if size
            else values[:, column : column + 1]
            for column, size in enumerate(words)
        ]
        values = np.concatenate(known, axis=1)
    flat = values.reshape(len(values), -1)
    return flat if flat.shape[1] <= MOST_FEATURES else _averaged(flat, 1, MOST_FEATURES)


def _averaged(values: Values, axis: int, most: int) -> Values:
    """At most ``most`` means of neighbours along an axis."""
    size = values.shape[axis]
    if size <= most:
        return values
    begins = np.linspace(0, size, most + 1).astype(np.int64)
    sums = np.add.reduceat(values, begins[:-1], axis=axis)
    shape = [1] * values.ndim
    shape[axis] = most
    return np.asarray(sums / np.diff(begins).reshape(shape))


def _with_one(values: Values) -> Values:
    return np.concatenate([values, np.ones((len(values), 1))], axis=1)
