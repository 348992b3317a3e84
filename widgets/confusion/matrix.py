"""ConfusionMatrix: which classes a model takes for which others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from resources.quantities import NOTHING, percent
from widgets import theme
from widgets.confusion.drawing import Drawing, Table, signed_text
from widgets.confusion.export import as_bytes
from widgets.image_bytes import CopyMenu
from widgets.retranslated import Retranslated

Cell = tuple[int, int]


class ConfusionMatrix(Retranslated, QWidget):
    """True classes down, predicted ones across; the colour of a cell is its share of its row, or says whether
    a difference is for the better or the worse.

    `cell_clicked` carries the numbers of the true and the predicted class; the arrow keys move over the cells
    and Return clicks.
    """

    cell_clicked = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._counts: NDArray[np.int64] = np.zeros((0, 0), np.int64)
        self._labels: list[str] = []
        self._by_row = self._signed = False
        self._pointed: Cell | None = None
        self._chosen: Cell | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)
        CopyMenu(self, lambda: self.file_content(".png"))
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
        self._show(counts, labels, signed=False)

    def set_difference(self, matrix: ArrayLike, labels: Sequence[str]) -> None:
        """Show how many more or fewer there are in each cell than in another matrix, (classes, classes), with
        a label for each class. Raises ValueError."""
        counts = np.asarray(matrix)
        if counts.shape != (len(labels), len(labels)) or not np.issubdtype(counts.dtype, np.integer):
            raise ValueError(
                f"ConfusionMatrix.set_difference: a square matrix of integers with a label for each "
                f"class is needed: shape {counts.shape}, dtype {counts.dtype}, {len(labels)} labels"
            )
        self._show(counts, labels, signed=True)

    def _show(self, counts: NDArray[np.integer], labels: Sequence[str], signed: bool) -> None:
        self._counts, self._labels = counts.astype(np.int64), [str(label) for label in labels]
        self._signed = signed
        if self._chosen and max(self._chosen) >= len(labels):
            self._chosen = None
        self._describe()
        self.updateGeometry()
        self.update()

    def set_by_row(self, on: bool) -> None:
        """Write shares of the row (in per cent) into the cells instead of counts."""
        self._by_row = on
        self.update()

    def counts(self) -> NDArray[np.int64]:
        """A copy of the counts."""
        return self._counts.copy()

    def accuracy(self) -> float:
        """The share of right predictions; NaN without any."""
        total = self._counts.sum()
        return float(np.trace(self._counts) / total) if total else float("nan")

    def describe_cell(self, true: int, predicted: int) -> str:
        """A cell in words: `4 taken for 9: 12 of 982 (1.2 %)`, of a difference `4 taken for 9: +12`."""
        count, row = int(self._counts[true, predicted]), int(self._counts[true].sum())
        words = self.tr("{0} read right") if true == predicted else self.tr("{0} taken for {1}")
        head = words.format(self._labels[true], self._labels[predicted])
        if self._signed:
            return f"{head}: {signed_text(count)}"
        share = percent(count / row) if row else theme.format_number(0)
        of = self.tr("{0} of {1}").format(theme.format_number(count), theme.format_number(row))
        return f"{head}: {of} ({share})"

    def describe_class(self, label: int) -> str:
        """Recall and precision of a class in words: `4: recall 97.1 %, precision 98.0 %`."""
        table = self._table()
        recall, precision = (
            percent(share) if share == share else NOTHING
            for share in (float(table.recall()[label]), float(table.precision()[label]))
        )
        return self.tr("{0}: recall {1}, precision {2}").format(self._labels[label], recall, precision)

    def describe_pointed(self, true: int, predicted: int) -> str:
        """A cell in words, with recall and precision of its two classes, a line each; of a difference the
        cell alone."""
        if self._signed:
            return self.describe_cell(true, predicted)
        classes = [self.describe_class(label) for label in dict.fromkeys((true, predicted))]
        return "\n".join([self.describe_cell(true, predicted), *classes])

    # geometry

    def _drawing(self) -> Drawing:
        return Drawing(self._table(), self.width(), self.height(), self.font())

    def _table(self) -> Table:
        axes = (self.tr("true"), self.tr("predicted"))
        return Table(self._counts, self._labels, self._by_row, axes, self._signed)

    def _cell_at(self, at: QPointF) -> Cell | None:
        if not self._labels:
            return None
        drawing, size = self._drawing(), len(self._labels)
        area = drawing.cells
        if not area.contains(at):
            return None
        row, column = int((at.y() - area.top()) / drawing.high), int((at.x() - area.left()) / drawing.wide)
        return (row, column) if row < size and column < size else None

    def cell_rect(self, true: int, predicted: int) -> QRectF:
        """Where a cell is, in the coordinates of the widget."""
        return self._drawing().cell(true, predicted)

    def sizeHint(self) -> QSize:
        side = round(min(max(10, len(self._labels)), 20) * 24)
        return QSize(side + 60, side + 45)

    def minimumSizeHint(self) -> QSize:
        side = round(min(max(8, len(self._labels)), 20) * 12)
        return QSize(side + 50, side + 30)

    # looks

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._labels:
            return
        tokens = theme.current()
        painter = QPainter(self)
        drawing = self._drawing()
        drawing.paint(painter)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for which, color, width in (
            (self._pointed, tokens.mute, 1),
            (self._chosen if self.hasFocus() else None, tokens.accent, 2),
        ):
            if which is not None:
                painter.setPen(QPen(QColor(color), width))
                box = drawing.cell(*which).adjusted(0.5, 0.5, -0.5, -0.5)
                painter.drawRoundedRect(box, drawing.radius, drawing.radius)

    def file_content(self, suffix: str) -> bytes:
        """The matrix as a file with this suffix (``.svg``, ``.png`` or ``.csv``). Raises ValueError."""
        return as_bytes(self._table(), suffix, self.font(), self.accessibleName())

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
                QToolTip.showText(event.globalPos(), self.describe_pointed(*cell), self)
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
        if self._signed:
            self._describe_difference()
            return
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
            words += ". " + self.describe_pointed(*self._chosen).replace("\n", "; ")
        self.setAccessibleDescription(words)

    def _describe_difference(self) -> None:
        self.setAccessibleName(self.tr("Difference of two confusion matrices"))
        words = self.tr("No answer moved to another class")
        if self._counts.any():
            row, column = np.unravel_index(int(np.abs(self._counts).argmax()), self._counts.shape)
            more = signed_text(int(np.trace(self._counts)))
            words = self.tr("right answers: {0}; most in {1}").format(
                more, self.describe_cell(int(row), int(column))
            )
        if self._chosen:
            words += ". " + self.describe_cell(*self._chosen)
        self.setAccessibleDescription(words)

    def retranslate(self) -> None:
        """Describe what is shown, and paint it anew, in the current language."""
        self._describe()
        self.update()
