"""Products of a matrix or vector with weights that stay."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from engine.kernels.cpu.products import SHARD, product
from engine.program.run.frozen.site import Array, Bound, Site


def matmul(site: Site) -> Bound | None:
    """``x @ weight``, the weight a matrix."""
    weight, attrs = site.values[1], site.attrs
    if weight is None or weight.ndim != 2 or attrs["trans_x"] or site.inputs[0].ndim < 2:
        return None
    rows = math.prod(site.inputs[0].shape[:-1])
    return _product(site, weight.T if attrs["trans_y"] else weight, rows)


def mul(site: Site) -> Bound | None:
    """The product of x and the weight as matrices."""
    weight, attrs = site.values[1], site.attrs
    if weight is None:
        return None
    rows = math.prod(site.inputs[0].shape[: attrs["x_num_col_dims"]])
    inner = math.prod(weight.shape[: attrs["y_num_col_dims"]])
    return _product(site, weight.reshape(inner, -1), rows)


def _product(site: Site, weight: Array, rows: int) -> Bound | None:
    place, buffer = site.known(0), site.buffer()
    if place is None or not site.plain or not place.size or not weight.size:
        return None
    x = place.reshape(rows, weight.shape[0])
    if not np.shares_memory(x, place):
        return None  # it would be copied in each call
    if rows > 1:
        large = rows * weight.size >= 2 * SHARD
        call = partial(product, np) if large else np.matmul
        if buffer is None:
            return Bound(lambda: call(x, weight).reshape(site.out.shape), None)
        return Bound(partial(call, x, weight, buffer.reshape(rows, -1)), buffer)
    if buffer is None:
        return Bound(lambda: np.dot(x[0], weight).reshape(site.out.shape), None)
    return Bound(partial(np.dot, x[0], weight, buffer.reshape(-1)), buffer)
