"""HeatMap: the mean or the best of a metric for each pair of two settings; a cell selects its runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFocusEvent,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QToolTip, QWidget

from widgets import theme
from widgets.diagram import ColorScale, Column, Diagram, paint_legend
from widgets.heat_map.cells import Cells, Statistic, cells_of

LEGEND, GAP = 22.0, 1.5
_MIDDLE = Qt.AlignmentFlag.AlignVCenter
_ELIDE = Qt.TextElideMode.ElideRight
Cell = tuple[int, int]


class HeatMap(Diagram):
    """Values of one column across, of another one up; empty cells are hatched.

    A click on a cell selects its rows, with Ctrl in addition to those selected; the arrow keys move over the
    cells, and Return clicks.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        empty = Column.of("", [])
        self._x = self._y = self._metric = empty
        self._statistic: Statistic = "mean"
        self._cells: Cells = cells_of(empty, empty, empty, "mean")
        self._colors = ColorScale()
        self._current: Cell | None = None
        self.describe()

    def set_data(
        self,
        keys: Sequence[str],
        names: Sequence[str],
        x: Column,
        y: Column,
        metric: Column,
        statistic: Statistic = "mean",
    ) -> None:
        """Show a metric over two columns. Raises ValueError where the lengths differ."""
        self._set_rows(keys, names, [x, y, metric])
        self._x, self._y, self._metric, self._statistic = x, y, metric, statistic
        self._cells = cells_of(x, y, metric, statistic)
        shown = Column(
            metric.name, self._metric_title(), self._cells.values.ravel(), (), metric.better, metric.text
        )
        self._colors = ColorScale(shown)
        up, across = self._cells.shape
        if self._current is not None and (self._current[0] >= up or self._current[1] >= across):
            self._current = None
        self.describe()
        self.update()

    def _metric_title(self) -> str:
        words = self.tr("{0}, best") if self._statistic == "best" else self.tr("{0}, mean")
        return words.format(self._metric.title)

    def cells(self) -> Cells:
        """What is shown."""
        return self._cells

    # ----- where things are -----

    def _area(self, size: QSize) -> QRectF:
        metrics = QFontMetricsF(self.font())
        widest = max((metrics.horizontalAdvance(label) for label in self._cells.y.labels), default=0.0)
        left = min(widest, size.width() * 0.25) + theme.SPACE_S
        line = metrics.height()
        top = LEGEND + line + theme.SPACE_XS
        return QRectF(left, top, max(1.0, size.width() - left), max(1.0, size.height() - top - 2 * line - 6))

    def cell_rect(self, up: int, across: int, size: QSize | None = None) -> QRectF:
        """Where a cell is, in the coordinates of the widget."""
        area, (rows, columns) = self._area(size or self.size()), self._cells.shape
        wide, high = area.width() / columns, area.height() / rows
        return QRectF(area.left() + across * wide, area.bottom() - (up + 1) * high, wide, high)

    def _cell_at(self, at: QPointF) -> Cell | None:
        area, (rows, columns) = self._area(self.size()), self._cells.shape
        if not rows or not columns or not area.contains(at):
            return None
        across = int((at.x() - area.left()) / area.width() * columns)
        up = int((area.bottom() - at.y()) / area.height() * rows)
        return min(up, rows - 1), min(across, columns - 1)

    def sizeHint(self) -> QSize:
        return QSize(420, 320)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, 180)

    # ----- painting -----

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.paint_on(painter, self.size())
        if self.hasFocus() and self._current is not None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(theme.current().text), 1, Qt.PenStyle.DotLine))
            painter.drawRect(self.cell_rect(*self._current).adjusted(2, 2, -2, -2))

    def paint_on(self, painter: QPainter, size: QSize) -> None:
        tokens = theme.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font())
        if not self._cells.values.size:
            painter.setPen(QColor(tokens.mute))
            whole = QRectF(0, 0, size.width(), size.height())
            painter.drawText(whole, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.summary())
            return
        paint_legend(painter, QRectF(0, 0, size.width(), LEGEND), self._colors)
        self._paint_cells(painter, size)
        self._paint_labels(painter, size)

    def _paint_cells(self, painter: QPainter, size: QSize) -> None:
        tokens, cells = theme.current(), self._cells
        colors, codes = self._colors.colors(), self._colors.codes().reshape(cells.shape).tolist()
        number, small = theme.font(theme.BODY_PX - 1), theme.font(theme.SECTION_PX - 1)
        metrics, line = QFontMetricsF(number), QFontMetricsF(small).height()
        chosen = self._selected_counts()
        for (up, across), count in np.ndenumerate(cells.counts):
            box = self.cell_rect(up, across, size).adjusted(GAP / 2, GAP / 2, -GAP / 2, -GAP / 2)
            if not count:
                painter.setPen(QPen(QColor(tokens.line), 1))
                painter.setBrush(QColor(tokens.panel))
                painter.drawRect(box)
                painter.fillRect(box, _hatching(tokens.line))
                continue
            color = colors[codes[up][across]]
            painter.fillRect(box, color)
            ink = QColor("#10131A" if theme.luminance(color) > 0.2 else "#FFFFFF")
            painter.setPen(ink)
            words = self._metric.words(float(cells.values[up, across]))
            if metrics.horizontalAdvance(words) <= box.width() - 2 and metrics.height() <= box.height():
                two = box.height() >= metrics.height() + line + 4
                painter.setFont(number)
                painter.drawText(
                    box.adjusted(0, 0, 0, -line if two else 0), Qt.AlignmentFlag.AlignCenter, words
                )
                if two:
                    painter.setFont(small)
                    below = QRectF(
                        box.left(), box.center().y() + metrics.height() / 2 - line / 2, box.width(), line
                    )
                    painter.drawText(
                        below, Qt.AlignmentFlag.AlignCenter, f"n = {theme.format_number(int(count))}"
                    )
            if chosen[up, across]:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                whole = chosen[up, across] == count
                style = Qt.PenStyle.SolidLine if whole else Qt.PenStyle.DashLine
                painter.setPen(QPen(ink, 2, style))
                painter.drawRect(box.adjusted(3, 3, -3, -3))

    def _selected_counts(self) -> np.ndarray:
        """How many rows of each cell are selected."""
        cells = self._cells
        inside = self._chosen & (cells.cells >= 0)
        return np.bincount(cells.cells[inside], minlength=cells.counts.size).reshape(cells.shape)

    def _paint_labels(self, painter: QPainter, size: QSize) -> None:
        tokens, cells, area = theme.current(), self._cells, self._area(size)
        metrics = QFontMetricsF(self.font())
        line = metrics.height()
        painter.setFont(self.font())
        painter.setPen(QColor(tokens.mute))
        free = 1e9
        for up, label in enumerate(cells.y.labels):
            y = self.cell_rect(up, 0, size).center().y()
            if y + line / 2 <= free:
                box = QRectF(0, y - line / 2, area.left() - theme.SPACE_XS, line)
                words = metrics.elidedText(label, _ELIDE, box.width())
                painter.drawText(box, Qt.AlignmentFlag.AlignRight | _MIDDLE, words)
                free = y - line / 2
        wide = area.width() / max(1, len(cells.x.labels))
        every = max(1, -(-34 // max(1, int(wide))))
        for across in range(0, len(cells.x.labels), every):
            x = self.cell_rect(0, across, size).center().x()
            box = QRectF(x - wide * every / 2, area.bottom() + 2, wide * every, line)
            words = metrics.elidedText(cells.x.labels[across], _ELIDE, box.width() - 2)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)
        painter.setPen(QColor(tokens.text))
        below = QRectF(area.left(), area.bottom() + line + 2, area.width(), line + 2)
        words = metrics.elidedText(self._x.title, _ELIDE, below.width())
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, words)
        head = QRectF(0, LEGEND, size.width(), line)
        painter.drawText(
            head,
            Qt.AlignmentFlag.AlignLeft | _MIDDLE,
            metrics.elidedText(self._y.title, _ELIDE, head.width()),
        )

    # ----- words -----

    def title(self) -> str:
        return self.tr("Heat map")

    def summary(self) -> str:
        if not self._keys:
            return self.tr("No runs yet")
        cells = self._cells
        if not cells.counts.sum():
            return self.tr("No run has both {0} and {1}").format(self._x.title, self._y.title)
        words = self.tr("{0} over {1} and {2}: {3} of {4} cells have runs").format(
            self._metric_title(),
            self._x.title,
            self._y.title,
            theme.format_number(int((cells.counts > 0).sum())),
            theme.format_number(cells.counts.size),
        )
        if np.isfinite(cells.values).any():
            less = self._metric.better == "less"
            best = np.nanargmin(cells.values) if less else np.nanargmax(cells.values)
            up, across = (int(each) for each in np.unravel_index(int(best), cells.shape))
            head = self.tr("Lowest: {0}") if less else self.tr("Highest: {0}")
            words += "\n" + head.format(self.describe_cell(up, across))
        if self._current is not None:
            words += "\n" + self.describe_cell(*self._current)
        return words

    def describe_cell(self, up: int, across: int) -> str:
        """A cell in words: the two values, the metric and the number of runs."""
        cells = self._cells
        place = self.tr("{0} {1}, {2} {3}").format(
            self._x.title, cells.x.labels[across], self._y.title, cells.y.labels[up]
        )
        count = int(cells.counts[up, across])
        if not count:
            return self.tr("{0}: no runs").format(place)
        value = self._metric.words(float(cells.values[up, across]))
        runs = self.tr("{0}: {1} {2} (1 run)") if count == 1 else self.tr("{0}: {1} {2} ({3} runs)")
        return runs.format(place, self._metric_title(), value, theme.format_number(count))

    # ----- pointer and keyboard -----

    def click_cell(self, up: int, across: int, add: bool = False) -> None:
        """Select the rows of a cell; nothing if they are what is selected."""
        rows = self._cells.cells == up * self._cells.shape[1] + across
        self._current = (up, across)
        if add:
            rows = rows | self._chosen
        elif (rows == self._chosen).all():
            rows = rows & False
        self._select(rows)
        self.describe()
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self._cell_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and cell is not None:
            self.click_cell(*cell, bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier))
        elif event.button() == Qt.MouseButton.LeftButton:
            self.clear_selection()
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        cell = self._cell_at(event.position())
        self.setCursor(Qt.CursorShape.ArrowCursor if cell is None else Qt.CursorShape.PointingHandCursor)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            cell = self._cell_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), "" if cell is None else self.describe_cell(*cell), self)
            return True
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        if self._current is None and self._cells.values.size:
            self._current = (0, 0)
            self.describe()
        self.update()
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()
        super().focusOutEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        moves = {
            Qt.Key.Key_Left: (0, -1),
            Qt.Key.Key_Right: (0, 1),
            Qt.Key.Key_Up: (1, 0),
            Qt.Key.Key_Down: (-1, 0),
        }
        rows, columns = self._cells.shape
        key = Qt.Key(event.key())
        if key in moves and rows and columns:
            (up, across), (higher, right) = self._current or (0, 0), moves[key]
            self._current = (min(max(up + higher, 0), rows - 1), min(max(across + right, 0), columns - 1))
            self.describe()
            self.update()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._current is not None:
            self.click_cell(*self._current, bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier))
        elif key == Qt.Key.Key_Escape and self._chosen.any():
            self.clear_selection()
        else:
            super().keyPressEvent(event)


def _hatching(color: str) -> QBrush:
    return QBrush(QColor(color), Qt.BrushStyle.BDiagPattern)
