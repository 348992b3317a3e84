"""Changes of values by hand: one number, all of them, or a factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.place import array_module
from engine.core.values import bfloat
from engine.debugger.points import Array
from engine.debugger.views import dtype_name

How = Literal["number", "fill", "scale", "array"]
Given: TypeAlias = bool | int | float | complex | str | list[Any] | np.ndarray[Any, Any]
"""A number, also as text such as ``nan``; for ``array`` all elements."""


@dataclass(frozen=True)
class Change:
    """A change of the value ``name`` as operator ``position`` of the batch made it (from 1; 0: as the batch
    began).

    ``how``: ``number`` sets the element at ``index``, ``fill`` all elements, ``scale`` multiplies them,
    ``array`` gives all of them.
    """

    position: int
    name: str
    how: How
    value: Given
    index: tuple[int, ...] = ()

    def plain(self) -> dict[str, Any]:
        """As JSON has it; of an array its shape alone."""
        value = list(np.shape(self.value)) if self.how == "array" else self.value
        return {
            "position": self.position,
            "name": self.name,
            "how": self.how,
            "index": list(self.index),
            "value": value,
        }

    def of(self, array: Array) -> Array:
        """A new array with the change made. Raises ArgumentError, ShapeError or DTypeError where it does not
        fit; both are named."""
        if not hasattr(array, "dtype") or not hasattr(array, "shape"):
            raise ArgumentError(
                f"debug: {self.name}: no tensor, but {type(array).__name__}, can't be changed"
            )
        xp = array_module(array) if not isinstance(array, np.generic) else np
        made = xp.asarray(array).copy()
        low = bfloat.is_bfloat16(made)
        if self.how == "array":
            return self._all_of(array, xp)
        number = self._number(array)
        if self.how == "scale":
            kind = made.dtype.kind
            if kind not in "fc" and not low:
                raise DTypeError(
                    f"debug: {self.name}: scale is for floating numbers: the value is {dtype_name(array)}; "
                    "set a number or fill"
                )
            return (
                bfloat.narrow(xp, bfloat.widen(xp, made) * number)
                if low
                else xp.asarray(made * made.dtype.type(number))
            )
        element = bfloat.narrow(np, np.asarray(number, np.float32)) if low else number
        if self.how == "fill":
            made[...] = np.asarray(element).item() if low is False else _bits(element)
            return made
        if self.how != "number":
            raise ArgumentError(
                f"debug: no such change: got {self.how!r}; choose number, fill, scale or array"
            )
        self._require_index(array)
        made[tuple(self.index)] = _bits(element) if low else number
        return made

    def _require_index(self, array: Array) -> None:
        shape = tuple(array.shape)
        fits = len(self.index) == len(shape) and all(
            0 <= i < n for i, n in zip(self.index, shape, strict=True)
        )
        if not fits:
            raise ShapeError(
                f"debug: {self.name}: index {list(self.index)} is not one of shape {list(shape)}"
            )

    def _number(self, array: Array) -> Any:
        """The number in the kind of the elements. Raises DTypeError where it is none of them."""
        value, dtype = self.value, np.dtype(array.dtype)
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                raise ArgumentError(
                    f"debug: {self.name}: not a number: {value!r}; give e.g. 0.5 or nan"
                ) from None
        if bfloat.is_bfloat16(array) or dtype.kind in "fc":
            if isinstance(value, (bool, int, float)) or (dtype.kind == "c" and isinstance(value, complex)):
                return value
        elif dtype.kind == "b":
            if value in (0, 1):
                return bool(value)
        elif isinstance(value, (bool, int, float)) and float(value).is_integer():
            limits = np.iinfo(dtype)
            if limits.min <= int(value) <= limits.max:
                return int(value)
        raise DTypeError(
            f"debug: {self.name}: {value!r} is no {dtype_name(array)}, which the value is; give one of these"
        )

    def _all_of(self, array: Array, xp: Any) -> Array:
        given = np.asarray(self.value)
        if tuple(given.shape) != tuple(array.shape):
            raise ShapeError(
                f"debug: {self.name}: has shape {list(array.shape)}, and the new value {list(given.shape)}; "
                "give one of the same shape"
            )
        if given.dtype != array.dtype and isinstance(self.value, np.ndarray):
            raise DTypeError(
                f"debug: {self.name}: is {dtype_name(array)}, and the new value {given.dtype}; give one of "
                "the same dtype"
            )
        if bfloat.is_bfloat16(array):
            return bfloat.narrow(xp, xp.asarray(given, xp.float32))
        with np.errstate(all="ignore"):
            made = xp.asarray(given.astype(array.dtype))
        if array.dtype.kind in "iub" and not np.array_equal(given, given.astype(array.dtype)):
            raise DTypeError(
                f"debug: {self.name}: is {dtype_name(array)}, and the new value {given.dtype}; give one of "
                "the same dtype"
            )
        return made


def made(array: Array, changes: Sequence[Change]) -> Array:
    """The array after these changes, one after the other."""
    for change in changes:
        array = change.of(array)
    return array


def _bits(element: Any) -> int:
    return int(np.asarray(element).view(np.ndarray).item())
