"""Nested lists, tuples and dicts, in the order that Paddle walks them: dicts by sorted keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from engine.core.errors import ArgumentError, DTypeError


def flatten(nest: object) -> list[Any]:
    """The leaves of ``nest`` in order; dict values by sorted keys. Strings are not sequences here.

    Raises DTypeError for a dict whose keys can't be sorted.
    """
    return [leaf for child in _children(nest) for leaf in flatten(child)] if is_sequence(nest) else [nest]


def pack_sequence_as(structure: object, flat_sequence: Sequence[Any] | dict[Any, Any]) -> Any:
    """``flat_sequence`` arranged as ``structure`` is.

    Raises ArgumentError for another number of leaves, DTypeError for a ``flat_sequence`` that is none.
    """
    if not is_sequence(flat_sequence):
        raise DTypeError(
            f"pack_sequence_as: flat_sequence must be a sequence: got {type(flat_sequence).__name__}; "
            "pass what flatten() gave"
        )
    count = len(flatten(structure))
    if count != len(flat_sequence):
        raise ArgumentError(
            f"pack_sequence_as: Could not pack sequence: the structure has {count} elements, flat_sequence "
            f"has {len(flat_sequence)}; give as many"
        )
    return _packed(structure, iter(flat_sequence))


def map_structure(func: Callable[..., Any], *structure: Any) -> Any:
    """``func`` of the corresponding leaves of all structures, arranged as the first one is.

    Raises ArgumentError where a structure has fewer leaves than the first.
    """
    return pack_sequence_as(structure[0], [func(*leaves) for leaves in zip(*map(flatten, structure))])  # noqa: B905


def is_sequence(value: object) -> bool:
    """Whether a value nests others: a dict, or a sequence other than a string."""
    return isinstance(value, dict) or (isinstance(value, Sequence) and not isinstance(value, str))


def _children(value: Any) -> Any:
    return [value[key] for key in _sorted(value)] if isinstance(value, dict) else value


def _sorted(value: dict[Any, Any]) -> list[Any]:
    try:
        return sorted(value)
    except TypeError:
        kinds = sorted({type(key).__name__ for key in value})
        raise DTypeError(
            f"nest: the keys of a dict must be sortable: got {', '.join(kinds)}; use strings"
        ) from None


def _packed(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_sequence(structure):
        return next(leaves)
    if isinstance(structure, dict):
        made = {key: _packed(structure[key], leaves) for key in _sorted(structure)}
        return type(structure)((key, made[key]) for key in structure)
    children = [_packed(child, leaves) for child in structure]
    return type(structure)(*children) if hasattr(structure, "_fields") else type(structure)(children)
