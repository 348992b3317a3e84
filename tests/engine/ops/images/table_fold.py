"""Rows of the operators in ``engine/ops/images/fold.py``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v
from tests.engine.ops.images.references import with_grad
from tests.engine.ops.windows import slopes


def _unfold(
    x: Any, kernel_sizes: Any, strides: Any = (1, 1), paddings: Any = (0, 0, 0, 0), dilations: Any = (1, 1)
) -> Any:
    top, left, bottom, right = paddings
    x = np.pad(x, [(0, 0), (0, 0), (top, bottom), (left, right)])
    out = [(x.shape[n + 2] - dilations[n] * (kernel_sizes[n] - 1) - 1) // strides[n] + 1 for n in (0, 1)]
    columns = []
    for place in np.ndindex(*out):
        rows, some = (
            slice(p * t, p * t + d * k, d)
            for p, t, d, k in zip(place, strides, dilations, kernel_sizes, strict=True)
        )
        columns.append(x[:, :, rows, some])
    return np.stack([c.reshape(c.shape[0], -1) for c in columns], axis=2)


def _unfold_grad(x: Any, g: Any, **attrs: Any) -> Any:
    return slopes(x, lambda unit: _unfold(unit, **attrs), g)


def _fold(x: Any, output_sizes: Any, kernel_sizes: Any, **attrs: Any) -> Any:
    channels = x.shape[1] // math.prod(kernel_sizes)
    image = np.zeros((x.shape[0], channels, *output_sizes))
    return slopes(image, lambda unit: _unfold(unit, kernel_sizes=kernel_sizes, **attrs), x)


UNFOLDS = [
    s(v(2, 2, 4, 3), kernel_sizes=[2, 2]),
    s(v(1, 2, 5, 4), kernel_sizes=[3, 2], strides=[2, 1], paddings=[1, 0, 0, 2]),
    s(v(1, 1, 6, 5), kernel_sizes=[2, 3], dilations=[3, 2], paddings=[0, 1, 0, 1]),
]


FOLDS = [
    s(v(2, 4, 6), output_sizes=[3, 4], kernel_sizes=[2, 2]),
    s(v(1, 8, 6), output_sizes=[5, 4], kernel_sizes=[2, 2], strides=[2, 1], paddings=[0, 0, 0, 0]),
    s(v(1, 4, 4), output_sizes=[3, 3], kernel_sizes=[2, 2], strides=[2, 2], paddings=[1, 0, 0, 1]),
]


CASES: list[Case] = [
    *row("unfold", _unfold, *UNFOLDS, grads="x"),
    *row("unfold_grad", _unfold_grad, *[with_grad(_unfold, c) for c in UNFOLDS], grads="g_in"),
    *row("fold", _fold, *FOLDS, grads="x")
]
