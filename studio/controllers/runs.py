"""The left dock: the runs; what starts, resumes and cancels a run, with the questions before it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QPoint, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMenu

from studio.controllers.actions import Actions
from studio.controllers.binders import Bonds
from studio.controllers.run_facts import state_word
from studio.controllers.train import TrainController
from studio.session.runs import Run
from studio.session.session import Session
from studio.windows.dialogs import ask, ask_agreement
from studio.windows.main_window import MainWindow
from studio.windows.runs_list import RunRow
from widgets import theme

LOOK_MS = 1000


class RunsController(QObject):
    """Follows the list of runs and says which of them the page Train shows."""

    def __init__(
        self, session: Session, window: MainWindow, actions: Actions, train: TrainController
    ) -> None:
        super().__init__(window)
        self._session, self._window, self._actions, self._train = session, window, actions, train
        self._panel = window.project
        self._bonds = Bonds()
        self._bonds.follow(session.runs_changed, lambda _: self._show_runs())
        for name in ("state", "epoch", "folder", "validation_accuracy"):
            self._bonds.follow(getattr(session.train.events, name), lambda _: self._show_runs())
        self._bonds.follow(session.train.events.state, lambda _: self._settled())
        self._bonds.follow(session.selected_run_changed, self._show_selected)
        self._panel.runs.chosen_changed.connect(self._chosen)
        self._panel.runs.menu_requested.connect(self._show_menu)
        self._panel.new_run_requested.connect(self.new_run)
        self._panel.graph_requested.connect(lambda: actions.trigger("show_graph"))
        for name, handler in (
            ("start", self.start), ("resume_run", self.resume), ("cancel", self.cancel),
            ("show_graph", self.show_graph), ("open_folder", self.open_folder),
        ):  # fmt: skip
            actions.handle(name, handler)
        self._show_runs()
        # Scripts write runs into the folder too (`model-studio run --runs`): they are looked for.
        self._looking = QTimer(self)
        self._looking.setInterval(LOOK_MS)
        self._looking.timeout.connect(self._look)
        self._looking.start()

    def _look(self) -> None:
        if not self._session.train.busy:
            self._session.refresh_runs()

    # ----- what is shown -----

    def _show_runs(self) -> None:
        runs, view = self._session.runs, self._session.train
        rows: list[RunRow] = []
        for place, run in enumerate(runs):
            if run.sweep and (not place or runs[place - 1].sweep != run.sweep):
                rows.append(self._heading(run, runs))
            rows.append(self._row(run, len(runs) - 1 - place))
        if view.folder and view.state not in ("idle", "finished"):
            if all(row.key != view.folder for row in rows):  # it has not written anything, or failed before
                state = self.tr("starting") if view.busy else state_word("failed", self)
                rows.insert(0, RunRow(view.folder, view.run_name, state, len(runs)))
        self._panel.runs.set_rows(rows)
        self._panel.set_has_runs(bool(rows))

    def _settled(self) -> None:
        view = self._session.train
        if view.state == "starting":
            # Its journal may not be there yet. A run that goes on may be selected already.
            self._show_runs()
            self._panel.runs.choose(view.folder)
        else:
            self._session.refresh_runs()

    def _chosen(self, folders: list[str]) -> None:
        """Show the runs chosen in the list; the first of them is the one that all pages mean."""
        self._session.select_run(folders[0] if folders else "")
        self._train.show_runs(folders)

    def _show_selected(self, folder: str) -> None:
        chosen = self._panel.runs.chosen()
        if (chosen[0] if chosen else "") != folder:
            self._panel.runs.choose(folder)

    def _heading(self, first: Run, runs: list[Run]) -> RunRow:
        """The line over the trials of a sweep."""
        trials = [run for run in runs if run.sweep == first.sweep]
        folder = str(Path(first.path).parent)
        count = self.tr("{0} trials").format(len(trials))
        return RunRow(f"sweep {folder}", first.sweep, count, 0, folder, heading=True)

    def _row(self, run: Run, color: int) -> RunRow:
        view = self._session.train
        accuracy = run.accuracy
        value, state = "", state_word(run.state, self)
        if run.path == view.folder and view.busy:
            accuracy, state = view.validation_accuracy, view.message
            value = self.tr("epoch {0}").format(max(1, view.epoch)) if view.epoch else self.tr("training")
        if accuracy == accuracy:
            value = theme.format_number(accuracy * 100, "%", digits=3, keep_zeros=True)
        elif not value:
            value = state
        if run.state == "running" and run.path != view.folder:
            value = self.tr("epoch {0}").format(max(1, run.epoch))
        tip = "\n".join(filter(None, (run.name, state, run.path, run.note)))
        return RunRow(run.path, self._title(run), value, color, tip)

    def _title(self, run: Run) -> str:
        """Model and mode; with the number of the run where another has the same."""
        same = sum(other.title == run.title for other in self._session.runs) > 1
        number = run.name.rpartition("-")[2]
        return f"{run.title} · {int(number)}" if same and number.isdigit() else run.title

    def new_run(self) -> None:
        """Leave the runs that are shown; the settings are ready for another one."""
        self._actions.trigger("page_train")
        self._panel.runs.choose("")

    # ----- commands -----

    def start(self) -> str:
        """Start with the settings shown, after the user's agreement to a file of their own."""
        reason = self._session.blocked("start")
        if reason:
            self._actions.trigger("page_train")
            self._train.focus_problem()
            return reason
        path = self._session.needs_agreement()
        if path is not None:
            self._agree(path, self.start)
            return ""
        self._actions.trigger("page_train")
        reason = self._session.execute("start")
        if reason:
            self._train.focus_problem()
        return reason

    def resume(self, folder: str = "") -> str:
        """Go on with a run from its last checkpoint: that in ``folder``, or the selected one."""
        reason = self._session.train.why_not.get("resume_run", "") if self._session.train.busy else ""
        reason = reason or ("" if folder else self._session.blocked("resume_run"))
        if reason:
            return reason
        folder = folder or self._session.selected_run
        path = self._session.needs_agreement_of(folder)
        if path is not None:
            self._agree(path, lambda: self.resume(folder))
            return ""
        self._train.begin_again(folder)
        self._actions.trigger("page_train")
        self._session.resume_run(folder)
        return ""

    def cancel(self) -> str:
        """Ask, since what the run wrote is discarded."""
        reason = self._session.blocked("cancel")
        if not reason:
            view = self._session.train
            ask(
                self._window, self.tr("Discard this run?"),
                self.tr("{0} is at step {1}. Cancel ends it and removes all that it wrote. "
                        "Stop early would keep the best weights.").format(view.run_name, view.step),
                self.tr("Discard the run"), self.tr("Keep training"), lambda: self._session.execute("cancel"),
            )  # fmt: skip
        return reason

    def show_graph(self) -> str:
        """Trace the model of the settings and show the page Graph."""
        reason = self._session.blocked("show_graph")
        if reason:
            return reason
        path = self._session.needs_agreement()
        if path is not None:
            self._agree(path, self.show_graph)
            return ""
        self._actions.trigger("page_graph")
        return self._session.execute("show_graph")

    def _agree(self, path: Path, then: object) -> None:
        def agreed() -> None:
            self._session.agree(path)
            then()  # type: ignore[operator]

        ask_agreement(self._window, path, agreed)

    def open_folder(self, folder: str = "") -> str:
        """Show a run's folder in the file manager."""
        reason = "" if folder else self._session.blocked("open_folder")
        if reason:
            return reason
        folder = folder or self._session.selected_run
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(folder)):
            return self.tr("{0}: no program shows folders here").format(folder)
        return ""

    def _show_menu(self, folder: str, at: QPoint) -> None:
        run = self._session.run_in(folder)
        menu = QMenu(self._window)
        menu.setToolTipsVisible(True)
        resume = menu.addAction(self.tr("Resume from checkpoint"))
        resume.triggered.connect(lambda: self.resume(folder))
        why_not = run.resumable if run is not None else self.tr("this run has written nothing yet")
        resume.setEnabled(not why_not and not self._session.train.busy)
        resume.setToolTip(why_not)
        export = menu.addAction(self.tr("Export..."))
        export.triggered.connect(lambda: self._export(folder))
        why_no_export = run.exportable if run is not None else self.tr("this run has written nothing yet")
        export.setEnabled(not why_no_export)
        export.setToolTip(why_no_export)
        menu.addAction(self.tr("Show in folder"), lambda: self.open_folder(folder))
        menu.popup(at)
        menu.aboutToHide.connect(menu.deleteLater)

    def _export(self, folder: str) -> None:
        self._session.select_run(folder)
        self._actions.trigger("page_export")

    def close(self) -> None:
        """Follow the session no longer."""
        self._looking.stop()
        self._bonds.release()
