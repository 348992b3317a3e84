"""The numbers that are to be predicted: a histogram of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from widgets import theme
from widgets.distribution import Histogram
from widgets.image_bytes import CopyMenu
from widgets.layouts import vertical

MOST = 6


@dataclass(frozen=True)
class TargetCounts:
    """``counts`` in equal bins from ``low`` to ``high`` of the number that ``title`` names."""

    title: str
    low: float
    high: float
    counts: tuple[int, ...]


class TargetHistograms(QWidget):
    """The first six targets below each other."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        CopyMenu(self)
        self._layout = vertical(self, 0, theme.SPACE_S)
        self.histograms = [Histogram(number) for number in range(MOST)]
        for histogram in self.histograms:
            self._layout.addWidget(histogram, 1)
        self.set_targets(())

    def set_targets(self, targets: Sequence[TargetCounts]) -> None:
        """Show these numbers."""
        for place, histogram in enumerate(self.histograms):
            histogram.setVisible(place < len(targets))
            if place < len(targets):
                each = targets[place]
                histogram.set_title(each.title)
                histogram.set_counts(each.low, each.high, each.counts)
