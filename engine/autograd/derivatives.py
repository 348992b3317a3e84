"""Jacobian and Hessian matrices, computed row by row when they are indexed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, ModeError, OutOfRangeError, ShapeError
from engine.core.values.dtype import DTypeLike
from engine.eager.tensor import Tensor
from engine.ops.arrays import creation as creation_ops
from engine.program.backward.grad import grad
from engine.tensor import creation, manipulation

_ALL = slice(None)


class Matrix:
    """A matrix of derivatives whose rows are computed when they are indexed, once.

    Indexes are integers and slices; any other use (arithmetic, comparison, Tensor's methods) means the
    whole matrix.
    """

    def __init__(self, shape: list[int], batch: int, row_axis: int | None, dtype: DTypeLike) -> None:
        self.shape = shape
        self._batch = batch  # dimensions before the rows
        self._row_axis = row_axis
        self._dtype = dtype
        self._rows: dict[int, Any] = {}

    def _compute(self, n: int) -> Tensor:
        """Row ``n`` (of each sample)."""
        raise NotImplementedError

    def _row(self, n: int) -> Tensor:
        row = self._rows.get(n)
        if row is None:
            row = self._rows[n] = self._compute(n)
        return row

    def __getitem__(self, indexes: Any) -> Tensor:
        if not self.shape:
            raise OutOfRangeError("jacobian: a matrix without dimensions can't be indexed; use it as it is")
        index = self._checked(indexes)
        if self._row_axis is None:
            chosen: Tensor = self._row(0)[index] if index else self._row(0)
            return chosen
        row = index[self._row_axis]
        if isinstance(row, int):
            element: Tensor = self._row(row)[(*index[: self._row_axis], *index[self._row_axis + 1 :])]
            return element
        rows = list(range(self.shape[self._row_axis]))[row]
        if not rows:
            none = [*self.shape[: self._row_axis], 0, *self.shape[self._row_axis + 1 :]]
            part = creation.zeros(none, self._dtype)
        else:
            part = manipulation.stack([self._row(n) for n in rows], axis=self._row_axis)
        found: Tensor = part[(*index[: self._row_axis], _ALL, *index[self._row_axis + 1 :])]
        return found

    def _checked(self, indexes: Any) -> tuple[Any, ...]:
        """An index of every dimension, integers counted from the front."""
        given = tuple(indexes) if isinstance(indexes, (tuple, list)) else (indexes,)
        if len(given) > len(self.shape):
            raise OutOfRangeError(f"jacobian: {len(given)} indexes for shape {self.shape}; give fewer")
        full: list[Any] = []
        for each, size in zip((*given, *[_ALL] * (len(self.shape) - len(given))), self.shape, strict=True):
            if isinstance(each, slice):
                full.append(each)
                continue
            if each is Ellipsis or isinstance(each, bool) or not isinstance(each, int):
                raise OutOfRangeError(
                    f"jacobian: an index is an integer or a slice: got {each!r}; take [:] first"
                )
            if not -size <= each < size:
                raise OutOfRangeError(f"jacobian: index {each} is out of range for shape {self.shape}")
            full.append(each % size)
        return tuple(full)

    def _evaluate_all(self) -> Tensor:
        return self[:] if self.shape else self._row(0)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_rows" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self._evaluate_all(), name)

    __hash__ = None  # type: ignore[assignment]


def _operator(name: str) -> Callable[..., Any]:
    def method(self: Matrix, other: Any) -> Any:
        other = other._evaluate_all() if isinstance(other, Matrix) else other
        return getattr(self._evaluate_all(), name)(other)

    method.__name__ = method.__qualname__ = name
    return method


_ARITHMETIC = ("add", "sub", "mul", "truediv", "pow", "mod", "floordiv", "matmul")
for _name in (*_ARITHMETIC, "eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Matrix, f"__{_name}__", _operator(f"__{_name}__"))


class Jacobian(Matrix):
    """The derivatives of ``ys`` with respect to ``xs`` as a matrix [N, M]; with a batch [B, N, M].

    N and M are absent where ys or xs have no dimension for them. The result can be differentiated again.
    """

    def __init__(self, ys: Tensor, xs: Tensor, is_batched: bool = False) -> None:
        batch = 1 if is_batched else 0
        for name, value in (("ys", ys), ("xs", xs)):
            if not isinstance(value, Tensor):
                raise DTypeError(
                    f"jacobian: {name} is a Tensor or a tuple of them: got {type(value).__name__}"
                )
            if not batch <= value.ndim <= batch + 1:
                raise ShapeError(
                    f"jacobian: {name} has {batch} or {batch + 1} dimensions "
                    f"{'with' if batch else 'without'} batch_axis: got shape {value.shape}; reshape it first"
                )
        if is_batched and ys.shape[0] != xs.shape[0]:
            raise ShapeError(f"jacobian: ys has {ys.shape[0]} samples: xs {xs.shape[0]}; make them equal")
        shape = [*xs.shape[:batch], *ys.shape[batch:], *xs.shape[batch:]]
        super().__init__(shape, batch, batch if ys.ndim > batch else None, xs.dtype)
        self._ys = ys
        self._xs = xs

    def _compute(self, n: int) -> Tensor:
        element = self._ys if self._row_axis is None else self._ys[(*[_ALL] * self._batch, n)]
        return gradient(element, self._xs)


class Hessian(Jacobian):
    """The second derivatives of a value: the Jacobian of its gradient."""


def gradient(value: Tensor, xs: Tensor) -> Tensor:
    """The gradient of ``value`` (summed), zeros where it does not depend on ``xs``; can be differentiated."""
    if not value.stop_gradient and not xs.stop_gradient:
        found: Tensor | None
        (found,) = grad([value], [xs], create_graph=True, allow_unused=True)
        if found is not None:
            return found
    zeros: Tensor = creation_ops.fill_like(xs, value=0.0)
    zeros.stop_gradient = xs.stop_gradient
    return zeros


def _require_eager(where: str) -> None:
    if modes.is_static():
        raise ModeError(f"{where}: works on eager tensors; use static.gradients in a Program")


def jacobian_of(
    ys: Tensor | Sequence[Tensor], xs: Tensor | Sequence[Tensor], batch_axis: int | None = None
) -> Jacobian | tuple[Any, ...]:
    """The Jacobian of ``ys`` [N] with respect to ``xs`` [M], a lazily computed [N, M].

    With ``batch_axis=0`` ys is [B, N], xs [B, M] and the result [B, N, M]; no sample may depend on another.
    Tuples of tensors give tuples of matrices, one for each of ys and in them one for each of xs. Raises
    ShapeError for tensors of other ranks.
    """
    _require_eager("jacobian")
    _check_axis("jacobian", batch_axis)
    if isinstance(ys, Sequence):
        return tuple([jacobian_of(y, xs, batch_axis) for y in ys])
    if isinstance(xs, Sequence):
        return tuple([jacobian_of(ys, x, batch_axis) for x in xs])
    return Jacobian(ys, xs, batch_axis is not None)


def hessian_of(
    ys: Tensor, xs: Tensor | Sequence[Tensor], batch_axis: int | None = None
) -> Hessian | tuple[tuple[Hessian, ...], ...]:
    """The Hessian of one number ``ys`` (one a sample with ``batch_axis=0``) with respect to ``xs``.

    A tuple of xs gives a tuple of tuples: ``hessian(y, (a, b))[0][1]`` holds the derivatives for a, then b.
    Raises ShapeError where ys is more than one number.
    """
    _require_eager("hessian")
    _check_axis("hessian", batch_axis)
    if not isinstance(ys, Tensor):
        raise DTypeError(f"hessian: ys is one Tensor: got {type(ys).__name__}")
    each = ys.size if batch_axis is None else (ys.size // max(ys.shape[0], 1) if ys.shape else 0)
    if each != 1:
        raise ShapeError(
            f"hessian: ys is one number{' a sample' if batch_axis == 0 else ''}: got shape {ys.shape}; sum "
            "it first, or use jacobian"
        )
    ys = ys.reshape([] if batch_axis is None else [-1])
    if isinstance(xs, Sequence):
        first = [_first(ys, x, batch_axis) for x in xs]
        return tuple([tuple([Hessian(f, x, batch_axis is not None) for x in xs]) for f in first])
    return Hessian(_first(ys, xs, batch_axis), xs, batch_axis is not None)


def _first(ys: Tensor, xs: Tensor, batch_axis: int | None) -> Tensor:
    return Jacobian(ys, xs, batch_axis is not None)._evaluate_all()


def _check_axis(where: str, batch_axis: int | None) -> None:
    if batch_axis is not None and (isinstance(batch_axis, bool) or batch_axis != 0):
        raise ArgumentError(f"{where}: batch_axis is None or 0: got {batch_axis!r}; put the batch first")
