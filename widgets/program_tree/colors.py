"""OperatorColors: a value of each operator as its colour and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from widgets import theme
from widgets.diagram import ColorScale, Column
from widgets.program_diagram.painting.look import Paint, colored
from widgets.program_diagram.painting.values import ScaleKind, checked_values

Place = tuple[int, int]  # block and operator


class OperatorColors:
    """The values of the column that :meth:`ProgramTree.set_colors` adds.

    Args:
        values: by block and operator; with ``labels`` positions in those.
        notes: in place of a value, in quiet letters.
    """

    def __init__(
        self,
        values: Mapping[Place, float],
        title: str,
        unit: str = "",
        scale: ScaleKind = "linear",
        labels: Sequence[str] = (),
        notes: Mapping[Place, str] | None = None,
    ) -> None:
        self.title, self._notes = title, dict(notes or {})
        self._places = {place: row for row, place in enumerate(values)}
        self._values = checked_values(dict(enumerate(values.values())), title, unit, scale, labels)
        self._numbers = np.array(list(values.values()), np.float64)
        column = Column(title, title, self._numbers, self._values.labels, text=self._values.words)
        self._scale = ColorScale(column, log=scale == "log")
        self._codes = self._scale.codes()
        self._paints: tuple[bool, list[Paint]] | None = None

    def text(self, place: Place) -> str:
        """The value of an operator in words, or the note in its place."""
        row = self._places.get(place)
        return self._notes.get(place, "") if row is None else self._values.words(float(self._numbers[row]))

    def paint(self, place: Place) -> Paint | None:
        """How the cell of an operator is filled; None without a value."""
        row = self._places.get(place)
        if row is None:
            return None
        dark = theme.current().dark
        if self._paints is None or self._paints[0] != dark:
            self._paints = (dark, [colored(color) for color in self._scale.colors()])
        paints = self._paints[1]
        code = int(self._codes[row])
        if code == len(paints) - 1:  # zero on a logarithmic scale is at its end
            code = 0
        return paints[code]
