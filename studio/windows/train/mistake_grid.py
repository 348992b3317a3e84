"""MistakeGrid: test samples that fill their room, each with what it is and what it was taken for."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from studio.windows.train.sample_images import Sample, caption, describe, draw_sample
from widgets import theme
from widgets.retranslated import Retranslated

GAP = theme.SPACE_S
SMALLEST, LARGEST = 44.0, 150.0
SMALLEST_ROW = 100.0  # of a table


def grid(
    width: float, height: float, count: int, line: float, smallest: float = SMALLEST
) -> tuple[float, int, int]:
    """The side of images, their columns and rows, with which as many as fit fill an area.

    All ``count`` are shown where they can be at least ``smallest`` pixels wide, else as many as there is room
    for; fewer are shown larger. ``line`` is the height of the words below each.
    """
    best = (0.0, 1, 1)
    for columns in range(1, count + 1):
        rows = -(-count // columns)
        side = min((width - (columns - 1) * GAP) / columns, (height - (rows - 1) * GAP) / rows - line)
        best = max(best, (min(side, LARGEST), columns, rows))
    if best[0] >= smallest:
        return best
    columns = max(1, min(count, int((width + GAP) // (smallest + GAP))))
    rows = max(1, int((height + GAP) // (smallest + line + GAP)))
    side = min((width - (columns - 1) * GAP) / columns, (height - (rows - 1) * GAP) / rows - line)
    return max(side, 8.0), columns, rows


class MistakeGrid(Retranslated, QWidget):
    """A grid that fills its room with images; pointing at one shows its details.

    ``chosen`` carries the number of the image that was clicked, or where Return was pressed; the arrow keys
    move, which emits ``moved``.
    """

    chosen = Signal(int)
    moved = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._samples: list[Sample] = []
        self._marks: dict[int, str] = {}
        self._title = ""
        self._always = False
        self._current = 0
        self._pointed = -1
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)
        self._describe()

    def set_samples(self, samples: list[Sample], current: int = 0) -> None:
        """Show other images, in this order, with one of them selected."""
        self._samples = samples
        self._current, self._pointed = current, -1
        self._describe()
        self.update()

    def set_title(self, title: str) -> None:
        """What these images are, for those who can't see them."""
        self._title = title
        self._describe()

    def set_marks(self, marks: dict[int, str]) -> None:
        """Words over some of the images, by their numbers: what was said about them."""
        self._marks = marks
        self.update()

    def samples(self) -> list[Sample]:
        """All that there are, those too for which there is no room."""
        return list(self._samples)

    def sizeHint(self) -> QSize:
        return QSize(340, 200)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, 130)

    def cells(self) -> list[QRectF]:
        """Where the images are that are shown, in the coordinates of the widget."""
        if not self._samples:
            return []
        line = self.fontMetrics().height() + 2
        least = SMALLEST_ROW if self._samples[0].row else SMALLEST
        side, columns, rows = grid(self.width(), self.height(), len(self._samples), line, least)
        across = self.width() / columns
        down = (self.height() - side - line) / (rows - 1) if rows > 1 else 0.0
        if rows * columns > len(self._samples):  # the last row is not full: no gaps that look like holes
            down = min(down, side + line + 2 * GAP)
        return [
            QRectF(place % columns * across + (across - side) / 2, place // columns * down, side, side)
            for place in range(min(len(self._samples), rows * columns))
        ]

    def _at(self, point: QPointF) -> int:
        return next((place for place, box in enumerate(self.cells()) if box.contains(point)), -1)

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font(theme.BODY_PX - 1))
        cells = self.cells()
        in_row = [box for box in cells if box.top() == cells[0].top()]
        most = (in_row[1].left() - in_row[0].left() if len(in_row) > 1 else self.width()) - GAP
        for place, box in enumerate(cells):
            sample = self._samples[place]
            draw_sample(painter, box, sample.image)
            if place in self._marks:
                self._paint_mark(painter, box, self._marks[place])
            focused = place == self._current and (self.hasFocus() or self._always)
            if focused or place == self._pointed:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(QColor(tokens.accent if focused else tokens.mute), 2))
                painter.drawRoundedRect(box, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
            painter.setPen(QColor(tokens.mute))
            wide = min(box.width() + 2 * GAP, most)
            words = QRectF(box.center().x() - wide / 2, box.bottom() + 1, wide, self.fontMetrics().height())
            text = painter.fontMetrics().elidedText(
                caption(sample), Qt.TextElideMode.ElideRight, int(words.width())
            )
            painter.drawText(words, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_mark(self, painter: QPainter, box: QRectF, words: str) -> None:
        """What was said about an image, on a bar over its lower edge."""
        tokens = theme.current()
        line = self.fontMetrics().height()
        bar = QRectF(box.left(), box.bottom() - line, box.width(), line)
        painter.fillRect(bar, QColor(tokens.accent))
        painter.setPen(QColor(tokens.on_accent))
        text = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, int(bar.width()))
        painter.drawText(bar, Qt.AlignmentFlag.AlignCenter, text)

    def show_current(self, always: bool) -> None:
        """Mark the selected image even while the focus is elsewhere."""
        self._always = always
        self.update()

    # pointing and keys

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        pointed = self._at(event.position())
        if pointed != self._pointed:
            self._pointed = pointed
            hand = Qt.CursorShape.PointingHandCursor if pointed >= 0 else Qt.CursorShape.ArrowCursor
            self.setCursor(hand)
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._pointed = -1
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self._at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and place >= 0:
            self._move(place)
            self.chosen.emit(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        cells = self.cells()
        columns = sum(box.top() == cells[0].top() for box in cells) if cells else 1
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -columns, Qt.Key.Key_Down: columns}
        key = Qt.Key(event.key())
        if key in steps and cells:
            self._move(min(max(self._current + steps[key], 0), len(cells) - 1))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and cells:
            self.chosen.emit(self._current)
        else:
            super().keyPressEvent(event)

    def _move(self, place: int) -> None:
        self._current = place
        self._describe()
        self.update()
        self.moved.emit(place)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self._at(event.pos().toPointF())
            if place >= 0:
                QToolTip.showText(event.globalPos(), self.describe(self._samples[place]), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    # words

    def describe(self, sample: Sample) -> str:
        """A sample in words."""
        return describe(sample, self)

    def _describe(self) -> None:
        self.setAccessibleName(self._title or self.tr("Samples"))
        if not self._samples:
            self.setAccessibleDescription(self.tr("None yet"))
            return
        now = self.tr("{0} of {1}").format(self._current + 1, len(self._samples))
        self.setAccessibleDescription(f"{now}: {self.describe(self._samples[self._current])}")

    def retranslate(self) -> None:
        """Describe what is shown, in the current language."""
        self._describe()
