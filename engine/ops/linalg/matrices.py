"""Checks and reshaping that operators on matrices share."""

from __future__ import annotations

from typing import Any

from engine.core.attached import Attached
from engine.core.errors import ArgumentError, GradientError, ShapeError
from engine.core.operators.infer import require_floating
from engine.core.place import Array, ArrayModule
from engine.core.values.spec import Spec
from engine.ops.arrays import shape


def require_matrices(where: str, x: Spec, square: bool = False) -> None:
    """Raise where x is not a batch of (square) floating matrices."""
    require_floating(where, x=x)
    if x.ndim < 2:
        raise ShapeError(f"{where}: x is {x}; it must be a matrix, or a batch of them")
    if square and x.shape[-1] != x.shape[-2] and -1 not in x.shape[-2:]:
        raise ShapeError(f"{where}: x is {x}; its matrices must be square")


def known_sides(where: str, x: Attached) -> tuple[int, int]:
    """Rows and columns of the matrices, for a gradient whose form depends on which is larger."""
    rows, columns = (int(d) for d in x.shape[-2:])
    if -1 in (rows, columns):
        raise GradientError(
            f"{where}: its gradient needs a known number of rows and columns: got {list(x.shape)}; "
            "fix them in the InputSpec"
        )
    return rows, columns


def swapped(x: Attached) -> Any:
    """The transposed matrices."""
    return shape.transpose(x, axis=[*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def column(x: Attached) -> Any:
    """Vectors as matrices of one column."""
    return shape.unsqueeze(x, axes=[x.ndim])


def as_row(x: Attached) -> Any:
    """Vectors as matrices of one row."""
    return shape.unsqueeze(x, axes=[x.ndim - 1])


def require_finite(where: str, xp: ArrayModule, x: Array) -> None:
    """Raise ArgumentError for NaN or infinity, with which LAPACK may search without end."""
    if not xp.isfinite(x).all():
        raise ArgumentError(
            f"{where}: x, shape {list(x.shape)}, contains NaN or infinity, so it has no singular values; "
            "replace them first, for example by nan_to_num()"
        )
