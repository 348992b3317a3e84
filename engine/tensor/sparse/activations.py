"""Activations of sparse tensors: functions that keep zero at zero, and softmax over the stored elements."""

from __future__ import annotations

from engine.core.errors import UnsupportedError
from engine.core.operators.infer import normal_axis
from engine.eager.sparse import Sparse
from engine.ops.activations import piecewise
from engine.ops.activations import softmax as softmax_ops
from engine.ops.arrays import scatter
from engine.ops.sparse import patterns, rows
from engine.tensor import math
from engine.tensor.creation import to_tensor, zeros_like
from engine.tensor.elementwise import exponential
from engine.tensor.sparse import parts


def relu(x: Sparse, name: str | None = None) -> Sparse:
    """max(x, 0) of the stored elements of a sparse tensor."""
    parts.require_sparse("relu", x=x)
    return x.with_values(piecewise.relu(x._values))


def relu6(x: Sparse, name: str | None = None) -> Sparse:
    """min(max(x, 0), 6) of the stored elements of a sparse tensor."""
    parts.require_sparse("relu6", x=x)
    return x.with_values(piecewise.relu6(x._values))


def leaky_relu(x: Sparse, negative_slope: float = 0.01, name: str | None = None) -> Sparse:
    """x above 0 and negative_slope * x below, of the stored elements of a sparse tensor."""
    parts.require_sparse("leaky_relu", x=x)
    return x.with_values(piecewise.leaky_relu(x._values, alpha=negative_slope))


def softmax(x: Sparse, axis: int = -1, name: str | None = None) -> Sparse:
    """Softmax over the stored elements of a sparse tensor along an axis, the last one for CSR."""
    parts.require_sparse("softmax", x=x)
    along = normal_axis("softmax", int(axis), x.ndim)
    if x.is_sparse_csr() and axis != -1:
        raise UnsupportedError(f"softmax: a CSR tensor takes axis -1 only: got {axis}; use to_sparse_coo()")
    depth = x.depth
    if along >= depth:
        return x.with_values(softmax_ops.softmax(x._values, axis=along - depth + 1))
    left = [n for n in range(depth) if n != along]
    indices = x.coordinates()
    chosen = scatter.index_select(indices, to_tensor(left, "int64"), dim=0) if left else zeros_like(indices)
    unique, which = patterns.groups(chosen, shape=[x.shape[n] for n in left] or [1])
    largest = rows.max_rows(x._values.detach(), which, unique[0])
    raised = exponential.exp(math.subtract(x._values, rows.take_rows(largest, which)))
    totals = rows.sum_rows(raised, which, unique[0])
    return x.with_values(math.divide(raised, rows.take_rows(totals, which)))
