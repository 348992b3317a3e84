"""Functions of two sparse tensors, element by element."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ShapeError, UnsupportedError
from engine.core.values.dtype import float32
from engine.eager.sparse import Sparse
from engine.ops.sparse import patterns, rows
from engine.tensor import math
from engine.tensor.sparse import parts
from engine.tensor.sparse.unary import cast, scaled
from engine.tensor.tensor_like import AnyTensor


def add(x: Sparse, y: AnyTensor | Sparse, name: str | None = None) -> Sparse:
    """x + y, with an element wherever one of them has one, in the dtype of x.

    y may be a dense vector that is added to each row of values of a COO tensor with a dense last dimension.
    """
    parts.require_sparse("add", x=x)
    if not isinstance(y, Sparse):
        return _plus_vector(x, y)
    return _elementwise("add", math.add, x, y)


def subtract(x: Sparse, y: Sparse, name: str | None = None) -> Sparse:
    """x - y, with an element wherever one of them has one, in the dtype of x."""
    return _elementwise("subtract", math.subtract, x, y)


def multiply(x: Sparse, y: Sparse | float, name: str | None = None) -> Sparse:
    """x * y, with an element wherever one of them has one, in the dtype of x; y may be a number."""
    if isinstance(y, (int, float)):
        parts.require_sparse("multiply", x=x)
        return scaled(x, float(y))
    return _elementwise("multiply", math.multiply, x, y)


def divide(x: Sparse, y: Sparse | float, name: str | None = None) -> Sparse:
    """x / y; y may be a number. The quotient of two tensors has all elements: 0 / 0 is nan.

    Integers become float32.
    """
    parts.require_sparse("divide", x=x)
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        x = cast(x, value_dtype=float32)
    if isinstance(y, (int, float)):
        return x.with_values(math.divide(x._values, float(y)))
    return _elementwise("divide", math.divide, x, y, everywhere=True)


def _plus_vector(x: Sparse, y: Any) -> Sparse:
    if not hasattr(y, "shape"):
        raise UnsupportedError(f"add: y must be a tensor: got {type(y).__name__}; zero would not stay zero")
    if x.is_sparse_csr() or x.depth != x.ndim - 1 or list(y.shape) != [x.shape[-1]]:
        raise UnsupportedError(
            "add: a dense y must be a vector of the dense last dimension of a COO tensor: "
            f"got {list(y.shape)} for {list(x.shape)} with {x.depth} sparse dimensions; use to_dense()"
        )
    made: Sparse = x.with_values(math.add(x._values, y if y.dtype is x.dtype else math.cast(y, x.dtype)))
    return made


def _elementwise(where: str, function: Any, x: Any, y: Any, everywhere: bool = False) -> Sparse:
    parts.require_sparse(where, x=x, y=y)
    if x.is_sparse_csr() != y.is_sparse_csr():
        raise UnsupportedError(f"{where}: x and y must both be COO or both be CSR; convert one of them")
    if list(x.shape) != list(y.shape) or x.depth != y.depth:
        raise ShapeError(
            f"{where}: shapes must be equal: got {list(x.shape)} with {x.depth} sparse dimensions and "
            f"{list(y.shape)} with {y.depth}"
        )
    if y.dtype is not x.dtype:
        y = cast(y, value_dtype=x.dtype)
    if not everywhere and all(a is b for a, b in zip(x._pattern, y._pattern, strict=True)):
        same: Sparse = x.with_values(function(x._values, y._values))
        return same
    indices, first, second = patterns.union(
        x.coordinates(), y.coordinates(), shape=parts.at_depth(x), everywhere=everywhere
    )
    values = function(
        rows.sum_rows(x._values, first, indices[0]), rows.sum_rows(y._values, second, indices[0])
    )
    make = parts.csr_of_sorted if x.is_sparse_csr() else parts.coo
    return make(indices, values, x.shape)


def is_same_shape(x: AnyTensor | Sparse, y: AnyTensor | Sparse) -> bool:
    """Whether x and y, sparse or dense, have the same shape."""
    return list(x.shape) == list(y.shape)
