"""Diagonals of matrices: reading them, putting them, and matrices built from them."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.infer import normal_axis
from engine.ops.arrays import index as index_ops
from engine.ops.arrays import shape as shape_ops
from engine.ops.elementwise import arithmetic
from engine.ops.linalg import diagonal as ops
from engine.program.build.calls import takes_name
from engine.program.graph.unknown import Unknown
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.arguments.sizes import whole
from engine.tensor.creation import full
from engine.tensor.members.inplace import replace
from engine.tensor.tensor_like import AnyTensor


@takes_name
def diag(x: AnyTensor, offset: int = 0, padding_value: float = 0, name: str | None = None) -> Any:
    """A vector as the diagonal of a matrix, ``padding_value`` elsewhere; of a matrix its diagonal."""
    return ops.diag(x, offset=whole("diag", offset), padding_value=padding_value)


@takes_name
def diagflat(x: AnyTensor, offset: int = 0, name: str | None = None) -> Any:
    """All elements, flattened, as the diagonal of a matrix of zeros."""
    return ops.diag(shape_ops.flatten(x, start_axis=0, stop_axis=-1), offset=whole("diagflat", offset))


def diag_embed(input: AnyTensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The last dimension as the diagonals of matrices of zeros, which take dimensions dim1 and dim2."""
    return ops.diag_embed(input, offset=whole("diag_embed", offset), dim1=dim1, dim2=dim2)


@takes_name
def diagonal(x: AnyTensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Any:
    """The diagonals of the planes of two dimensions, as the last dimension.

    Differs from Paddle: the result is a copy, not a view.
    """
    return ops.diagonal(x, offset=whole("diagonal", offset), axis1=axis1, axis2=axis2)


@takes_name
def fill_diagonal_tensor(
    x: AnyTensor, y: AnyTensor, offset: int = 0, dim1: int = 0, dim2: int = 1, name: str | None = None
) -> Any:
    """x with the diagonals of the planes of two dimensions replaced by y, whose last dimension they are."""
    return ops.fill_diagonal(x, y, offset=whole("fill_diagonal_tensor", offset), dim1=dim1, dim2=dim2)


@takes_name
def fill_diagonal_tensor_(
    x: AnyTensor, y: AnyTensor, offset: int = 0, dim1: int = 0, dim2: int = 1, name: str | None = None
) -> Any:
    """In place: the diagonals of the planes of two dimensions become y."""
    return replace("fill_diagonal_tensor_", x, fill_diagonal_tensor(x, y, offset, dim1, dim2), always=False)


@takes_name
def diagonal_scatter(
    x: AnyTensor, y: AnyTensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Any:
    """x with y put on the diagonals of the planes of two dimensions."""
    if y.dtype is not x.dtype:
        y = arithmetic.cast(y, out_dtype=x.dtype.name)
    return ops.fill_diagonal(x, y, offset=whole("diagonal_scatter", offset), dim1=axis1, dim2=axis2)


@takes_name
def fill_diagonal_(
    x: AnyTensor, value: float, offset: int = 0, wrap: bool = False, name: str | None = None
) -> Any:
    """In place: the main diagonal becomes ``value``; with ``wrap`` it begins again below a tall matrix.

    With more than 2 dimensions, all equal, the elements whose places are equal in all of them.
    """
    sizes = list(x.shape)
    if x.ndim < 2 or any(isinstance(d, Unknown) for d in sizes):
        raise ShapeError(f"fill_diagonal_: x must have at least 2 dimensions, all known: got {sizes}")
    if x.ndim > 2 and len(set(sizes)) > 1:
        raise ShapeError(f"fill_diagonal_: more than 2 dimensions must be equal: got {sizes}")
    offset = whole("fill_diagonal_", offset)
    step, total = sum(_step(sizes, n) for n in range(x.ndim)), _step(sizes, -1)
    last = total if x.ndim > 2 or wrap else min(total, sizes[1] * sizes[1])
    places = [p + offset for p in range(0, last, step)]
    if x.ndim == 2:  # an offset moves along the row and must not reach the next
        places = [p for p in places if 0 <= (p - offset) % sizes[1] + offset < sizes[1]]
    places = [p for p in places if 0 <= p < total]
    flat = shape_ops.reshape(x, shape=[-1])
    if places:
        at = {"index": (("slice", places[0], places[-1] + 1, step),)}
        flat = index_ops.setitem(flat, full([], value, x.dtype), [], **at)
    return replace("fill_diagonal_", x, shape_ops.reshape(flat, shape=sizes), always=False)


def _step(sizes: list[int], axis: int) -> int:
    total = 1
    for size in sizes[axis + 1 :]:
        total *= size
    return total


@takes_name
def select_scatter(x: AnyTensor, values: AnyTensor, axis: int, index: int, name: str | None = None) -> Any:
    """x with the slice number ``index`` along ``axis`` replaced by ``values``."""
    axis = normal_axis("select_scatter", whole("select_scatter", axis), x.ndim)
    index = whole("select_scatter", index)
    if not is_tensor(values) or list(values.shape) != [d for n, d in enumerate(x.shape) if n != axis]:
        raise ArgumentError(
            f"select_scatter: values has shape {list(getattr(values, 'shape', []))}: x is {list(x.shape)}; "
            f"it needs the shape of x without dimension {axis}"
        )
    if values.dtype is not x.dtype:
        values = arithmetic.cast(values, out_dtype=x.dtype.name)
    where = (*(("slice", None, None, None),) * axis, index)
    return index_ops.setitem(x, values, [], index=where)
