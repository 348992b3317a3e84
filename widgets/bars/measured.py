"""MeasuredBars: a list of things with a bar or two each, of which one can be chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
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
from widgets.rows import paint_state

ROW_HEIGHT = 26
BAR_HEIGHT, THIN_HEIGHT = 10, 6
MOST_SHOWN = 12
_ROW = Qt.ItemDataRole.UserRole


@dataclass(frozen=True)
class MeasuredRow:
    """One line: ``key`` finds it again, ``label`` is at its left, ``text`` at its right.

    ``values`` has a number for each bar, which is as long as it is large; None, 0 and less have none. A
    ``faint`` row is one to which the measure does not apply. ``tip`` says more where it is pointed at.
    """

    key: str
    label: str
    values: tuple[float | None, ...]
    text: str
    faint: bool = False
    tip: str = ""


class _Delegate(QStyledItemDelegate):
    """Draws the rows; label and text take as much room as the longest one needs, the bars what is left."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.left = self.right = 0.0
        self.least, self.most = 0.0, 1.0

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row: MeasuredRow = index.data(_ROW)
        tokens = theme.current()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box: QRect = option.rect.adjusted(0, 0, 0, -1)  # type: ignore[attr-defined]
        state: QStyle.StateFlag = option.state  # type: ignore[attr-defined]
        paint_state(painter, box, state)
        inner = QRectF(box).adjusted(theme.SPACE_S, 0, -1 - theme.SPACE_S, 0)
        painter.setFont(theme.font())
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(QColor(tokens.mute))
        painter.drawText(inner, middle | Qt.AlignmentFlag.AlignRight, row.text)
        painter.setPen(QColor(tokens.mute if row.faint else tokens.text))
        left = min(self.left, inner.width() * 0.4)
        label = painter.fontMetrics().elidedText(row.label, Qt.TextElideMode.ElideMiddle, int(left) + 1)
        painter.drawText(inner, middle | Qt.AlignmentFlag.AlignLeft, label)
        start = inner.left() + left + theme.SPACE_M
        room = inner.right() - self.right - theme.SPACE_M - start
        if not row.faint and room > theme.SPACE_M:
            self._bars(painter, QRectF(start, inner.top(), room, inner.height()), row.values)
        painter.restore()

    def _bars(self, painter: QPainter, area: QRectF, values: tuple[float | None, ...]) -> None:
        tokens = theme.current()
        high = BAR_HEIGHT if len(values) == 1 else THIN_HEIGHT
        colors = [QColor(tokens.accent)]
        if len(values) > 1:
            colors.insert(0, QColor(tokens.mute))
        top = area.center().y() - (high * len(values) + len(values) - 1) / 2
        painter.setPen(Qt.PenStyle.NoPen)
        for place, value in enumerate(values):
            track = QRectF(area.left(), top + place * (high + 1), area.width(), high)
            painter.setBrush(QColor(tokens.track))
            painter.drawRoundedRect(track, 3, 3)
            if value is not None and value > self.least:
                share = (value - self.least) / max(self.most - self.least, 1e-30)
                painter.save()
                painter.setClipRect(QRectF(track.left(), track.top(), max(1.5, area.width() * share), high))
                painter.setBrush(colors[place])
                painter.drawRoundedRect(track, 3, 3)
                painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(120, ROW_HEIGHT)


class MeasuredBars(QListWidget):
    """Rows with bars. ``row_chosen`` carries the key of the row that was clicked or reached by the arrow
    keys, and an empty text where none is left."""

    row_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._delegate = _Delegate(self)
        self.setItemDelegate(self._delegate)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._rows: list[MeasuredRow] = []
        self.itemSelectionChanged.connect(lambda: self.row_chosen.emit(self.chosen()))
        theme.changed.connect(self.viewport().update)

    def set_rows(self, rows: Sequence[MeasuredRow], least: float = 0.0, most: float | None = None) -> None:
        """Show rows in this order; the chosen one stays chosen where it is still there.

        Args:
            least: the value at which bars begin.
            most: the value that fills the room; None for the largest one.
        """
        before = self.chosen()
        self._rows = list(rows)
        self._delegate.least = least
        known = [value for row in rows for value in row.values if value is not None and not row.faint]
        self._delegate.most = max(known, default=1.0) if most is None else most
        self._measure()
        self.blockSignals(True)
        self.clear()
        for row in self._rows:
            item = QListWidgetItem()
            item.setData(_ROW, row)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{row.label}: {row.text}")
            item.setToolTip(row.tip)
            self.addItem(item)
        self.blockSignals(False)
        self.choose(before)
        self.updateGeometry()

    def rows(self) -> list[MeasuredRow]:
        """What is shown."""
        return list(self._rows)

    def chosen(self) -> str:
        """The key of the chosen row; empty for none."""
        found = self.selectedItems()
        return found[0].data(_ROW).key if found else ""

    def choose(self, key: str) -> None:
        """Select a row without emitting a signal; no row if the key is unknown."""
        place = next((place for place, row in enumerate(self._rows) if row.key == key), -1)
        self.blockSignals(True)
        self.clearSelection()
        self.setCurrentRow(place)
        self.blockSignals(False)
        if place >= 0:
            self.scrollToItem(self.item(place))
        self.viewport().update()

    def _measure(self) -> None:
        metrics = QFontMetricsF(theme.font())
        self._delegate.left = max((metrics.horizontalAdvance(row.label) for row in self._rows), default=0.0)
        self._delegate.right = max((metrics.horizontalAdvance(row.text) for row in self._rows), default=0.0)

    def sizeHint(self) -> QSize:
        shown = min(max(1, len(self._rows)), MOST_SHOWN)
        return QSize(320, shown * ROW_HEIGHT + 2 * self.frameWidth() + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.FontChange:
            self._measure()
        super().changeEvent(event)
