"""Sparse eager tensors: positions of elements, and their values as a dense Tensor that the tape knows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Self, cast

import numpy as np

from engine.core.attached import Attached
from engine.core.errors import DTypeError, ShapeError, UnsupportedError
from engine.core.place import Place
from engine.core.values.dtype import DType
from engine.eager.tensor import Tensor, backward, new, wrap
from engine.ops.arrays import shape as shapes
from engine.ops.sparse import patterns, rows

_OF_VALUES = ("_edge", "_version", "_parked")


class Sparse:
    """Base of sparse tensors and sparse values of a Program: positions, shape and values.

    ``_values`` holds the elements, [n] or [n, ...] where further dimensions are dense; ``_pattern`` the
    the integers of their positions: ``indices`` or ``crows`` and ``cols``; ``_size`` the shape.
    """

    __slots__ = ()

    _pattern: tuple[Any, ...]
    _size: tuple[int, ...]
    _values: Any
    _csr = False

    def with_values(self, values: Attached | None) -> Self:
        """A tensor with other values at the same positions."""
        made = cast(Any, new(type(self)))
        made._pattern, made._values, made._size = self._pattern, values, self._size
        return cast(Self, made)

    def coordinates(self) -> Any:
        """The positions of the elements, [sparse dimensions, n], whatever form they are stored in."""
        if not self._csr:
            return self._pattern[0]
        return patterns.csr_indices(*self._pattern, shape=list(self._size))

    @property
    def depth(self) -> int:
        """The number of dimensions that positions count in."""
        return len(self._size) - len(self._values.shape) + 1

    @property
    def shape(self) -> Any:
        """The length of each dimension."""
        return list(self._size)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._size)

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        found: DType = self._values.dtype
        return found

    def is_sparse(self) -> bool:
        """True: only some elements are stored."""
        return True

    def is_sparse_coo(self) -> bool:
        """Whether positions are stored as coordinates."""
        return not self._csr

    def is_sparse_csr(self) -> bool:
        """Whether positions are stored row by row."""
        return self._csr

    def is_dense(self) -> bool:
        """False: only some elements are stored."""
        return False

    def indices(self) -> Any:
        """The positions of a COO tensor, [sparse dimensions, n]. Raises UnsupportedError for CSR."""
        if self._csr:
            raise UnsupportedError(
                "indices: a CSR tensor has crows() and cols(); or use to_sparse_coo() first"
            )
        return self._pattern[0]

    def crows(self) -> Any:
        """Positions where each row of a CSR tensor begins and ends. Raises UnsupportedError for COO."""
        return self._rows("crows")[0]

    def cols(self) -> Any:
        """The column of each element of a CSR tensor. Raises UnsupportedError for COO."""
        return self._rows("cols")[1]

    def _rows(self, where: str) -> tuple[Any, ...]:
        if not self._csr:
            raise UnsupportedError(f"{where}: a COO tensor has indices(); or use to_sparse_csr() first")
        return self._pattern

    def values(self) -> Any:
        """The stored elements as a dense tensor that shares their storage; gradients flow back."""
        return shapes.reshape(self._values, shape=list(self._values.shape))

    def to_dense(self) -> Any:
        """A dense tensor with the elements at their places and zeros elsewhere.

        Of several elements at one position the last one stays; ``coalesce()`` adds them up.
        """
        indices, values = self.coordinates(), self._values
        if len(indices.shape) == 1:  # the sum of all elements has no dimensions in its parts
            indices, values = shapes.reshape(indices, shape=[1, 1]), shapes.reshape(values, shape=[1])
        return rows.to_dense(values, indices, shape=list(self._size))


class SparseTensor(Sparse, Tensor):
    """A Tensor that stores some of its elements; the others are zero.

    Gradients flow through the values, so the gradient of a sparse tensor has the same positions.
    Operators on dense tensors refuse it; the functions of ``paddle.sparse`` take it apart.
    """

    __slots__ = ("_pattern", "_size", "_values")

    def __init__(self, pattern: Sequence[Tensor], values: Tensor, shape: Sequence[int]) -> None:
        self._pattern = tuple(pattern)
        self._values = values
        self._size = tuple(int(d) for d in shape)

    def __getattr__(self, name: str) -> Any:
        if name in _OF_VALUES:
            return getattr(self._values, name)
        if name == "_array":
            raise UnsupportedError(
                f"a dense tensor is needed here: got a sparse one of shape {self.shape}; use to_dense(), "
                "or a function of paddle.sparse"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    # -- properties ------------------------------------------------------------------------------------------
    @property
    def size(self) -> int:
        """The number of elements, those that are not stored included."""
        return math.prod(self._size)

    @property
    def place(self) -> Place:
        """The device that holds the data."""
        found: Place = self._values.place
        return found

    def nnz(self) -> int:
        """The number of stored elements."""
        return int(self._pattern[-1].shape[-1])

    def __len__(self) -> int:
        return self._size[0]

    # -- gradients -------------------------------------------------------------------------------------------
    @property
    def stop_gradient(self) -> bool:
        """False where operators on the tensor are recorded for ``backward``."""
        return bool(self._values.stop_gradient)

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        self._values.stop_gradient = value

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward accumulated, a sparse tensor with the same positions, or None."""
        found = self._values.grad
        return None if found is None else self.with_values(found)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        self._values.grad = None if value is None else values_at(self, value)

    def backward(self, grad_tensor: Tensor | None = None, retain_graph: bool = False) -> None:
        """Add the gradients of this tensor to the ``grad`` of every leaf that it depends on.

        ``grad_tensor`` is the gradient to start from, sparse or dense, ones by default.
        """
        backward([self], [grad_tensor], retain_graph)

    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """Call ``hook(gradient)`` with the sparse gradient; a tensor that it returns takes its place."""
        if not callable(hook):
            raise DTypeError(f"register_hook: the hook must be callable: got {type(hook).__name__}")
        pattern = self.with_values(None)  # the hook must not keep the values, which lead to the tape

        def on_values(gradient: Tensor) -> Tensor | None:
            replaced = hook(pattern.with_values(gradient))
            return None if replaced is None else values_at(pattern, replaced)

        return self._values.register_hook(on_values)

    def retain_grads(self) -> None:
        """Keep the gradient of a tensor that an operator produced."""
        self._values.retain_grads()

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set the gradient to zeros, or to None with ``set_to_zero=False``."""
        self._values.clear_grad(set_to_zero)

    clear_gradient = clear_grad

    def gradient(self) -> np.ndarray[Any, Any] | None:
        """The values of the gradient as a NumPy array, or None."""
        found: np.ndarray[Any, Any] | None = self._values.gradient()
        return found

    # -- copies ----------------------------------------------------------------------------------------------
    def detach(self) -> Self:
        """The same storage without gradient; changes in place are seen by both."""
        return self.with_values(self._values.detach())

    def detach_(self) -> Self:
        """Detach the tensor from its graph: it becomes a leaf with stop_gradient=True."""
        self._values = self._values.detach()
        return self

    def clone(self) -> Self:
        """A copy of the values at the same positions; gradients flow back."""
        return self.with_values(self._values.clone())

    def __copy__(self) -> Self:
        return self.with_values(self._values)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made = self.with_values(self._values.__deepcopy__(memo))
        made._pattern = tuple([part.clone() for part in self._pattern])
        memo[id(self)] = made
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        # For multiprocessing between our own processes only; no file is ever pickled.
        return (_rebuild, (type(self), self._pattern, self._values, self._size))

    def __bool__(self) -> bool:
        return bool(self.to_dense())

    def __float__(self) -> float:
        return float(self.to_dense())

    def __int__(self) -> int:
        return int(self.to_dense())


class SparseCooTensor(SparseTensor):
    """A sparse tensor with coordinates: ``indices`` is [sparse dimensions, n]."""

    __slots__ = ()


class SparseCsrTensor(SparseTensor):
    """A sparse matrix, or a batch of them, stored row by row.

    ``crows`` has the begin and end of each row, in each matrix anew; ``cols`` has the column of each
    element.
    """

    __slots__ = ()

    _csr = True


def _rebuild(kind: type[SparseTensor], pattern: Any, values: Any, shape: Any) -> SparseTensor:
    return kind(pattern, values, shape)


def values_at(tensor: SparseTensor, other: Tensor) -> Any:
    """The elements of ``other``, sparse or dense and of the same shape, at the positions that ``tensor``
    stores."""
    if list(other.shape) != tensor.shape:
        raise ShapeError(
            f"gradient: a gradient has its tensor's shape: got {other.shape} for {tensor.shape}; reshape it"
        )
    if isinstance(other, SparseTensor):
        if other._csr == tensor._csr and all(
            a is b or _same(a._array, b._array) for a, b in zip(tensor._pattern, other._pattern, strict=True)
        ):
            return other._values
        other = other.to_dense()
    return wrap(other._array[tuple(tensor.coordinates()._array)])


def _same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and bool((a == b).all())
