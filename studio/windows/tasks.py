"""The list of what is being done now, with how far it is and a button to cancel it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QWidget

from widgets import theme
from widgets.cards import EmptyState
from widgets.layouts import grid, vertical
from widgets.retranslated import Retranslated

STEPS = 1000


@dataclass
class _Row:
    box: QWidget
    title: QLabel
    text: QLabel
    bar: QProgressBar
    cancel: QPushButton


class TaskList(Retranslated, QWidget):
    """``cancel_requested`` carries the key of a task, which may be any hashable object."""

    cancel_requested = Signal(object)
    count_changed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: dict[Any, _Row] = {}
        self._layout = vertical(self, 0, spacing=None)
        self._empty = EmptyState("", icon="check")
        self._layout.addWidget(self._empty, 1)
        self._layout.addStretch(0)
        self.retranslate()

    def set_task(self, key: Any, title: str, text: str = "", share: float | None = None) -> None:
        """Add or update a task; ``share`` is how much is done (0 to 1), None if unknown."""
        row = self._rows.get(key)
        if row is None:
            row = self._add(key)
        row.title.setText(title)
        row.text.setText(text)
        row.bar.setRange(0, 0 if share is None else STEPS)
        if share is not None:
            row.bar.setValue(round(share * STEPS))
        row.bar.setAccessibleName(title)
        row.cancel.setAccessibleName(self.tr("Cancel: {0}").format(title))

    def remove(self, key: Any) -> None:
        """A task has ended; one that was not there is no matter."""
        row = self._rows.pop(key, None)
        if row is not None:
            self._layout.removeWidget(row.box)
            row.box.deleteLater()
            self._count()

    def tasks(self) -> list[Any]:
        """The keys of the tasks."""
        return list(self._rows)

    def _add(self, key: Any) -> _Row:
        row = _Row(QWidget(), QLabel(), QLabel(), QProgressBar(), QPushButton(self.tr("Cancel")))
        row.text.setProperty("role", "mute")
        row.text.setFont(theme.font())
        cells = grid(row.box, (0, 0, 0, theme.SPACE_S), spacing=None)
        cells.setHorizontalSpacing(theme.SPACE_M)
        cells.addWidget(row.title, 0, 0)
        cells.addWidget(row.text, 0, 1)
        cells.addWidget(row.cancel, 0, 2, 2, 1)
        cells.addWidget(row.bar, 1, 0, 1, 2)
        cells.setColumnStretch(1, 1)
        row.cancel.clicked.connect(lambda: self.cancel_requested.emit(key))
        self._rows[key] = row
        self._layout.insertWidget(len(self._rows) - 1, row.box)
        self._count()
        return row

    def _count(self) -> None:
        self._empty.setVisible(not self._rows)
        self.count_changed.emit(len(self._rows))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self._empty.set_text(self.tr("Nothing is running. Trainings, graphs and exports appear here."))
        for row in self._rows.values():
            row.cancel.setText(self.tr("Cancel"))
