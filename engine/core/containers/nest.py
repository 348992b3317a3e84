"""Nested lists, tuples and dicts: flatten, rebuild, compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any


def flatten(value: object) -> list[Any]:
    """The leaves in order; dict values in the order of their keys' insertion."""
    found: list[Any] = []
    _flatten(value, found)
    return found


def _flatten(value: Any, found: list[Any]) -> None:
    if isinstance(value, dict):
        for each in value.values():
            _flatten(each, found)
    elif isinstance(value, (list, tuple)):
        for each in value:
            _flatten(each, found)
    else:
        found.append(value)


def by_key(value: object) -> Any:
    """The same value with its dicts in the order of their keys, where they can be compared."""
    if isinstance(value, dict):
        try:
            keys = sorted(value)
        except TypeError:
            keys = list(value)
        return {key: by_key(value[key]) for key in keys}
    if isinstance(value, (list, tuple)):
        return [by_key(each) for each in value]
    return value


def pack(structure: object, leaves: Sequence[Any]) -> Any:
    """A value of the same structure with other leaves."""
    return _pack(structure, iter(leaves))


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(structure, dict):
        return {k: _pack(v, leaves) for k, v in structure.items()}
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*[_pack(v, leaves) for v in structure])
    if isinstance(structure, (list, tuple)):
        return type(structure)(_pack(v, leaves) for v in structure)
    return next(leaves)


def map_structure(function: Callable[..., Any], *values: Any) -> Any:
    """Apply ``function`` to corresponding leaves of values of one structure."""
    return pack(values[0], [function(*leaves) for leaves in zip(*[flatten(v) for v in values], strict=True)])


def same_structure(a: Any, b: Any) -> bool:
    """True if both nest alike: same containers, same keys, same lengths."""
    if isinstance(a, dict) or isinstance(b, dict):
        return (
            isinstance(a, dict)
            and isinstance(b, dict)
            and list(a) == list(b)
            and all(same_structure(a[k], b[k]) for k in a)
        )
    if isinstance(a, (list, tuple)) or isinstance(b, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same_structure, a, b))
    return True


def describe(value: object) -> str:
    """The structure in words, for messages: ``[Variable, (int, None)]``."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {describe(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(describe(v) for v in value) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(describe(v) for v in value) + ")"
    return "None" if value is None else type(value).__name__
