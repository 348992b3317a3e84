"""The exported files that stand, on the page Export: listed with size and date, verified again."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from resources import quantities
from studio.controllers.agreements import after_agreement
from studio.controllers.bindings import Bindings
from studio.session import commands
from studio.session.export.export_registry import ExportedFiles, exported_files
from studio.session.session import Session
from studio.windows.export.exported_files_card import ExportedFilesCard


class ExportedFilesController(QObject):
    """Keeps the list up to date, and verifies what is chosen."""

    def __init__(self, session: Session, card: ExportedFilesCard, window: QWidget) -> None:
        super().__init__(card)
        self._session, self._card, self._window = session, card, window
        self._found: dict[str, ExportedFiles] = {}
        self._bonds = Bindings()
        card.verify_requested.connect(self.verify)
        self._bonds.follow(session.runs_changed, lambda _: self.refresh())
        self._bonds.follow(session.export.events.state, lambda _: self.refresh())
        self._bonds.follow(session.tasks_changed, self.refresh)
        self._bonds.follow(session.runs_changed, lambda _: self.refresh())
        self.refresh()

    def refresh(self) -> None:
        """Look again at what stands."""
        runs = [run.path for run in self._session.runs if not run.of_script]
        prefixes = list(self._session.preferences.recent_models)
        self._session.files.reading.do(lambda: exported_files(runs, prefixes), self._show, "exported files")

    def _show(self, found: list[ExportedFiles]) -> None:
        self._found = {each.prefix: each for each in found}
        self._card.set_files(
            [(each.prefix, self._title(each), self._value(each)) for each in found],
            {each.prefix: self._why_not(each) for each in found},
        )

    def _title(self, each: ExportedFiles) -> str:
        path = Path(each.prefix)
        return f"{self._session.run_title(each.run)} \u00b7 {path.name}" if each.run else path.name

    def _value(self, each: ExportedFiles) -> str:
        written = datetime.fromtimestamp(each.written).strftime("%Y-%m-%d %H:%M")
        return f"{quantities.size(each.size)} \u00b7 {written}"

    def _why_not(self, each: ExportedFiles) -> str:
        """Why they can't be verified now; empty where they can."""
        if not each.run:
            return self.tr("The run of these files is unknown, so there is nothing to compare.")
        return self._session.blocked(commands.SHOW_GRAPH)  # another task is running

    def verify(self, prefix: str) -> None:
        """Verify files again, after the agreement to code that their run keeps."""
        each = self._found.get(prefix)
        if each is None or self._why_not(each):
            return
        verify = lambda: self._session.verify_export(prefix, each.run)  # noqa: E731
        after_agreement(self._session, self._window, verify, each.run)

    def run_of(self, prefix: str) -> str:
        """The folder of the run that the files at ``prefix`` are of; empty where that is not known."""
        each = self._found.get(prefix)
        return each.run if each is not None else ""

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
