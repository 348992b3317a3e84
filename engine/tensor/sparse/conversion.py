"""Between dense tensors, COO and CSR; elements at one position added up."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from engine.eager.sparse import Sparse
from engine.ops.arrays import shape as shapes
from engine.ops.arrays import sort
from engine.ops.elementwise import comparison
from engine.ops.reductions import reduce
from engine.ops.sparse import patterns, rows
from engine.tensor.arguments.caught import explain_public as _explain_public
from engine.tensor.creation import zeros_like
from engine.tensor.sparse import parts
from engine.tensor.tensor_like import AnyTensor


def to_sparse_coo(x: AnyTensor | Sparse, sparse_dim: int | None = None) -> Sparse:
    """A COO tensor of the elements of x that are not zero, whose first ``sparse_dim`` dimensions are sparse.

    A CSR tensor keeps all elements, and all its dimensions become sparse.
    """
    if sparse_dim is None:
        raise DTypeError("to_sparse_coo: missing a required argument: 'sparse_dim'")
    if isinstance(x, Sparse):
        if not x.is_sparse_csr():
            raise UnsupportedError("to_sparse_coo: x is a COO tensor already")
        return parts.coo(x.coordinates(), x._values, x.shape)
    if not 0 < sparse_dim <= x.ndim:
        raise ArgumentError(f"to_sparse_coo: sparse_dim must be between 1 and {x.ndim}: got {sparse_dim}")
    indices = _nonzero(x, sparse_dim)
    return parts.coo(indices, rows.pick(x, indices, depth=sparse_dim), x.shape)


def to_sparse_csr(x: AnyTensor | Sparse) -> Sparse:
    """A CSR tensor of the elements of x, a matrix or a batch of them, that are not zero.

    A COO tensor keeps all elements.

    Differs from Paddle: the elements of a COO tensor are sorted, and gradients flow back to it.
    """
    if x.ndim not in (2, 3):
        raise ShapeError(f"to_sparse_csr: a CSR tensor has 2 or 3 dimensions: got {list(x.shape)}")
    if not isinstance(x, Sparse):
        indices = _nonzero(x, x.ndim)
        return parts.csr_of_sorted(indices, rows.pick(x, indices, depth=x.ndim), x.shape)
    if x.is_sparse_csr():
        raise UnsupportedError("to_sparse_csr: x is a CSR tensor already")
    if x.depth != x.ndim:
        raise ShapeError(f"to_sparse_csr: all dimensions must be sparse: x has {x.depth} of {x.ndim}")
    return parts.csr_of(x.coordinates(), x._values, x.shape)


def _nonzero(x: Any, depth: int) -> Any:
    """The positions in the first dimensions of x where anything is not zero."""
    used = comparison.not_equal(x.detach(), zeros_like(x))
    if depth < x.ndim:
        used = reduce.any(used, axis=list(range(depth, x.ndim)), keepdim=False, reduce_all=False)
    return shapes.transpose(sort.nonzero(used), axis=[1, 0])


def coalesce(x: Sparse, name: str | None = None) -> Sparse:
    """A COO tensor with the positions in order, the values of each position added up.

    Differs from Paddle: gradients flow through it.
    """
    parts.require_coo("coalesce", x=x)
    unique, numbers = patterns.groups(x.coordinates(), shape=parts.at_depth(x))
    return parts.coo(unique, rows.sum_rows(x._values, numbers, unique[0]), x.shape)


_explain_public(globals())
