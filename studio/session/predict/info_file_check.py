"""Checks what the information file of a saved model says before a page or the command line shows it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from resources.settings.export import ABOUT

_MAX_SIZE = 2**63 - 1


def checked_information(info: object, path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The information of a saved model, including the fields that its author added; ``path`` is its file.

    Raises:
        FormatError: values of other types than a saved model has.
    """
    from engine.core.errors import FormatError

    found = info if isinstance(info, dict) else {}
    added = found.get("info", found)
    fields = [(name, found[name], sound) for name, sound in _FIELDS.items() if name in found]
    fields.append(("info", added, lambda value: isinstance(value, dict)))
    if isinstance(added, dict):
        fields += [(f"info.{name}", added[name], sound) for name, sound in _ADDED.items() if name in added]
    for name, value, sound in fields:
        if not sound(value):
            seen = " ".join(repr(value)[:200].split())[:80]
            raise FormatError(
                f"{path}: {name} is not what a saved model has: got {seen}; save the model again, or get it "
                "from a source that you trust"
            )
    return found, added


def _are_specs(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(spec, dict) and "shape" in spec and _is_shape(spec["shape"]) for spec in value
    )


def _is_shape(value: object) -> bool:
    """Whether these are sizes; None and -1 stand for any."""
    return isinstance(value, list) and all(
        size is None or (type(size) is int and -1 <= size <= _MAX_SIZE) for size in value
    )


def _are_variables(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(described, dict)
        and _is_shape(described.get("shape", []))
        and None not in described.get("shape", [])
        and isinstance(described.get("parameter", False), bool)
        for described in value.values()
    )


def _is_number(value: object) -> bool:
    return isinstance(value, float) or (type(value) is int and abs(value) <= _MAX_SIZE)


def _is_scaling(value: object) -> bool:
    return isinstance(value, dict) and all(
        _is_number(number) and math.isfinite(number) for number in value.values()
    )


def _are_names(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str | int | float) for name in value)


def _is_data_spec(value: object) -> bool:
    """Whether this says what data was, in the types that an export writes."""
    if not isinstance(value, dict) or not isinstance(value.get("columns"), list | tuple):
        return False
    lists = [value.get(name) for name in ("classes", "targets")]
    return all(_are_names(names) for names in lists) and all(_is_column(each) for each in value["columns"])


def _is_column(value: object) -> bool:
    return (
        isinstance(value, dict)
        and all(isinstance(value.get(name), str) for name in ("name", "role", "type"))
        and isinstance(value.get("unit", ""), str)
        and isinstance(value.get("words"), list | tuple)
        and all(isinstance(word, str) for word in value["words"])
        and _is_number(value.get("fill", 0.0))
    )


_FIELDS: dict[str, Callable[[Any], bool]] = {
    "inputs": _are_specs,
    "outputs": _are_specs,
    "variables": _are_variables,
}
_ADDED: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(ABOUT, lambda value: isinstance(value, str)),
    "classes": _are_names,
    "scaling": _is_scaling,
    "validation_accuracy": _is_number,
    "data_spec": _is_data_spec,
    "validation_r2": _is_number,
    "validation_mae": _is_number,
}
