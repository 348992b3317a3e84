"""Plain values of Programs: equality, numbers for equal ones, source lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

_DEEPEST = 32  # lists within lists of an attribute that are looked into


def same_value(a: Any, b: Any) -> bool:
    """Whether two plain values are the same; lists and tuples are, and NaN is NaN."""
    return _same(a, b, _DEEPEST)


def _same(a: Any, b: Any, deep: int) -> bool:
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and (
            deep > 0 and all(_same(x, y, deep - 1) for x, y in zip(a, b, strict=True))
        )
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and deep > 0 and all(_same(a[key], b[key], deep - 1) for key in a)
    if hasattr(a, "tobytes") or hasattr(b, "tobytes"):
        return type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, bool) is not isinstance(b, bool):
        return False
    return bool(a == b) or (a != a and b != b)


def source_line(operator: Mapping[str, Any]) -> str:
    """``net.py:12``, without the folder, which differs between machines; empty where it is unknown."""
    file, line = operator.get("file"), operator.get("line")
    return f"{PurePath(file).name}:{line}" if isinstance(file, str) and line else ""


class Attributes:
    """Numbers for dictionaries of attributes: equal ones have the same number, as ``same_value`` says."""

    def __init__(self) -> None:
        self._by_text: dict[str, int] = {}
        self._by_value: dict[Any, int] = {}

    def number(self, attrs: dict[str, Any]) -> int:
        """The number of ``attrs``."""
        try:
            text = repr(attrs)  # quick; equal texts are equal values, but for arrays, which are shortened
        except RecursionError:
            text = "array("
        if "array(" in text:
            return self._by_value.setdefault(_frozen(attrs, _DEEPEST), len(self._by_value))
        found = self._by_text.get(text)
        if found is None:
            found = self._by_value.setdefault(_frozen(attrs, _DEEPEST), len(self._by_value))
            self._by_text[text] = found
        return found


def _frozen(value: Any, deep: int) -> Any:
    """A hashable that is equal for same values."""
    if isinstance(value, list | tuple):
        return ("list", *(_frozen(each, deep - 1) for each in value)) if deep else len(value)
    if isinstance(value, Mapping):
        items = sorted(value.items(), key=lambda item: str(item[0]))
        return ("dict", *((key, _frozen(each, deep - 1)) for key, each in items)) if deep else len(value)
    if isinstance(value, bool):
        return ("bool", value)
    if hasattr(value, "tobytes"):
        return ("array", str(value.dtype), tuple(value.shape), value.tobytes())
    return "nan" if value != value else value
