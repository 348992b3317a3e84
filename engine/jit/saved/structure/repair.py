"""A damaged plain Program as one whose values have the expected types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST_SIZES = 64  # dimensions of a shape


def repaired(plain: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of what of ``plain`` has the types of a plain Program; the rest is empty."""
    given = _mapping(plain)
    return {
        "inputs": _names(given.get("inputs")),
        "outputs": _names(given.get("outputs")),
        "blocks": [_block(_mapping(block)) for block in _list(given.get("blocks"))],
    }


def _block(plain: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        "parent": plain.get("parent"),
        "vars": [_variable(_mapping(each)) for each in _list(plain.get("vars"))],
        "ops": [repaired_operator(_mapping(each)) for each in _list(plain.get("ops"))],
    }


def _variable(plain: Mapping[Any, Any]) -> dict[str, Any]:
    shape = [size for size in _list(plain.get("shape")) if isinstance(size, int | float | str)]
    return {"name": str(plain.get("name")), "shape": shape[:MOST_SIZES], "dtype": str(plain.get("dtype"))}


def repaired_operator(given: Mapping[str, Any]) -> dict[str, Any]:
    """An operator with what of ``given`` has the types of one."""
    plain = _mapping(given)
    layer = plain.get("layer")
    return {
        **{str(key): value for key, value in plain.items()},
        "type": str(plain.get("type")),
        "inputs": _slots(plain.get("inputs")),
        "outputs": _slots(plain.get("outputs")),
        "attrs": {str(key): value for key, value in _mapping(plain.get("attrs")).items()},
        "regions": [_region(_mapping(each)) for each in _list(plain.get("regions"))],
        "layer": layer if isinstance(layer, str) else "",
    }


def _region(plain: Mapping[Any, Any]) -> dict[str, Any]:
    def references(given: Any) -> list[list[Any]]:
        return [[None, str(each[1])] for each in map(_list, _list(given)) if len(each) > 1]

    return {
        "block": plain.get("block"),
        "arguments": references(plain.get("arguments")),
        "results": references(plain.get("results")),
    }


def _slots(plain: Any) -> dict[str, list[str]]:
    return {str(slot): _names(given) for slot, given in _mapping(plain).items()}


def _names(given: Any) -> list[str]:
    return [str(name) for name in _list(given)]


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any] | tuple[Any, ...]:
    return value if isinstance(value, list | tuple) else ()
