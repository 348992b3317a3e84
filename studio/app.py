"""The application: builds session, controllers and windows, and is the only file that knows all of them.

Pages behind the first one are imported where they are built: after the window's first image (decision 97), or
when something asks for them before.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QApplication

from resources.words import marked
from studio.controllers.actions import Actions
from studio.controllers.bridge import Bridge
from studio.controllers.explain.why_controller import WhyController
from studio.controllers.export.compare_models import CompareModelsController
from studio.controllers.export.edit_model import EditModelController
from studio.controllers.frame import FrameController
from studio.controllers.graph.layer_links import LayerLinks
from studio.controllers.help import HelpController
from studio.controllers.interruptions import catch_errors, catch_interrupts, problem_of_window
from studio.controllers.language import begin_language
from studio.controllers.notifications import NotificationsController
from studio.controllers.output import OutputController
from studio.controllers.page_parts import PAGE_OF, Closes
from studio.controllers.project.dropped_files import DroppedFilesController
from studio.controllers.project.project_controller import ProjectController
from studio.controllers.project.recent_menu import RecentMenu
from studio.controllers.project.session_state import SessionStateController
from studio.controllers.runs.reports import ReportsController
from studio.controllers.selection import SelectionController
from studio.controllers.start_up import StartUp, collect_between_events, layout_file, read_last, while_waiting
from studio.controllers.status import StatusController
from studio.controllers.train.learning_rate import LearningRateController
from studio.controllers.train.mistakes import MistakesController
from studio.controllers.train.number_errors import NumberErrorsController
from studio.controllers.train.rate_finder import RateFinderController
from studio.controllers.train.run_control import RunControl
from studio.controllers.train.suggestions import SuggestionsController
from studio.controllers.train.train_controller import TrainController
from studio.session import commands
from studio.session.command import Command
from studio.session.project.session_state import SessionState
from studio.session.session import Session
from studio.windows.main_window import Layout, MainWindow
from studio.windows.output_panel import PROBLEMS
from studio.windows.palette import Entry
from studio.windows.project.welcome import Welcome
from studio.windows.train.settings_panel import SettingsPanel
from studio.windows.train.train_page import TrainPage
from widgets import theme

if TYPE_CHECKING:
    from studio.controllers.palette_entries import PaletteEntries


class Studio:
    """One running application: a session with its window. ``close`` ends it and everything it started.

    Args:
        whole: False leaves the pages behind the first one for the moment after the window is shown. One that
            is asked for before is built then: by its command, or by its name here, such as ``graph_page``.
        last: what was open last, which comes back once all is there; None to begin afresh.
        layout: that of the window, read before.
    """

    def __init__(
        self,
        app: QApplication,
        session: Session | None = None,
        whole: bool = True,
        last: SessionState | None = None,
        layout: Layout | None = None,
    ) -> None:
        self.session = session or Session()
        theme.apply_theme(app, self.session.preferences.theme)
        begin_language(app, self.session.preferences.language)
        self.window = MainWindow(layout_file())
        self.window.write = lambda work: self.session.files.writing.do(work, None, "window")
        # Pages that are not built yet; the first one is there before the window is shown.
        self._pages: dict[str, Callable[[], Closes]] = {
            "data": self._add_data,
            "code": self._add_code,
            "train": self._add_train,
            "runs": self._add_runs,
            "graph": self._add_graph,
            "export": self._add_export,
            "debug": self._add_debug,
            "predict": self._add_predict,
        }
        self.actions = Actions(self.session, self.window)
        self.bridge = Bridge(self.session, self.window)
        self.output = OutputController(self.session, self.window)
        self.frame = FrameController(self.session, self.window, self.actions, self.output)
        self.status = StatusController(
            self.session, self.window, self.actions, self.output, self.frame.show_page
        )
        self.notifications = NotificationsController(self.session, self.window, self.status.show_run)
        self.help = HelpController(self.window, self.actions)
        self._entries: PaletteEntries | None = None
        self.settled: Callable[[], object] = lambda: None  # called when all that follows the start is there
        self._start_up: StartUp | None = None
        self.frame.add_entries(self.help.entries)
        self.frame.add_entries(self._palette_entries)
        self.frame.build_page = self._build
        self.actions.not_handled = self._build_for
        self._bars = {
            page: self.window.top.add_page(page, self.actions[commands.PAGES[page]]) for page in self._pages
        }
        self._controllers: list[Closes] = []
        self._build("train")
        self.why = WhyController(self.session, self.window)
        self.mistakes = MistakesController(
            self.session, self.train_page, self.train, self.window, self.actions, self.why
        )
        self.reports = ReportsController(self.session, self.window, self.actions, self.output.note)
        errors = NumberErrorsController(self.session, self.train_page, self.train, self.actions)
        self._controllers += [self.why, self.mistakes, errors, self.reports]
        self._whole = self._closed = False
        self.selection = SelectionController(self.session, self.window, self.actions)
        self._controllers.append(self.selection)
        self.runs = RunControl(self.session, self.window, self.actions, self.train)
        self.project = ProjectController(
            self.session,
            self.window,
            self.actions,
            self.train_page.welcome,
            self.runs.new_run,
            self.output.note,
        )
        self.opening = DroppedFilesController(self.session, self.window, self.actions, self.output.note)
        self.edits = EditModelController(self.session, self.window, self.actions)
        self.comparisons = CompareModelsController(self.session, self.window, self.actions)
        self._controllers += [self.edits, self.comparisons]
        self.opening.open_project = self.project.open_path
        self.opening.open_model = lambda path: self.predict.load(path)
        self.opening.open_image = lambda path: self.predict.open_image(path)
        self.opening.open_data = lambda path: self.data.choose(path)
        self.opening.open_source = lambda path, then: self.code.open_file(path, then)
        self.recent = RecentMenu(
            self.session,
            self.frame.menus["File"],
            self.actions[commands.SAVE_PROJECT],
            self.project.open_recent,
            self._load,
            lambda path: self.opening.take([path]),
        )
        self.train_page.welcome.file_chosen.connect(lambda path: self.opening.take([path]))
        self.runs.doings.ask_run = self._ask_run
        shown = self.window, self.frame, self.output.note
        self.restoring = None if last is None else SessionStateController(last, self.session, *shown)
        if last is None or not last.safe:
            self.window.restore_layout(layout)
        self.frame.show_page("train")
        if whole:
            self.complete()

    def complete(self, plots: bool = True) -> None:
        """Build the pages that do not exist yet.

        ``plots`` False leaves those to the first run that is shown.
        """
        if not self._whole:
            self._whole = True
            if plots:
                self.train_page.curves.make_plots()
            for page in list(self._pages):
                self._build(page)

    def _build(self, page: str) -> None:
        if page in self._pages:
            self._controllers.append(self._pages.pop(page)())

    def _palette_entries(self) -> list[tuple[Entry, Callable[[], object]]]:
        from studio.controllers.palette_entries import PaletteEntries

        if self._entries is None:
            self._entries = PaletteEntries(
                self.session,
                self.window,
                self.session.select_run,
                self.project.open_path,
                self._load,
                self._focus_setting,
                lambda path: self.opening.take([path]),
            )
        return self._entries.entries()

    def _build_for(self, which: Command) -> None:
        """Build the pages behind the first one before a command that one of them may handle."""
        areas = {position.area for position in which.shown}
        if not self.session.handles(which) or areas & self._pages.keys():
            self.complete(plots=False)

    if not TYPE_CHECKING:  # the attributes have types where they are set

        def __getattr__(self, name: str) -> Any:
            """A page, its panel or its controller that is asked for before it is built."""
            if PAGE_OF.get(name) not in self.__dict__.get("_pages", ()):
                raise AttributeError(f"Studio has no {name!r}")
            self._build(PAGE_OF[name])
            return getattr(self, name)

    def _add_data(self) -> Closes:
        from studio.controllers.data.data_controller import DataController
        from studio.controllers.data.labelling import LabellingController
        from studio.windows.data.data_page import DataPage
        from studio.windows.data.data_panel import DataPanel

        self.data_page, self.data_panel = DataPage(), DataPanel()
        self.data = DataController(self.session, self.data_page, self.data_panel, self.why)
        self._controllers.append(
            LabellingController(
                self.session,
                self.data_page.labelling,
                self._bars["data"],
                self.actions,
                lambda: self.frame.show_page("train"),
            )
        )
        self.frame.add_page("data", self.data_page, self.data_panel, marked("Data of the next run"))
        return self.data

    def _add_train(self) -> Closes:
        actions = self.actions
        self.train_page = TrainPage(
            Welcome(
                actions[commands.START],
                [(actions[commands.LOAD_MODEL], "open"), (actions[commands.OPEN_PROJECT], "open")],
            )
        )
        LayerLinks(self.session, self.train_page.curves.layers, self.output, self.frame)
        self.train_page.failure_details.connect(lambda: self.window.show_output(PROBLEMS))
        self.train_page.curves.saved.connect(
            lambda path: self.output.note(self.window.tr("Saved: {0}").format(path), "ok")
        )
        self.settings_panel = SettingsPanel()
        self.train = TrainController(
            self.session, self.train_page, self.settings_panel, self._bars["train"], actions
        )
        self.rate_finder = RateFinderController(self.session, self.window, self.settings_panel, actions)
        self._controllers += [
            LearningRateController(self.session, self.settings_panel, actions),
            SuggestionsController(self.session, self.window, self.settings_panel, actions),
            self.rate_finder,
        ]
        title = marked("Settings of the next run")
        self.frame.add_page("train", self.train_page, self.settings_panel, title)
        return self.train

    def _add_code(self) -> Closes:
        from studio.controllers.code.code_controller import CodeController
        from studio.session.code.templates import ALL as TEMPLATES
        from studio.windows.code.code_page import CodePage
        from studio.windows.code.code_panel import CodePanel

        self.code_page = CodePage([(each.id, each.title, each.help) for each in TEMPLATES])
        self.code_panel = CodePanel()
        self.code = CodeController(
            self.session, self.code_page, self.code_panel, self._bars["code"], self.actions, self.window
        )
        self.code_page.help_requested.connect(self.help.open)
        self.frame.add_page("code", self.code_page, self.code_panel, marked("Model"), self.code_page.find_bar)
        return self.code

    def _add_runs(self) -> Closes:
        from studio.controllers.runs.diagrams.diagrams_controller import add_diagrams
        from studio.controllers.runs.table.table_controller import TableController
        from studio.windows.runs.table.runs_page import RunsPage

        page = self.runs_page = RunsPage()
        self.runs_table = TableController(self.session, page, self.window, self.actions, self.runs.doings)
        self.diagrams = add_diagrams(self.session, self.runs_page, self.window, self.frame, self.output)
        self._controllers.append(self.diagrams)
        self.actions.fill_bar(self._bars["runs"], "runs")
        self.frame.add_page("runs", page, page.columns, marked("Columns"), page.filter.box)
        return self.runs_table

    def _add_graph(self) -> Closes:
        from studio.controllers.graph.activations_controller import add_activations
        from studio.controllers.graph.graph_controller import GraphController
        from studio.windows.graph.graph_inspector import GraphInspector
        from studio.windows.graph.graph_page import GraphPage

        self.graph_page, self.inspector = GraphPage(), GraphInspector()
        shown = self.graph_page, self.inspector
        rest = self.window.project, self._bars["graph"], self.actions, self.window
        self.graph = GraphController(self.session, *shown, *rest)
        activations = add_activations(self.session, *shown, lambda: self.predict)
        self.graph.diagram.group_selected.connect(activations.show_group)
        self._controllers.append(activations)
        self.graph_page.show_requested.connect(lambda: self.selection.show_program())
        page = self.graph_page
        self.frame.add_page("graph", page, self.inspector, marked("Inspector"), page.finder)
        return self.graph

    def _add_export(self) -> Closes:
        from studio.controllers.export.export_controller import ExportController
        from studio.controllers.export.float_layers import FloatLayersController
        from studio.windows.export.export_page import ExportPage
        from studio.windows.graph.graph_inspector import GraphInspector

        self.export_page, self.export_panel = ExportPage(), GraphInspector()
        self.export = ExportController(
            self.session,
            self.export_page,
            self.export_panel,
            self._bars["export"],
            self.actions,
            self.window,
            lambda text: self.output.note(text, "ok"),
        )
        self.frame.add_page("export", self.export_page, self.export_panel, marked("Run to export"))
        self.export_page.predict_requested.connect(self._open_in_predict)
        self.export_page.standing.predict_requested.connect(self._load)
        trees = (self.window.project.tree, self.graph_page.tree)
        FloatLayersController(self.session, trees, self.export_page)
        self.export_page.report.predict_requested.connect(
            lambda: self._load(self.session.quantization.view.prefix)
        )
        return self.export

    def _add_debug(self) -> Closes:
        from studio.controllers.debug.debug_controller import DebugController
        from studio.windows.debug.debug_page import DebugPage
        from studio.windows.debug.debug_panel import DebugPanel

        page, panel = self.debug_page, self.debug_panel = DebugPage(), DebugPanel()
        window, bar = self.window, self._bars["debug"]
        self.debug = DebugController(self.session, page, panel, bar, self.actions, window, self.frame)
        self.frame.add_page("debug", page, panel, marked("Breakpoints"), page.tree.filter_box)
        return self.debug

    def _add_predict(self) -> Closes:
        from studio.controllers.predict.predict_controller import PredictController
        from studio.windows.predict.model_panel import ModelPanel
        from studio.windows.predict.predict_page import PredictPage

        self.predict_page, self.model_panel = PredictPage(), ModelPanel()
        self.predict = PredictController(
            self.session,
            self.predict_page,
            self.model_panel,
            self._bars["predict"],
            self.actions,
            lambda: self.frame.show_page("graph"),
        )
        self.predict_page.again_requested.connect(lambda: self.selection.try_again())
        self.model_panel.report_requested.connect(self._show_quantization)
        self.frame.add_page("predict", self.predict_page, self.model_panel, marked("Models"))
        return self.predict

    def _open_in_predict(self) -> None:
        self._load(self.session.export.exported_prefix)

    def _show_quantization(self) -> None:
        model = self.session.predict.model
        if model is not None:
            self.export.report.show_files(model.prefix)

    def _ask_run(self, folder: str) -> None:
        self.frame.show_page("predict")
        self.predict.models.load_run(folder)

    def _focus_setting(self, name: str) -> None:
        from studio.controllers.palette_entries import focus_setting

        focus_setting(self, name)

    def _load(self, prefix: str) -> None:
        self.frame.show_page("predict")
        self.predict.load(prefix)

    def show(self) -> None:
        """Show the window; what takes longer begins after it is there."""
        self.window.show()
        self.train_page.welcome.start.setFocus()
        self._start_up = StartUp(self.session, self.window, self._build_next, self._restore, self.settled)

    def _build_next(self) -> bool:
        if self._closed or not self._pages:
            self.complete(plots=False)
            return False
        self._build(next(iter(self._pages)))
        return True

    def _restore(self) -> None:
        if self.restoring is not None:
            self.restoring.show()

    def close(self) -> None:
        """End the session with its workers; the window goes with it."""
        if self._closed:
            return
        self._closed = True
        self._pages.clear()
        if self._start_up is not None:
            self._start_up.close()
        if self.restoring is not None:
            self.restoring.close()
        rest = self.project, self.runs, self.output, self.status, self.notifications, self.help, self.frame
        for controller in (*self._controllers, *rest, self.recent, self.actions):
            controller.close()
        self.bridge.close()
        self.session.close()
        self.window.hide()
        self.window.deleteLater()

    def report_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """Show an error of our own as a problem instead of ending the window."""
        problem = problem_of_window(kind, error, trace)
        sys.stderr.write(problem.details)
        self.bridge.call(lambda: self.session.problem.emit(problem))


def main(argv: Sequence[str] | None = None, file: str = "") -> int:
    """Open the window, with ``file`` if given, and stay until it is closed; returns the exit status."""
    arguments = list(sys.argv[:1] if argv is None else argv) or ["model-studio"]
    app = QApplication.instance() or QApplication(arguments)
    assert isinstance(app, QApplication)
    app.setApplicationName("Model Studio")
    app.setDesktopFileName("model-studio")
    # What is built until the window shows stays for good. Later, garbage is looked for between events only.
    gc.disable()
    session, last, layout = while_waiting(read_last)
    session.files.begin()
    studio = Studio(app, session, whole=False, last=last, layout=layout)
    studio.window.fit_screen()
    undo = catch_errors(studio.report_exception), catch_interrupts(studio.bridge, studio.frame.stop_and_close)
    # Else each full collection looks through the window and the engine: 60 to 120 ms in one turn.
    studio.settled = lambda: (gc.freeze(), file and studio.opening.take([file]))
    studio.show()
    undo = *undo, collect_between_events(studio.window)
    studio.window.closed.connect(app.quit)
    try:
        return app.exec()
    finally:
        for step in reversed(undo):
            step()
        studio.close()
