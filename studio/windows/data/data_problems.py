"""The list of problems of data: each kind with its count, where they are, and how to fix it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QProgressBar,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from widgets import theme
from widgets.icons import icon
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.retranslated import Retranslated

REMEDY = Qt.ItemDataRole.UserRole


@dataclass(frozen=True)
class ProblemRow:
    """A kind of problem in words: what it is with its count, how to fix it, and the places it is at.

    ``files`` are those that a button excludes from the data.
    """

    title: str
    remedy: str
    places: tuple[str, ...]
    level: str = "warn"
    files: tuple[str, ...] = ()


class DataProblems(Retranslated, QWidget):
    """``stop_requested`` asks that no further samples are looked at, ``exclude_requested`` that files are
    excluded from the data: a tuple of their names."""

    stop_requested = Signal()
    exclude_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.state = mute(wrap=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.stop = QPushButton()
        self.stop.clicked.connect(self.stop_requested)
        self.tree = QTreeWidget()
        self.tree.setHeaderHidden(True)
        self.tree.setMinimumHeight(96)
        self.tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.tree.currentItemChanged.connect(lambda *_: self._show_remedy())
        self.remedy = mute(wrap=True)
        self.exclude = QPushButton()
        self.exclude.clicked.connect(lambda: self.exclude_requested.emit(self._files()))
        self._rows: tuple[ProblemRow, ...] = ()
        line = horizontal(None, 0)
        line.addWidget(self.bar, 1)
        line.addWidget(self.stop)
        layout = vertical(self, 0, theme.SPACE_S)
        layout.addWidget(self.state)
        layout.addLayout(line)
        layout.addWidget(self.tree, 1)
        below = horizontal(None, 0)
        below.addWidget(self.remedy, 1)
        below.addWidget(self.exclude)
        layout.addLayout(below)
        layout.addStretch(0)
        self.retranslate()
        self.set_progress(None, "")
        self.set_rows(())

    def set_progress(self, share: float | None, text: str) -> None:
        """How much was looked at (0 to 1), None where nothing is being looked at."""
        self.state.setText(text)
        self.bar.setVisible(share is not None)
        self.stop.setVisible(share is not None)
        self.bar.setRange(0, 1000)
        self.bar.setValue(round(1000 * (share or 0.0)))

    def set_rows(self, rows: Sequence[ProblemRow]) -> None:
        """Show these problems; what was opened stays open while counts grow."""
        if tuple(rows) == self._rows and self.tree.isHidden() != bool(rows):
            return
        self._rows = tuple(rows)
        opened = {item.data(0, REMEDY) for item in self._top_items() if item.isExpanded()}
        self.tree.clear()
        for row in rows:
            item = QTreeWidgetItem([row.title])
            item.setIcon(0, icon("error" if row.level == "bad" else "warning", row.level))
            item.setData(0, REMEDY, row.remedy)
            item.setToolTip(0, row.remedy)
            for place in row.places:
                child = QTreeWidgetItem([place])
                child.setToolTip(0, place)
                item.addChild(child)
            self.tree.addTopLevelItem(item)
            item.setExpanded(row.remedy in opened)
        self.tree.setVisible(bool(rows))
        if rows:
            self.tree.setCurrentItem(self.tree.topLevelItem(0))
        self._show_remedy()

    def _show_remedy(self) -> None:
        item = self.tree.currentItem()
        if item is not None and item.parent() is not None:
            item = item.parent()
        text = str(item.data(0, REMEDY)) if item is not None else ""
        self.remedy.setText(text)
        self.remedy.setVisible(bool(text))
        self.exclude.setVisible(bool(self._files()))

    def _files(self) -> tuple[str, ...]:
        """The files of the current problem that can be excluded."""
        item = self.tree.currentItem()
        if item is None:
            return ()
        place = self.tree.indexOfTopLevelItem(item.parent() or item)
        return self._rows[place].files if 0 <= place < len(self._rows) else ()

    def rows(self) -> tuple[ProblemRow, ...]:
        """What is shown."""
        return self._rows

    def _top_items(self) -> list[QTreeWidgetItem]:
        found = [self.tree.topLevelItem(index) for index in range(self.tree.topLevelItemCount())]
        return [item for item in found if item is not None]

    def retranslate(self) -> None:
        """Set all words anew."""
        self.stop.setText(self.tr("Stop looking"))
        self.exclude.setText(self.tr("Exclude"))
        self.exclude.setToolTip(self.tr("Exclude these files from the data of the next training"))
        self.bar.setAccessibleName(self.tr("Progress of the check"))
        self.tree.setAccessibleName(self.tr("Problems of the data"))
