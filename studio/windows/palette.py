"""The command palette: type a few letters of a command, press Return."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from studio.windows.palette_ranking import ranked
from widgets import theme
from widgets.labels import mute
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

ROLE = Qt.ItemDataRole.UserRole


@dataclass(frozen=True)
class Entry:
    """A command as the palette shows it; ``why_not`` is empty where it can be given now. ``english`` is its
    title in English, by which it is found too."""

    id: str
    title: str
    keys: str
    help: str
    why_not: str = ""
    english: str = ""


class _Delegate(QStyledItemDelegate):
    """The keys at the right end of each line."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        entry: Entry = index.data(ROLE)
        painter.save()
        painter.setPen(QColor(theme.current().disabled if entry.why_not else theme.current().mute))
        room = option.rect.adjusted(0, 0, -theme.SPACE_S, 0)  # type: ignore[attr-defined]
        painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, entry.keys)
        painter.restore()


class CommandPalette(Retranslated, QDialog):
    """``chosen`` carries the id of the command; the palette closes itself."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self._entries: list[Entry] = []
        self._recent: Sequence[str] = ()
        self._here: Collection[str] = ()
        self.setObjectName("palette")
        self.box, self.list, self._help = QLineEdit(), QListWidget(), mute(wrap=True)
        self.list.setItemDelegate(_Delegate(self.list))
        self.box.textChanged.connect(self._filter)
        self.box.returnPressed.connect(self._take)
        self.box.installEventFilter(self)
        self.list.itemActivated.connect(lambda _: self._take())
        self.list.itemClicked.connect(lambda _: self._take())
        self.list.currentItemChanged.connect(lambda *_: self._explain())
        layout = vertical(self, theme.SPACE_S, theme.SPACE_S)
        for widget in (self.box, self.list, self._help):
            layout.addWidget(widget)
        self.resize(520, 380)
        self.retranslate()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.setWindowTitle(self.tr("Command palette"))
        self.box.setPlaceholderText(self.tr("Type the name of a command"))
        self.box.setAccessibleName(self.tr("Name of a command"))
        self.list.setAccessibleName(self.tr("Commands"))

    def ask(self, entries: list[Entry], recent: Sequence[str] = (), here: Collection[str] = ()) -> None:
        """Open with these commands, at the top of the window.

        Args:
            recent: the ids of what was used, the last first.
            here: the ids of the commands of the page that is shown.
        """
        self._entries, self._recent, self._here = entries, recent, here
        self.box.clear()
        self._filter("")
        room = self.parentWidget().rect()
        height = max(380, room.height() * 2 // 3)
        self.resize(min(520, room.width() - 40), min(height, room.height() - 80))
        corner = self.parentWidget().mapToGlobal(room.topLeft())
        self.move(corner.x() + (room.width() - self.width()) // 2, corner.y() + 52)
        self.open()
        self.box.setFocus()

    def titles(self) -> list[str]:
        """The titles that the filter leaves."""
        return [self.list.item(row).data(ROLE).title for row in range(self.list.count())]

    def _filter(self, text: str) -> None:
        self.list.clear()
        for entry in ranked(self._entries, text, self._recent, self._here):
            item = QListWidgetItem(entry.title)
            item.setData(ROLE, entry)
            if entry.why_not:
                item.setForeground(QColor(theme.current().disabled))
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self._explain()

    def _explain(self) -> None:
        item = self.list.currentItem()
        entry = item.data(ROLE) if item is not None else None
        self._help.setText(self.tr("No such command.") if entry is None else entry.why_not or entry.help)

    def _take(self) -> None:
        item = self.list.currentItem()
        if item is None or item.data(ROLE).why_not:
            return
        self.accept()
        self.chosen.emit(item.data(ROLE).id)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            moves = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
            if event.key() in moves:
                row = self.list.currentRow() + moves[Qt.Key(event.key())]
                self.list.setCurrentRow(max(0, min(row, self.list.count() - 1)))
                return True
        return False
