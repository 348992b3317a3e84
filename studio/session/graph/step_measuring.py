"""StepMeasuring: measures a step of the model that the page Graph shows, in a child process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from studio.session.graph.coloring import Coloring
from studio.session.graph.measure_job import MeasureStep
from studio.session.graph.measured_step import MeasuredStep
from studio.session.problem_view import ProblemView, problem_from_message
from studio.session.selection import NOTHING, Selected
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.single_job import SingleJob

if TYPE_CHECKING:
    from studio.session.project.agreed_library import AgreedLibrary
    from studio.session.train.train_view import TrainViewModel

SAVED = "A saved model does not train: select a run, or the model of the settings."
RUNNING = "A step is being measured."
NOT_RUNNING = "No step is being measured."
FAILED = "The step was not measured"


class StepMeasuring:
    """One measurement at a time.

    Args:
        library: has the runs and the agreements.
        train: has the settings.
        tasks: starts it.
        coloring: shows what was found.
        report: takes the problem of one that failed.
    """

    def __init__(
        self,
        library: AgreedLibrary,
        train: TrainViewModel,
        tasks: RunningTasks,
        coloring: Coloring,
        report: Callable[[ProblemView], object],
    ) -> None:
        self.job = SingleJob(tasks, FAILED, report=report)
        self._report = report
        self._library, self._train, self._coloring = library, train, coloring
        self._of = NOTHING
        self.job.changed.connect(self._changed)

    def why_not(self, of: Selected) -> str:
        """Why no step of this can be measured now; empty where it can."""
        if self.job.running:
            return RUNNING
        if of.kind == "model":
            return SAVED
        if not of:
            return self._train.wrong_setting
        run = self._library.listed_run(of.path)
        if run is None:
            return "This run has written nothing yet."
        return f"It is a fit of {run.of_script}: the script has its model." if run.of_script else ""

    def start(self, of: Selected) -> None:
        """Measure a step of a run, or of the settings' model for NOTHING, if its code may run."""
        if not of:
            config = self._train.settings.as_config("")
            self._library.with_code(lambda agreed: self._start(MeasureStep(config, "", agreed), of))
        elif (run := self._library.listed_run(of.path)) is not None:
            config = dict(run.config)
            self._library.with_code_of(
                of.path, lambda agreed: self._start(MeasureStep(config, of.path, agreed), of)
            )

    def _start(self, job: MeasureStep, of: Selected) -> None:
        if not self.job.running:
            self._of = of
            self.job.start(job)

    def _changed(self) -> None:
        result = self.job.result
        if self.job.state != "done" or result is None or result["event"] != "step_measured":
            return
        try:
            step = MeasuredStep.of(result)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):  # code of the user was in it
            self._report(problem_from_message("its figures are not as Model Studio writes them", FAILED))
            return
        self._coloring.show_step(step, self._of)

    def take(self) -> None:
        """Take what the child left. Called in the window's thread."""
        self.job.take()

    def close(self) -> None:
        """End what still runs."""
        self.job.close()
