"""Paddle's ``VarType``: kinds of variables. Its dtypes are those of the engine."""

from __future__ import annotations

from typing import Any

from engine.core.values.dtype import (
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)


class Kind:
    """One kind of variable. Equal to itself and to its name."""

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: int) -> None:
        self.name, self.value = name, value

    def __repr__(self) -> str:
        return f"<VarType.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"VarType.{self.name}"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, str) and other == self.name)

    def __hash__(self) -> int:
        return hash(self.name)

    def __deepcopy__(self, memo: dict[int, Any]) -> Kind:
        return self


class VarType:
    """The kinds of variables, and the dtypes under the names that Paddle's core gives them."""

    LOD_TENSOR = Kind("LOD_TENSOR", 7)
    SELECTED_ROWS = Kind("SELECTED_ROWS", 8)
    FEED_MINIBATCH = Kind("FEED_MINIBATCH", 9)
    FETCH_LIST = Kind("FETCH_LIST", 10)
    STEP_SCOPES = Kind("STEP_SCOPES", 11)
    LOD_TENSOR_ARRAY = Kind("LOD_TENSOR_ARRAY", 13)
    READER = Kind("READER", 15)
    RAW = Kind("RAW", 17)
    STRING = Kind("STRING", 25)
    STRINGS = Kind("STRINGS", 26)
    VOCAB = Kind("VOCAB", 27)
    BOOL, INT16, INT32, INT64 = bool_, int16, int32, int64
    FP16, FP32, FP64, BF16 = float16, float32, float64, bfloat16
    UINT8, INT8, COMPLEX64, COMPLEX128 = uint8, int8, complex64, complex128


def kind(name: str) -> Kind:
    """The kind called ``name``; a new one where Paddle has none of that name."""
    found = getattr(VarType, name, None)
    return found if isinstance(found, Kind) else Kind(name, -1)
