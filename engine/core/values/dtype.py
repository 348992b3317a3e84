"""Data types: Paddle's names over NumPy's dtypes."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np

from engine.core.errors import DTypeError, OutOfRangeError
from engine.core.strictness import tolerate


class DType:
    """One data type, e.g. ``paddle.float32``. Equal to itself, its name and its NumPy dtype."""

    __slots__ = ("is_complex", "is_floating_point", "is_inexact", "is_integer", "name", "np", "number")

    def __init__(self, name: str, np_type: type[np.generic], number: int, floating: bool = False) -> None:
        self.name = name
        self.np: np.dtype[Any] = np.dtype(np_type)
        self.number = number  # Paddle's VarType number
        self.is_floating_point = floating or self.np.kind == "f"
        self.is_integer = not floating and self.np.kind in "iu"
        self.is_complex = self.np.kind == "c"
        self.is_inexact = self.is_floating_point or self.is_complex  # values that have gradients

    @property
    def itemsize(self) -> int:
        """Bytes an element takes."""
        return int(self.np.itemsize)

    def __repr__(self) -> str:
        return f"paddle.{self.name}"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, DType):
            return False
        if isinstance(other, str):
            return other == self.name or other == f"paddle.{self.name}"
        if isinstance(other, (np.dtype, type)):
            try:
                return bool(np.dtype(other) == self.np)
            except TypeError:
                return False
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return (as_dtype, (self.name,))

    def __deepcopy__(self, memo: dict[int, Any]) -> DType:
        return self


# What names a data type: NumPy's and Python's types too.
DTypeLike: TypeAlias = DType | str | np.dtype[Any] | type

bool_ = DType("bool", np.bool_, 0)
int16 = DType("int16", np.int16, 1)
int32 = DType("int32", np.int32, 2)
int64 = DType("int64", np.int64, 3)
float16 = DType("float16", np.float16, 4)
float32 = DType("float32", np.float32, 5)
float64 = DType("float64", np.float64, 6)
uint8 = DType("uint8", np.uint8, 20)
int8 = DType("int8", np.int8, 21)
complex64 = DType("complex64", np.complex64, 23)
complex128 = DType("complex128", np.complex128, 24)
bfloat16 = DType("bfloat16", np.uint16, 22, floating=True)  # the upper half of a float32, stored as its bits

ALL = (bool_, uint8, int8, int16, int32, int64, bfloat16, float16, float32, float64, complex64, complex128)
_BY_NAME = {d.name: d for d in ALL}
_BY_NUMPY = {d.np: d for d in ALL}
_BY_PYTHON: dict[Any, DType] = {bool: bool_, int: int64, float: float64, complex: complex128}
_default_floating = [float32]


def from_numpy(dtype: np.dtype[Any]) -> DType:
    """The data type of a NumPy dtype. Raises DTypeError for one without a counterpart (strings, objects)."""
    found = _BY_NUMPY.get(dtype)
    if found is None:
        found = _BY_NUMPY.get(dtype.newbyteorder("="))
    if found is None:
        raise DTypeError(
            f"dtype: no tensor type for NumPy's {dtype}; convert the array to one of {sorted(_BY_NAME)}"
        )
    return found


def as_dtype(value: DTypeLike) -> DType:
    """A data type from a DType, a name (``'float32'``), a NumPy dtype or a Python type.

    Python's types, and names that only NumPy knows (``'float'``, ``'long'``), have NumPy's meaning;
    ``'uint16'`` is the storage of bfloat16. Raises DTypeError for anything else.
    """
    if isinstance(value, DType):
        return value
    if isinstance(value, str):
        name = value.removeprefix("paddle.")
        found = bfloat16 if name == "uint16" else _BY_NAME.get(name)
        if found is None:
            with suppress(TypeError, ValueError, SyntaxError):
                found = _BY_NUMPY.get(np.dtype(name))
        if found is not None:
            return found
    elif isinstance(value, type) and value in _BY_PYTHON:
        return _BY_PYTHON[value]
    elif isinstance(value, (np.dtype, type)):
        return from_numpy(np.dtype(value))
    raise DTypeError(f"dtype: {value!r} is not a data type; use one of {sorted(_BY_NAME)}")


def require_fitting(where: str, values: np.ndarray[Any, Any], dtype: DType, wraps: bool = False) -> None:
    """Raise OutOfRangeError where numbers of an array would wrap around in the integer type ``dtype``.

    With ``wraps`` that is a LeniencyWarning where C defines the result, as it does within 32 bits.
    """
    if not dtype.is_integer or values.dtype.kind not in "iuf" or not values.size:
        return
    if np.can_cast(values.dtype, dtype.np):
        return
    limits = np.iinfo(dtype.np)
    low, high = values.min().item(), values.max().item()
    if math.isfinite(low) and math.isfinite(high) and limits.min <= int(low) and int(high) <= limits.max:
        return
    error = OutOfRangeError(
        f"{where}: {dtype.name} holds integers from {limits.min} to {limits.max}: got {low} to {high}; "
        "use a wider dtype, or clip() them first"
    )
    if wraps and math.isfinite(low) and math.isfinite(high):
        defined = np.iinfo(np.int32) if values.dtype.kind == "f" else np.iinfo(np.int64)
        if limits.bits < defined.bits and defined.min <= int(low) and int(high) <= defined.max:
            tolerate(error)
            return
    raise error


def default_dtype() -> DType:
    """The floating type that Python floats and new parameters get."""
    return _default_floating[0]


def get_default_dtype() -> str:
    """The name of the floating type that Python floats and new parameters get."""
    return default_dtype().name


def set_default_dtype(d: DTypeLike) -> None:
    """Set the floating type of Python floats and new parameters: bfloat16, float16, float32 or float64."""
    dtype = as_dtype(d)
    if not dtype.is_floating_point:
        raise DTypeError(
            f"set_default_dtype: {dtype} is not a floating type; use bfloat16, float16, float32 or float64"
        )
    _default_floating[0] = dtype


_INTEGER_RANK = {"bool": 0, "uint8": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5}


def common_dtype(x: DType, y: DType) -> DType:
    """The dtype that holds both: floating wins over integer, wide over narrow.

    NumPy's rule would widen int64 with float32 to float64; the field's (and ours) is float32. Paddle 2.6
    turns int32 + float32 into int32, which loses the fraction: we do not follow it there.
    """
    if x is y:
        return x
    if x.is_floating_point != y.is_floating_point and not (x.is_complex or y.is_complex):
        return x if x.is_floating_point else y
    if x.is_integer and y.is_integer and _INTEGER_RANK[x.name] != _INTEGER_RANK[y.name]:
        if {x.name, y.name} == {"uint8", "int8"}:
            return from_numpy(np.dtype(np.int16))
        return x if _INTEGER_RANK[x.name] > _INTEGER_RANK[y.name] else y
    if bfloat16 in (x, y):  # no half precision holds the other: their sum is float32
        x, y = (float32 if d is bfloat16 else d for d in (x, y))
    return from_numpy(np.promote_types(x.np, y.np))


def scalar_dtype(value: object, dtype: DType) -> DType:
    """The dtype of the result of a tensor of ``dtype`` and a Python number."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, complex) and not dtype.is_complex:
        return from_numpy(np.dtype(np.complex64))
    if isinstance(value, float) and not (dtype.is_floating_point or dtype.is_complex):
        return default_dtype() if default_dtype().is_floating_point else float32
    if dtype.name == "bool" and not isinstance(value, bool):
        return from_numpy(np.dtype(np.int64))
    return dtype
