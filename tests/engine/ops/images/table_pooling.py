"""Rows of the operators in ``engine/ops/images/pooling.py``."""

from __future__ import annotations

import numpy as np

from tests.engine.ops.case import Case, Sample, row, s, v
from tests.engine.ops.images.references import DEEP, POOLS
from tests.engine.ops.windows import pick, pool, pool_grad

SHARED = s(v(1, 1, 5, 5), ksize=[3, 3], strides=[2, 2], paddings=[1, 1], exclusive=False)


SHARED_DEEP = s(v(1, 1, 3, 3, 3), ksize=[2, 2, 2], strides=[2, 2, 2], paddings=[1, 1, 1], exclusive=False)


def _as(kind: str, *samples: Sample) -> list[Sample]:
    return [s(*c.inputs, pooling_type=kind, **c.attrs) for c in samples]


def _pool_grads(kind: str, *samples: Sample) -> list[Sample]:
    made = []
    for c in samples:
        if c.inputs[0].size:
            out = pool(*c.inputs, pooling_type=kind, **c.attrs)
            made.append(s(*c.inputs, out, v(*out.shape, seed=9), pooling_type=kind, **c.attrs))
    return made


def _picks(*samples: Sample) -> list[Sample]:
    full = [c for c in samples if c.inputs[0].size]
    return [s(*c.inputs, pool(*c.inputs, **c.attrs), v(*c.inputs[0].shape, seed=9), **c.attrs) for c in full]


CASES: list[Case] = [
    *row("pool2d", pool, *_as("max", *POOLS[:-1]), *_as("avg", *POOLS[:-1], SHARED), grads="x"),
    *row("pool2d", lambda x, **_: np.zeros((0, 2, 2, 2)), *_as("max", POOLS[-1]), *_as("avg", POOLS[-1]),
         grads="x"),
    *row("pool2d", lambda x, **_: np.array([[[[np.nan, 4.0]]]]),
         s(np.array([[[[1, np.nan, 4, 3], [2, 3, 2, 1.0]]]]), pooling_type="max", ksize=[2, 2],
         strides=[2, 2])),
    *row("pool2d_grad", pool_grad, *_pool_grads("max", *POOLS), *_pool_grads("avg", *POOLS, SHARED),
         grads="g_in"),
    *row("pool2d_grad", lambda x, out, g, **_: np.array([[[[0.0, 5.0], [0.0, 0.0]]]]),
          # of several maxima the first
         s(np.array([[[[1.0, 2.0], [2.0, 2.0]]]]), np.array([[[[2.0]]]]), np.array([[[[5.0]]]]),
         pooling_type="max", ksize=[2, 2])),
    *row("pool2d_grad", lambda x, out, g, **_: np.array([[[[0.0, np.inf], [0.0, 0.0]]]]),
         s(np.array([[[[1.0, 2.0], [0.0, 1.0]]]]), np.array([[[[2.0]]]]), np.array([[[[np.inf]]]]),
         pooling_type="max", ksize=[2, 2])),
    *row("max_pool2d_pick", pick, *_picks(*POOLS), grads="values"),
    *row("pool3d", pool, *_as("max", *DEEP), *_as("avg", *DEEP, SHARED_DEEP), grads="x"),
    *row("pool3d_grad", pool_grad, *_pool_grads("max", *DEEP), *_pool_grads("avg", *DEEP, SHARED_DEEP),
         grads="g_in"),
    *row("max_pool3d_pick", pick, *_picks(*DEEP), grads="values")
]
