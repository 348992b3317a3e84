"""GraphTools: colours, diagram and measurement of the Program that the page Graph shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from psygnal import Signal

from resources.operator_keys import layer_name
from studio.session import commands
from studio.session.command import Command
from studio.session.export.quantization.link import places_of
from studio.session.export.quantization.reports import read_report
from studio.session.graph.coloring import Coloring
from studio.session.graph.diagram_view import DiagramView
from studio.session.graph.figures import Place
from studio.session.graph.graph_view import GraphViewModel
from studio.session.graph.step_measuring import NOT_RUNNING, SAVED, StepMeasuring
from studio.session.problem_view import ProblemView
from studio.session.selection import NOTHING, Selected
from studio.session.work.running_tasks import RunningTasks

if TYPE_CHECKING:
    from engine.quantization.report import QuantizationReport
    from studio.session.export.quantization.view import QuantizationView
    from studio.session.project.agreed_library import AgreedLibrary
    from studio.session.runs.run_history import RunHistory
    from studio.session.train.train_view import TrainViewModel


class GraphTools:
    """Follows the Program and the training.

    Args:
        library: has the runs, their files and the agreements.
        graph: shows the Program.
        train: has the settings and the looks at the layers of the training.
        quantization: has the report whose noise colours a quantized Program.
        tasks: starts measurements.
        report: takes problems.
    """

    layer_shown: ClassVar = Signal(tuple)

    def __init__(
        self,
        library: AgreedLibrary,
        graph: GraphViewModel,
        train: TrainViewModel,
        quantization: QuantizationView,
        tasks: RunningTasks,
        report: Callable[[ProblemView], object],
    ) -> None:
        self._library, self._graph, self._train, self._quantization = library, graph, train, quantization
        self.coloring = Coloring(graph, library.files.drawing)
        self.diagram = DiagramView(graph, self.coloring, library.files.drawing)
        self.measuring = StepMeasuring(library, train, tasks, self.coloring, report)
        self._looks_of: Selected = NOTHING
        self._wanted = ("", "")  # the folder of a run, and a layer of it
        graph.events.program.connect(self._program_changed)
        graph.events.subject.connect(lambda _: self.coloring.forget())
        train.layers.connect(self._take_look)
        quantization.events.report.connect(lambda _: self._take_report())
        self.coloring.changed.connect(lambda: self.diagram.draw(recolor=True))

    def handlers(self) -> dict[Command, Callable[..., object]]:
        """The commands that need no window."""
        return {
            commands.MEASURE_STEP: lambda: self.measuring.start(self._graph.subject),
            commands.STOP_MEASURING_STEP: self.measuring.job.cancel,
        }

    def why_no_step(self) -> str:
        """Why no whole step of what is shown can be traced; empty where it can."""
        subject = self._graph.subject
        if subject.kind == "model":
            return SAVED
        if subject and self._train.busy and subject.path == self._train.folder:
            return "The training runs: its whole step can be shown when it has ended."
        return ""

    def why_not_measured(self) -> str:
        """Why no step of what is shown can be measured now; empty where it can."""
        return self.measuring.why_not(self._graph.subject)

    def why_not_stopped(self) -> str:
        """Why no measurement can be stopped now; empty where it can."""
        return "" if self.measuring.job.running else NOT_RUNNING

    # ----- a layer that was asked for -----

    def show_layer(self, folder: str, layer: str) -> None:
        """Select the first operator of a layer in the Program of the run in ``folder``: now, or when that is
        there. ``layer`` is its name, or that of a parameter."""
        self._wanted = (folder, layer)
        if folder and self._graph.subject != Selected("run", folder):
            self._library.selection.select_run(folder)
        if self._graph.program:
            self.select_wanted()

    def select_wanted(self) -> None:
        """Select the layer that was asked for before its Program was there."""
        (folder, layer), self._wanted = self._wanted, ("", "")
        if not layer or self._graph.subject != (Selected("run", folder) if folder else NOTHING):
            return
        name = layer.partition(" #")[0]
        while name:
            place = next((at for at, operator in self._operators() if _is_of(operator, name)), None)
            if place is not None:
                self._graph.select(*place)
                self.layer_shown.emit(place)
                return
            name = name.rpartition(".")[0]  # a parameter's layer

    def _operators(self) -> Iterator[tuple[Place, Mapping[str, Any]]]:
        for block in self._graph.program.get("blocks", ()):
            for index, operator in enumerate(block["ops"]):
                yield (block["idx"], index), operator

    # ----- what is known of the Program -----

    def _program_changed(self, program: Mapping[str, Any]) -> None:
        coloring = self.coloring
        if program:
            coloring.use_batch(self._batch())
            self._read_looks()
            self._take_report()
        self.coloring.show_program()
        self.diagram.draw()

    def _batch(self) -> int:
        subject = self._graph.subject
        config: Mapping[str, Any] = {}
        if not subject:
            config = self._train.settings.as_config("")
        elif subject.kind == "run" and (run := self._library.listed_run(subject.path)) is not None:
            config = run.config
        batch = config.get("batch_size", 1)
        return batch if isinstance(batch, int) and batch > 0 else 1

    def _read_looks(self) -> None:
        subject = self._graph.subject
        self._looks_of = subject
        if subject.kind != "run":
            return

        def take(found: Mapping[str, RunHistory | Exception]) -> None:
            history = found.get(subject.path)
            if self._graph.subject == subject and history is not None and not isinstance(history, Exception):
                self.coloring.show_looks(history.layers)

        self._library.read_histories([subject.path], take, "looks of the graph")

    def _take_look(self, event: dict[str, Any]) -> None:
        if self._looks_of == Selected("run", self._train.folder):
            self.coloring.take_look(event)

    def _take_report(self) -> None:
        """Find the quantization report of the Program: the one that is shown, or that in a saved model."""
        subject, shown = self._graph.subject, self._quantization
        if shown.report is not None and shown.prefix == subject.path:
            self._show_report(shown.report)
        elif subject.kind == "model" and self._graph.program:
            # Here, not in the thread: two threads that import the engine at once can lock each other out.
            import engine.jit.saved.model_files
            import engine.quantization.report  # noqa: F401

            def take(report: QuantizationReport | None) -> None:
                if report is not None and self._graph.subject == subject:
                    self._show_report(report)

            self._library.files.reading.attempt(
                lambda: read_report(subject.path), take, lambda _: None, (Exception,), "report of the graph"
            )

    def _show_report(self, report: QuantizationReport) -> None:
        noise = {each.name: each.noise_to_signal for each in report.layers}
        found: dict[Place, float] = {}
        for name, places in places_of(self._graph.program, report.layers).items():
            value = noise[name]
            if value is not None:
                found[places[0]] = value
        self.coloring.show_quantization(found)

    def take(self) -> None:
        """Take what the child left. Called in the window's thread."""
        self.measuring.take()

    def close(self) -> None:
        """End what still runs."""
        self.measuring.close()


def _is_of(operator: Mapping[str, Any], layer: str) -> bool:
    """Whether an operator was made in a call of a layer, or of one within it."""
    name = layer_name(operator.get("layer", ""))
    return name == layer or name.startswith(f"{layer}.")
