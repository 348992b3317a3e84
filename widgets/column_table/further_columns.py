"""FurtherColumns: a shade at the right edge of a table whose columns continue there."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QTableView, QWidget

from widgets import theme

WIDE = 36


class FurtherColumns(QWidget):
    """Seen until the last column is in sight; clicks go through it."""

    def __init__(self, table: QTableView) -> None:
        super().__init__(table)
        self._table = table
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        bar = table.horizontalScrollBar()
        bar.valueChanged.connect(self._follow)
        bar.rangeChanged.connect(self._follow)
        table.viewport().installEventFilter(self)
        theme.changed.connect(self.update)
        self._follow()

    def _follow(self) -> None:
        bar, view = self._table.horizontalScrollBar(), self._table.viewport().geometry()
        self.setVisible(bar.value() < bar.maximum())
        self.setGeometry(view.right() + 1 - WIDE, 0, WIDE, view.bottom() + 1)
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._follow()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        ground = QColor(theme.current().panel)
        clear = QColor(ground)
        clear.setAlpha(0)
        shade = QLinearGradient(QPointF(0, 0), QPointF(self.width(), 0))
        shade.setColorAt(0, clear)
        shade.setColorAt(1, ground)
        QPainter(self).fillRect(self.rect(), shade)
