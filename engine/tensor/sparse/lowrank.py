"""Principal components of a sparse matrix, without making it dense."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.eager.sparse import Sparse
from engine.tensor import math
from engine.tensor.decompositions import principal_parts
from engine.tensor.reductions import reduction
from engine.tensor.sparse import parts
from engine.tensor.sparse.conversion import coalesce
from engine.tensor.sparse.products import matmul
from engine.tensor.sparse.rearranging import sum, transpose


def pca_lowrank(
    x: Sparse, q: int | None = None, center: bool = True, niter: int = 2, name: str | None = None
) -> tuple[Any, Any, Any]:
    """U, S and V, dense, of the ``q`` (6, or all if fewer) largest principal components of a sparse matrix's
    rows.

    A randomized method, see ``paddle.linalg.pca_lowrank``; ``center`` takes the mean of the columns off the
    products, so that x stays sparse. Works on the CPU too, where Paddle 2.6 does not compute it.
    """
    parts.require_sparse("pca_lowrank", x=x)
    if x.ndim != 2 or not x.dtype.is_floating_point:
        raise ArgumentError(
            f"pca_lowrank: x must be a floating matrix: got {x.dtype.name} of shape {list(x.shape)}"
        )
    rows, columns = x.shape
    count = min(6, rows, columns) if q is None else q
    if not 0 <= count <= min(rows, columns):
        raise ArgumentError(
            f"pca_lowrank: q must be between 0 and the smaller side, {min(rows, columns)}: got {q}"
        )
    if niter < 0:
        raise ArgumentError(f"pca_lowrank: niter must be at least 0: got {niter}")
    turned = transpose(x, [1, 0])
    mean = None
    if center:
        mean = math.scale(_column_sums(x), 1.0 / rows)

    def times(right: Any) -> Any:
        product = matmul(x, right)
        return (
            product if mean is None else math.subtract(product, reduction.sum(mean * right, 0, keepdim=True))
        )

    def turned_times(left: Any) -> Any:
        product = matmul(turned, left)
        return (
            product if mean is None else math.subtract(product, mean * reduction.sum(left, 0, keepdim=True))
        )

    return principal_parts(times, turned_times, [rows, columns], count, niter, x.dtype.name)


def _column_sums(x: Any) -> Any:
    """The sums of the columns, [columns, 1]."""
    plain = x if x.is_sparse_coo() else parts.coo(x.coordinates(), x._values, x.shape)
    return sum(coalesce(plain), 0).to_dense().reshape([-1, 1])
