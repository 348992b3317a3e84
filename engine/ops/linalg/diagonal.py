"""Diagonals: reading, writing, and matrices built from them."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, OutOfRangeError, ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Size
from engine.core.operators.infer import normal_axis, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.ops.arrays import creation, shape


def diagonal_size(rows: int, cols: int, offset: int) -> int:
    """Number of elements on a diagonal; -1 where a dimension is not known."""
    if rows < 0 or cols < 0:
        return -1
    return max(0, min(rows, cols - offset) if offset >= 0 else min(rows + offset, cols))


def _two_axes(where: str, ndim: int, axis1: int, axis2: int) -> tuple[int, int]:
    if ndim < 2:
        raise OutOfRangeError(f"{where}: x needs at least 2 dimensions: got {ndim}; use diag() for a vector")
    first, second = normal_axis(where, axis1, ndim), normal_axis(where, axis2, ndim)
    if first == second:
        raise ArgumentError(
            f"{where}: axes {axis1} and {axis2} are the same dimension; a diagonal runs along two"
        )
    return first, second


def _infer_diagonal(x: Spec, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Spec:
    first, second = _two_axes("diagonal", x.ndim, axis1, axis2)
    rest = [d for n, d in enumerate(x.shape) if n not in (first, second)]
    return x.with_shape((*rest, diagonal_size(x.shape[first], x.shape[second], offset)))


@traits.complex_gradient
@op("diagonal", infer=_infer_diagonal, slots={"x": "Input"})
def diagonal(xp, x, *, offset: Size = 0, axis1=0, axis2=1):
    """The diagonals of the planes of two dimensions, as the last dimension."""
    first, second = _two_axes("diagonal", x.ndim, axis1, axis2)
    return _diagonal(xp, x, offset, first, second)


def _diagonal(xp: Any, x: Any, offset: int, first: int, second: int) -> Any:
    # NumPy keeps 32 bits of the offset, and then reads where x is not.
    return xp.diagonal(x, min(max(offset, -x.shape[first]), x.shape[second]), first, second).copy()


def _infer_fill(x: Spec, y: Spec, *, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Spec:
    require_same_dtype("fill_diagonal_tensor", x=x, y=y)
    first, second = _two_axes("fill_diagonal_tensor", x.ndim, dim1, dim2)
    rest = [d for n, d in enumerate(x.shape) if n not in (first, second)]
    want = (*rest, diagonal_size(x.shape[first], x.shape[second], offset))
    if y.ndim != len(want) or any(a != b and -1 not in (a, b) for a, b in zip(y.shape, want, strict=True)):
        raise ShapeError(
            f"fill_diagonal_tensor: y is {y}: diagonal {offset} of {x} along {dim1} and {dim2} has shape "
            f"{list(want)}; reshape y"
        )
    return x


@op("fill_diagonal_tensor", infer=_infer_fill)
def fill_diagonal(xp, x, y, *, offset: Size = 0, dim1=0, dim2=1):
    """x with the diagonals of the planes of two dimensions replaced by y (they are its last dimension)."""
    first, second = _two_axes("fill_diagonal_tensor", x.ndim, dim1, dim2)
    result = x.copy()
    moved = xp.moveaxis(result, (first, second), (-2, -1))
    rows, cols = _diagonal_places(xp, x.shape[first], x.shape[second], offset)
    if y.shape != (*moved.shape[:-2], len(rows)):
        raise ValueError("wrong shape")  # inference explains the error
    moved[..., rows, cols] = y
    return result


def _diagonal_places(xp: Any, rows: int, cols: int, offset: int) -> tuple[Any, Any]:
    steps = xp.arange(diagonal_size(rows, cols, offset))
    return steps + max(0, -offset), steps + max(0, offset)


fill_diagonal.grad(
    x=lambda g, y_like, **attrs: fill_diagonal(g, creation.fill_like(y_like, value=0.0), **attrs),
    y=lambda g, offset, dim1, dim2: diagonal(g, offset=offset, axis1=dim1, axis2=dim2),
)
diagonal.grad(
    x=lambda g, x_like, offset, axis1, axis2: fill_diagonal(
        creation.fill_like(x_like, value=0.0), g, offset=offset, dim1=axis1, dim2=axis2
    )
)


def _embedded(x: Spec, offset: int, dim1: int, dim2: int) -> tuple[int, int, int]:
    first, second = _two_axes("diag_embed", x.ndim + 1, dim1, dim2)
    return first, second, -1 if x.shape[-1] < 0 else x.shape[-1] + abs(offset)


def _infer_embed(x: Spec, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Spec:
    if x.ndim < 1:
        raise OutOfRangeError(f"diag_embed: x needs at least 1 dimension: got {x}; reshape it to [1]")
    first, second, size = _embedded(x, offset, dim1, dim2)
    made = list(x.shape[:-1])
    for axis in sorted((first, second)):
        made.insert(axis, size)
    return x.with_shape(made)


@traits.complex_gradient
@op("diag_embed", infer=_infer_embed, slots={"x": "Input"})
def diag_embed(xp, x, *, offset: Size = 0, dim1=-2, dim2=-1):
    """Zero matrices with the last dimension of x on a diagonal, in dimensions dim1 and dim2."""
    spec = _infer_embed(Spec(x.shape, "float32"), offset=offset, dim1=dim1, dim2=dim2)
    result = xp.zeros(spec.shape, x.dtype)
    first, second, size = _embedded(Spec(x.shape, "float32"), offset, dim1, dim2)
    rows, cols = _diagonal_places(xp, size, size, offset)
    xp.moveaxis(result, (first, second), (-2, -1))[..., rows, cols] = x
    return result


diag_embed.grad(x=lambda g, offset, dim1, dim2: diagonal(g, offset=offset, axis1=dim1, axis2=dim2))


def _infer_diag(x: Spec, *, offset: int = 0, padding_value: float = 0.0) -> Spec:
    if x.ndim > 2:
        raise ShapeError(f"diag: x must have at most 2 dimensions: got {x}; use diagonal() or diag_embed()")
    if x.ndim == 2:
        return x.with_shape((diagonal_size(x.shape[0], x.shape[1], offset),))
    size = (1 if x.ndim == 0 else x.shape[0]) + abs(offset)
    return x.with_shape((-1, -1) if x.shape == (-1,) else (size, size))


@traits.complex_gradient
@op("diag_v2", infer=_infer_diag)
def diag(xp, x, *, offset: Size = 0, padding_value=0.0):
    """A vector as the diagonal of a matrix (``padding_value`` elsewhere), or the diagonal of a matrix."""
    if x.ndim > 2:
        raise ValueError("too many dimensions")
    if x.ndim == 2:
        return _diagonal(xp, x, offset, 0, 1)
    x = x.reshape(-1)
    size = x.size + abs(offset)
    result = xp.full((size, size), padding_value, x.dtype)
    rows, cols = _diagonal_places(xp, size, size, offset)
    result[rows, cols] = x
    return result


def _diag_grad(g: Any, x_like: Any, offset: int) -> Any:
    if len(x_like.shape) == 2:
        return fill_diagonal(creation.fill_like(x_like, value=0.0), g, offset=offset)
    return shape.reshape_to(diagonal(g, offset=offset), x_like)


diag.grad(x=_diag_grad)
