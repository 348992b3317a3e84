"""Making tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.dtype import DType, as_dtype, default_dtype, from_numpy
from engine.core.errors import ArgumentError, DTypeError
from engine.core.place import as_place, backend, current_place
from engine.eager.tensor import Tensor
from engine.ops import shape as ops


def to_tensor(data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True) -> Any:
    """A tensor with a copy of ``data``: numbers, nested lists, a NumPy array or a Tensor.

    Python floats become the default dtype, ints int64, bools bool; NumPy arrays keep theirs. Raises
    DTypeError for data that is no numbers (strings, objects) and ArgumentError for ragged lists.
    """
    if modes.is_static():
        return _static_constant(data, dtype)
    array = _as_array(data, None if dtype is None else as_dtype(dtype))
    where = current_place() if place is None else as_place(place)
    if where.kind != "cpu":
        array = backend(where).xp.asarray(array)
    elif array is data or array.base is not None or isinstance(data, (np.ndarray, Tensor)):
        array = array.copy()
    return Tensor(array, stop_gradient=stop_gradient or array.dtype.kind not in "fc")


def _as_array(data: Any, dtype: DType | None) -> Any:
    if isinstance(data, Tensor):
        array = data.numpy()
    elif isinstance(data, (np.ndarray, np.generic)):
        array = np.asarray(data)
    elif isinstance(data, (list, tuple)) and any(isinstance(v, Tensor) for v in _leaves(data)):
        array = np.asarray(_untensored(data))
    else:
        try:
            array = np.asarray(data)
        except ValueError as error:
            raise ArgumentError(
                f"to_tensor: the nested lists are not of equal length: {error}; pad them"
            ) from None
        if array.dtype == np.float64:
            array = array.astype(default_dtype().np)
        elif array.dtype == np.complex128:
            array = array.astype(np.complex64)
        elif array.dtype.kind == "i":
            array = array.astype(np.int64)
    if array.dtype.kind not in "biufc":
        raise DTypeError(
            f"to_tensor: data of {array.dtype} is no numbers: got {type(data).__name__}; "
            "convert it to numbers first"
        )
    if dtype is not None and array.dtype != dtype.np:
        array = array.astype(dtype.np)
    elif dtype is None:
        array = array.astype(from_numpy(array.dtype).np, copy=False)
    return array


def _leaves(data: Any) -> Any:
    for value in data:
        if isinstance(value, (list, tuple)):
            yield from _leaves(value)
        else:
            yield value


def _untensored(data: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return [_untensored(v) for v in data]
    return data.numpy() if isinstance(data, Tensor) else data


def _static_constant(data: Any, dtype: Any) -> Any:
    if modes.is_symbolic(data):
        return data if dtype is None else data.astype(dtype)
    array = _as_array(data, None if dtype is None else as_dtype(dtype))
    return ops.constant(
        shape=list(array.shape), values=array.reshape(-1).tolist(), dtype=from_numpy(array.dtype).name
    )


def _dims(where: str, shape: Any) -> list[int]:
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    if isinstance(shape, (int, np.integer)):
        shape = [shape]
    dims = [int(d) for d in shape]
    if any(d < 0 for d in dims):
        raise ArgumentError(f"{where}: shape {dims} has a negative dimension; give every size")
    return dims


def _name(dtype: Any) -> str:
    return default_dtype().name if dtype is None else as_dtype(dtype).name


def full(shape: Any, fill_value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor of one value, of the default dtype unless given."""
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    return ops.fill(shape=_dims("full", shape), value=fill_value, dtype=_name(dtype))


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Zeros, of the default dtype unless given."""
    return ops.fill(shape=_dims("zeros", shape), value=0.0, dtype=_name(dtype))


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Ones, of the default dtype unless given."""
    return ops.fill(shape=_dims("ones", shape), value=1.0, dtype=_name(dtype))


def empty(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor whose values the caller will set; they are zeros, so that no run depends on old memory."""
    return zeros(shape, dtype)


def full_like(x: Any, fill_value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor of one value in the shape (and dtype, unless given) of x."""
    return ops.fill_like(x, value=fill_value, dtype=None if dtype is None else as_dtype(dtype).name)


def zeros_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Zeros in the shape (and dtype, unless given) of x."""
    return full_like(x, 0.0, dtype)


def ones_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Ones in the shape (and dtype, unless given) of x."""
    return full_like(x, 1.0, dtype)


def empty_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Like ``empty`` in the shape (and dtype, unless given) of x."""
    return zeros_like(x, dtype)


def arange(start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, name: str | None = None) -> Any:
    """Values from start, below end; int64 where all three are whole numbers, else the default dtype."""
    values = [v.item() if isinstance(v, Tensor) else v for v in (start, end, step)]
    if values[1] is None:
        values[0], values[1] = 0, values[0]
    if values[2] == 0:
        raise ArgumentError("arange: step is 0, so the end is never reached; use another step")
    if dtype is None:
        dtype = "int64" if all(isinstance(v, (int, np.integer)) for v in values) else default_dtype()
    return ops.arange(start=values[0], end=values[1], step=values[2], dtype=_name(dtype))


def linspace(start: Any, stop: Any, num: Any, dtype: Any = None, name: str | None = None) -> Any:
    """``num`` evenly spaced values from start to stop, both included."""
    first, last, count = (v.item() if isinstance(v, Tensor) else v for v in (start, stop, num))
    if int(count) < 1:
        raise ArgumentError(f"linspace: num must be at least 1: got {count}")
    return to_tensor(np.linspace(first, last, int(count)).astype(as_dtype(_name(dtype)).np))


def eye(num_rows: int, num_columns: int | None = None, dtype: Any = None, name: str | None = None) -> Any:
    """Ones on the diagonal, zeros elsewhere."""
    return to_tensor(np.eye(num_rows, num_columns, dtype=as_dtype(_name(dtype)).np))


def assign(x: Any, output: Any = None) -> Any:
    """A copy of x (a tensor, array, list or number), written into ``output`` where given."""
    value = x if isinstance(x, Tensor) or modes.is_symbolic(x) else to_tensor(x)
    copied = ops.assign(value)
    if output is None:
        return copied
    from engine.tensor.inplace import replace

    return replace("assign", output, copied)


def clone(x: Any, name: str | None = None) -> Any:
    """A copy of x that gradients flow through."""
    return ops.assign(x)


def numbers(values: Sequence[Any]) -> list[Any]:
    """Python numbers from a mixture of numbers and tensors of one element."""
    return [v.item() if isinstance(v, Tensor) else v for v in values]
