"""ColorScale: a colour for each value of a column; readable by colour-blind people and in grey."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor

from resources.color_map import map_colors
from widgets import theme
from widgets.diagram.column import Column
from widgets.diagram.scale import Scale

STEPS = 32


@lru_cache
def _map(dark: bool, steps: int) -> tuple[QColor, ...]:
    return tuple(map(QColor, map_colors(dark, steps)))


def map_color(share: float) -> QColor:
    """The colour of the map, 0 to 1, in the theme that holds now."""
    return _map(theme.current().dark, STEPS)[min(STEPS - 1, max(0, int(share * STEPS)))]


class ColorScale:
    """The colours of a column's values; all rows alike without one.

    Args:
        log: whether the scale is logarithmic; None where the values decide.
    """

    def __init__(self, column: Column | None = None, log: bool | None = None) -> None:
        self.column = column
        self.scale = (
            None if column is None else Scale.of(column, log=column.suits_log() if log is None else log)
        )

    def colors(self) -> list[QColor]:
        """The colours that there are in the theme that holds now; the last is that of a missing value."""
        tokens = theme.current()
        if self.column is None:
            return [QColor(tokens.accent), QColor(tokens.mute)]
        labels = len(self.column.labels)
        if 0 < labels <= len(tokens.runs):
            shown = [QColor(theme.run_color(place)) for place in range(labels)]
        else:
            shown = list(_map(tokens.dark, STEPS))
        return [*shown, QColor(tokens.mute)]

    def codes(self) -> NDArray[np.int64]:
        """For each row the position of its colour in ``colors``."""
        if self.column is None or self.scale is None:
            return np.zeros(0, np.int64)
        count = len(self.colors()) - 1
        if self.column.is_categorical and len(self.column.labels) <= count:
            codes = np.where(self.column.known(), np.nan_to_num(self.column.values), count)
        else:
            units = self.scale.unit(self.column.values)
            codes = np.where(np.isfinite(units), np.clip(np.nan_to_num(units) * count, 0, count - 1), count)
        return codes.astype(np.int64)
