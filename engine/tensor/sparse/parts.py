"""Sparse tensors from positions and values, eager or in a Program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from engine.core import mode as modes
from engine.core.errors import DTypeError, ShapeError, UnsupportedError
from engine.eager.sparse import Sparse, SparseCooTensor, SparseCsrTensor
from engine.eager.tensor import Tensor
from engine.ops.arrays import scatter
from engine.ops.sparse import patterns, rows
from engine.tensor.tensor_like import AnyTensor


class SparseVariable(Sparse):
    """A sparse value of a Program: its positions and its values are Variables."""

    __slots__ = ("_pattern", "_size", "_values")

    def __init__(self, pattern: Sequence[AnyTensor], values: AnyTensor, shape: Sequence[int]) -> None:
        self._pattern = tuple(pattern)
        self._values = values
        self._size = tuple(int(d) for d in shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each dimension."""
        return self._size

    @property
    def stop_gradient(self) -> bool:
        """False where gradients flow to the values."""
        return bool(self._values.stop_gradient)

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        self._values.stop_gradient = value

    def __repr__(self) -> str:
        layout = "CSR" if self._csr else "COO"
        return f"<sparse {layout} Variable, {self.dtype.name}{list(self._size)}>"


class CsrVariable(SparseVariable):
    """A sparse matrix of a Program, stored row by row."""

    __slots__ = ()

    _csr = True


def coo(indices: AnyTensor, values: AnyTensor, shape: Sequence[int]) -> Sparse:
    """A sparse tensor with values at indices."""
    if modes.is_symbolic(values) or modes.is_symbolic(indices):
        return SparseVariable((indices,), values, shape)
    return SparseCooTensor((cast(Tensor, indices),), cast(Tensor, values), shape)


def csr(crows: AnyTensor, cols: AnyTensor, values: AnyTensor, shape: Sequence[int]) -> Sparse:
    """A sparse tensor with values stored row by row."""
    if modes.is_symbolic(values) or modes.is_symbolic(cols):
        return CsrVariable((crows, cols), values, shape)
    return SparseCsrTensor((cast(Tensor, crows), cast(Tensor, cols)), cast(Tensor, values), shape)


def csr_of_sorted(indices: AnyTensor, values: AnyTensor, shape: Sequence[int]) -> Sparse:
    """A CSR tensor of positions in row-major order."""
    if len(shape) not in (2, 3):
        raise ShapeError(f"sparse: a CSR tensor has 2 or 3 dimensions: got {list(shape)}; use a COO tensor")
    return csr(patterns.crows(indices, shape=list(shape)), indices[-1], values, shape)


def csr_of(indices: AnyTensor, values: AnyTensor, shape: Sequence[int]) -> Sparse:
    """A CSR tensor of positions in any order."""
    order = patterns.order(indices, shape=list(shape))
    return csr_of_sorted(columns(indices, order), rows.take_rows(values, order), shape)


def columns(indices: AnyTensor, which: AnyTensor) -> Any:
    """Some of the positions, by number."""
    return scatter.index_select(indices, which, dim=1)


def at_depth(x: Sparse) -> list[int]:
    """The sizes of the dimensions that positions count in."""
    return list(x.shape[: x.depth])


def is_sparse(value: object) -> bool:
    return isinstance(value, Sparse)


def require_sparse(where: str, **values: object) -> None:
    """Raise UnsupportedError for a dense tensor, DTypeError for other values."""
    for name, value in values.items():
        if isinstance(value, Sparse):
            continue
        if isinstance(value, Tensor) or modes.is_symbolic(value):
            raise UnsupportedError(
                f"{where}: {name} must be a sparse tensor: got a dense one of shape "
                f"{list(cast(Any, value).shape)}; use to_sparse_coo() or to_sparse_csr()"
            )
        raise DTypeError(f"{where}: {name} must be a sparse tensor: got {type(value).__name__}")


def require_coo(where: str, **values: object) -> None:
    """Raise UnsupportedError unless x is a COO tensor."""
    require_sparse(where, **values)
    for name, value in values.items():
        if cast(Sparse, value).is_sparse_csr():
            raise UnsupportedError(f"{where}: {name} must be a COO tensor: got CSR; use to_sparse_coo()")
