"""File > Open recent: projects, saved models, data and code that were opened before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from studio.controllers.bindings import Bindings
from studio.session.project.project_file import SUFFIX
from studio.session.session import Session

WIDEST = 320  # pixels of a name


class RecentMenu(QObject):
    """Fills the submenu when it opens.

    Args:
        menu: the menu File. before: the entry that it is put in front of.
        open_project, open_model, open_file: get a path.
    """

    def __init__(
        self,
        session: Session,
        menu: QMenu,
        before: QAction,
        open_project: Callable[[str], object],
        open_model: Callable[[str], object],
        open_file: Callable[[str], object],
    ) -> None:
        super().__init__(menu)
        self._session = session
        self._open_project, self._open_model, self._open_file = open_project, open_model, open_file
        self.menu = QMenu(menu)
        self._bonds = Bindings()
        self._bonds.again(lambda: self.menu.setTitle(self.tr("Open recent")), now=True)
        self.menu.setToolTipsVisible(True)
        menu.insertMenu(before, self.menu)
        menu.aboutToShow.connect(self._enable)
        self.menu.aboutToShow.connect(self.fill)

    def close(self) -> None:
        """Follow the language no longer."""
        self._bonds.release()

    def _lists(self) -> list[tuple[str, list[str], Callable[[str], object]]]:
        preferences, opened = self._session.preferences, str(self._session.project_path)
        projects = [path for path in preferences.recent_projects if path != opened]
        return [
            (self.tr("Projects"), projects, self._open_project),
            (self.tr("Saved models"), preferences.recent_models, self._open_model),
            (self.tr("Data and code"), preferences.recent_files, self._open_file),
        ]

    def _enable(self) -> None:
        self.menu.setEnabled(any(paths for _, paths, _ in self._lists()))

    def fill(self) -> None:
        """List what was opened last, under the headings that have something."""
        self.menu.clear()
        for title, paths, open_path in self._lists():
            if paths:
                self.menu.addSection(title)
            for path in paths:
                name = Path(path).name.removesuffix(SUFFIX)
                name = self.menu.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, WIDEST)
                # A single ampersand would make the next letter a key.
                action = self.menu.addAction(name.replace("&", "&&"))
                action.triggered.connect(lambda _=False, path=path, act=open_path: act(path))
                action.setToolTip(path)
        self.menu.addSeparator()
        self.menu.addAction(self.tr("Clear this list"), self._session.forget_recent)
