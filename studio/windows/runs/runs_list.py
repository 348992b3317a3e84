"""The list of runs: colour, name, figure, and below state and what differs. Also of models, on one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import (
    QAbstractListModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QContextMenuEvent, QFont, QKeyEvent, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from studio.windows.runs.row_moving import RowMoving
from widgets import theme
from widgets.icons import icon_pixmap
from widgets.rows import paint_state

ROW_HEIGHT, TWO_LINES = 27, 44
MOST_ROWS, MOST_RUNS = 8, 6  # where there is more height than they need; a layout may give more
MARK = 12
ROLE = Qt.ItemDataRole.UserRole
_CHOOSABLE = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled


@dataclass(frozen=True)
class RunRow:
    """One line: ``key`` finds it again, ``color`` is one of ``theme.run_color``, empty for none.

    A ``heading`` names those below it and can't be chosen. ``mark`` is the icon of the state and ``tint`` its
    token; ``detail`` stands next to it, below the title. ``faint`` is one that is hidden otherwise. A
    ``movable`` one can be dragged to another place among its like.
    """

    key: str
    title: str
    value: str
    color: int | str
    tip: str = ""
    heading: bool = False
    mark: str = ""
    tint: str = "mute"
    detail: str = ""
    faint: bool = False
    movable: bool = False


LateRow = tuple[str | int | None, ...]
"""A row that is made when it is first seen: of 10,000 runs a few are. Its key, and what it is made of, as
plain values: such tuples cost the garbage collector nothing."""


class RunRows(QAbstractListModel):
    """The rows; unchanged ones emit no signal."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: Sequence[RunRow | LateRow] = ()
        self.places: dict[str, int] = {}
        self.make: Callable[[str], RunRow] = _none_late
        self._made: dict[int, RunRow] = {}  # of late rows, by place

    def row(self, place: int) -> RunRow:
        """The row at a place."""
        row = self.rows[place]
        if isinstance(row, RunRow):
            return row
        made = self._made.get(place)
        if made is None:
            made = self._made[place] = self.make(str(row[0]))
        return made

    def set_rows(self, rows: Sequence[RunRow | LateRow]) -> bool:
        """Show other rows; whether they are others or in another order, which forgets what is chosen."""
        keys = [_key(row) for row in rows]
        if keys == [_key(row) for row in self.rows]:
            before, self.rows = self.rows, rows
            for place, (old, new) in enumerate(zip(before, rows, strict=True)):
                if old != new:
                    self._made.pop(place, None)
                    self.dataChanged.emit(self.index(place), self.index(place))
            return False
        self.beginResetModel()
        self.rows, self._made = rows, {}
        self.places = {key: place for place, key in enumerate(keys)}
        self.endResetModel()
        return True

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.row(index.row())
        if role == ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return ", ".join(filter(None, (row.title, row.value, row.detail)))
        return row.tip if role == Qt.ItemDataRole.ToolTipRole else None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        if not index.isValid() or self.is_heading(index.row()):
            return Qt.ItemFlag.NoItemFlags
        return _CHOOSABLE

    def is_heading(self, place: int) -> bool:
        """Whether the row at a place names those below it."""
        row = self.rows[place]
        return isinstance(row, RunRow) and row.heading


def _key(row: RunRow | LateRow) -> str:
    return row.key if isinstance(row, RunRow) else str(row[0])


def _none_late(key: str) -> RunRow:
    raise KeyError(f"a list of rows that are all there has no other: {key!r}")


@lru_cache(maxsize=64)
def _mark(name: str, color: str, scale: float) -> QPixmap:
    return icon_pixmap(name, color, MARK, scale)


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
        paint_state(painter, box, state)
        lines = box.adjusted(8, 0, -8, 0)
        if self._dots and not row.heading:
            lines.setLeft(box.left() + 24)
            below = QRect(lines)
            lines.setHeight(box.height() // 2 + 3)
            below.setTop(lines.bottom() - 2)
            self._paint_value(painter, below, row.value, theme.font(theme.SECTION_PX))
            self._paint_detail(painter, below, row)
        elif row.color != "" and not row.heading:
            lines.setLeft(box.left() + 24)
        if row.color != "" and not row.heading:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.run_color(row.color)))
            painter.drawEllipse(QPointF(box.left() + 12, lines.center().y() + 1), 4, 4)
        quiet = row.heading or row.faint
        if not self._dots or row.heading:
            self._paint_value(painter, lines, row.value, theme.font())
        self._paint_title(painter, lines, row, QColor(tokens.mute if quiet else tokens.text))
        painter.restore()

    @staticmethod
    def _paint_value(painter: QPainter, inner: QRect, value: str, font: QFont) -> None:
        """At the right; what is left of the line is for the words."""
        painter.setFont(font)
        wide = painter.fontMetrics().horizontalAdvance(value)
        painter.setPen(QColor(theme.current().mute))
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, value)
        inner.setRight(inner.right() - wide - (theme.SPACE_S if wide else 0))

    @staticmethod
    def _paint_title(painter: QPainter, inner: QRect, row: RunRow, color: QColor) -> None:
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.font())
        painter.setPen(color)
        title = painter.fontMetrics().elidedText(row.title, Qt.TextElideMode.ElideMiddle, inner.width())
        painter.drawText(inner, middle | Qt.AlignmentFlag.AlignLeft, title)

    @staticmethod
    def _paint_detail(painter: QPainter, inner: QRect, row: RunRow) -> None:
        tokens = theme.current()
        if row.mark:
            scale = painter.device().devicePixelRatioF()
            top = inner.center().y() - MARK // 2
            painter.drawPixmap(inner.left(), top, _mark(row.mark, getattr(tokens, row.tint), scale))
            inner.setLeft(inner.left() + MARK + theme.SPACE_XS)
        painter.setFont(theme.font(theme.SECTION_PX))
        painter.setPen(QColor(tokens.mute))
        words = painter.fontMetrics().elidedText(row.detail, Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(120, TWO_LINES if self._dots else ROW_HEIGHT)


class RunsList(QListView):
    """``chosen_changed`` carries the keys of the chosen runs, the current one first.

    Args:
        dots: rows of runs, with a colour and a second line.
        fewest: rows that are seen at least.
    """

    chosen_changed = Signal(list)
    menu_requested = Signal(str, object)
    delete_requested = Signal()

    def __init__(self, parent: QWidget | None = None, dots: bool = True, fewest: int = 2) -> None:
        super().__init__(parent)
        self._dots, self._fewest = dots, fewest
        self._rows = RunRows(self)
        self.setModel(self._rows)
        self.setItemDelegate(_Delegate(self, dots))
        modes = QAbstractItemView.SelectionMode
        self.setSelectionMode(modes.ExtendedSelection if dots else modes.SingleSelection)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setUniformItemSizes(True)
        self._silent = False
        self.moving = RowMoving(self)
        self.selectionModel().selectionChanged.connect(self._tell)
        self._fit()

    def set_rows(self, rows: Sequence[RunRow | LateRow], make: Callable[[str], RunRow] = _none_late) -> None:
        """Show other rows; what is chosen stays chosen where it is still there.

        If none of it is, no signal is emitted: a run that a filter hides stays selected.

        Args:
            make: makes the late ones by their keys.
        """
        self._rows.make = make
        chosen, current, at = self.chosen(), self._key(self.currentIndex()), self.verticalScrollBar().value()
        self._silent = True
        if self._rows.set_rows(rows):
            self._choose(chosen, current)
            self.verticalScrollBar().setValue(at)
        self._silent = False
        self._fit()
        left = self.chosen()
        if left and set(left) != set(chosen):
            self._tell()

    def rows(self) -> list[RunRow]:
        """What is shown."""
        return [self._rows.row(place) for place in range(len(self._rows.rows))]

    def movable_rows(self) -> list[RunRow]:
        """Those that can be dragged."""
        return [row for row in self._rows.rows if isinstance(row, RunRow) and row.movable]

    def row_at(self, at: QPoint) -> RunRow | None:
        """The row at a point of the viewport."""
        index = self.indexAt(at)
        return self._rows.row(index.row()) if index.isValid() else None

    def row(self, key: str) -> RunRow | None:
        """The row of a key; None where it is not shown."""
        place = self._rows.places.get(key)
        return None if place is None else self._rows.row(place)

    def chosen(self) -> list[str]:
        """Keys of the chosen runs, the current one first."""
        keys = [self._key(index) for index in self.selectionModel().selectedIndexes()]
        current = self._key(self.currentIndex())
        return sorted(keys, key=lambda key: key != current)

    def choose(self, key: str, *others: str) -> None:
        """Choose one run, as a click does, and others next to it; those that are not shown are left out."""
        self._silent = True
        self._choose([key, *others], key)
        self._silent = False
        self._tell()

    def mark(self, keys: list[str]) -> None:
        """Show that these are chosen, the current one first, without telling it."""
        self._silent = True
        self._choose(keys, keys[0] if keys else "")
        self._silent = False

    def _choose(self, keys: list[str], current: str) -> None:
        """Without a word; the row is brought into view only where it is another one than before."""
        selection, flags = self.selectionModel(), QItemSelectionModel.SelectionFlag
        selection.clear()
        places = self._rows.places
        if current in places:
            index = self._rows.index(places[current])
            selection.setCurrentIndex(index, flags.NoUpdate)
            self.scrollTo(index)
        for key in keys:
            if key in places:
                selection.select(self._rows.index(places[key]), flags.Select)

    def resizeEvent(self, event: QResizeEvent) -> None:
        # The current row stays in view where panels below take room, unless it was scrolled away by hand.
        index, before = self.currentIndex(), event.oldSize().height()
        seen = index.isValid() and (before < 0 or 0 <= self.visualRect(index).top() < before)
        super().resizeEvent(event)
        if seen:
            self.scrollTo(index)

    def keys(self) -> list[str]:
        """The keys in their order, without headings."""
        rows = self._rows
        return [_key(row) for place, row in enumerate(rows.rows) if not rows.is_heading(place)]

    def place_of(self, key: str) -> QRect:
        """Where the row of a key is painted, in coordinates of the viewport."""
        return self.visualRect(self._rows.index(self._rows.places[key]))

    def _key(self, index: QModelIndex) -> str:
        return _key(self._rows.rows[index.row()]) if index.isValid() else ""

    def _tell(self, *_: object) -> None:
        if not self._silent:
            self.chosen_changed.emit(self.chosen())

    def _fit(self) -> None:
        height = TWO_LINES if self._dots else ROW_HEIGHT
        rows = max(1, len(self._rows.rows))
        # Its layout shares the height that there is; in a low window it shrinks to the fewest rows.
        self.setMinimumHeight(height * min(rows, self._fewest) + 2)
        self.setMaximumHeight(height * rows + 2)
        self.updateGeometry()
        self.setVisible(bool(self._rows.rows))

    def sizeHint(self) -> QSize:
        height, most = (TWO_LINES, MOST_RUNS) if self._dots else (ROW_HEIGHT, MOST_ROWS)
        return QSize(120, min(self.maximumHeight(), height * most + 2))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        index = self.indexAt(event.pos()) if mouse else self.currentIndex()
        if index.isValid() and not self._rows.is_heading(index.row()):
            at = event.globalPos() if mouse else self.viewport().mapToGlobal(self.visualRect(index).center())
            self.menu_requested.emit(self._key(index), at)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._dots and event.key() == Qt.Key.Key_Delete:
            self.delete_requested.emit()
        elif not self.moving.take_key(event):
            super().keyPressEvent(event)
