"""ModelTrials: time and plan of a few steps of the text on the page Code, found by child processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from resources.local_code import LocalCode
from studio.session.code.dry_run_scheduler import DryRunScheduler
from studio.session.code.measure_job import MeasureCode
from studio.session.code.measure_view import Measurement
from studio.session.code.plan_job import PlanCode
from studio.session.code.plan_view import PlanSteps
from studio.session.code.syntax import syntax_problem
from studio.session.code.user_models import is_outlined

if TYPE_CHECKING:
    from studio.session.code.model_editor import ModelEditor
    from studio.session.project.agreed_library import AgreedLibrary
    from studio.session.work.running_tasks import RunningTasks

Refused: TypeAlias = Callable[[str], object]


class ModelTrials:
    """Measures and plans the text of the editor as it is, with the settings of the next run.

    Methods return why not where that is known at once. The code is read in a thread; ``refused`` gets what is
    wrong with it.

    Args:
        library: has the settings.
        tasks: starts the trials.
    """

    def __init__(self, editor: ModelEditor, library: AgreedLibrary, tasks: RunningTasks) -> None:
        self._editor, self._library = editor, library
        self.measuring = DryRunScheduler(tasks, "code_measured", "measure_failed", Measurement.of, "measured")
        self.planning = DryRunScheduler(tasks, "code_planned", "plan_failed", PlanSteps.of, "planned")
        self._both = (self.measuring, self.planning)

    def measure(self, refused: Refused) -> str:
        """Train a few steps and measure them."""
        return self._try(MeasureCode, self.measuring.start, refused)

    def plan(self, refused: Refused, again: bool = False) -> str:
        """Find out what passes and plans do; unless ``again`` nothing where that is known or on its way."""
        return self._try(PlanCode, self.planning.start if again else self.planning.follow, refused)

    def _try(
        self,
        job_of: type[MeasureCode | PlanCode],
        start: Callable[[MeasureCode | PlanCode], None],
        refused: Refused,
    ) -> str:
        editor, view = self._editor, self._editor.view
        if not view.file or not view.class_name:
            return "There is no model's source open; make a new one first."
        if view.input_problem:
            return f"Input: {view.input_problem}"
        if not is_outlined(editor.text):  # a large text that was just typed: parsing it takes long
            editor.when_parsed(lambda: self._refuse(self._begin(job_of, start, refused), refused))
            return ""
        return self._begin(job_of, start, refused)

    @staticmethod
    def _refuse(reason: str, refused: Refused) -> None:
        if reason:
            refused(reason)

    def _begin(
        self,
        job_of: type[MeasureCode | PlanCode],
        start: Callable[[MeasureCode | PlanCode], None],
        refused: Refused,
    ) -> str:
        editor, view = self._editor, self._editor.view
        if (problem := syntax_problem(editor.text, Path(view.file).name)) is not None:
            return f"line {problem.line}: {problem.message}"
        config = self._library.project.settings.as_config("")
        job = job_of(editor.text, view.file, view.class_name, config, input_text=view.inputs)

        def take(code: LocalCode) -> None:
            if editor.may_run(code):
                start(replace(job, agreed=code.digest))
            else:
                refused("Agree first that this file is run.")

        editor.read_code(take, lambda error: refused(str(error)))
        return ""

    def edited(self, file: str, class_name: str, inputs: str, text: str) -> None:
        """This is edited now, see ``DryRunScheduler.edited``."""
        for each in self._both:
            each.edited(file, class_name, inputs, text)

    def take(self) -> None:
        """Update the view models with the events of the child processes."""
        for each in self._both:
            each.take()

    def close(self) -> None:
        """End what still runs."""
        for each in self._both:
            each.close()
