"""Paddle's ``utils.dlpack``: tensors for other libraries and from them, without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError
from engine.core.place import array_module
from engine.core.values.dtype import from_numpy
from engine.eager.tensor import Tensor, wrap

__all__ = ["from_dlpack", "to_dlpack"]

_ON_CPU = (1, 0)  # DLPack's numbers of the CPU and of a device's number


def to_dlpack(x: Tensor) -> Any:
    """A capsule with the values of ``x``, which share their memory. Booleans are bytes in it, as in Paddle.

    Raises DTypeError for anything but a Tensor.
    """
    if not isinstance(x, Tensor):
        raise DTypeError(f"to_dlpack: x must be a Tensor: got {type(x).__name__}; use to_tensor()")
    array = x._array
    if array.dtype == np.bool_:
        array = array.view(np.uint8)
    return array.__dlpack__()


def from_dlpack(dlpack: object) -> Tensor:
    """The Tensor in a capsule, or of an object that has ``__dlpack__`` (an array, a tensor of PyTorch).

    It shares the memory where that may be written to, else it is a copy. Raises DTypeError for other objects
    and dtypes, ArgumentError for a capsule whose tensor was taken before.
    """
    if type(dlpack).__name__ == "PyCapsule":
        source: Any = _Capsule(dlpack)
    elif hasattr(dlpack, "__dlpack__"):
        source = dlpack
    else:
        raise DTypeError(
            f"from_dlpack: takes a capsule of DLPack: got {type(dlpack).__name__}; use to_dlpack() of its "
            "library"
        )
    device = source.__dlpack_device__()
    xp = np if device[0] == _ON_CPU[0] else array_module(source)
    try:
        array = xp.from_dlpack(source)
    except (ValueError, BufferError, RuntimeError) as error:
        raise ArgumentError(
            f"from_dlpack: {error}; a capsule can be taken once, and by the device that it is on"
        ) from error
    from_numpy(array.dtype)
    writable = not isinstance(array, np.ndarray) or array.flags.writeable
    return wrap(array if writable else array.copy())


class _Capsule:
    """A capsule of the CPU as an object with DLPack's methods, which NumPy asks for."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _ON_CPU
