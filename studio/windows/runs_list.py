"""The list of runs: a coloured dot, the name, the accuracy. Also the list of models, without dots."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from widgets import theme

ROW_HEIGHT = 27
MOST_ROWS = 8
ROLE = Qt.ItemDataRole.UserRole
_CHOOSABLE = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled


@dataclass(frozen=True)
class RunRow:
    """One line: ``key`` finds it again, ``color`` counts through the run colours.

    A ``heading`` names those below it and can't be chosen.
    """

    key: str
    title: str
    value: str
    color: int
    tip: str = ""
    heading: bool = False


class _Delegate(QStyledItemDelegate):
    def __init__(self, parent: QWidget, dots: bool) -> None:
        super().__init__(parent)
        self._dots = dots

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row: RunRow = index.data(ROLE)
        tokens = theme.current()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box: QRect = option.rect.adjusted(0, 0, 0, -1)  # type: ignore[attr-defined]
        state: QStyle.StateFlag = option.state  # type: ignore[attr-defined]
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        pointed = bool(state & QStyle.StateFlag.State_MouseOver)
        if chosen or pointed:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.selection if chosen else tokens.hover))
            painter.drawRoundedRect(box, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(tokens.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(0, 0, -1, -1), theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
        if self._dots and not row.heading:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.run_color(row.color)))
            painter.drawEllipse(QPointF(box.left() + 12, box.center().y() + 1), 4, 4)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.font())
        metrics = painter.fontMetrics()
        wide = metrics.horizontalAdvance(row.value)
        inner = box.adjusted(24 if self._dots and not row.heading else 8, 0, -8, 0)
        painter.setPen(QColor(tokens.mute))
        painter.drawText(inner, middle | Qt.AlignmentFlag.AlignRight, row.value)
        inner.setRight(inner.right() - wide - (theme.SPACE_S if wide else 0))
        painter.setPen(QColor(tokens.mute if row.heading else tokens.text))
        title = metrics.elidedText(row.title, Qt.TextElideMode.ElideMiddle, inner.width())
        painter.drawText(inner, middle | Qt.AlignmentFlag.AlignLeft, title)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(120, ROW_HEIGHT)


class RunsList(QListWidget):
    """``chosen_changed`` carries the keys of the chosen runs, the current one first."""

    chosen_changed = Signal(list)
    menu_requested = Signal(str, object)

    def __init__(self, parent: QWidget | None = None, dots: bool = True) -> None:
        super().__init__(parent)
        self.setItemDelegate(_Delegate(self, dots))
        modes = QAbstractItemView.SelectionMode
        self.setSelectionMode(modes.ExtendedSelection if dots else modes.SingleSelection)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setUniformItemSizes(True)
        self._silent = False
        self.itemSelectionChanged.connect(self._tell)
        self._fit()

    def set_rows(self, rows: list[RunRow]) -> None:
        """Show other rows; what is chosen stays chosen where it is still there."""
        chosen, current = set(self.chosen()), self._key(self.currentItem())
        self._silent = True
        while self.count() > len(rows):
            self.takeItem(self.count() - 1)
        for place, row in enumerate(rows):
            item = self.item(place)
            if item is None:
                item = QListWidgetItem()
                self.addItem(item)
            if item.data(ROLE) != row:
                item.setData(ROLE, row)
                item.setToolTip(row.tip)
                item.setFlags(Qt.ItemFlag.NoItemFlags if row.heading else _CHOOSABLE)
                words = f"{row.title}, {row.value}" if row.value else row.title
                item.setData(Qt.ItemDataRole.AccessibleTextRole, words)
        for place, row in enumerate(rows):
            if row.key == current:
                self.setCurrentRow(place)
        for place, row in enumerate(rows):
            self.item(place).setSelected(row.key in chosen)
        self._silent = False
        self._fit()
        if set(self.chosen()) != chosen:
            self._tell()

    def chosen(self) -> list[str]:
        """Keys of the chosen runs, the current one first."""
        keys = [self._key(item) for item in self.selectedItems()]
        current = self._key(self.currentItem())
        return sorted(keys, key=lambda key: key != current)

    def choose(self, key: str) -> None:
        """Choose one run alone, as a click does; an empty key chooses none."""
        self._silent = True
        self.clearSelection()
        self.setCurrentItem(None)
        for place in range(self.count()):
            if self._key(self.item(place)) == key:
                self.setCurrentRow(place)
        self._silent = False
        self._tell()

    def keys(self) -> list[str]:
        """The keys in their order, without headings."""
        items = [self.item(place) for place in range(self.count())]
        return [self._key(item) for item in items if not item.data(ROLE).heading]

    @staticmethod
    def _key(item: QListWidgetItem | None) -> str:
        return item.data(ROLE).key if item is not None and item.data(ROLE) is not None else ""

    def _tell(self) -> None:
        if not self._silent:
            self.chosen_changed.emit(self.chosen())

    def _fit(self) -> None:
        self.setFixedHeight(ROW_HEIGHT * max(1, min(self.count(), MOST_ROWS)) + 2)
        self.setVisible(self.count() > 0)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        item = self.itemAt(event.pos())
        if item is not None and not item.data(ROLE).heading:
            self.menu_requested.emit(self._key(item), event.globalPos())
