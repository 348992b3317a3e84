"""Slots and types of attributes of Paddle 2.6.2's operators, from the protos that it registers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from engine.core.program_desc import Attr, AttrType

_FILE = Path(__file__).parent / "signatures.json"


@dataclass(frozen=True)
class Signature:
    """One operator: whether each slot may be absent, and the type of each attribute."""

    inputs: dict[str, bool]
    outputs: dict[str, bool]
    attrs: dict[str, AttrType]


@cache
def _table() -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(_FILE.read_text("utf-8"))["operators"]
    return found


@lru_cache(maxsize=4096)
def signature(type: str) -> Signature | None:
    """The signature of an operator; None for one that Paddle does not have."""
    row = _table().get(type)
    if row is None:
        return None
    ins, outs, attrs = row
    pairs = (each.rsplit(":", 1) for each in attrs.split())
    return Signature(_slots(ins), _slots(outs), {name: AttrType(int(number)) for name, number in pairs})


def _slots(text: str) -> dict[str, bool]:
    return {each.rstrip("*?"): each.endswith("?") for each in text.split()}


def attribute(type: AttrType, value: object) -> Attr:
    """A value as an attribute of a type. Raises TypeError or ValueError where it does not fit."""
    return Attr(type, _CONVERT[type](value))


def _integer(value: Any) -> int:
    if isinstance(value, str) or int(value) != value:
        raise ValueError(f"{value!r} is not an integer")
    return int(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _number(value: Any) -> float:
    if isinstance(value, str):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def _list(of: Any) -> Any:
    return lambda value: [of(each) for each in (value if isinstance(value, (list, tuple)) else [value])]


def _flag(value: Any) -> bool:
    if value not in (0, 1):
        raise TypeError(f"{value!r} is neither true nor false")
    return bool(value)


def _scalar(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


_CONVERT: dict[AttrType, Any] = {
    AttrType.INT: _integer,
    AttrType.FLOAT: _number,
    AttrType.STRING: _text,
    AttrType.INTS: _list(_integer),
    AttrType.FLOATS: _list(_number),
    AttrType.STRINGS: _list(_text),
    AttrType.BOOLEAN: _flag,
    AttrType.BOOLEANS: _list(_flag),
    AttrType.BLOCK: _integer,
    AttrType.LONG: _integer,
    AttrType.BLOCKS: _list(_integer),
    AttrType.LONGS: _list(_integer),
    AttrType.FLOAT64S: _list(_number),
    AttrType.VAR: _text,
    AttrType.VARS: _list(_text),
    AttrType.FLOAT64: _number,
    AttrType.SCALAR: _scalar,
    AttrType.SCALARS: _list(_scalar),
}
