"""ProblemList: what went wrong, with details and a report to copy."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QWidget,
)

from widgets import theme
from widgets.cards import EmptyState
from widgets.icons import icon, set_icon
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.log_view.log import clock_text
from widgets.retranslated import Retranslated

LIMIT = 200
ICONS = {"warning": ("warning", "warn"), "error": ("error", "bad")}


@dataclass(frozen=True)
class ProblemData:
    """A problem: what is wrong in one sentence, details (a traceback, say), level, time (since 1970)."""

    text: str
    details: str = ""
    level: str = "error"
    time: float = 0.0


class ProblemList(Retranslated, QWidget):
    """The newest problem first, 200 of them at most; the details of the chosen one below.

    `shown` gives a problem's text in the language that holds now; the report has it as it came.
    `activated` carries the `ProblemData` that is double-clicked or entered, `count_changed` the number of
    problems.
    """

    activated = Signal(object)
    count_changed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown: Callable[[str], str] = lambda text: text
        self._problems: list[ProblemData] = []
        self._list, self._details = QListWidget(), QPlainTextEdit()
        self._list.setProperty("focusRing", True)
        self._list.setIconSize(QSize(theme.ICON_SIZE, theme.ICON_SIZE))
        self._list.setWordWrap(True)
        self._list.setTextElideMode(Qt.TextElideMode.ElideNone)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.currentRowChanged.connect(self._show_details)
        self._list.itemActivated.connect(
            lambda item: self.activated.emit(self._problems[self._list.row(item)])
        )
        self._details.setReadOnly(True)
        self._details.document().setDocumentMargin(theme.SPACE_S)
        self._copy, self._clear = QPushButton(), QPushButton()
        set_icon(self._copy, "copy")
        set_icon(self._clear, "clear")
        self._copy.clicked.connect(self.copy_report)
        self._clear.clicked.connect(self.clear)
        self._title = mute()
        header = horizontal(None, 0)
        header.addWidget(self._title, 1)
        header.addWidget(self._copy)
        header.addWidget(self._clear)
        self._splitter = QSplitter(Qt.Orientation.Vertical)
        self._splitter.addWidget(self._list)
        self._splitter.addWidget(self._details)
        self._splitter.setChildrenCollapsible(False)
        self._empty = EmptyState("", icon="check")
        layout = vertical(self, 0, theme.SPACE_S)
        layout.addLayout(header)
        layout.addWidget(self._splitter, 1)
        layout.addWidget(self._empty, 1)
        theme.changed.connect(self._tint)
        self._tint()
        self.retranslate()

    def add_problem(
        self, text: str, details: str = "", level: str = "error", time: float | None = None
    ) -> None:
        """Put a problem on top; `level` is "warning" or "error" (ValueError otherwise)."""
        if level not in ICONS:
            raise ValueError(f"ProblemList.add_problem: unknown level: {level!r}; there are {tuple(ICONS)}")
        problem = ProblemData(text, details, level, clock.time() if time is None else time)
        self._problems.insert(0, problem)
        item = QListWidgetItem(icon(*ICONS[level]), "")
        self._list.insertItem(0, item)
        self._show_text(0)
        while len(self._problems) > LIMIT:
            self._problems.pop()
            self._list.takeItem(self._list.count() - 1)
        self._list.setCurrentRow(0)
        self._update()

    def clear(self) -> None:
        """Forget all problems."""
        self._problems.clear()
        self._list.clear()
        self._update()

    def problems(self) -> list[ProblemData]:
        """All problems, the newest first."""
        return list(self._problems)

    def report(self) -> str:
        """All problems with their details as text, the newest first."""
        parts = []
        for problem in self._problems:
            moment = clock.strftime("%Y-%m-%d %H:%M:%S", clock.localtime(problem.time))
            parts.append(f"{moment} {problem.level}: {problem.text}")
            if problem.details:
                parts.append(problem.details.rstrip("\n"))
            parts.append("")
        return "\n".join(parts)

    def copy_report(self) -> None:
        """Copy the report."""
        QGuiApplication.clipboard().setText(self.report())

    def _show_details(self, row: int) -> None:
        details = self._problems[row].details if 0 <= row < len(self._problems) else ""
        self._details.setPlainText(details)
        self._details.setVisible(bool(details))

    def _update(self) -> None:
        count = len(self._problems)
        self._splitter.setVisible(count > 0)
        self._empty.setVisible(count == 0)
        self._copy.setEnabled(count > 0)
        self._clear.setEnabled(count > 0)
        words = self.tr("1 problem") if count == 1 else self.tr("{0} problems").format(count)
        self._title.setText(words if count else "")
        self._show_details(self._list.currentRow())
        self.count_changed.emit(count)

    def _show_text(self, row: int) -> None:
        problem, item = self._problems[row], self._list.item(row)
        text = self.shown(problem.text)
        item.setText(f"{clock_text(problem.time)}  {text}")
        spoken = self.tr("{0}: {1}").format(self._level_word(problem.level), text)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, spoken)

    def _level_word(self, level: str) -> str:
        return self.tr("Warning") if level == "warning" else self.tr("Error", "level")

    def _tint(self) -> None:
        self._details.setFont(theme.mono_font())
        for row, problem in enumerate(self._problems):
            self._list.item(row).setIcon(icon(*ICONS[problem.level]))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        for row in range(len(self._problems)):
            self._show_text(row)
        self._list.setAccessibleName(self.tr("Problems"))
        self._details.setAccessibleName(self.tr("Details of the problem"))
        self._copy.setText(self.tr("Copy report"))
        self._clear.setText(self.tr("Clear"))
        self._empty.set_text(self.tr("No problems. What goes wrong is listed here, with its details."))
        self._update()
