"""A grid of samples: images with their classes, or rows of numbers; used by the page Data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QAbstractItemView, QTableWidget, QTableWidgetItem, QWidget

from studio.windows.controls import Stack
from studio.windows.data.curve_image import curve_pixmap
from studio.windows.data.tiles import SIDE, Tiles, icon_of, pixmap_of
from widgets import theme
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

_COLUMNS_WIDTH = 72


class SampleGrid(Retranslated, QWidget):
    """Shows images as tiles, rows of numbers as a table; ``chosen`` follows a change of the current one."""

    chosen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tiles, self.table = Tiles(), QTableWidget()
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.verticalHeader().hide()
        self._stack = Stack(self.tiles, self.table)
        self._curves: Sequence[Any] = ()
        theme.changed.connect(self._draw_curves)
        layout = vertical(self, 0, spacing=None)
        layout.addWidget(self._stack)
        self.setMinimumHeight(2 * (SIDE + 40))
        self.tiles.currentRowChanged.connect(lambda _: self.chosen.emit())
        self.table.itemSelectionChanged.connect(self.chosen)
        self.retranslate()

    def current(self) -> int:
        """The place of the sample that is chosen; -1 for none."""
        is_table = self._stack.currentWidget() is self.table
        return self.table.currentRow() if is_table else self.tiles.currentRow()

    def show_images(self, images: Sequence[Any], labels: Sequence[str], places: Sequence[str]) -> None:
        """Tiles with a label below each; the place is in the tooltip."""
        self._show_tiles([pixmap_of(image) for image in images], labels, places)

    def show_sequences(self, values: Sequence[Any], labels: Sequence[str], places: Sequence[str]) -> None:
        """Tiles with the curves of sequences [steps, values]."""
        self._show_tiles([curve_pixmap(each, SIDE) for each in values], labels, places)
        self._curves = values

    def _draw_curves(self) -> None:
        """The theme has other colours now."""
        for row, each in enumerate(self._curves):
            self.tiles.item(row).setIcon(icon_of(curve_pixmap(each, SIDE)))

    def _show_tiles(self, pixmaps: Sequence[QPixmap], labels: Sequence[str], places: Sequence[str]) -> None:
        self._curves = ()
        self.tiles.show_tiles(pixmaps, labels, places)
        self._stack.setCurrentWidget(self.tiles)

    def show_rows(
        self,
        rows: Sequence[Sequence[str]],
        labels: Sequence[str],
        places: Sequence[str],
        columns: Sequence[str],
        label: str,
    ) -> None:
        """A table: the class or the target, which ``label`` names, then the first columns."""
        count = max((len(row) for row in rows), default=0)
        names = [columns[index] if index < len(columns) else str(index) for index in range(count)]
        self.table.setColumnCount(count + 1)
        self.table.setHorizontalHeaderLabels([label, *names])
        self.table.setRowCount(len(rows))
        for line, (row, answer, place) in enumerate(zip(rows, labels, places, strict=True)):
            for column, text in enumerate([answer, *row]):
                item = QTableWidgetItem(text)
                item.setToolTip(place)
                self.table.setItem(line, column, item)
        self.table.resizeColumnsToContents()
        for column in range(count + 1):
            self.table.setColumnWidth(column, max(_COLUMNS_WIDTH, self.table.columnWidth(column)))
        self._stack.setCurrentWidget(self.table)

    def clear(self) -> None:
        """Show nothing."""
        self._curves = ()
        self.tiles.clear()
        self.table.setRowCount(0)

    def retranslate(self) -> None:
        """Set the names of the views anew."""
        self.tiles.setAccessibleName(self.tr("Samples"))
        self.table.setAccessibleName(self.tr("Samples as rows of numbers"))
