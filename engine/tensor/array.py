"""Paddle's tensor arrays: a list in eager mode, a TensorArray where a Program is built."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError
from engine.core.values.dtype import as_dtype
from engine.eager.tensor import Tensor
from engine.ops.arrays import shape
from engine.program.build.builder import current_builder
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.arguments.sizes import is_later, whole
from engine.tensor.arrays.tensor_array import TensorArray
from engine.tensor.creation import full
from engine.tensor.tensor_like import AnyTensor, DTypeLike, IntegerLike


def create_array(
    dtype: DTypeLike, initialized_list: Iterable[AnyTensor] | None = None
) -> list[Any] | TensorArray:
    """An array that holds the tensors of ``initialized_list``, or none; all of one dtype."""
    kind = as_dtype(dtype)
    items = [] if initialized_list is None else list(initialized_list)
    for item in items:
        if not is_tensor(item) or item.dtype is not kind:
            raise DTypeError(
                f"create_array: initialized_list holds tensors of {kind.name}: got "
                f"{getattr(item, 'dtype', type(item).__name__)}; cast them first"
            )
    if not modes.is_static():
        return items
    return TensorArray.of(items, items[0]) if items else TensorArray(None, ())


def array_write(
    x: AnyTensor, i: IntegerLike, array: list[Any] | TensorArray | None = None
) -> list[Any] | TensorArray:
    """Put x at position ``i`` of the array (a new one by default), at most one past its end; the array."""
    if array is None:
        array = create_array(x.dtype)
    if isinstance(array, TensorArray):
        array.begin(x)
        array.write(i, x)
        return array
    at = _position("array_write", i, array)
    if at > len(array):
        raise OutOfRangeError(
            f"array_write: position {at} of an array of {len(array)}; write at 0 to {len(array)}"
        )
    if at < len(array):
        array[at] = x
    else:
        array.append(x)
    return array


def array_read(array: list[Any] | TensorArray, i: IntegerLike) -> Any:
    """The tensor at position ``i`` of the array."""
    if isinstance(array, TensorArray):
        return array[i if is_later(i) or isinstance(i, Tensor) else whole("array_read", i)]
    at = _position("array_read", i, array)
    if at >= len(array):
        raise OutOfRangeError(
            f"array_read: position {at} of an array of {len(array)}; read one that was written"
        )
    return array[at]


def array_length(array: list[Any] | TensorArray) -> Any:
    """How many tensors the array holds.

    In static mode an int64 Variable of shape [1], elsewhere an int, or a Variable where only the running
    Program knows.
    """
    if not isinstance(array, TensorArray):
        return len(_listed("array_length", array))
    length = array.length()
    builder = current_builder()
    if builder is None or builder.startup is None:
        return length
    return full([1], length, "int64") if isinstance(length, int) else shape.reshape(length, shape=[1])


def _position(where: str, i: Any, array: Any) -> int:
    _listed(where, array)
    if is_tensor(i) and i.size != 1:
        raise ArgumentError(f"{where}: i is one number: got shape {list(i.shape)}")
    at: int = whole(where, i)
    if at < 0:
        raise OutOfRangeError(f"{where}: position {at} is negative; count from 0")
    return at


def _listed(where: str, array: Any) -> list[Any]:
    if not isinstance(array, list):
        raise DTypeError(f"{where}: array must come from create_array(): got {type(array).__name__}")
    return array
