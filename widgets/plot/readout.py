"""The small card next to the cursor that says what the curves are there."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QFrame, QLabel

from widgets import theme
from widgets.layouts import vertical


class Readout(QFrame):
    """The small card next to the cursor."""

    def __init__(self, parent: pg.PlotWidget) -> None:
        super().__init__(parent)
        self._chart = parent
        self.setProperty("role", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.label = QLabel(self)
        self.label.setTextFormat(Qt.TextFormat.RichText)
        self.label.setFont(theme.font(theme.BODY_PX - 1))
        layout = vertical(self, (8, 6, 8, 6), spacing=None)
        layout.addWidget(self.label)
        self.hide()

    def show_rows(self, rows: str, at: QPointF) -> None:
        self.label.setText(rows)
        self.adjustSize()
        room = self._chart.rect()
        left = at.x() + 14 if at.x() + 14 + self.width() < room.width() else at.x() - 14 - self.width()
        top = min(max(4.0, at.y() - self.height() / 2), room.height() - self.height() - 4.0)
        self.move(round(max(4.0, left)), round(top))
        self.show()
