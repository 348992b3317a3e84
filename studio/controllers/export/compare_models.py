"""Comparisons of saved models: the command opens the dialog, whose models the session compares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.session import commands
from studio.session.export.compare_job import MODELS, PASSES, ComparedStep, CompareModels
from studio.session.export.model_differences import EQUAL, Section
from studio.session.export.program_pair import ProgramPair
from studio.session.session import Session
from studio.windows.main_window import MainWindow

if TYPE_CHECKING:
    from studio.controllers.export.compared_programs import ComparedProgramsController
    from studio.windows.export.compare_models_dialog import CompareModelsDialog


class CompareModelsController(QObject):
    """Carries out the command ``compare_models``."""

    def __init__(self, session: Session, window: MainWindow, actions: Actions) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._comparison = session.model_comparison
        self._dialog: CompareModelsDialog | None = None
        self._programs: ComparedProgramsController | None = None
        self._step = 0
        self._bonds = Bindings()
        self._bonds.follow(self._comparison.changed, self._show)
        self._bonds.again(self._show_again)
        actions.handle(commands.COMPARE_MODELS, self.open)

    @property
    def dialog(self) -> CompareModelsDialog | None:
        """The dialog, once it was opened."""
        return self._dialog

    def open(self) -> str:
        """Open the dialog with the models that were loaded or exported, the newest first."""
        from studio.controllers.export.compared_programs import ComparedProgramsController
        from studio.windows.export.compare_models_dialog import CompareModelsDialog

        if self._dialog is None:
            self._dialog = dialog = CompareModelsDialog(self._window)
            dialog.compare_requested.connect(self.compare)
            dialog.cancel_requested.connect(self._comparison.cancel)
            dialog.copy_requested.connect(self.copy)
            dialog.file_requested.connect(self._choose_file)
            dialog.models_changed.connect(self._show)
            dialog.step_chosen.connect(self._choose_step)
            self._programs = ComparedProgramsController(dialog.programs, self._session.files.drawing)
        session = self._session
        newest = [session.checkable_model, session.export.exported_prefix]
        known = dict.fromkeys([*newest, *session.preferences.recent_models])
        self._dialog.set_models([path for path in known if path])
        self._show()
        self._dialog.show()
        self._dialog.raise_()
        self._dialog.activateWindow()
        return ""

    def compare(self, a: str, b: str, how: str = MODELS, level: int = 1) -> None:
        """Compare two saved models, each a prefix or a file, or Programs of the first."""
        self._step = 0
        self._comparison.start(CompareModels(a, b, how, level))

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
        dialog, programs = self._dialog, self._programs
        if dialog is None or programs is None:
            return
        steps, pair = self._steps(), self._pair()
        dialog.show_result(self._comparison.running, self._words(), self._sections(), pair is not None)
        job = self._job()
        passes = steps if job is not None and job.how == PASSES else []
        dialog.set_steps([self._step_name(each) for each in passes], self._step)
        programs.show(pair, self._titles())

    def _show_again(self) -> None:
        self._show()
        if self._programs is not None:
            self._programs.say_again()

    def _choose_step(self, step: int) -> None:
        self._step = step
        self._show()

    def _step_name(self, step: ComparedStep) -> str:
        pair = step["pair"]
        return self.tr("{0}: {1} changes").format(pair.name, len(pair.changes)) if pair is not None else ""

    def _titles(self) -> tuple[str, str]:
        job, tr = self._job(), self.tr
        if job is None:
            return "", ""
        if job.how == MODELS:
            return tr("A: {0}").format(job.a), tr("B: {0}").format(job.b)
        if job.how == PASSES:
            return tr("Before the pass"), tr("After the pass")
        return tr("Training", "of Programs"), tr("Inference")

    def _job(self) -> CompareModels | None:
        """The last comparison, if it is one of the models that are entered."""
        job, dialog = self._comparison.job, self._dialog
        if dialog is None or not isinstance(job, CompareModels):
            return None
        (a, b), (how, level) = dialog.chosen(), dialog.chosen_way()
        same = (a, how) == (job.a, job.how) and (how != MODELS or b == job.b)
        return job if same and (how != PASSES or level == job.level) else None

    def _steps(self) -> list[ComparedStep]:
        result = self._comparison.result
        return [] if result is None or self._job() is None else result["steps"]

    def _chosen(self) -> ComparedStep | None:
        steps = self._steps()
        return steps[self._step] if self._step < len(steps) else None

    def _sections(self) -> list[Section]:
        step = self._chosen()
        return [] if step is None else step["sections"]

    def _pair(self) -> ProgramPair | None:
        """The Programs of the step that is shown, where something of them differs."""
        step = self._chosen()
        pair = None if step is None else step["pair"]
        return pair if pair is not None and pair.changes else None

    def _words(self) -> str:
        comparison, tr = self._comparison, self.tr
        if comparison.running:
            return tr("Comparing…")
        job = self._job()
        if job is None:
            return ""
        if comparison.problem is not None:
            return shown(comparison.problem.message)
        result = comparison.result
        if result is None:
            return tr("Cancelled.") if comparison.state == "cancelled" else ""
        if not result["steps"] and job.how == MODELS:
            text = tr(EQUAL).format(result["operators"], result["weights"])
            return f"{text[:1].upper()}{text[1:]}."
        if not result["steps"]:
            return tr("No difference: {0} operators are equal.").format(result["operators"])
        if job.how == PASSES:
            return tr("Passes that changed something: {0}").format(len(result["steps"]))
        return tr("The models differ.") if job.how == MODELS else tr("The Programs differ.")

    def _text(self) -> str:
        job = self._job()
        other = f"\nB: {job.b}" if job is not None and job.how == MODELS else ""
        parts = [f"A: {job.a}{other}\n{self._words()}"] if job is not None else []
        for step in self._steps():
            if job is not None and job.how == PASSES:
                parts.append(self._step_name(step))
            for section in step["sections"]:
                rows = ["\t".join(row) for row in (section.columns, *section.rows)]
                parts.append("\n".join([section.title.format(section.compared), *rows]))
        return "\n\n".join(parts)

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
