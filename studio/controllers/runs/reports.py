"""Files that leave the window: a report about the selected run, and the session as a script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from resources.user_folders import home_folder
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.session import commands
from studio.session.problem_view import problem_from_message
from studio.session.project.session_script import script_bytes, write_script
from studio.session.runs.run_names import file_name
from studio.session.session import Session
from studio.windows.main_window import MainWindow


class ReportsController(QObject):
    """Asks where, has it written, and says when it is there with ``said``."""

    def __init__(
        self, session: Session, window: MainWindow, actions: Actions, said: Callable[[str], None]
    ) -> None:
        super().__init__(window)
        self._session, self._window, self._said = session, window, said
        self._bonds = Bindings()
        session.report_writer.pdf_of = _pdf_of
        self._bonds.follow(session.report_writer.written, self._written)
        for changed in (session.selected_run_changed, session.runs_changed):
            self._bonds.follow(changed, lambda _: actions.refresh())
        actions.handle(commands.REPORT, self.save_report)
        actions.handle(commands.EXPORT_SCRIPT, self.save_script)

    def _ask(self, title: str, name: str, filters: str) -> str:
        home = home_folder() or Path()
        return QFileDialog.getSaveFileName(self._window, title, str(home / name), filters)[0]

    def save_report(self) -> str:
        """Ask for a file and have a report about the selected run written into it."""
        reason = self._session.blocked(commands.REPORT)
        if reason:
            return reason
        folder = self._session.selected_run
        name, filters = self._session.run_title(folder), "HTML (*.html);;PDF (*.pdf)"
        path = self._ask(self.tr("Save the report"), f"{file_name(name)}.html", filters)
        if path:
            out = path if path.lower().endswith((".html", ".htm", ".pdf")) else f"{path}.html"
            self._session.report_writer.write(folder, out, name)
        return ""

    def _written(self, out: str) -> None:
        self._said(self.tr("The report is written: {0}").format(out))

    def save_script(self) -> str:
        """Ask for a file and write the session as a script into it."""
        reason = self._session.blocked(commands.EXPORT_SCRIPT)
        if reason:
            return reason
        filters = f"{self.tr('Shell script')} (*.sh);;{self.tr('Python script')} (*.py)"
        path = self._ask(self.tr("Save the session as a script"), "session.sh", filters)
        if not path:
            return ""
        out = Path(path if path.endswith((".sh", ".py")) else f"{path}.sh")
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        import engine.files.atomic  # noqa: F401

        content, said = script_bytes(out, self._session.script), self.tr("The script is written: {0}")
        title = self.tr("The script could not be saved")
        self._session.files.writing.attempt(
            lambda: write_script(out, content),
            lambda _: self._said(said.format(out)),
            lambda error: self._session.problem.emit(problem_from_message(str(error), title)),
            (OSError,),
        )
        return ""

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()


def _pdf_of(page: str) -> bytes:
    from studio.controllers.runs.report_pdf import pdf_of  # here: most starts never write one

    return pdf_of(page)
