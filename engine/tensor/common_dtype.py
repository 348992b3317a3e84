"""The dtypes of results whose operands have different ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.dtype import DType, bfloat16, default_dtype, float32, from_numpy

_INTEGER_RANK = {"bool": 0, "uint8": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5}


def common_dtype(x: DType, y: DType) -> DType:
    """The dtype that holds both: floating wins over integer, wide over narrow.

    NumPy's rule would widen int64 with float32 to float64; the field's (and ours) is float32. Paddle 2.6
    turns int32 + float32 into int32, which loses the fraction: we do not follow it there.
    """
    if x is y:
        return x
    if x.is_floating_point != y.is_floating_point and not (x.is_complex or y.is_complex):
        return x if x.is_floating_point else y
    if x.is_integer and y.is_integer and _INTEGER_RANK[x.name] != _INTEGER_RANK[y.name]:
        if {x.name, y.name} == {"uint8", "int8"}:
            return from_numpy(np.dtype(np.int16))
        return x if _INTEGER_RANK[x.name] > _INTEGER_RANK[y.name] else y
    if bfloat16 in (x, y):  # no half precision holds the other: their sum is float32
        x, y = (float32 if d is bfloat16 else d for d in (x, y))
    return from_numpy(np.promote_types(x.np, y.np))


def scalar_dtype(value: Any, dtype: DType) -> DType:
    """The dtype of the result of a tensor of ``dtype`` and a Python number."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, complex) and not dtype.is_complex:
        return from_numpy(np.dtype(np.complex64))
    if isinstance(value, float) and not (dtype.is_floating_point or dtype.is_complex):
        return default_dtype() if default_dtype().is_floating_point else float32
    if dtype.name == "bool" and not isinstance(value, bool):
        return from_numpy(np.dtype(np.int64))
    return dtype
