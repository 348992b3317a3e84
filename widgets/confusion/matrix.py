"""ConfusionMatrix: which classes a model takes for which others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontMetricsF,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from widgets import theme
from widgets.bars.bars import percent

Cell = tuple[int, int]

LARGEST_CELL = 44.0
GAP = 1.0
# With more classes the cells are drawn as one picture.
MOST_DRAWN = 40


class ConfusionMatrix(QWidget):
    """True classes down, predicted ones across; the colour of a cell is its share of its row.

    `cell_clicked` carries the numbers of the true and the predicted class; the arrow keys move over the cells
    and Return clicks.
    """

    cell_clicked = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._counts: NDArray[np.int64] = np.zeros((0, 0), np.int64)
        self._labels: list[str] = []
        self._pointed: Cell | None = None
        self._chosen: Cell | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)
        self._describe()

    def set_counts(self, matrix: ArrayLike, labels: Sequence[str]) -> None:
        """Show counts, (classes, classes), true by predicted class, with a label each. Raises ValueError."""
        counts = np.asarray(matrix)
        if counts.ndim != 2 or counts.shape != (len(labels), len(labels)):
            raise ValueError(
                f"ConfusionMatrix.set_counts: a square matrix with a label for each class is needed: "
                f"shape {counts.shape}, {len(labels)} labels"
            )
        if not np.issubdtype(counts.dtype, np.integer) or (counts < 0).any():
            raise ValueError(
                f"ConfusionMatrix.set_counts: counts are whole and not negative: dtype {counts.dtype}"
            )
        self._counts, self._labels = counts.astype(np.int64), [str(label) for label in labels]
        if self._chosen and max(self._chosen) >= len(labels):
            self._chosen = None
        self._describe()
        self.updateGeometry()
        self.update()

    def counts(self) -> NDArray[np.int64]:
        """A copy of the counts."""
        return self._counts.copy()

    def accuracy(self) -> float:
        """The share of right predictions; NaN without any."""
        total = self._counts.sum()
        return float(np.trace(self._counts) / total) if total else float("nan")

    def describe_cell(self, true: int, predicted: int) -> str:
        """A cell in words: `4 taken for 9: 12 of 982 (1.2 %)`."""
        count, row = int(self._counts[true, predicted]), int(self._counts[true].sum())
        share = percent(count / row) if row else theme.format_number(0)
        words = self.tr("{0} read right") if true == predicted else self.tr("{0} taken for {1}")
        head = words.format(self._labels[true], self._labels[predicted])
        of = self.tr("{0} of {1}").format(theme.format_number(count), theme.format_number(row))
        return f"{head}: {of} ({share})"

    # geometry

    def _layout(self) -> tuple[QRectF, float]:
        """Where the cells are, and their size."""
        metrics = self.fontMetrics()
        widest = max((metrics.horizontalAdvance(label) for label in self._labels), default=0)
        left = min(widest, self.width() * 0.25) + theme.SPACE_S + metrics.height() + theme.SPACE_XS
        below = 2 * metrics.height() + theme.SPACE_S
        size = max(1, len(self._labels))
        cell = max(1.0, min((self.width() - left) / size, (self.height() - below) / size, LARGEST_CELL))
        return QRectF(left, 0, cell * size, cell * size), cell

    def _cell_at(self, at: QPointF) -> Cell | None:
        area, cell = self._layout()
        if not (self._labels and area.contains(at)):
            return None
        size = len(self._labels)
        row, column = int((at.y() - area.top()) / cell), int((at.x() - area.left()) / cell)
        return (row, column) if row < size and column < size else None

    def cell_rect(self, true: int, predicted: int) -> QRectF:
        """Where a cell is, in the coordinates of the widget."""
        area, cell = self._layout()
        return QRectF(area.left() + predicted * cell, area.top() + true * cell, cell, cell)

    def sizeHint(self) -> QSize:
        side = round(max(10, len(self._labels)) * 24)
        return QSize(side + 60, side + 45)

    def minimumSizeHint(self) -> QSize:
        side = round(min(max(8, len(self._labels)), 20) * 14)
        return QSize(side + 50, side + 45)

    # looks

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._labels:
            return
        tokens = theme.current()
        area, cell = self._layout()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, cell >= 12)
        self._paint_cells(painter, area, cell)
        self._paint_labels(painter, area, cell)
        radius = 3 if cell >= 12 else 0
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for which, color, width in (
            (self._pointed, tokens.mute, 1),
            (self._chosen if self.hasFocus() else None, tokens.accent, 2),
        ):
            if which is not None:
                painter.setPen(QPen(QColor(color), width))
                painter.drawRoundedRect(self.cell_rect(*which).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)

    def _colors(self) -> tuple[NDArray[np.float64], QColor]:
        """How far each cell is on the way from the colour of an empty one to the accent, and that colour."""
        tokens = theme.current()
        rows = self._counts.sum(axis=1, keepdims=True)
        shares = np.divide(self._counts, rows, out=np.zeros(self._counts.shape), where=rows > 0)
        # Errors are a few in a hundred: they stand out from the first one on, hence not in proportion.
        strength = np.where(self._counts > 0, 0.06 + 0.94 * shares**0.75, 0.0)
        return strength, theme.mix(tokens.panel, tokens.accent, 0.04)

    def _paint_cells(self, painter: QPainter, area: QRectF, cell: float) -> None:
        strength, empty = self._colors()
        accent = theme.current().accent
        if len(self._labels) > MOST_DRAWN or cell < 12:
            low, high = (np.array(theme.rgb(color)) for color in (empty, accent))
            rgb = np.ascontiguousarray(low + (high - low) * strength[..., None] + 0.5).astype(np.uint8)
            side = len(self._labels)
            image = QImage(rgb.tobytes(), side, side, 3 * side, QImage.Format.Format_RGB888)
            painter.drawImage(area, image)
            return
        font = theme.font(min(theme.BODY_PX - 1, max(8, int(cell * 0.4))))
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        for (row, column), count in np.ndenumerate(self._counts):
            color = theme.mix(empty.name(), accent, float(strength[row, column]))
            box = self.cell_rect(row, column).adjusted(GAP / 2, GAP / 2, -GAP / 2, -GAP / 2)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawRoundedRect(box, 3, 3)
            text = theme.format_number(int(count))
            if (
                count
                and metrics.horizontalAdvance(text) <= box.width() - 2
                and metrics.height() <= box.height()
            ):
                painter.setPen(QColor("#10131A" if theme.luminance(color) > 0.2 else "#FFFFFF"))
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_labels(self, painter: QPainter, area: QRectF, cell: float) -> None:
        tokens = theme.current()
        painter.setFont(self.font())
        metrics = QFontMetricsF(self.font())
        height = metrics.height()
        painter.setPen(QColor(tokens.mute))
        every = max(1, -(-int(height) // max(1, int(cell))))
        widest = max(metrics.horizontalAdvance(label) for label in self._labels)
        across = max(every, -(-int(min(widest, 3 * cell)) // max(1, int(cell))))
        room = area.left() - theme.SPACE_S - height - theme.SPACE_XS
        for index, label in enumerate(self._labels):
            if index % every == 0:
                top = area.top() + index * cell + (cell - height) / 2
                box = QRectF(height + theme.SPACE_XS, top, room, height)
                text = metrics.elidedText(label, Qt.TextElideMode.ElideRight, room + 1)
                painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
            if index % across == 0:
                wide = cell * across
                box = QRectF(area.left() + index * cell + (cell - wide) / 2, area.bottom() + 4, wide, height)
                text = metrics.elidedText(label, Qt.TextElideMode.ElideRight, wide)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        below = QRectF(area.left(), area.bottom() + height + 4, area.width(), height)
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, self.tr("predicted"))
        painter.save()
        painter.translate(0, area.center().y())
        painter.rotate(-90)
        side = QRectF(-area.height() / 2, 0, area.height(), height)
        painter.drawText(side, Qt.AlignmentFlag.AlignCenter, self.tr("true"))
        painter.restore()

    # pointing

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        pointed = self._cell_at(event.position())
        if pointed != self._pointed:
            self._pointed = pointed
            shape = Qt.CursorShape.PointingHandCursor if pointed else Qt.CursorShape.ArrowCursor
            self.setCursor(shape)
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._pointed = None
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self._cell_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and cell:
            self._choose(cell)
            self.cell_clicked.emit(*cell)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            cell = self._cell_at(QPointF(event.pos()))
            if cell:
                QToolTip.showText(event.globalPos(), self.describe_cell(*cell), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        moves = {
            Qt.Key.Key_Left: (0, -1),
            Qt.Key.Key_Right: (0, 1),
            Qt.Key.Key_Up: (-1, 0),
            Qt.Key.Key_Down: (1, 0),
        }
        last = len(self._labels) - 1
        if event.key() in moves and last >= 0:
            row, column = self._chosen or (0, 0)
            down, right = moves[Qt.Key(event.key())]
            self._choose((min(max(row + down, 0), last), min(max(column + right, 0), last)))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._chosen:
            self.cell_clicked.emit(*self._chosen)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        if self._chosen is None and self._labels:
            self._choose((0, 0))
        super().focusInEvent(event)

    def _choose(self, cell: Cell) -> None:
        self._chosen = cell
        self._describe()
        self.update()

    def _describe(self) -> None:
        self.setAccessibleName(self.tr("Confusion matrix"))
        if not self._counts.sum():
            self.setAccessibleDescription(self.tr("No predictions yet"))
            return
        words = self.tr("{0} right").format(percent(self.accuracy()))
        wrong = self._counts.copy()
        np.fill_diagonal(wrong, 0)
        if wrong.any():
            row, column = np.unravel_index(int(wrong.argmax()), wrong.shape)
            words += "; " + self.tr("most often {0}").format(self.describe_cell(int(row), int(column)))
        if self._chosen:
            words += ". " + self.describe_cell(*self._chosen)
        self.setAccessibleDescription(words)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._describe()
            self.update()
        super().changeEvent(event)
