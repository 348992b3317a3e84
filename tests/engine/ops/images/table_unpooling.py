"""Rows of the operators in ``engine/ops/images/unpooling.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, Sample, row, s, v
from tests.engine.ops.images.references import DEEP, POOLS
from tests.engine.ops.windows import pool, positions

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


CASES: list[Case] = [
    *row("max_pool2d_with_index", _with_index, *PLACED, grads="x"),
    *row("max_pool2d_with_index",
         lambda x, **_: (np.array([[[[np.nan, 4.0]]]]), np.array([[[[1, 2]]]], np.int32)),
         s(np.array([[[[1, np.nan, 4, 3], [2, 3, 2, 1.0]]]]), ksize=[2, 2], strides=[2, 2])),
    *row("max_pool2d_with_index_grad", _back, *_placed(*PLACED), grads="g_in"),
    *row("max_pool3d_with_index", _with_index, *PLACED_DEEP, grads="x"),
    *row("max_pool3d_with_index_grad", _back, *_placed(*PLACED_DEEP), grads="g_in"),
    *row("unpool", _unpool, *_unpools(POOLS[0], POOLS[2], POOLS[6], POOLS[8]), grads="x"),
    *row("unpool3d", _unpool, *_unpools(DEEP[0], DEEP[2], DEEP[4]), grads="x")
]
