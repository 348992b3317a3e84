"""Sparse tensors from positions and values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from engine.core.place import PlaceLike, as_place
from engine.core.values.dtype import as_dtype, int8, int16, int32, int64
from engine.eager.sparse import Sparse
from engine.eager.tensor import Tensor
from engine.ops.arrays import shape as shapes
from engine.tensor.creation import to_tensor
from engine.tensor.math import cast
from engine.tensor.sparse import parts
from engine.tensor.tensor_like import DTypeLike, TensorLike


def _tensor(value: Any, dtype: Any = None, place: Any = None) -> Any:
    if isinstance(value, Tensor) or modes.is_symbolic(value):
        return value
    return to_tensor(value, dtype, place, True)


def _require_positions(where: str, **tensors: Any) -> None:
    for name, tensor in tensors.items():
        if tensor.dtype not in (int8, int16, int32, int64):
            raise DTypeError(
                f"{where}: {name} holds positions, signed integers: got {tensor.dtype.name}; cast it"
            )


def sparse_coo_tensor(
    indices: TensorLike,
    values: TensorLike,
    shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    place: PlaceLike | None = None,
    stop_gradient: bool = True,
) -> Sparse:
    """A sparse tensor with ``values`` [n, ...] at the positions ``indices`` [sparse dimensions, n].

    ``shape`` is the smallest that holds all positions by default. The values are shared with ``values`` where
    it is a Tensor, whose ``stop_gradient`` becomes that of the call. Raises ShapeError for parts that do not
    fit each other or the shape, DTypeError for positions other than integers.
    """
    where = "sparse_coo_tensor"
    place = None if place is None else as_place(place)
    at, held = _tensor(indices, None, place), _tensor(values, dtype, place)
    if len(at.shape) != 2:
        raise ShapeError(f"{where}: indices must be 2-D, [sparse dimensions, n]: got {list(at.shape)}")
    _require_positions(where, indices=at)
    depth, count = (int(d) for d in at.shape)
    if len(held.shape) == 0:
        raise OutOfRangeError(f"{where}: values must be [n, ...]: got one number; put it into a list")
    if held.shape[0] != count and -1 not in (held.shape[0], count):
        raise ShapeError(
            f"{where}: indices and values must have the same number of elements: "
            f"got {list(at.shape)} and {list(held.shape)}"
        )
    if dtype is not None and held.dtype is not as_dtype(dtype):
        held = cast(held, dtype)
    if modes.is_symbolic(held) or modes.is_symbolic(at):
        if shape is None:
            raise ArgumentError(f"{where}: shape is needed in static mode, where positions are not known")
        return parts.coo(at, held, [-1 if d is None else int(d) for d in shape])
    held.stop_gradient = stop_gradient
    dense = [int(d) for d in held.shape[1:]]
    size = None if shape is None else [int(d) for d in shape]
    if size is not None and len(size) != depth + len(dense):
        raise ShapeError(
            f"{where}: shape {size} must have {depth} sparse and {len(dense)} dense dimensions for indices "
            f"{list(at.shape)} and values {list(held.shape)}"
        )
    if count:
        least = [int(d) + 1 for d in at._array.max(axis=1)] + dense
        size = least if size is None else size
        if any(have < need for have, need in zip(size, least, strict=True)) or size[depth:] != dense:
            raise ShapeError(f"{where}: the positions need the shape {least} at least: got {size}")
        if int(at._array.min()) < 0:
            raise ArgumentError(f"{where}: positions count from 0: got {int(at._array.min())}")
    elif size is None:
        size = [0] * depth + dense
    # The result is an operator's: the leaf that gradients reach is ``values``.
    return parts.coo(at, shapes.reshape(held, shape=list(held.shape)), size)


def sparse_csr_tensor(
    crows: TensorLike,
    cols: TensorLike,
    values: TensorLike,
    shape: Sequence[int],
    dtype: DTypeLike | None = None,
    place: PlaceLike | None = None,
    stop_gradient: bool = True,
) -> Sparse:
    """A sparse matrix, or a batch of them, with ``values`` [n] stored row by row.

    ``crows`` has the begin and end of each row, counted in each matrix anew; ``cols`` [n] has the columns.
    The tensor is a leaf over the storage of ``values``. Raises ShapeError for parts that do not fit.
    """
    where = "sparse_csr_tensor"
    place = None if place is None else as_place(place)
    bounds, columns = _tensor(crows, None, place), _tensor(cols, None, place)
    held = _tensor(values, dtype, place)
    _require_positions(where, crows=bounds, cols=columns)
    size = [int(d) for d in shape]
    if len(size) not in (2, 3):
        raise ShapeError(f"{where}: a CSR tensor has 2 or 3 dimensions: got {size}")
    if dtype is not None and held.dtype is not as_dtype(dtype):
        held = cast(held, dtype)
    if any(len(part.shape) != 1 for part in (bounds, columns, held)):
        raise ShapeError(
            f"{where}: crows, cols and values must be 1-D: got {list(bounds.shape)}, {list(columns.shape)} "
            f"and {list(held.shape)}"
        )
    if modes.is_symbolic(held) or modes.is_symbolic(columns):
        return parts.csr(bounds, columns, held, size)
    if columns.shape[0] != held.shape[0]:
        raise ShapeError(
            f"{where}: cols has {columns.shape[0]} elements, values {held.shape[0]}; make them equal"
        )
    _require_rows(where, bounds._array, held.shape[0], size)
    made = held.detach()
    made.stop_gradient = held.stop_gradient = stop_gradient
    return parts.csr(bounds, columns, made, size)


def _require_rows(where: str, crows: Any, count: int, size: list[int]) -> None:
    height = size[-2]
    batches = size[0] if len(size) == 3 else 1
    if len(crows) != batches * (height + 1):
        raise ShapeError(
            f"{where}: crows needs {batches * (height + 1)} elements, the rows and one more for each matrix "
            f"of {size}: got {len(crows)}"
        )
    by_matrix = crows.reshape(batches, height + 1)
    if batches and (by_matrix[:, 0] != 0).any():
        raise ArgumentError(f"{where}: crows must begin at 0: got {by_matrix[:, 0].tolist()}")
    if (by_matrix[:, 1:] < by_matrix[:, :-1]).any() or int(by_matrix[:, -1].sum()) != count:
        raise ArgumentError(
            f"{where}: crows must not fall and must end at the number of elements, {count}: "
            f"got {crows.tolist()}"
        )
