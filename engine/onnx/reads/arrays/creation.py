"""Rows that create tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.onnx.reads.elementwise import dtype_name
from engine.onnx.reads.rows import Known, Sizes, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import Unreadable, require_size, sizes_of


@reads("Constant")
def _(
    g: Any,
    *,
    value: Any = None,
    value_float: Any = None,
    value_floats: Any = None,
    value_int: Any = None,
    value_ints: Any = None,
    value_string: Any = None,
    value_strings: Any = None,
    sparse_value: Any = None,
) -> Any:
    for given, kind in (
        (value, None),
        (value_float, np.float32),
        (value_floats, np.float32),
        (value_int, np.int64),
        (value_ints, np.int64),
    ):
        if given is not None:
            return np.asarray(given, kind)
    raise Unreadable("its value is not an array of numbers")


@reads("ConstantOfShape")
def _(g: Any, input: Sizes, *, value: Any = None) -> Any:
    filling = np.zeros(1, np.float32) if value is None else np.asarray(value).reshape(-1)[:1]
    require_size(input, filling.itemsize)
    if all(isinstance(d, int) for d in input) and np.prod(input, dtype=np.float64) <= 1 << 16:
        return np.full(input, filling[0], filling.dtype)
    return T.full(input, filling[0].item(), str(filling.dtype))


@reads("Range")
def _(start: Any, limit: Any, delta: Any) -> Any:
    kind = start.dtype.name
    return T.arange(*(T.reshape(v, []) for v in (start, limit, delta)), dtype=kind)


@reads("EyeLike")
def _(input: Any, *, dtype: int | None = None, k: int = 0) -> Any:
    name = input.dtype.name if dtype is None else dtype_name(dtype)
    rows, columns = sizes_of(input)
    down = T.unsqueeze(T.arange(0, rows, 1, "int64"), [1])
    right = T.unsqueeze(T.arange(0, columns, 1, "int64"), [0])
    return T.cast(T.equal(T.add(down, T.full([], k, "int64")), right), name)


@reads("OneHot")
def _(indices: Any, depth: Known, values: Any, *, axis: int = -1) -> Any:
    count = int(depth.reshape(-1)[0])
    require_size([count])
    axis = axis % (indices.ndim + 1)
    shape = [1] * (indices.ndim + 1)
    shape[axis] = count
    places = T.reshape(T.arange(0, count, 1, "int64"), shape)
    size = T.full([], count, "int64")
    at = T.unsqueeze(T.cast(indices, "int64"), [axis])
    at = T.where(T.less_than(at, T.full([], 0, "int64")), T.add(at, size), at)
    off, on = (T.slice(values, [0], [n], [n + 1]) for n in (0, 1))
    return T.where(T.equal(at, places), T.reshape(on, []), T.reshape(off, []))


@reads("NonZero")
def _(X: Any) -> Any:
    found = T.nonzero(X if X.ndim else T.reshape(X, [1]))
    return T.transpose(found, [1, 0])
