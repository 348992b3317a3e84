"""``paddle.compat`` of versions before 2.0: texts and bytes, and numbers as Python 2 had them."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["floor_division", "get_exception_message", "int_type", "long_type", "round", "to_bytes", "to_text"]

int_type = long_type = int


def to_text(obj: Any, encoding: str = "utf-8", inplace: bool = False) -> Any:
    """``obj``, bytes or a text or a list or set of them, as texts; ``inplace`` changes the list or set."""
    return _each(obj, lambda value: value.decode(encoding) if isinstance(value, bytes) else value, inplace)


def to_bytes(obj: Any, encoding: str = "utf-8", inplace: bool = False) -> Any:
    """``obj``, bytes or a text or a list or set of them, as bytes; ``inplace`` changes the list or set."""
    return _each(obj, lambda value: value.encode(encoding) if isinstance(value, str) else value, inplace)


def _each(obj: Any, change: Any, inplace: bool) -> Any:
    if not isinstance(obj, (list, set)):
        return change(obj)
    found = type(obj)(map(change, obj))
    if not inplace:
        return found
    obj.clear()
    (obj.extend if isinstance(obj, list) else obj.update)(found)
    return obj


def round(x: float, d: int = 0) -> float:
    """``x`` to ``d`` digits, halves away from 0."""
    if not math.isfinite(x) or x == 0:
        return x
    scale = 10.0**d
    return math.copysign(math.floor(abs(x) * scale + 0.5) / scale, x)


def floor_division(x: int, y: int) -> int:
    """``x // y``."""
    return x // y


def get_exception_message(exc: BaseException) -> str:
    """The text of an exception."""
    return str(exc)
