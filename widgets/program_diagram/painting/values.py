"""NodeColors: a value of each box as its colour and in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor

from resources import quantities
from widgets import theme
from widgets.diagram import ColorScale, Column
from widgets.program_diagram.painting.look import Paint, colored, look
from widgets.program_diagram.scene import Scene

ScaleKind = Literal["linear", "log"]
_WRITERS: dict[str, Callable[[float], str]] = {
    "s": quantities.duration,
    "B": quantities.size,
    "share": quantities.percent,
}


@dataclass(frozen=True)
class Values:
    """What the boxes are coloured by: numbers by node, or positions in ``labels``.

    ``unit`` is written after a number; seconds, bytes ("B") and shares of 1 ("share") are written as such.
    ``notes`` are words in place of a number, by node.
    """

    by_node: Mapping[int, float | None]
    title: str
    unit: str = ""
    scale: ScaleKind = "linear"
    labels: tuple[str, ...] = ()
    notes: Mapping[int, str] = field(default_factory=dict)

    def words(self, value: float) -> str:
        """A value in words."""
        if self.labels:
            return self.labels[int(value)]
        writer = _WRITERS.get(self.unit)
        return writer(value) if writer else quantities.number(_whole(value), self.unit)


def _whole(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


class NodeColors:
    """The values of a scene's boxes. The scale covers the shown boxes without opened frames."""

    def __init__(self, values: Values, scene: Scene) -> None:
        self.values = values
        self._ids = scene.ids
        numbers = [values.by_node.get(node) for node in scene.ids.tolist()]
        found = np.array([np.nan if each is None else each for each in numbers], np.float64)
        shown = found[~np.asarray(scene.opened, bool)]
        if not np.isfinite(shown).any():
            shown = found
        self.found: NDArray[np.float64] = found
        self.column = Column(values.title, values.title, shown, values.labels, text=values.words)
        self.scale = ColorScale(self.column, log=values.scale == "log")
        self.some_unmeasured = bool(np.isnan(shown).any())
        self._codes = self._coded()
        self._paints: tuple[bool, list[Paint]] | None = None

    def _coded(self) -> NDArray[np.int64]:
        everything = ColorScale(
            Column(
                self.column.name, self.column.title, self.found, self.values.labels, text=self.values.words
            )
        )
        everything.scale = self.scale.scale
        codes = everything.codes()
        count = len(everything.colors()) - 1
        # What can't be on the scale is at its end: infinite, or zero on a logarithmic one.
        known = ~np.isnan(self.found)
        codes[known & (codes == count) & (self.found > 0)] = count - 1
        codes[known & (codes == count)] = 0
        return codes

    def paint(self, row: int) -> Paint:
        """How the box of a row is filled."""
        return self.paints()[int(self._codes[row])]

    def codes(self) -> NDArray[np.int64]:
        """For each row its position in ``paints``."""
        return self._codes

    def paints(self) -> list[Paint]:
        """All ways that a box may be filled in the theme that holds now; the last one is without a value."""
        dark = theme.current().dark
        if self._paints is None or self._paints[0] != dark:
            shown = self.scale.colors()[:-1]
            self._paints = (dark, [*(colored(QColor(each)) for each in shown), look().unmeasured])
        return self._paints[1]

    def text(self, row: int) -> str:
        """The value of a row in words; empty where there is none."""
        value = float(self.found[row])
        if np.isnan(value):
            return self.values.notes.get(int(self._ids[row]), "")
        return self.values.words(value)


def checked_values(
    by_node: Mapping[int, float | None],
    title: str,
    unit: str,
    scale: ScaleKind,
    labels: Sequence[str],
    notes: Mapping[int, str] | None = None,
) -> Values:
    """Values for a diagram. Raises ValueError for an unknown scale, or a position outside the labels."""
    if scale not in ("linear", "log"):
        raise ValueError(f"set_colors: unknown scale: {scale!r}; use 'linear' or 'log'")
    if labels:
        wrong = {value for value in by_node.values() if value is not None and not 0 <= value < len(labels)}
        if wrong:
            raise ValueError(f"set_colors: {min(wrong)!r} is outside the {len(labels)} labels")
    return Values(by_node, title, unit, scale, tuple(labels), notes or {})
