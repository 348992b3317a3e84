"""Comparisons of saved models: the command opens the dialog, whose models the session compares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.session import commands
from studio.session.export.compare_job import CompareModels
from studio.session.export.model_differences import EQUAL, Section
from studio.session.session import Session
from studio.windows.main_window import MainWindow

if TYPE_CHECKING:
    from studio.windows.export.compare_models_dialog import CompareModelsDialog


class CompareModelsController(QObject):
    """Carries out the command ``compare_models``."""

    def __init__(self, session: Session, window: MainWindow, actions: Actions) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._comparison = session.model_comparison
        self._dialog: CompareModelsDialog | None = None
        self._bonds = Bindings()
        self._bonds.follow(self._comparison.changed, self._show)
        actions.handle(commands.COMPARE_MODELS, self.open)

    @property
    def dialog(self) -> CompareModelsDialog | None:
        """The dialog, once it was opened."""
        return self._dialog

    def open(self) -> str:
        """Open the dialog with the models that were loaded or exported, the newest first."""
        from studio.windows.export.compare_models_dialog import CompareModelsDialog

        if self._dialog is None:
            self._dialog = dialog = CompareModelsDialog(self._window)
            dialog.compare_requested.connect(self.compare)
            dialog.cancel_requested.connect(self._comparison.cancel)
            dialog.copy_requested.connect(self.copy)
            dialog.file_requested.connect(self._choose_file)
            dialog.models_changed.connect(self._show)
        session = self._session
        newest = [session.checkable_model, session.export.exported_prefix]
        known = dict.fromkeys([*newest, *session.preferences.recent_models])
        self._dialog.set_models([path for path in known if path])
        self._show()
        self._dialog.show()
        self._dialog.raise_()
        self._dialog.activateWindow()
        return ""

    def compare(self, a: str, b: str) -> None:
        """Compare two saved models, each a prefix or a file."""
        self._comparison.start(CompareModels(a, b))

    def copy(self) -> None:
        """Copy the result as text: tables with a tab between cells."""
        QGuiApplication.clipboard().setText(self._text())

    def _choose_file(self, place: int) -> None:
        from studio.controllers.predict.models import MODELS  # a page that need not be built yet

        path, _ = QFileDialog.getOpenFileName(
            self._dialog,
            self.tr("Choose a model"),
            str(self._session.runs_folder),
            self.tr("Saved models ({0})").format(MODELS),
        )
        if path and self._dialog is not None:
            self._dialog.set_model(place, path)

    def _show(self) -> None:
        if self._dialog is not None:
            self._dialog.show_result(self._comparison.running, self._words(), self._sections())

    def _job(self) -> CompareModels | None:
        """The last comparison, if it is one of the models that are entered."""
        job, dialog = self._comparison.job, self._dialog
        if dialog is None or not isinstance(job, CompareModels) or dialog.chosen() != (job.a, job.b):
            return None
        return job

    def _sections(self) -> list[Section]:
        result = self._comparison.result
        return [] if result is None or self._job() is None else result["sections"]

    def _words(self) -> str:
        comparison, tr = self._comparison, self.tr
        if comparison.running:
            return tr("Comparing…")
        if self._job() is None:
            return ""
        if comparison.problem is not None:
            return comparison.problem.message
        result = comparison.result
        if result is None:
            return tr("Cancelled.") if comparison.state == "cancelled" else ""
        if not result["sections"]:
            text = tr(EQUAL).format(result["operators"], result["weights"])
            return f"{text[:1].upper()}{text[1:]}."
        return tr("The models differ.")

    def _text(self) -> str:
        job = self._job()
        parts = [f"A: {job.a}\nB: {job.b}\n{self._words()}"] if job is not None else []
        for section in self._sections():
            rows = ["\t".join(row) for row in (section.columns, *section.rows)]
            parts.append("\n".join([section.title.format(section.compared), *rows]))
        return "\n\n".join(parts)

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
