"""Whether a linear model is enough for a small table of numbers, by cross-validation of its training rows."""

from __future__ import annotations

import numpy as np

from engine.core.errors import DataError
from engine.training.sources.preparing.prepared import Prepared
from engine.training.sources.spec import DataSpec
from engine.training.suggesting.baselines import Values, ridge

LEAST, MOST = 40, 1000
"""So many rows are compared: fewer decide nothing, and more are enough for a perceptron."""
AS_GOOD = 1.05
"""The linear model may leave so many times the unexplained variance of the other model."""
_FOLDS = 5
_STRENGTHS = (0.1, 1.0, 10.0)


def is_linear_enough(train: Prepared, spec: DataSpec) -> bool:
    """Whether ridge regression predicts left-out training rows as well as kernel ridge regression with radial
    basis functions does; False for data other than a small table of numbers without columns of words.

    The test data is not read. Rows that can't be read decide nothing.
    """
    if spec.kind != "table" or spec.task != "numbers" or any(spec.model_spec().words):
        return False
    if not LEAST <= len(train) <= MOST or train.targets is None:
        return False
    try:
        inputs, _ = train.__getitems__(range(len(train)))
    except DataError:
        return False
    linear, curved = unexplained(np.asarray(inputs, np.float64), np.asarray(train.targets, np.float64))
    return linear <= AS_GOOD * curved


def unexplained(inputs: Values, targets: Values) -> tuple[float, float]:
    """The share of the variance of ``targets`` [n, k] that is left after predicting left-out rows from
    ``inputs``
    [n, features]: by a linear model, and by the best of a few kernel models."""
    x, y = _standardized(inputs), _standardized(targets)
    with_one = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    squares = (x**2).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * x @ x.T, 0.0)
    kernel = np.exp(-distances / (2 * x.shape[1]))
    left = np.zeros(1 + len(_STRENGTHS))
    for fold in range(_FOLDS):
        out = np.arange(len(x)) % _FOLDS == fold
        answers = [with_one[out] @ ridge(with_one[~out], y[~out])]
        inside = kernel[np.ix_(~out, ~out)]
        for strength in _STRENGTHS:
            weights = np.linalg.solve(inside + strength * np.eye(len(inside)), y[~out])
            answers.append(kernel[np.ix_(out, ~out)] @ weights)
        left += [float(((y[out] - each) ** 2).sum()) for each in answers]
    left /= max(float((y**2).sum()), 1e-12)
    return float(left[0]), float(left[1:].min())


def _standardized(values: Values) -> Values:
    deviation = values.std(axis=0)
    return np.asarray((values - values.mean(axis=0)) / np.where(deviation > 1e-6, deviation, 1.0))
