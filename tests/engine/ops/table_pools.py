"""Rows of the poolings."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, Sample, row, s, v
from tests.engine.ops.windows import pick, pool, pool_grad, positions

POOLS = [
    s(v(2, 2, 4, 4), ksize=[2, 2], strides=[2, 2]),
    s(v(1, 2, 5, 5), ksize=[3, 2], strides=[1, 2]),
    s(v(1, 1, 5, 5), ksize=[2, 2], strides=[2, 2], ceil_mode=True),
    s(v(1, 2, 5, 4), ksize=[3, 3], strides=[2, 2], paddings=[1, 1]),
    s(v(1, 1, 5, 5), ksize=[3, 3], strides=[2, 2], paddings=[2, 0, 1, 2]),
    s(v(1, 1, 5, 6), ksize=[3, 3], strides=[2, 2], padding_algorithm="SAME"),
    s(v(1, 1, 5, 6), ksize=[2, 2], strides=[2, 2], padding_algorithm="VALID"),
    s(v(1, 2, 3, 4), ksize=[1, 1], global_pooling=True),
    s(v(1, 2, 4, 6), ksize=[2, 3], adaptive=True),
    s(v(1, 2, 5, 4), ksize=[2, 3], adaptive=True),
    s(v(1, 1, 2, 3), ksize=[3, 4], adaptive=True),
    s(v(1, 4, 4, 2), ksize=[2, 2], strides=[2, 2], data_format="NHWC"),
    s(v(1, 1, 3, 3), ksize=[1, 1], strides=[2, 2]),
    s(v(0, 2, 4, 4), ksize=[2, 2], strides=[2, 2]),
]  # fmt: skip
SHARED = s(v(1, 1, 5, 5), ksize=[3, 3], strides=[2, 2], paddings=[1, 1], exclusive=False)
DEEP = [
    s(v(2, 2, 4, 2, 2), ksize=[2, 2, 2], strides=[2, 2, 2]),
    s(v(1, 2, 4, 3, 3), ksize=[3, 2, 1], strides=[1, 2, 1], paddings=[1, 0, 0]),
    s(v(1, 1, 3, 3, 3), ksize=[2, 2, 2], strides=[2, 2, 2], ceil_mode=True),
    s(v(1, 1, 3, 4, 3), ksize=[2, 3, 2], strides=[2, 1, 2], padding_algorithm="SAME"),
    s(v(1, 2, 2, 3, 2), ksize=[1, 1, 1], global_pooling=True),
    s(v(1, 1, 4, 3, 2), ksize=[2, 2, 1], adaptive=True),
    s(v(1, 2, 4, 2, 3), ksize=[2, 2, 2], strides=[2, 2, 2], data_format="NDHWC"),
]  # fmt: skip
SHARED_DEEP = s(v(1, 1, 3, 3, 3), ksize=[2, 2, 2], strides=[2, 2, 2], paddings=[1, 1, 1], exclusive=False)
# Positions are those of the channel's own image, so the channels come second.
PLACED, PLACED_DEEP = ([c for c in some if "data_format" not in c.attrs] for some in (POOLS, DEEP))


def _with_index(x: Any, **attrs: Any) -> Any:
    if x.size == 0:
        return np.zeros((0, 2, 2, 2)), np.zeros((0, 2, 2, 2), np.int32)
    return pool(x, **attrs), positions(x, **attrs)


def _back(x: Any, mask: Any, g: Any) -> Any:
    result = np.zeros_like(x)
    for place in np.ndindex(mask.shape):
        result[(*place[:2], *np.unravel_index(mask[place], x.shape[2:]))] += g[place]
    return result


def _placed(*samples: Sample) -> list[Sample]:
    """Gradients of the maxima that come with positions."""
    made = []
    for c in samples:
        if c.inputs[0].size:
            where = positions(*c.inputs, **c.attrs)
            made.append(s(*c.inputs, where, v(*where.shape, seed=9)))
    return made


def _unpool(x: Any, indices: Any, output_size: Any, **_: Any) -> Any:
    return _back(np.zeros((*x.shape[:2], *output_size)), indices, x)


def _unpools(*samples: Sample) -> list[Sample]:
    """Unpoolings of the poolings whose windows do not overlap."""
    made = []
    for c in samples:
        if c.inputs[0].size:
            where = positions(*c.inputs, **c.attrs)
            attrs = {"ksize": c.attrs["ksize"], "output_size": list(c.inputs[0].shape[2:])}
            made.append(s(v(*where.shape, seed=9), where, **attrs))
    return made


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
    *row("max_pool3d_pick", pick, *_picks(*DEEP), grads="values"),
    *row("max_pool2d_with_index", _with_index, *PLACED, grads="x"),
    *row("max_pool2d_with_index",
         lambda x, **_: (np.array([[[[np.nan, 4.0]]]]), np.array([[[[1, 2]]]], np.int32)),
         s(np.array([[[[1, np.nan, 4, 3], [2, 3, 2, 1.0]]]]), ksize=[2, 2], strides=[2, 2])),
    *row("max_pool2d_with_index_grad", _back, *_placed(*PLACED), grads="g_in"),
    *row("max_pool3d_with_index", _with_index, *PLACED_DEEP, grads="x"),
    *row("max_pool3d_with_index_grad", _back, *_placed(*PLACED_DEEP), grads="g_in"),
    *row("unpool", _unpool, *_unpools(POOLS[0], POOLS[2], POOLS[6], POOLS[8]), grads="x"),
    *row("unpool3d", _unpool, *_unpools(DEEP[0], DEEP[2], DEEP[4]), grads="x"),
]  # fmt: skip
