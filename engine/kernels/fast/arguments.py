"""The arguments of compiled kernels: addresses of arrays and numbers, in one array of 64-bit integers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = Any

_integer_at = ctypes.c_int64.from_address
HEAD = object.__basicsize__


def _quick(x: Array) -> int:
    # PyArrayObject's first field, part of NumPy's binary interface: a tenth of the time of ``ctypes.data``.
    return _integer_at(id(x) + HEAD).value


def _checked(quick: Callable[[Array], int]) -> Callable[[Array], int]:
    """``quick``, or NumPy's own way where another build of Python or NumPy lays objects out otherwise."""
    whole = np.arange(7.0)
    if ctypes.sizeof(ctypes.c_void_p) == 8 and all(quick(x) == x.ctypes.data for x in (whole, whole[3:])):
        return quick
    return lambda x: int(x.ctypes.data)


# The address of the first element of an array, which has to be an ``ndarray``, no NumPy number.
address: Callable[[Array], int] = _checked(_quick)
# Whether compiled code finds that address in the object itself, and what it is given for an array: a third of
# the time of ``address``.
is_quick = address is _quick
reference: Callable[[Array], int] = id if is_quick else address


def as_arrays(values: Sequence[Any]) -> list[Array]:
    """The values, NumPy's numbers among them as arrays without dimensions."""
    return [x if isinstance(x, np.ndarray) else np.asarray(x) for x in values]


class Arguments:
    """Arguments of which the first ``numbers`` are always the same; addresses follow."""

    __slots__ = ("_make", "_start", "_template")

    def __init__(self, numbers: Sequence[int], addresses: int) -> None:
        kind = ctypes.c_int64 * (len(numbers) + addresses)
        self._template = kind(*numbers)
        self._make = kind.from_buffer_copy
        self._start = len(numbers)

    @property
    def numbers(self) -> list[int]:
        """The arguments that are always the same."""
        return list(self._template[: self._start])

    def of(self, arrays: Sequence[Array]) -> Any:
        """A new array of arguments; the caller holds ``arrays`` until the kernel has returned."""
        args = self._make(self._template)
        for n, x in enumerate(arrays, self._start):
            args[n] = address(x)
        return args
