"""``x[index]`` and ``x[index] = value``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError
from engine.core.frames import located, user_frame
from engine.core.place import is_writable
from engine.eager.tensor import Tensor, write
from engine.ops.arrays import index as ops
from engine.ops.elementwise import arithmetic
from engine.program.graph.unknown import Unknown, known_operand
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.creation import fitting_tensor, to_tensor
from engine.tensor.members.inplace import replace
from engine.tensor.tensor_like import AnyTensor, TensorLike


def _parse(x: Any, index: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """The index as plain values, and the tensors in it."""
    items = index if isinstance(index, tuple) else (index,)
    plain: list[Any] = []
    tensors: list[Any] = []
    for item in items:
        if item is None:
            plain.append(None)
        elif item is Ellipsis:
            if "..." in plain:
                raise ArgumentError(f"index: more than one ellipsis in {index}; use one, and : for others")
            plain.append("...")
        elif isinstance(item, (int, np.integer)) and not isinstance(item, bool):
            plain.append(int(item))
        elif isinstance(item, slice):
            bounds = (item.start, item.stop, item.step)
            plain.append(("slice", *(_number(v, tensors) for v in bounds)))
        elif isinstance(item, Unknown):
            plain.append(_number(item, tensors))
        else:
            tensor = _index_tensor(item)
            if tensor.ndim == 0 and tensor.dtype.is_integer:
                plain.append(_number(tensor, tensors))
            else:
                plain.append(("tensor", len(tensors)))
                tensors.append(tensor)
    return tuple(plain), tensors


def _index_tensor(item: Any) -> Any:
    """An index of many elements: a tensor, array or (nested) list of integers, or a mask of bools."""
    if isinstance(item, (list, tuple, bool, np.ndarray, np.bool_)):
        item = to_tensor(np.asarray(item) if isinstance(item, np.ndarray) or _plain(item) else item)
        if item.size == 0 and item.dtype.is_floating_point:  # an empty list
            item = arithmetic.cast(item, out_dtype="int64")
    if not is_tensor(item):
        raise ArgumentError(
            f"index: can't index with {type(item).__name__}; use ints, slices, None, ..., tensors or lists"
        ).set_kind("InvalidArgument")
    if not (item.dtype.is_integer or item.dtype.name == "bool"):
        raise ArgumentError(
            f"index: an index tensor must be integer or bool: got {item.dtype.name}; cast it to int64"
        ).set_kind("InvalidArgument")
    return item


def _plain(item: Any) -> bool:
    return not isinstance(item, (list, tuple)) or not any(is_tensor(v) for v in item)


def _number(value: Any, tensors: list[Any]) -> Any:
    """A bound of a slice, or a single index: a number, or the place of one that is known only later."""
    value = known_operand(value)
    if value is None or isinstance(value, (int, np.integer)):
        return value if value is None else int(value)
    if isinstance(value, Tensor) and not modes.is_static():
        return int(value)
    if not is_tensor(value) or not value.dtype.is_integer or value.size not in (1, -1):
        raise ArgumentError(
            f"index: {value!r} is not an integer; a slice takes ints or integer tensors of one element"
        ).set_kind("InvalidArgument")
    tensors.append(value)
    return ("number", len(tensors) - 1)


def getitem(x: AnyTensor, index: object) -> Any:
    """Ints, slices, None and ... give a view, index tensors and masks a copy. Raises OutOfRangeError."""
    plain, tensors = _parse(x, index)
    return ops.getitem(x, tensors, index=plain) if tensors else ops.slice_view(x, index=plain)


def setitem(x: AnyTensor, index: object, value: TensorLike) -> None:
    """Replaces x[index] by value (a tensor, array or number, broadcast) in place."""
    plain, tensors = _parse(x, index)
    if isinstance(x, Tensor) and _written_at_once(x, plain, tensors, value):
        return
    replace("setitem", x, _with_item(x, plain, tensors, value))


def with_item(x: AnyTensor, index: object, value: TensorLike) -> Any:
    """A copy of x with x[index] replaced by value; in eager mode x itself is changed, as in Paddle."""
    if not modes.is_symbolic(x):
        setitem(x, index, value)
        return x
    return _with_item(x, *_parse(x, index), value)


def _with_item(x: Any, plain: tuple[Any, ...], tensors: list[Any], value: Any) -> Any:
    if not is_tensor(value):
        if value is None or isinstance(value, (str, bytes, dict, set)):
            raise ArgumentError(
                f"setitem: can't put {type(value).__name__} into a tensor; use a number, array or tensor"
            ).set_kind("InvalidArgument")
        value = fitting_tensor(value, x.dtype)
    elif value.dtype is not x.dtype:
        value = arithmetic.cast(value, out_dtype=x.dtype.name)
    return ops.setitem(x, value, tensors, index=plain)


def _written_at_once(x: Tensor, plain: tuple[Any, ...], tensors: list[Any], value: Any) -> bool:
    """Write a number or a tensor of the same dtype into x, if nothing is to be recorded; False if not done.

    It saves two copies of all of x.
    """
    mode = modes.current()
    if mode.static or not mode.fast or x._array.__class__ is not np.ndarray:
        return False
    if isinstance(value, Tensor):
        given = value._array
        if (mode.grad and value._edge is not None) or given.dtype is not x._array.dtype:
            return False
    elif isinstance(value, (bool, int, float)):
        if value.__class__ is float and x._array.dtype.kind in "iu":
            return False  # to_tensor looks whether it fits
        given = value
    else:
        return False
    if mode.grad and x._edge is not None:
        return False
    if not is_writable(x._array):
        x._array = x._array.copy()
    try:
        ops.put(x._array, given, [t._array for t in tensors], plain)
    except (IndexError, ValueError, TypeError, OverflowError):
        return False  # the operator says why
    write(x, x._array)
    return True


def iterate(x: AnyTensor) -> Iterator[Any]:
    """The parts along the first dimension."""
    if x.ndim == 0:
        raise DTypeError("iteration over a 0-D Tensor: it holds one number; use item()")
    length = x.shape[0]
    if length < 0:
        message = (
            f"iteration over {x.name!r} {x.spec}: its first dimension is not known before the Program runs; "
            "write a for loop or a list comprehension in code that to_static converts, or fix it in the "
            "InputSpec"
        )
        raise located(OutOfRangeError(message), user_frame())
    for n in range(length):
        yield getitem(x, n)
