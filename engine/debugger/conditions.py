"""Conditions on the results of an operator, at which a debugger stops."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from engine.core.errors import ArgumentError
from engine.debugger.points import Array, Point, Site
from engine.debugger.views import arrays_of, is_finite, numbers


class Condition(Protocol):
    """What is looked for in the results of each operator."""

    def found(self, point: Point) -> tuple[str, str] | None:
        """The name of the result that it holds for, and in words what holds; None for nothing."""

    def plain(self) -> dict[str, Any]:
        """As JSON has it; ``condition_of`` reads it."""


@dataclass(frozen=True)
class NotFinite:
    """A result is not finite, and the inputs are.

    ``ignore`` has types of operators, paths of layers and places (``forward:12``) that may. An operator
    without inputs, or one that fills with infinity, may make infinity: so are masks of attention made.
    """

    ignore: tuple[str, ...] = ()

    def ignores(self, site: Site) -> bool:
        """Whether results of this operator may be anything."""
        return bool(self.ignore) and any(
            each in (site.operator, site.layer, place_text(site)) or _within(site.layer, each)
            for each in self.ignore
        )

    def found(self, point: Point) -> tuple[str, str] | None:
        name = first_not_finite(point.outputs)
        if name is None or self.ignores(point.site) or first_not_finite(point.inputs) is not None:
            return None
        if any(has_nan(array) for _, array in point.outputs):
            return name, "the inputs are finite, the result has NaN"
        if point.site.fills or not any(True for _, array in point.inputs for _ in arrays_of(array)):
            return None
        return name, "the inputs are finite, the result has infinity"

    def plain(self) -> dict[str, Any]:
        return {"kind": "not_finite", "ignore": list(self.ignore)}


@dataclass(frozen=True)
class Above:
    """An absolute value in a result is above ``limit``. Infinity is, NaN is not."""

    limit: float

    def found(self, point: Point) -> tuple[str, str] | None:
        for name, array in point.outputs:
            for each in arrays_of(array):
                values = numbers(each)
                if values.size and values.dtype.kind in "fciu":
                    with np.errstate(all="ignore"):
                        # fmax passes NaN over.
                        largest = float(np.fmax.reduce(np.abs(values), axis=None))
                    if largest > self.limit:
                        return name, f"|x| is {largest:.6g}, above {self.limit:g}"
        return None

    def plain(self) -> dict[str, Any]:
        return {"kind": "above", "limit": self.limit}


@dataclass(frozen=True)
class AllZero:
    """A result is all zero."""

    def found(self, point: Point) -> tuple[str, str] | None:
        for name, array in point.outputs:
            for each in arrays_of(array):
                values = numbers(each)
                if values.size and not values.any():
                    return name, f"all {values.size:,} elements are zero"
        return None

    def plain(self) -> dict[str, Any]:
        return {"kind": "all_zero"}


@dataclass(frozen=True)
class ShapeIs:
    """A result has this shape; -1 fits any size."""

    shape: tuple[int, ...]

    def found(self, point: Point) -> tuple[str, str] | None:
        for name, array in point.outputs:
            for each in arrays_of(array):
                shape = tuple(each.shape)
                if len(shape) == len(self.shape) and all(
                    size in (-1, has) for size, has in zip(self.shape, shape, strict=True)
                ):
                    return name, f"its shape is {list(shape)}"
        return None

    def plain(self) -> dict[str, Any]:
        return {"kind": "shape", "shape": list(self.shape)}


def condition_of(plain: Mapping[str, Any]) -> Condition:
    """The condition of what ``plain()`` gave. Raises ArgumentError for anything else."""
    kind = plain.get("kind")
    try:
        if kind == "not_finite":
            return NotFinite(tuple(str(each) for each in plain.get("ignore", ())))
        if kind == "above":
            limit = float(plain["limit"])
            if math.isnan(limit) or limit < 0:
                raise ArgumentError(
                    f"debug: above: a limit is a number from 0 on: got {limit}; give e.g. 1e6"
                )
            return Above(limit)
        if kind == "all_zero":
            return AllZero()
        if kind == "shape":
            return ShapeIs(tuple(int(size) for size in plain["shape"]))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(f"debug: the condition {kind}: {error!r}; give its value") from error
    raise ArgumentError(
        f"debug: no such condition: got {kind!r}; choose not_finite, above, all_zero or shape"
    )


def first_not_finite(values: Sequence[tuple[str, Array]]) -> str | None:
    """The name of the first value with an element that is NaN or infinite."""
    for name, array in values:
        for each in (array,) if isinstance(array, np.ndarray) else arrays_of(array):
            if not is_finite(each):
                return name
    return None


def has_nan(value: Array) -> bool:
    """Whether an element is NaN."""
    return any(not is_finite(array) and bool(np.isnan(numbers(array)).any()) for array in arrays_of(value))


def place_text(site: Site) -> str:
    """Part and number of an operator in short: ``forward:12``, ``forward:12/3`` within a loop's block."""
    return f"{site.part}:" + "/".join(str(op) for _, op in site.where)


def _within(layer: str, path: str) -> bool:
    return bool(path) and layer.startswith(path + ".")
