"""What the palette offers beside commands: runs, recent projects, and loaded models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from studio.session.project import SUFFIX
from studio.session.session import Session
from studio.windows.palette import Entry


class PaletteEntries(QObject):
    """Makes the entries when the palette opens; each says what choosing it does.

    Args:
        show_run, open_project, load_model: get a path.
    """

    def __init__(
        self,
        session: Session,
        parent: QObject,
        show_run: Callable[[str], object],
        open_project: Callable[[str], object],
        load_model: Callable[[str], object],
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._show_run, self._open_project = show_run, open_project
        self._load_model = load_model

    def entries(self) -> list[tuple[Entry, Callable[[], object]]]:
        """Runs, models and projects, in this order."""
        preferences = self._session.preferences
        found: list[tuple[Entry, Callable[[], object]]] = []
        for word, kind, paths, act in (
            (self.tr("Run"), "run", [run.path for run in self._session.runs], self._show_run),
            (self.tr("Model"), "model", preferences.recent_models, self._load_model),
            (self.tr("Project"), "project", preferences.recent_projects, self._open_project),
        ):
            for path in paths:
                title = f"{word}: {Path(path).name.removesuffix(SUFFIX)}"
                found.append((Entry(f"{kind}:{path}", title, "", path), lambda path=path, act=act: act(path)))
        return found
