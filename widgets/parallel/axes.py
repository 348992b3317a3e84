"""The axes of parallel coordinates: their order, scales and brushes, and where everything is in pixels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from widgets.diagram import Column, Scale

LEGEND, HEAD, FOOT, MISSING = 22.0, 22.0, 6.0, 22.0
LEFT, RIGHT = 10.0, 76.0
NEAR_AXIS, NEAR_END = 9.0, 5.0
Range = tuple[float, float]


@dataclass
class Axis:
    """One axis. ``brush`` is the selected range, in values; of categories in their positions.

    It reaches to infinity where it was drawn over an end of the axis, so that rows that come later are in it.
    """

    column: Column
    log: bool = False
    flipped: bool = False
    brush: Range | None = None
    scale: Scale = field(init=False)

    def __post_init__(self) -> None:
        self.scale = Scale.of(self.column, self.log, self.flipped)

    def take(self, column: Column) -> None:
        """Show new values of the same column."""
        if self.brush is not None and column.labels != self.column.labels:
            self.brush = _moved_brush(self.brush, self.column.labels, column.labels)
        self.column = column
        self.scale = Scale.of(column, self.log, self.flipped)

    def set_form(self, log: bool, flipped: bool) -> None:
        """Another form of the same axis."""
        self.log, self.flipped = log, flipped
        self.scale = Scale.of(self.column, log, flipped)

    def units(self) -> Range | None:
        """The ends of the brush as positions, the lower one first."""
        if self.brush is None:
            return None
        low, high = self.scale.unit(np.array(self.brush, np.float64)).tolist()
        edges = (1.0, 0.0) if self.flipped else (0.0, 1.0)
        low, high = (edge if math.isnan(end) else end for end, edge in zip((low, high), edges, strict=True))
        return min(max(min(low, high), 0.0), 1.0), max(min(max(low, high), 1.0), 0.0)

    def set_units(self, low: float, high: float) -> None:
        """Brush from one position to another."""
        low, high = max(0.0, min(low, high)), min(1.0, max(low, high))
        ends = [self.scale.value(low), self.scale.value(high)]
        if low <= 0.001:
            ends[0] = math.inf if self.flipped else -math.inf
        if high >= 0.999:
            ends[1] = -math.inf if self.flipped else math.inf
        self.brush = min(ends), max(ends)

    def nudged(self, by: float, upper: bool) -> Range:
        """The positions of the brush moved, or of its upper end; first those of the upper quarter."""
        low, high = self.units() or (0.75, 1.0)
        if upper:
            return low, min(max(high + by, low + 0.02), 1.0)
        by = min(max(by, -low), 1.0 - high) if self.brush is not None else 0.0
        return low + by, high + by

    def mask(self) -> NDArray[np.bool_]:
        """The rows within the brush; all without one."""
        if self.brush is None:
            return np.ones(len(self.column), bool)
        values = self.column.values
        placed = self.column.known() & np.isfinite(self.scale.unit(values))
        with np.errstate(invalid="ignore"):
            return placed & (values >= self.brush[0]) & (values <= self.brush[1])

    def brush_text(self) -> str:
        """The brushed range in words."""
        if self.brush is None:
            return ""
        if self.column.labels:
            inside = [
                label
                for place, label in enumerate(self.column.labels)
                if self.brush[0] <= place <= self.brush[1]
            ]
            return ", ".join(inside)
        low, high = self.brush
        if math.isinf(low) and math.isinf(high):
            return ""
        if math.isinf(low):
            return f"≤ {self.column.words(high)}"
        if math.isinf(high):
            return f"≥ {self.column.words(low)}"
        return f"{self.column.words(low)} – {self.column.words(high)}"


def _moved_brush(brush: Range, before: Sequence[str], after: Sequence[str]) -> Range | None:
    """The brush over the same categories at their new positions; None where none of them is left."""
    inside = {label for place, label in enumerate(before) if brush[0] <= place <= brush[1]}
    places = [place for place, label in enumerate(after) if label in inside]
    return (min(places) - 0.4, max(places) + 0.4) if places else None


class Axes(list[Axis]):
    """The axes in their order."""

    def take(self, columns: Sequence[Column]) -> None:
        """Show these columns: order, forms and brushes of known ones stay."""
        wanted = {column.name: column for column in columns}
        stay = [axis for axis in self if axis.column.name in wanted]
        for axis in stay:
            axis.take(wanted.pop(axis.column.name))
        self[:] = [*stay, *(Axis(column, log=column.suits_log()) for column in wanted.values())]

    def arrange(self, names: Sequence[str], forms: Mapping[str, tuple[bool, bool]]) -> None:
        """Put axes into this order, others after them, in these forms: logarithmic, flipped."""
        places = {name: place for place, name in enumerate(names)}
        self.sort(key=lambda axis: places.get(axis.column.name, len(places)))
        for axis in self:
            if axis.column.name in forms:
                axis.set_form(*forms[axis.column.name])

    @property
    def brushed(self) -> bool:
        """Whether any axis has a brush."""
        return any(axis.brush is not None for axis in self)

    def mask(self, rows: int) -> NDArray[np.bool_]:
        """The rows within all brushes; none without a brush."""
        if not self.brushed:
            return np.zeros(rows, bool)
        return np.logical_and.reduce([axis.mask() for axis in self])

    def clear_brushes(self) -> None:
        """Remove all brushes."""
        for axis in self:
            axis.brush = None


class Layout:
    """Where axes and rows are in a widget of ``width`` x ``height`` pixels."""

    def __init__(self, axes: Sequence[Axis], width: float, height: float) -> None:
        self.axes = axes
        self.top = LEGEND + HEAD
        has_missing = any(np.isnan(axis.scale.unit(axis.column.values)).any() for axis in axes)
        self.bottom = max(self.top + 20.0, height - FOOT - (MISSING if has_missing else 0.0))
        self.missing = self.bottom + MISSING - 6.0 if has_missing else math.nan
        count = len(axes)
        right = max(LEFT + 20.0, width - RIGHT)
        self.spacing = (right - LEFT) / max(1, count - 1)
        middle = (LEFT + right) / 2
        self.xs = np.linspace(LEFT, right, count) if count > 1 else np.full(count, middle)

    @property
    def high(self) -> float:
        """The length of an axis."""
        return self.bottom - self.top

    def y(self, unit: float) -> float:
        """Where a position is."""
        return self.bottom - unit * self.high

    def unit(self, y: float) -> float:
        """The position at a height."""
        return (self.bottom - y) / self.high

    def ys(self) -> NDArray[np.float64]:
        """Where each row crosses each axis, [rows, axes]."""
        if not self.axes:
            return np.zeros((0, 0))
        units = np.stack([axis.scale.unit(axis.column.values) for axis in self.axes], axis=1)
        return np.where(np.isnan(units), self.missing, self.bottom - np.nan_to_num(units) * self.high)

    def axis_at(self, x: float) -> int | None:
        """The axis near this place."""
        if not len(self.xs):
            return None
        nearest = int(np.abs(self.xs - x).argmin())
        return nearest if abs(self.xs[nearest] - x) <= min(NEAR_AXIS, self.spacing / 2) else None

    def title_at(self, x: float) -> int | None:
        """The axis whose title is here: titles begin at their axis."""
        if not len(self.xs):
            return None
        place = int(np.searchsorted(self.xs, x + NEAR_AXIS, side="right")) - 1
        return place if place >= 0 else None
