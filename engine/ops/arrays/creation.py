"""Arrays of constants and ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Number, Size
from engine.core.operators.infer import normal_axis
from engine.core.operators.opdef import op
from engine.core.place import Array
from engine.core.values.bfloat import filled
from engine.core.values.dtype import as_dtype, require_fitting
from engine.core.values.spec import Spec
from engine.ops.elementwise import arithmetic


@op(
    "fill_constant",
    infer=lambda dims=None, *, shape, value, dtype: Spec(shape, dtype),
    slots={"dims": "ShapeTensorList"},
)
def fill(xp, dims: list | None = None, *, shape: Size, value=0.0, dtype="float32"):
    """A tensor of one value; ``dims`` holds, as tensors, the sizes that are -1 in ``shape``."""
    return xp.full(sizes(shape, dims), value, dtype=as_dtype(dtype).np)


def sizes(
    shape: Sequence[int],
    dims: Sequence[Array] | None = None,
    places: Sequence[int] | None = None,
    least: int = 0,
) -> tuple[int, ...]:
    """``shape`` with the numbers in ``dims``, ``least`` or more, at ``places``: by default where it is -1."""
    made = list(shape)
    if dims:
        where = [n for n, d in enumerate(made) if d == -1] if places is None else places
        for place, number in zip(where, dims, strict=True):
            made[place] = int(number.reshape(()))
            if made[place] < least:
                raise ShapeError(f"shape: {made} has a negative dimension; give every size")
    return tuple(made)


@traits.complex_gradient
@op(
    "fill_any_like",
    infer=lambda x, *, value, dtype: x if dtype is None else x.with_dtype(dtype),
)
def fill_like(xp, x, *, value=0.0, dtype=None):
    """A tensor of one value in the shape (and dtype) of x."""
    if dtype is None:
        return xp.full(x.shape, value, dtype=x.dtype)
    return filled(xp, x.shape, value, as_dtype(dtype))


fill_like.grad(x=lambda g: arithmetic.scale(g, scale=0.0))


def _infer_range(*, start: Any, end: Any, step: Any, dtype: Any) -> Spec:
    return Spec((max(0, int(np.ceil((end - start) / step))),), dtype)


@op("range", infer=_infer_range)
def arange(xp, *, start: Number, end: Number, step: Number, dtype="int64"):
    """Evenly spaced values from start, below end."""
    made, kind = xp.arange(start, end, step), as_dtype(dtype)
    require_fitting("arange", made[:: max(made.size - 1, 1)], kind)  # the first and the last
    return made.astype(kind.np)


def _infer_batch(
    like: Spec, *, shape: Any, dtype: str, input_dim_idx: int, output_dim_idx: int, **_: Any
) -> Spec:
    where = "fill_constant_batch_size_like"
    dims = list(shape)
    if like.ndim == 0:
        raise ShapeError(f"{where}: a batch needs its own dimension: got {like}; unsqueeze it")
    batch = like.shape[normal_axis(where, input_dim_idx, like.ndim)]
    dims[normal_axis(where, output_dim_idx, len(dims))] = batch
    return Spec(dims, dtype)


@op("fill_constant_batch_size_like", infer=_infer_batch, slots={"like": "Input"})
def fill_batch(xp, like, *, shape: Size, value=0.0, dtype="float32", input_dim_idx=0, output_dim_idx=0):
    """A tensor of one value, whose size in dimension output_dim_idx is that of ``like`` in input_dim_idx."""
    dims = list(shape)
    dims[output_dim_idx] = like.shape[input_dim_idx]
    return filled(xp, tuple(dims), value, as_dtype(dtype))
