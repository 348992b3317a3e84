"""The points of a plot as a table, for people who can't use the image."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from widgets import theme
from widgets.plot.series import Series

Index = QModelIndex | QPersistentModelIndex
NUMBERS = (1, 2)


class PointsModel(QAbstractTableModel):
    """Series, x and value of every point, one series after the other; nothing is copied."""

    def __init__(self, series: Callable[[], Iterable[Series]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source = series
        self._series: list[Series] = []
        self._ends: list[int] = []
        self.x_label = ""

    def refresh(self) -> None:
        """Show the points that have come since; the view keeps its place."""
        self.layoutAboutToBeChanged.emit()
        self._series = [series for series in self._source() if len(series)]
        self._ends, end = [], 0
        for series in self._series:
            end += len(series)
            self._ends.append(end)
        self.layoutChanged.emit()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() or not self._ends else self._ends[-1]

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else 3

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in NUMBERS:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        which = bisect_right(self._ends, index.row())
        series = self._series[which]
        row = index.row() - (self._ends[which - 1] if which else 0)
        if index.column() == 0:
            return series.label
        values = series.xs if index.column() == 1 else series.ys
        return theme.format_number(float(values.view()[row]), digits=7)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if role == Qt.ItemDataRole.TextAlignmentRole and orientation == Qt.Orientation.Horizontal:
            side = Qt.AlignmentFlag.AlignRight if section in NUMBERS else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        if role != Qt.ItemDataRole.DisplayRole or orientation != Qt.Orientation.Horizontal:
            return None
        return (self.tr("Series"), self.x_label or self.tr("step"), self.tr("Value"))[section]
