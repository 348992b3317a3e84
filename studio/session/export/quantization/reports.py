"""QuantizationReports: reads reports in inference files, and joins their layers to the Program shown."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from studio.session.export.export_view import ExportViewModel
from studio.session.export.quantization.link import Place, layer_at, places_of, weight_at
from studio.session.export.quantization.view import QuantizationView
from studio.session.graph.graph_view import GraphViewModel
from studio.session.problem_view import ProblemView, problem_from_message
from studio.session.train.mistakes_job import ReadMistakes
from studio.session.work.file_thread import FileThread
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask

if TYPE_CHECKING:
    from engine.quantization.report import QuantizationReport

T = TypeVar("T")
MAX_IMAGES = 60
NO_REPORT = "These files are not quantized."


class QuantizationReports:
    """Keeps the view up to date. Nothing here waits: files are read by a thread, images by a child.

    Args:
        export: whose quantizations end with a report.
        graph: where the Program is shown in which a chosen layer is looked for.
        tasks: starts the jobs.
        reading: reads the files.
        tell: called with problems that are also shown outside the report.
    """

    def __init__(
        self,
        export: ExportViewModel,
        graph: GraphViewModel,
        tasks: RunningTasks,
        reading: FileThread,
        tell: Callable[[ProblemView], None],
    ) -> None:
        self.view = QuantizationView()
        self._graph, self._tasks, self._reading, self._tell = graph, tasks, reading, tell
        self._task: JobTask | None = None
        self._places: dict[str, list[Place]] = {}
        self._places_for: tuple[int, int] = (0, 0)
        graph.events.selected.connect(self._selected)
        export.events.quantized.connect(
            lambda event: self._take_event(event, export.exporting or export.run_folder)
        )

    # ----- which report -----

    def _take_event(self, event: Mapping[str, Any] | None, run: str) -> None:
        """Show the report of files of the run in ``run`` that were just written."""
        if event is None:
            return
        from engine.core.errors import FormatError
        from engine.quantization.report import QuantizationReport

        try:
            self._show(event["prefix"], run, QuantizationReport.from_plain(event["report"]), "")
        except FormatError as error:
            self._show(event["prefix"], run, None, str(error))

    def show_files(self, prefix: str, run: str) -> None:
        """Read the report in the files at ``prefix``, which are of the run in ``run`` where that is known."""
        if prefix == self.view.prefix and (self.view.report is not None or self.view.loading):
            return
        self._show(prefix, run, None, "")
        self.view.loading = True

        def take(report: QuantizationReport | None, message: str = NO_REPORT) -> None:
            if (self.view.prefix, self.view.loading) == (prefix, True):
                self._show(prefix, run, report, message if report is None else "")

        def failed(error: Exception) -> None:
            take(None, str(error))
            if details := _details(error):
                message = f"{prefix}: {error!r}"
                self._tell(problem_from_message(message, "The report could not be read", details))

        self._read(lambda: read_report(prefix), take, failed, "quantization report")

    def _read(
        self,
        work: Callable[[], T],
        then: Callable[[T], object],
        failed: Callable[[Exception], object],
        key: str,
    ) -> None:
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        import engine.jit.saved.model_files
        import engine.program.saved.serialize
        import engine.quantization.report  # noqa: F401

        self._reading.attempt(work, then, failed, (Exception,), key)

    def _show(self, prefix: str, run: str, report: QuantizationReport | None, message: str) -> None:
        view = self.view
        self._stop_images()
        self._places_for = (0, 0)
        view.prefix, view.run, view.layer, view.loading = prefix, run, "", False
        view.images, view.why_no_images = {}, ""
        view.report, view.message = report, message
        if report is not None:
            self._read_images(report)

    def forget(self) -> None:
        """Show no report: another project is open."""
        self._show("", "", None, "")

    # ----- images -----

    def _read_images(self, report: QuantizationReport) -> None:
        wanted = report.changed[:MAX_IMAGES]
        if not wanted:
            return
        run = self.view.run

        def take(is_known: bool) -> None:
            if self.view.report is not report or self.view.run != run:
                return
            if not is_known:
                self.view.why_no_images = "The run of these files is not known here, so there are no images."
                self.view.images_changed.emit()
                return
            places, labels = tuple(each.index for each in wanted), tuple(each.label for each in wanted)
            self._stop_images()
            self._task = self._tasks.start(ReadMistakes(run, places, labels), self._take_images)

        self._reading.do((Path(run) / "journal.jsonl").is_file, take, "run of the quantization report")

    def _take_images(self, event: Mapping[str, Any]) -> None:
        view = self.view
        if event["event"] == "mistakes":
            view.images = dict(zip(event["places"], event["images"], strict=True))
        elif event["event"] == "failed":
            view.why_no_images = f"{event['where']}: {event['what']}" if event["where"] else event["what"]
        elif event["event"] == "worker_ended" and event["message"] and not view.images:
            view.why_no_images = event["message"]
        else:
            return
        view.images_changed.emit()

    def _stop_images(self) -> None:
        if self._task is not None:
            self._task.close()
            self._task = None

    # ----- layers and the Program -----

    def choose_layer(self, name: str) -> None:
        """Mean a layer; its operator is selected in the Program that is shown, or else in that of the
        files."""
        view = self.view
        view.layer = name
        if view.report is None or not name:
            return
        if self._select(name):
            return
        prefix = view.prefix

        def take(found: tuple[dict[str, Any], str]) -> None:
            if found[0] and prefix == view.prefix and not self._graph.loading:
                self._graph.show_saved(prefix, Path(prefix).name, *found)
                self._select(view.layer)

        def failed(error: Exception) -> None:
            self._tell(problem_from_message(str(error), "The Program could not be read", _details(error)))

        self._read(lambda: read_program(prefix), take, failed, "quantized Program")

    def layer_of(self, place: Place) -> str:
        """What a pattern calls the layer of this operator of the Program shown: its name where the report has
        it, else that of its weight; empty for an operator without."""
        return layer_at(self._known_places(), place) or weight_at(self._graph.program, place)

    def _select(self, name: str) -> bool:
        places = self._known_places().get(name)
        if not places:
            return False
        if self._graph.selected not in places:
            self._graph.select(*places[0])
        return True

    def _known_places(self) -> dict[str, list[Place]]:
        report, program = self.view.report, self._graph.program
        if report is None:
            return {}
        if self._places_for != (id(report), id(program)):
            self._places = places_of(program, report.layers)
            self._places_for = (id(report), id(program))
        return self._places

    def _selected(self, place: Place | None) -> None:
        """Another operator was selected in the Program: its layer is the chosen one."""
        layer = layer_at(self._known_places(), place)
        if layer:
            self.view.layer = layer

    def take(self) -> None:
        """Take the images that the child has read. Called in the window's thread."""
        if self._task is not None:
            if self._task.take():
                self._task = None

    def close(self) -> None:
        """End the child."""
        self._stop_images()


def _details(error: Exception) -> str:
    """The traceback of an error that no file has caused; else empty."""
    from engine.core.errors import EngineError

    return "" if isinstance(error, EngineError | OSError) else "".join(traceback.format_exception(error))


def read_report(prefix: str) -> QuantizationReport | None:
    """The report that lies in inference files; None where they are not quantized.

    Raises:
        DataError, FormatError: a file is absent, damaged or foreign, or its content is not a report.
    """
    from engine.files.inference import INFO
    from engine.jit.saved.model_files import describe_model_files
    from engine.quantization.report import stored_report
    from studio.session.predict.info_file_check import checked_information

    described = describe_model_files(prefix)
    path = described.file_of(INFO)
    _, added = checked_information(described.info, path)
    return stored_report(added, path)


def read_program(prefix: str) -> tuple[dict[str, Any], str]:
    """The Program of inference files as plain values and as Paddle prints it; empty for files of another
    installation, whose Program is read in a process of its own only (``PredictModels.show_program``).

    Raises:
        DataError, FormatError: as :func:`read_report`.
    """
    from engine.jit.saved.model_files import describe_model_files, is_own_model
    from engine.program.saved.serialize import from_plain, to_plain

    if not is_own_model(prefix):
        return {}, ""
    program = from_plain(describe_model_files(prefix).program, prefix, own=True)
    return dict(to_plain(program)), str(program)
