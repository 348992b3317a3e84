"""SelectionLoader: loads what is selected for the pages that show it; another selection cancels that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resources.local_code import LocalCode
from studio.session.graph.graph_view import GraphViewModel
from studio.session.graph.trace_job import TraceRun
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.predict_models import PredictModels
from studio.session.predict.predict_view import PredictViewModel
from studio.session.problem_view import problem_from_message
from studio.session.project.code_agreement import CodeCheck
from studio.session.selection import Selected
from studio.session.train.train_view import TrainViewModel
from studio.session.work.job import Event
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask

if TYPE_CHECKING:
    from studio.session.project.agreed_library import AgreedLibrary

NOT_BEGUN = "This run has written nothing yet."
NO_CHECKPOINT = "This run has no checkpoint yet."


class SelectionLoader:
    """Nothing loads before it is asked for, and code that needs an agreement does not run without one: the
    views then say so, and ``allow`` is the user's agreement.

    Args:
        library: has the selection, the runs and the agreements.
        graph: shows the Program of what is selected.
        predict: shows what ``models`` have loaded.
        train: the training of this session, whose Program comes with its events.
        tasks: starts the jobs.
    """

    def __init__(
        self,
        library: AgreedLibrary,
        graph: GraphViewModel,
        predict: PredictViewModel,
        models: PredictModels,
        train: TrainViewModel,
        tasks: RunningTasks,
    ) -> None:
        self._library, self._graph, self._predict, self._models = library, graph, predict, models
        self._train, self._tasks = train, tasks
        self._task: JobTask | None = None
        self._code: LocalCode | None = None  # that needs an agreement
        self._trained: tuple[str, Event] | None = None  # the Program of the last training, by its folder
        library.selection.events.item.connect(self._selected)

    @property
    def _item(self) -> Selected:
        return self._library.selection.item

    def _selected(self, item: Selected) -> None:
        self._cancel()
        self._code = None
        if self._graph.subject != item:
            self._graph.show_subject(item)
        self._models.release(item.path)
        if item.kind == "run" and self._trained is not None and self._trained[0] == item.path:
            self._graph.take_traced(self._trained[1])

    # ----- the Program -----

    def take_trained(self, event: Event) -> None:
        """The training of this session has reported its Program."""
        self._trained = (self._train.folder, event)
        if self._graph.subject == Selected("run", self._train.folder):
            self._cancel()
            self._graph.take_traced(event)

    def load_program(self) -> None:
        """Show the Program of what is selected, unless it is there, on its way or known to fail."""
        item, graph = self._item, self._graph
        failed = graph.why_empty and not graph.unagreed and graph.why_empty != NOT_BEGUN
        if not item or graph.subject != item or graph.program or graph.loading or failed:
            return
        if item.kind == "run":
            self._trace(item.path)
            return
        if not self._models.holds(item.path):
            self._models.load(item.path, quiet=True)
        self._models.show_program()

    def _trace(self, folder: str) -> None:
        graph, run = self._graph, self._library.listed_run(folder)
        if self._train.busy and folder == self._train.folder:
            return  # its Program comes with its events
        if run is None:
            graph.cannot_show(NOT_BEGUN)
            return
        if run.of_script:
            graph.cannot_show(f"It is a fit of {run.of_script}: the script has its model.")
            return
        graph.loading = True
        config, shape, inputs = dict(run.config), run.shape, run.inputs

        def take(check: CodeCheck) -> None:
            if self._item != Selected("run", folder) or not graph.loading or self._task is not None:
                return
            if check.code is not None:
                graph.cannot_show(self._ask(check.code), unagreed=True)
                return
            self.start(TraceRun(folder, config, shape, inputs, graph.whole_step, check.digest))

        self._library.check_agreement_of(folder, take)

    def start(self, job: TraceRun) -> None:
        """Trace the model of the run that the graph is about, in a child process."""
        self._task = self._tasks.start(job, self._follow)

    def _follow(self, event: Event) -> None:
        graph = self._graph
        graph.take_traced(event)
        if graph.last_problem is not None and not graph.program:
            graph.why_empty = self._failure() or graph.last_problem.message

    def _failure(self) -> str:
        """Why the selected run failed before its first step; empty for another one. It may have failed before
        its code was copied, so that there is none to trace."""
        run = self._library.listed_run(self._item.path)
        return f"The run failed before its first step: {run.failure}" if run and run.failed_early else ""

    def _ask(self, code: LocalCode) -> str:
        self._code = code
        first = code.folder / self._library.new_files(code)[0]
        return f"{first}: this run contains code that was not agreed to yet. Code can do whatever you can do."

    # ----- Predict -----

    def load_model(self) -> None:
        """Load what is selected for Predict, unless it is there, on its way or known to fail."""
        item, view = self._item, self._predict
        if not item or self._models.holds(item.path) or view.stopped not in ("", "code", "missing"):
            return
        if item.kind == "model":
            self._models.load(item.path, quiet=True)
            return
        run = self._library.listed_run(item.path)
        if run is None or run.of_script or not run.checkpoint:
            words = NOT_BEGUN if run is None else self._failure() or run.exportable or NO_CHECKPOINT
            view.refuse("missing", problem_from_message(words, ""))
            return

        def check(found: CodeCheck) -> None:
            if self._item != item:
                return
            if found.code is not None:
                view.refuse("code", problem_from_message(self._ask(found.code), ""))
                return
            self._library.read_choice(item.path, take)

        def take(choice: ModelChoice | None) -> None:
            if self._item == item and choice is not None and not self._models.holds(item.path):
                self._models.load(choice, quiet=True)

        self._library.check_agreement_of(item.path, check)

    # ----- both -----

    @property
    def code(self) -> LocalCode | None:
        """The code of the selected run that needs an agreement; None where none does."""
        return self._code

    def allow(self) -> None:
        """The user agrees to the code of the selected run as it was read; what waited for that can load."""
        code, self._code = self._code, None
        if code is not None:
            self._library.agree(code)
        self.try_again()

    def try_again(self) -> None:
        """What failed or waits for an agreement can be loaded again."""
        if self._graph.why_empty:
            self._graph.cannot_show("")
        if self._predict.stopped in ("code", "missing"):
            self._predict.stopped, self._predict.last_problem = "", None

    def forget(self) -> None:
        """Another project is open."""
        self._trained = None

    def take(self) -> None:
        """Bring the view up to date with the job."""
        if self._task is not None and self._task.take():
            self._task = None

    def _cancel(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.close()

    def close(self) -> None:
        """End the job that runs."""
        self._cancel()
