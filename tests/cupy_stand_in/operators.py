"""Python's operators for arrays of the stand-in."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cupy_stand_in.array import SCALARS, ndarray

_BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "lshift": "left_shift",
    "rshift": "right_shift",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "divmod": "divmod",
}
_COMPARED = {
    "lt": "less",
    "le": "less_equal",
    "eq": "equal",
    "ne": "not_equal",
    "gt": "greater",
    "ge": "greater_equal",
}


def _operator(name: str, backward: bool = False, in_place: bool = False) -> Any:
    def call(self: ndarray, other: Any, *_: Any) -> Any:
        from tests.cupy_stand_in import module

        if getattr(other, "__array_ufunc__", 0) is None or (
            not isinstance(other, (ndarray, np.ndarray, *SCALARS)) and hasattr(other, "__array_priority__")
        ):
            return NotImplemented
        if not isinstance(other, (ndarray, np.ndarray, *SCALARS)):
            return NotImplemented
        ufunc = getattr(module.cupy(), name)
        if in_place:
            return ufunc(self, other, self)
        return ufunc(other, self) if backward else ufunc(self, other)

    return call


def _unary(name: str) -> Any:
    def call(self: ndarray) -> Any:
        from tests.cupy_stand_in import module

        return getattr(module.cupy(), name)(self)

    return call


_ONE = {"neg": "negative", "abs": "absolute", "invert": "invert"}


def give_operators() -> None:
    """Let arrays of the stand-in take part in Python's operators."""
    for name, ufunc in _BINARY.items():
        setattr(ndarray, f"__{name}__", _operator(ufunc))
        setattr(ndarray, f"__r{name}__", _operator(ufunc, backward=True))
        if name != "divmod":
            setattr(ndarray, f"__i{name}__", _operator(ufunc, in_place=True))
    for name, ufunc in _COMPARED.items():
        setattr(ndarray, f"__{name}__", _operator(ufunc))
    for name, ufunc in _ONE.items():
        setattr(ndarray, f"__{name}__", _unary(ufunc))
    ndarray.__pos__ = lambda self: self  # type: ignore[attr-defined]
