"""Reductions in plans: checks that the operator's kernel makes in every call are made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from engine.core.operators.infer import normal_axes
from engine.core.operators.opdef import OPS
from engine.kernels.cpu.sums import by_ones
from engine.kernels.fast import Fast

Array = Any


def reduce_sum(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``reduce_sum``, where a product with ones is its sum."""
    (x,), axis = inputs, attrs.get("axis")
    if x.dtype.name not in ("float32", "float64") or attrs.get("reduce_all") or not axis:
        return None
    axes = normal_axes("reduce", axis, x.ndim)
    way = by_ones(x.shape, x.dtype.np.char, axes, bool(attrs.get("keepdim")))
    if way is None:
        return None
    slow = partial(OPS["reduce_sum"].kernel, np, **attrs)
    return Fast(lambda x: way(x) if x.flags.c_contiguous else slow(x), [])
