"""WorstNumbers: test samples with the largest errors of a regression in a table, and the values of one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from studio.windows.train.sample_images import Content, draw_sample, row_lines
from widgets.labels import mute
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

HIGH = 72
MOST_VALUES = 6
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class _SampleStrip(QWidget):
    """An image or the curves of a sequence, as wide as there is room."""

    def __init__(self) -> None:
        super().__init__()
        self._content: Content | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_content(self, content: Content | None) -> None:
        self._content = content
        self.setVisible(content is not None)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(HIGH, HIGH)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._content is not None:
            draw_sample(QPainter(self), QRectF(self.rect()), self._content)


class WorstNumbers(Retranslated, QWidget):
    """``chosen`` carries the row of a sample that was selected."""

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.table = QTableWidget(0, 4)
        self.values, self.sample = mute(wrap=True), _SampleStrip()
        self._filling = False
        self._shown: Sequence[Content | None] = ()
        layout = vertical(self, 0, spacing=None)
        for widget, share in ((self.table, 1), (self.sample, 0), (self.values, 0)):
            layout.addWidget(widget, share)
        self.table.currentCellChanged.connect(self._choose)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.horizontalHeader().setDefaultAlignment(RIGHT)
        self.retranslate()

    def show_rows(
        self, rows: Sequence[tuple[str, str, str, str]], shown: Sequence[Content | None] = ()
    ) -> None:
        """Show rows of (sample, true, predicted, error).

        Args:
            shown: the sample of each row, None for one that is not stored.
        """
        self._filling = True
        self.table.setRowCount(len(rows))
        for line, row in enumerate(rows):
            for column, text in enumerate(row):
                item = QTableWidgetItem(text)
                item.setTextAlignment(RIGHT)
                self.table.setItem(line, column, item)
        self._filling = False
        self._shown = shown
        self._show_sample(max(self.table.currentRow(), 0))

    def _choose(self, row: int, _column: int, before: int, *_: int) -> None:
        self._show_sample(row)
        if row >= 0 and row != before and not self._filling:
            self.chosen.emit(row)

    def _show_sample(self, row: int) -> None:
        """Show the values of the sample in this row of the table."""
        content = self._shown[row] if row < len(self._shown) else None
        is_row = content is not None and not isinstance(content, np.ndarray)
        lines = row_lines(content) if is_row else []
        self.sample.show_content(None if is_row else content)
        more = len(lines) > MOST_VALUES
        self.values.setText(", ".join(lines[:MOST_VALUES]) + (", \u2026" if more else ""))
        self.values.setToolTip("\n".join(lines))
        self.values.setVisible(bool(lines))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.table.setAccessibleName(tr("Test samples with the largest errors"))
        self.table.setHorizontalHeaderLabels([tr("Sample"), tr("True"), tr("Predicted"), tr("Error")])
