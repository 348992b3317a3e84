"""Paddle's ``utils.layers_utils``: nested structures, and sizes as lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.core.errors import ArgumentError, DTypeError
from engine.tensor.arguments.sizes import check_shape
from engine.utils.nested import flatten, is_sequence, map_structure, pack_sequence_as

__all__ = [
    "assert_same_structure",
    "check_shape",
    "convert_to_list",
    "flatten",
    "is_sequence",
    "map_structure",
    "pack_sequence_as",
    "to_sequence",
]


def to_sequence(nest: object) -> Any:
    """``nest`` itself where it is a sequence or a dict, else a list that holds it."""
    return nest if is_sequence(nest) else [nest]


def convert_to_list(value: object, n: int, name: str, dtype: type = int) -> list[Any]:
    """``value`` n times, or the n values that it holds. Raises ArgumentError for another number of them, or
    for what ``dtype`` refuses; ``name`` is said in the message."""
    if isinstance(value, dtype):
        return [value] * n
    found = list(value) if isinstance(value, Iterable) else None
    if found is None or len(found) != n:
        raise ArgumentError(f"convert_to_list: {name} must be {dtype.__name__} or {n} of them: got {value!r}")
    for each in found:
        try:
            dtype(each)
        except (TypeError, ValueError) as error:
            raise ArgumentError(
                f"convert_to_list: {name} holds {each!r}: {error}; give {dtype.__name__}"
            ) from error
    return found


def assert_same_structure(nest1: object, nest2: object, check_types: bool = True) -> None:
    """Raise ArgumentError unless both have as many leaves and are nested alike, DTypeError where sequences
    are of different types (unless ``check_types`` is False)."""
    counts = [len(flatten(nest)) if is_sequence(nest) else 1 for nest in (nest1, nest2)]
    if counts[0] != counts[1]:
        raise ArgumentError(
            f"assert_same_structure: {counts[0]} elements and {counts[1]}: {nest1!r}, {nest2!r}"
        )
    _compare(nest1, nest2, check_types)


def _compare(first: Any, second: Any, check_types: bool) -> None:
    if is_sequence(first) != is_sequence(second):
        raise ArgumentError(f"assert_same_structure: only one of them is a sequence: {first!r}, {second!r}")
    if not is_sequence(first):
        return
    if check_types and type(first) is not type(second):
        raise DTypeError(
            f"assert_same_structure: one is {type(first).__name__}, the other {type(second).__name__}: "
            f"{first!r}, {second!r}"
        )
    if isinstance(first, dict) and isinstance(second, dict):
        if set(first) != set(second):
            raise ArgumentError(f"assert_same_structure: the keys are {list(first)} and {list(second)}")
        pairs = [(first[key], second[key]) for key in first]
    else:
        pairs = list(zip(to_list(first), to_list(second), strict=True))
    for one, other in pairs:
        _compare(one, other, check_types)


def to_list(nest: Iterable[Any]) -> list[Any]:
    """The elements of a sequence, or the values of a dict by sorted keys."""
    return [nest[key] for key in sorted(nest)] if isinstance(nest, dict) else list(nest)
