"""A layout that wraps its items like words: chips stay readable in a narrow window or a long language."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from widgets.tokens import SPACE_S


class FlowLayout(QLayout):
    """Left to right, then the next line; each line is as high as its highest item, in whose middle the
    others are."""

    def __init__(
        self, parent: QWidget | None = None, spacing: int = SPACE_S, line_spacing: int | None = None
    ) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        self._line_spacing = spacing if line_spacing is None else line_spacing

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        visible = [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(size.width() for size in visible) + self.spacing() * max(0, len(visible) - 1)
        return QSize(width, max((size.height() for size in visible), default=0))

    def minimumSize(self) -> QSize:
        visible = [item.minimumSize() for item in self._items if not item.isEmpty()]
        widest = max((size.width() for size in visible), default=0)
        return QSize(widest, max((size.height() for size in visible), default=0))

    def _place(self, rect: QRect, move: bool) -> int:
        x, y, line = rect.x(), rect.y(), 0
        begun: list[tuple[QLayoutItem, QRect]] = []  # the items of a line whose height is not known yet
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            if size.width() > rect.width():  # a long name is elided, a row of widgets has several lines
                size.setWidth(max(item.minimumSize().width(), rect.width()))
                if item.hasHeightForWidth():
                    size.setHeight(item.heightForWidth(size.width()))
            if x > rect.x() and x + size.width() > rect.right() + 1:
                _move(begun, line, move)
                x, y, line = rect.x(), y + line + self._line_spacing, 0
            begun.append((item, QRect(QPoint(x, y), size)))
            x += size.width() + self.spacing()
            line = max(line, size.height())
        _move(begun, line, move)
        return y + line - rect.y()


def _move(begun: list[tuple[QLayoutItem, QRect]], height: int, move: bool) -> None:
    """Put the items of a line into its middle, and begin another line."""
    if move:
        for item, place in begun:
            item.setGeometry(place.translated(0, (height - place.height()) // 2))
    begun.clear()
