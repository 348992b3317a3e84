"""The bottom dock: log, problems and tasks."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QFrame, QTabWidget, QWidget

from studio.windows.tasks import TaskList
from widgets import theme
from widgets.layouts import vertical
from widgets.log_view import LogView, ProblemList
from widgets.retranslated import Retranslated

LOG, PROBLEMS, TASKS = range(3)


class OutputPanel(Retranslated, QFrame):
    """Three tabs; the counts stand in their titles."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.log, self.problems, self.tasks = LogView(), ProblemList(), TaskList()
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        for widget in (self.log, self.problems, self.tasks):
            self.tabs.addTab(widget, "")
        layout = vertical(self, (theme.SPACE_M, 0, theme.SPACE_M, theme.SPACE_S), spacing=None)
        layout.addWidget(self.tabs)
        self.problems.count_changed.connect(lambda: self.retranslate())
        self.tasks.count_changed.connect(lambda: self.retranslate())
        self.retranslate()

    def sizeHint(self) -> QSize:
        return QSize(600, 220)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 120)

    def show_tab(self, tab: int) -> None:
        """Bring one of the three to the front."""
        self.tabs.setCurrentIndex(tab)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        counts = (0, len(self.problems.problems()), len(self.tasks.tasks()))
        names = (self.tr("Log"), self.tr("Problems"), self.tr("Tasks"))
        for tab, (name, count) in enumerate(zip(names, counts, strict=True)):
            self.tabs.setTabText(tab, f"{name} ({count})" if count else name)
        self.tabs.tabBar().setAccessibleName(self.tr("Log, problems and tasks"))
