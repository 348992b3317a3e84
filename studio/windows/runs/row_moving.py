"""RowMoving: rows of the list that are dragged to another place among themselves, by mouse or keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget

from widgets import theme

if TYPE_CHECKING:
    from studio.windows.runs.runs_list import RunRow, RunsList

EDGE, SCROLL = 14, 8  # the list scrolls while a row is held this near to its edge
LINE = 2
NOWHERE = -1


class _Line(QWidget):
    """Where the dragged rows would be put."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), QColor(theme.current().accent))


class RowMoving(QObject):
    """Follows the mouse in a list whose rows may be ``movable``; these stand together.

    ``dropped`` carries the keys of the dragged rows in their order and the key of the row in front of which
    they are put, empty for behind the last one. ``refused`` follows a drop elsewhere, ``stepped`` Alt+Up (-1)
    and Alt+Down (1).
    """

    dropped = Signal(list, str)
    refused = Signal()
    stepped = Signal(int)

    def __init__(self, view: RunsList) -> None:
        super().__init__(view)
        self._view = view
        self.line = _Line(view.viewport())
        self._pressed: QPoint | None = None
        self._dragged: list[str] = []
        view.viewport().installEventFilter(self)
        view.installEventFilter(self)

    @property
    def dragged(self) -> list[str]:
        """The keys of the rows that are being dragged."""
        return list(self._dragged)

    def take_key(self, event: QKeyEvent) -> bool:
        """Whether a key that was pressed in the list moves rows."""
        by = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if not by or modifiers != Qt.KeyboardModifier.AltModifier:
            return False
        if self._chosen():
            self.stepped.emit(by)
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent) and watched is self._view.viewport():
            return self._take_mouse(event)
        escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if self._dragged and escape:
            if event.type() == QEvent.Type.KeyPress:
                self._end()
            return True  # the shortcut too
        return super().eventFilter(watched, event)

    def _take_mouse(self, event: QMouseEvent) -> bool:
        """Whether the list does not get the event."""
        at, left = event.position().toPoint(), Qt.MouseButton.LeftButton
        if event.type() == QEvent.Type.MouseButtonPress and event.button() == left:
            row = self._view.row_at(at)
            self._pressed = at if row is not None and row.movable else None
        elif event.type() == QEvent.Type.MouseMove and event.buttons() & left and self._pressed is not None:
            far = (at - self._pressed).manhattanLength() >= QApplication.startDragDistance()
            if not self._dragged and far:
                self._dragged = self._chosen()
            if self._dragged:
                self._scroll(at)
                self._show(self._place_at(at))
            return True
        elif event.type() == QEvent.Type.MouseButtonRelease and event.button() == left:
            was_dragged, self._pressed = self._dragged, None
            if was_dragged:
                self._drop(self._place_at(at))
                return True
        return False

    def _chosen(self) -> list[str]:
        chosen = set(self._view.chosen())
        return [row.key for row in self._rows() if row.key in chosen]

    def _rows(self) -> list[RunRow]:
        return self._view.movable_rows()

    def _place_at(self, at: QPoint) -> int:
        """The place among the movable rows that is nearest; NOWHERE outside of them."""
        rows = self._rows()
        if not rows or not self._view.viewport().rect().adjusted(0, -EDGE, 0, EDGE).contains(at):
            return NOWHERE
        boxes = [self._view.place_of(row.key) for row in rows]
        if not boxes[0].top() - boxes[0].height() <= at.y() <= boxes[-1].bottom() + LINE:
            return NOWHERE
        return sum(at.y() > box.center().y() for box in boxes)

    def _show(self, place: int) -> None:
        viewport = self._view.viewport()
        viewport.setCursor(
            Qt.CursorShape.ForbiddenCursor if place == NOWHERE else Qt.CursorShape.ClosedHandCursor
        )
        self.line.setVisible(place != NOWHERE)
        if place != NOWHERE:
            boxes = [self._view.place_of(row.key) for row in self._rows()]
            top = boxes[place].top() if place < len(boxes) else boxes[-1].bottom() + 1
            self.line.setGeometry(QRect(0, max(0, top - LINE // 2), viewport.width(), LINE))
            self.line.raise_()

    def _scroll(self, at: QPoint) -> None:
        bar = self._view.verticalScrollBar()
        if at.y() < EDGE:
            bar.setValue(bar.value() - SCROLL)
        elif at.y() > self._view.viewport().height() - EDGE:
            bar.setValue(bar.value() + SCROLL)

    def _drop(self, place: int) -> None:
        """Put the rows there, except those that began or were taken out meanwhile."""
        rows = [row.key for row in self._rows()]
        keys = [key for key in self._dragged if key in rows]
        self._end()
        if place == NOWHERE:
            self.refused.emit()
        elif keys:
            behind = (key for key in rows[place:] if key not in keys)
            wanted = next(behind, "")
            if rows != self._placed(rows, keys, wanted):
                self.dropped.emit(keys, wanted)

    @staticmethod
    def _placed(rows: list[str], keys: list[str], before: str) -> list[str]:
        others = [key for key in rows if key not in keys]
        at = others.index(before) if before else len(others)
        return [*others[:at], *keys, *others[at:]]

    def _end(self) -> None:
        self._dragged, self._pressed = [], None
        self.line.hide()
        self._view.viewport().unsetCursor()
