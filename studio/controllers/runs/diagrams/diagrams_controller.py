"""Shows runs as diagrams: follows the runs, the choices and the selection, and never holds up the window."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QGuiApplication

from resources import quantities
from studio.controllers.bindings import Bindings
from studio.controllers.drawing_files import save_drawing
from studio.controllers.frame import FrameController
from studio.controllers.output import OutputController
from studio.controllers.runs.column_titles import column_title
from studio.controllers.runs.diagrams.columns import DiagramColumns
from studio.controllers.runs.diagrams.importance_words import importance_notes, importance_rows
from studio.session.runs.diagrams.choices import Better
from studio.session.runs.diagrams.comparable import comparable_runs
from studio.session.runs.diagrams.importance import Setting
from studio.session.runs.runs_folder import Run
from studio.session.session import Session
from studio.windows.main_window import MainWindow
from studio.windows.runs.diagrams.diagrams_panel import DiagramsPanel
from studio.windows.runs.table.runs_page import RunsPage
from widgets.delayed import delayed
from widgets.diagram import Column
from widgets.diagram.diagram import SUFFIXES

REFRESH_MS = 60
SLICE_S = 0.010
IMPORTANCE_MS = 3000
"""The importance is computed anew so often at most, while runs train."""
MOST_CURVES = 50
MOST_NAMED = 3


class DiagramsController(QObject):
    """Its ``panel`` is filled while it is shown; what changes meanwhile waits until it is shown again.

    Args:
        show_curves: draws the runs in these folders on the page Train.
        note: writes a line into the output panel, with its kind.
    """

    def __init__(
        self,
        session: Session,
        panel: DiagramsPanel,
        show_curves: Callable[[list[str]], object],
        note: Callable[[str, str], object],
    ) -> None:
        super().__init__(panel)
        self._session, self.panel, self._note = session, panel, note
        self._curves = show_curves
        self._columns = DiagramColumns(session.diagrams.values)
        self._runs: Sequence[Run] = ()
        self._changed = True
        self._stale = True
        self._steps: Iterator[None] = iter(())
        self._begin = delayed(self, REFRESH_MS, self._restart)
        self._slices = QTimer(self)
        self._slices.setInterval(0)
        self._slices.timeout.connect(self._slice)
        self._importance = delayed(self, 0, self._compute_importance)
        self._computed_at = 0.0
        self._omitted = ""
        self._bonds = Bindings()
        follow = self._bonds.follow
        follow(session.runs_table.changed, self.runs_changed)
        follow(session.runs_changed, self._retain)
        follow(session.diagrams.changed, self.refresh)
        follow(session.runs_selection.changed, self._show_selection)
        follow(session.selected_run_changed, self._selected)
        follow(session.importance.changed, self._show_importance)
        panel.kind_chosen.connect(lambda kind: session.diagrams.choose(diagram=kind))
        panel.choice.connect(lambda name, value: session.diagrams.choose(**{name: value}))
        panel.front.better_chosen.connect(self._choose_better)
        panel.selected.connect(session.runs_selection.select)
        panel.run_clicked.connect(session.select_run)
        panel.curves_requested.connect(self._draw_curves)
        panel.export_requested.connect(self._export)
        panel.importance.bars.row_chosen.connect(self._color_by)
        panel.installEventFilter(self)
        self.runs_changed()
        self._bonds.again(self._translate)

    # ----- when to show -----

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.panel and event.type() == QEvent.Type.Show:
            self.refresh()
        return False

    def _translate(self) -> None:
        """The titles of columns are in another language."""
        self._columns.clear()
        self.refresh()

    def runs_changed(self) -> None:
        """Show other runs: those that the table shows."""
        runs = self._session.runs_table.visible
        # In another order they are the same runs.
        if {id(run) for run in runs} != {id(run) for run in self._runs}:
            self._changed = True
            self.refresh()

    def _selected(self, folder: str) -> None:
        self.panel.set_current(folder)
        if self._omitted:  # perhaps the figure is now about other runs
            self.refresh()

    def _retain(self, runs: list[Run]) -> None:
        """Selected runs that are deleted are not selected any more."""
        self._session.runs_selection.retain(run.path for run in runs)

    def refresh(self) -> None:
        """Show everything anew, soon."""
        self._stale = True
        if self.panel.isVisible() and not self._begin.isActive():
            self._begin.start()

    def _restart(self) -> None:
        self._stale = False
        self._steps = self._show()
        self._slices.start()

    def _slice(self) -> None:
        end = time.perf_counter() + SLICE_S
        while time.perf_counter() < end:
            try:
                next(self._steps)
            except StopIteration:
                self._slices.stop()
                return

    @property
    def busy(self) -> bool:
        """Whether something is still to be shown."""
        return self._stale or self._begin.isActive() or self._slices.isActive()

    # ----- what is shown -----

    def _show(self) -> Iterator[None]:
        """Show the chosen diagram, step by step."""
        view, panel = self._session.diagrams, self.panel
        values = view.values
        if self._changed:
            self._changed = False
            self._runs = list(self._session.runs_table.visible)
            values.set_runs(self._runs)
            self._columns.clear()
            yield
        while not values.prepare(SLICE_S):
            yield
        panel.show_kind(view.choices.diagram)
        show = {
            "parallel": self._show_parallel,
            "scatter": self._show_scatter,
            "heat map": self._show_heat_map,
            "importance": self._show_target,
        }[view.choices.diagram]
        yield from show()
        panel.set_current(self._session.selected_run)
        self._show_selection()

    def _rows(self) -> tuple[list[str], list[str]]:
        titles = self._session.run_titles
        runs = self._runs
        return [run.path for run in runs], [titles.get(run.path, run.name) for run in runs]

    def _titled(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Columns with their titles; of two with the same title the name follows."""
        titles = [column_title(self._session.diagrams.values.title(name)) for name in names]
        return [
            (name, self.tr("{0} ({1})").format(title, name) if titles.count(title) > 1 else title)
            for name, title in zip(names, titles, strict=True)
        ]

    def _offer(self, **current: str) -> None:
        """Fill lists with all columns and choose one in each."""
        columns = self._titled(self._session.diagrams.columns())
        for name, chosen in current.items():
            self.panel.lists[name].set_columns(columns, chosen)

    def _show_parallel(self) -> Iterator[None]:
        view, panel = self._session.diagrams, self.panel
        axes, color = view.axes(), view.color()
        panel.axes.set_columns(self._titled(view.columns()), axes)
        self._offer(color=color)
        yield
        for name in (*axes, color):
            if name:
                self._columns.column(name)
                yield
        keys, names = self._rows()
        columns = [self._columns.column(name) for name in axes]
        panel.parallel.set_data(keys, names, columns, self._columns.column(color) if color else None)
        panel.parallel.arrange(axes, view.choices.forms)

    def _show_scatter(self) -> Iterator[None]:
        view, panel = self._session.diagrams, self.panel
        x, y, color = view.scatter()
        self._offer(x=x, y=y, scatter_color=color)
        yield
        keys, names = self._rows()
        if not x or not y:
            x = y = color = ""
            keys, names = [], []
        better = view.choices.better
        across, up = (self._column(name, better.get(name, "")) for name in (x, y))
        yield
        on = {"log_x": view.choices.log_x, "log_y": view.choices.log_y}
        columns = {"log_x": across, "log_y": up}
        log = {name: columns[name].suits_log() if chosen is None else chosen for name, chosen in on.items()}
        panel.show_logs(log, {name: not column.is_categorical for name, column in columns.items()})
        panel.front.set_state(view.choices.front, (across.title, up.title), (across.better, up.better))
        panel.scatter.set_data(
            keys,
            names,
            across,
            up,
            self._column(color) if color else None,
            (log["log_x"], log["log_y"]),
            view.choices.front,
        )

    def _column(self, name: str, better: Better = "") -> Column:
        return self._columns.column(name, better) if name else self._columns.empty()

    def _show_heat_map(self) -> Iterator[None]:
        view, panel = self._session.diagrams, self.panel
        across, up, metric = view.heat_map()
        self._offer(across=across, up=up, cell_metric=metric)
        statistics = [("mean", self.tr("Mean")), ("best", self.tr("Best"))]
        panel.lists["statistic"].set_columns(statistics, view.choices.statistic)
        yield
        keys, names = self._rows()
        if not across or not up or not metric:
            across = up = metric = ""
            keys, names = [], []
        for name in (across, up, metric):
            self._column(name)
            yield
        columns = [self._column(name) for name in (across, up, metric)]
        places = self._comparable(columns[2], (across, up)) if metric else []
        if len(places) < len(keys):
            keys, names = [keys[place] for place in places], [names[place] for place in places]
            columns = [replace(column, values=column.values[places]) for column in columns]
        panel.heat_map.set_data(keys, names, *columns, view.choices.statistic)
        self._omitted = self._left_out_words(places) if metric else ""
        panel.show_left_out(self._omitted)

    def _comparable(self, metric: Column, apart: Collection[str] = ()) -> list[int]:
        """The positions of the runs whose metric can be compared."""
        return comparable_runs(self._runs, metric.known().tolist(), self._session.selected_run, apart)

    def _left_out_words(self, places: Sequence[int]) -> str:
        """Which runs are omitted; empty for none."""
        kept = set(places)
        others = [run.path for place, run in enumerate(self._runs) if place not in kept]
        if not others:
            return ""
        names = ", ".join(map(self._session.run_title, others[:MOST_NAMED]))
        if len(others) > MOST_NAMED:
            words = self.tr("{0} and {1} more")
            names = words.format(names, quantities.count(len(others) - MOST_NAMED))
        words = self.tr("Omitted, since they have another model, other data or another task: {0}.")
        return words.format(names)

    def _show_target(self) -> Iterator[None]:
        view = self._session.diagrams
        self.panel.lists["target"].set_columns(self._titled(view.values.measures()), view.target())
        for name in (*view.values.settings(), view.target()):
            if name:
                self._columns.column(name)
                yield
        if not self._importance.isActive():
            wait = IMPORTANCE_MS - round(1000 * (time.perf_counter() - self._computed_at))
            self._importance.start(max(0, wait) if self._computed_at else 0)

    def _compute_importance(self) -> None:
        view = self._session.diagrams
        target = view.target()
        self._computed_at = time.perf_counter()
        settings: list[Setting] = []
        if target:
            metric = self._columns.column(target)
            places = self._comparable(metric)
            self._omitted = self._left_out_words(places)
            for name in view.values.settings():
                column = self._columns.column(name)
                settings.append(Setting(name, column.values[places], column.is_categorical))
            self._session.importance.compute(settings, metric.values[places])
        self._show_importance()

    def _show_importance(self) -> None:
        view, values = self._session.importance, self._session.diagrams.values
        target = self._session.diagrams.target()
        rows = importance_rows(view, lambda name: column_title(values.title(name))) if target else []
        title = self.tr("Importance of settings for {0}").format(
            column_title(values.title(target)) if target else ""
        )
        notes = [*importance_notes(view), *filter(None, [self._omitted if target else ""])]
        self.panel.importance.show_rows(title, rows, notes)

    # ----- selection -----

    def _show_selection(self) -> None:
        folders = self._session.runs_selection.folders
        self.panel.set_selection(folders)
        self.panel.show_selection(len(folders), len(self._runs))

    def _choose_better(self, axis: int, better: str) -> None:
        view = self._session.diagrams
        name = view.scatter()[axis]
        view.choose(better={**view.choices.better, name: better}, front=True)

    def _color_by(self, name: str) -> None:
        """Colour the scatter plot and the lines by a setting that was clicked."""
        if name:
            self._session.diagrams.choose(scatter_color=name, color=name)

    def _draw_curves(self) -> None:
        folders = self._session.runs_selection.folders
        if len(folders) > MOST_CURVES:
            words = self.tr("Drew the curves of the first {0} of {1} selected runs")
            self._note(words.format(MOST_CURVES, quantities.count(len(folders))), "warn")
        self._curves(list(folders[:MOST_CURVES]))

    def _export(self, how: str) -> None:
        diagram = self.panel.diagram()
        if diagram is None:
            QGuiApplication.clipboard().setText(self.panel.importance.text())
        elif how == "copy":
            diagram.copy()
        else:
            titles = self.tr("Save the diagram"), self.tr("The diagram could not be saved")
            name = f"{self._session.diagrams.choices.diagram.replace(' ', '-')}.svg"
            window = self.panel.window()
            save_drawing(window, self._session, titles, name, SUFFIXES, diagram.file_content, self._saved)

    def _saved(self, path: str) -> None:
        self._note(self.tr("Saved: {0}").format(path), "ok")

    def close(self) -> None:
        """Follow nothing any more."""
        self._bonds.release()
        self._begin.stop()
        self._slices.stop()
        self._importance.stop()


def add_diagrams(
    session: Session,
    page: RunsPage,
    window: MainWindow,
    frame: FrameController,
    output: OutputController,
) -> DiagramsController:
    """Put the diagrams on the page Runs; curves are shown of runs that are chosen in the list of runs."""

    def show_curves(folders: list[str]) -> None:
        window.project.runs.choose(*folders)
        frame.show_page("train")

    panel = DiagramsPanel()
    page.set_diagrams(panel)
    return DiagramsController(session, panel, show_curves, output.note)
