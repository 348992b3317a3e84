"""Triangles of matrices, and the positions of their elements."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Size
from engine.core.operators.opdef import op
from engine.core.values.dtype import as_dtype
from engine.core.values.spec import Spec
from engine.ops.arrays.repeat import repeated


def _infer_triangle(x: Spec, **_: Any) -> Spec:
    if x.ndim < 2:
        raise ShapeError(f"tril/triu: x needs at least 2 dimensions: got {x}; a matrix or a batch of them")
    return x


@traits.complex_gradient
@op("tril_triu", infer=_infer_triangle)
def tril_triu(xp, x, *, diagonal: Size = 0, lower=True):
    """The lower (or upper) triangle of the last two dimensions, zeros elsewhere."""
    if x.ndim < 2:
        raise ValueError("too few dimensions")  # inference explains the error
    return xp.tril(x, diagonal) if lower else xp.triu(x, diagonal)


tril_triu.grad(x=lambda g, **attrs: tril_triu(g, **attrs))


def _indices(name: str) -> Any:
    def infer(*, rows: int, cols: int, offset: int = 0, dtype: str = "int64") -> Spec:
        for what, value in (("row", rows), ("col", cols)):
            if value < 0:
                raise ArgumentError(f"{name}: {what} must not be negative: got {value}; use 0 or more")
        lower = name == "tril_indices"
        below = _below(rows, cols, offset + 1 if lower else offset)
        return Spec((2, below if lower else rows * cols - below), dtype)

    return infer


def _below(rows: int, cols: int, first: int) -> int:
    """The sum over all rows r of ``first + r``, within 0 and ``cols``."""
    empty = min(max(-first, 0), rows)  # rows with nothing
    partial = min(max(cols - first, 0), rows) - empty  # rows that the diagonal cuts
    start = first + empty
    return max(partial, 0) * (2 * start + partial - 1) // 2 + (rows - empty - max(partial, 0)) * cols


@op("tril_indices", infer=_indices("tril_indices"))
def tril_indices(xp, *, rows: Size, cols: Size, offset: Size = 0, dtype="int64"):
    """Row and column numbers of the elements of a lower triangle, row by row."""
    first = max(-offset, 0)  # the first row with elements
    numbers = xp.arange(first, rows if cols else first)
    return _rows_and_columns(xp, numbers, 0 * numbers, xp.minimum(numbers + offset + 1, cols), dtype)


@op("triu_indices", infer=_indices("triu_indices"))
def triu_indices(xp, *, rows: Size, cols: Size, offset: Size = 0, dtype="int64"):
    """Row and column numbers of the elements of an upper triangle, row by row."""
    numbers = xp.arange(max(min(rows, cols - offset), 0))  # the rows with elements
    return _rows_and_columns(xp, numbers, xp.maximum(numbers + offset, 0), 0 * numbers + cols, dtype)


def _rows_and_columns(xp: Any, rows: Any, begins: Any, ends: Any, dtype: Any) -> Any:
    """The row and column numbers of the elements from ``begins`` to ``ends`` of some rows."""
    counts = ends - begins
    places = repeated(xp, xp.arange(len(rows)), counts)
    skipped = xp.cumsum(counts) - counts  # elements before each row
    columns = xp.arange(len(places)) - (skipped - begins)[places]
    return xp.stack([rows[places], columns]).astype(as_dtype(dtype).np)
