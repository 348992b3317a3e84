"""Equality of values that may be unknown: NaN equals NaN, so what stays unknown has not changed."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def same_number(one: float, other: float) -> bool:
    """Whether two numbers are equal, or both NaN."""
    return one == other or (math.isnan(one) and math.isnan(other))


class EqualNaN:
    """A base of dataclasses with ``eq=False``: compares field by field, and takes NaN as equal to NaN.

    Python's own comparison of dataclasses does so up to 3.12 where both are the same object, and never from
    3.13 on.
    """

    def __eq__(self: DataclassInstance, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(_same(getattr(self, each.name), getattr(other, each.name)) for each in fields(self))

    __hash__ = None  # type: ignore[assignment]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return same_number(one, other)
    return bool(one == other)
