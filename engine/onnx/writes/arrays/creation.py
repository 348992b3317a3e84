"""Rows of arrays of constants and ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.values.dtype import DType, as_dtype
from engine.onnx.extra import onnx_package
from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import Size, joined, number, shape_of, size


def computed(g: Graph) -> Value:
    """The result of an operator without inputs, computed now."""
    return g.constant(np.asarray(g.operator.opdef.kernel(np, **g.operator.attrs)))


def filled(g: Graph, shape: Value, value: float, dtype: DType | str) -> Value:
    """A tensor of one value; ``shape`` is a vector of int64."""
    one = np.full((1,), value).astype(as_dtype(dtype).np)
    return g.ConstantOfShape(shape, value=onnx_package().numpy_helper.from_array(one))


def with_dims(
    g: Graph, shape: Sequence[int], dims: Sequence[Value] | None, places: Sequence[int] | None = None
) -> list[Size]:
    """``shape`` with the numbers in ``dims`` at ``places``: by default where it is -1."""
    made: list[Size] = [int(d) for d in shape]
    if dims:
        where = [n for n, d in enumerate(shape) if d == -1] if places is None else places
        for place, given in zip(where, dims, strict=True):
            made[place] = number(g, given)
    return made


@writes("fill_constant")
def _(g: Graph, dims: Any, *, shape: Any, value: float, dtype: Any) -> Value:
    return filled(g, joined(g, with_dims(g, shape, dims)), value, dtype)


@writes("fill_any_like")
def _(g: Graph, x: Value, *, value: float, dtype: Any) -> Value:
    return filled(g, shape_of(g, x), value, g.result().dtype)


@writes("fill_constant_batch_size_like")
def _(
    g: Graph, like: Value, *, shape: Any, value: float, dtype: Any, input_dim_idx: int, output_dim_idx: int
) -> Value:
    made: list[Size] = [int(d) for d in shape]
    made[output_dim_idx] = size(g, like, input_dim_idx)
    return filled(g, joined(g, made), value, dtype)


@writes("range")
def _(g: Graph, *, start: float, end: float, step: float, dtype: Any) -> Value:
    return computed(g)


@writes("assign_value")
def _(g: Graph, *, shape: Any, values: Any, dtype: Any) -> Value:
    return computed(g)
