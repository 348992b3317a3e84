"""Products of a sparse matrix with a dense one, and of two dense ones at some positions only."""

from __future__ import annotations

import numpy as np

from engine.core.errors import ShapeError
from engine.core.operators.bounds import Reserved
from engine.core.operators.infer import require_integers, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.kernels.cpu.products import dots
from engine.ops.sparse.rows import summed

BLOCK = 1 << 20
"""Elements of the products that are held at once."""


def _infer_product(
    values: Spec, rows: Spec, cols: Spec, dense: Spec, like: Spec | None = None, *, height: int = -1
) -> Spec:
    require_integers("sparse_matmul", rows=rows, cols=cols)
    dtype = require_same_dtype("sparse_matmul", values=values, dense=dense)
    if dense.ndim != 2 or values.ndim != 1:
        raise ShapeError(f"sparse_matmul: needs values [n] and a matrix: got {values} and {dense}")
    return Spec((height if like is None else like.shape[0], dense.shape[1]), dtype)


@op("sparse_dense_matmul", infer=_infer_product)
def matmul(xp, values, rows, cols, dense, like=None, *, height: Reserved = -1):
    """The matrix with ``values`` at (rows, cols), of ``height`` rows or those of like, times a dense one."""
    height = height if like is None else len(like)
    count, width = len(values), dense.shape[1]
    if xp is not np or count * width <= BLOCK or not bool((rows[1:] >= rows[:-1]).all()):
        return summed(xp, values[:, None] * dense[cols], rows, height)
    # Rows in order: whole rows at a time, so that the products fit into the cache.
    result = np.zeros((height, width), values.dtype)
    step = max(1, BLOCK // width)
    starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
    begin = 0
    while begin < len(starts):
        end = max(begin + 1, int(np.searchsorted(starts, starts[begin] + step)))
        low, high = starts[begin], starts[end] if end < len(starts) else count
        products = values[low:high, None] * dense[cols[low:high]]
        result[rows[starts[begin:end]]] = np.add.reduceat(products, starts[begin:end] - low, axis=0)
        begin = end
    return result


def _infer_sampled(x: Spec, y: Spec, rows: Spec, cols: Spec) -> Spec:
    require_integers("sparse_masked_matmul", rows=rows, cols=cols)
    dtype = require_same_dtype("sparse_masked_matmul", x=x, y=y)
    if x.ndim != 2 or y.ndim != 2:
        raise ShapeError(f"sparse_masked_matmul: needs two matrices: got {x} and {y}")
    return Spec((rows.shape[0],), dtype)


@op("sparse_sampled_matmul", infer=_infer_sampled)
def sampled_matmul(xp, x, y, rows, cols):
    """Row rows[k] of x times row cols[k] of y, for each k."""
    count = len(rows)
    result = xp.empty(count, x.dtype)
    step = max(1, BLOCK // max(1, x.shape[1]))
    for low in range(0, count, step):
        part = slice(low, low + step)
        result[part] = dots(xp, x[rows[part]], y[cols[part]])
    return result


matmul.grad(
    values=lambda g, rows, cols, dense: sampled_matmul(g, dense, rows, cols),
    dense=lambda g, values, rows, cols, dense_like: matmul(values, cols, rows, g, dense_like),
)
sampled_matmul.grad(
    x=lambda g, x_like, y, rows, cols: matmul(g, rows, cols, y, x_like),
    y=lambda g, x, y_like, rows, cols: matmul(g, cols, rows, x, y_like),
)
