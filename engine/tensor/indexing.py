"""``x[index]`` and ``x[index] = value``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, OutOfRangeError
from engine.eager.tensor import Tensor
from engine.ops import index as ops
from engine.ops import math
from engine.tensor.creation import to_tensor
from engine.tensor.inplace import replace
from engine.tensor.promote import is_tensor


def _parse(x: Any, index: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """The index as plain values, and the tensors in it."""
    items = index if isinstance(index, tuple) else (index,)
    plain: list[Any] = []
    tensors: list[Any] = []
    for item in items:
        if item is None:
            plain.append(None)
        elif item is Ellipsis:
            plain.append("...")
        elif isinstance(item, (bool, np.bool_)):
            raise ArgumentError("index: True and False select nothing here; use a bool tensor as a mask")
        elif isinstance(item, (int, np.integer)):
            plain.append(int(item))
        elif isinstance(item, slice):
            plain.append(("slice", *(_bound(v) for v in (item.start, item.stop, item.step))))
        elif is_tensor(item) or isinstance(item, (list, np.ndarray)):
            tensor = item if is_tensor(item) else to_tensor(item)
            if tensor.dtype.is_floating_point:
                raise ArgumentError(
                    f"index: an index tensor must be integer or bool: got {tensor.dtype.name}; "
                    "cast it to int64"
                )
            plain.append(("tensor", len(tensors)))
            tensors.append(tensor)
        else:
            raise ArgumentError(
                f"index: can't index with {type(item).__name__}; use ints, slices, None, ... or tensors"
            )
    return tuple(plain), tensors


def _bound(value: Any) -> Any:
    return int(value) if isinstance(value, (np.integer, Tensor)) else value


def getitem(x: Any, index: Any) -> Any:
    """Ints, slices, None and ... give a view, index tensors and masks a copy. Raises OutOfRangeError."""
    plain, tensors = _parse(x, index)
    return ops.getitem(x, tensors, index=plain) if tensors else ops.slice_view(x, index=plain)


def setitem(x: Any, index: Any, value: Any) -> None:
    """Replaces x[index] by value (a tensor, array or number, broadcast) in place."""
    plain, tensors = _parse(x, index)
    if not is_tensor(value):
        value = to_tensor(value, dtype=x.dtype)
    elif value.dtype is not x.dtype:
        value = math.cast(value, out_dtype=x.dtype.name)
    replace("setitem", x, ops.setitem(x, value, tensors, index=plain))


def iterate(x: Any) -> Iterator[Any]:
    """The parts along the first dimension."""
    if x.ndim == 0:
        raise TypeError("iteration over a 0-D Tensor; it holds one number, use item()")
    length = x.shape[0]
    if length < 0:
        raise OutOfRangeError(
            f"iteration over {x.name!r}: its first dimension is not known before running; "
            "fix it in the InputSpec"
        )
    for n in range(length):
        yield getitem(x, n)
