"""What starts, resumes and cancels a run, with the questions before it."""

from __future__ import annotations

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from studio.controllers.actions import Actions
from studio.controllers.agreements import after_agreement
from studio.controllers.runs.run_actions import RunActions
from studio.controllers.runs.run_list_controller import RunListController
from studio.controllers.sweep.sweep_controller import SweepController
from studio.controllers.train.train_controller import TrainController
from studio.session import commands
from studio.session.session import Session
from studio.windows.dialogs import Question, ask
from studio.windows.main_window import MainWindow


class RunControl(QObject):
    """Begins and ends trainings; ``list`` shows the runs, ``doings`` is what is done with them."""

    def __init__(
        self, session: Session, window: MainWindow, actions: Actions, train: TrainController
    ) -> None:
        super().__init__(window)
        self._session, self._window, self._actions, self._train = session, window, actions, train
        self._panel = window.project
        self._panel.new_run_requested.connect(self.new_run)
        actions.handle(commands.START, self.start, explains=True)
        actions.handle(commands.ADD_TO_QUEUE, self.add_to_queue, explains=True)
        actions.handle(commands.RESUME_RUN, self.resume)
        actions.handle(commands.CANCEL, self.cancel)
        actions.handle(commands.SHOW_GRAPH, self.show_graph)
        actions.handle(commands.OPEN_FOLDER, self.open_folder)
        session.target_needed.connect(lambda: actions.refused.emit(self._ask_target()))
        self.list = RunListController(session, self._panel, train)
        SweepController(session, window, actions)
        self.doings = RunActions(session, window, actions, self.new_run)

    def new_run(self) -> None:
        """Leave the runs that are shown; the settings are ready for another one."""
        self._actions.trigger(commands.PAGE_TRAIN)
        self._session.selection.clear()
        self._panel.runs.choose("")

    # ----- commands -----

    def start(self) -> str:
        """Start with the settings shown, after the user's agreement to a file of their own."""
        if not self._session.train.busy:
            self._train.settings.look_again()
        reason = self._session.blocked(commands.START)
        if reason:
            self._actions.trigger(commands.PAGE_TRAIN)
            self._show_wrong_setting()
            return reason
        if self._session.asks_target:
            return self._ask_target()
        after_agreement(self._session, self._window, self._start)
        return ""

    def _start(self) -> None:
        self._actions.trigger(commands.PAGE_TRAIN)
        reason = self._session.execute(commands.START)
        if reason:
            self._show_wrong_setting()
        self._refuse(reason)

    def add_to_queue(self) -> str:
        """Queue the settings shown, after the user's agreement to a file of their own."""
        self._train.settings.look_again()
        reason = self._session.blocked(commands.ADD_TO_QUEUE)
        if reason:
            self._actions.trigger(commands.PAGE_TRAIN)
            self._show_wrong_setting()
        else:
            add = lambda: self._session.execute(commands.ADD_TO_QUEUE)  # noqa: E731
            after_agreement(self._session, self._window, add)
        return reason

    def _ask_target(self) -> str:
        """Show the page Data, which asks for the target; says what to do."""
        self._actions.trigger(commands.PAGE_DATA)
        return self.tr("Choose the column to predict on the page Data, then start again.")

    def _show_wrong_setting(self) -> None:
        self._window.right.show()
        self._train.settings.focus_problem()

    def resume(self, folder: str = "") -> str:
        """Go on with a run from its last checkpoint: that in ``folder``, or the selected one."""
        if self._session.train.busy or not folder:
            reason = self._session.blocked(commands.RESUME_RUN)
            if reason:
                return reason
        folder = folder or self._session.selected_run
        after_agreement(self._session, self._window, lambda: self._resume(folder), folder)
        return ""

    def _resume(self, folder: str) -> None:
        self._actions.trigger(commands.PAGE_TRAIN)
        self._session.resume_run(folder)

    def cancel(self) -> str:
        """Ask, since what the run wrote is discarded."""
        reason = self._session.blocked(commands.CANCEL)
        if not reason:
            view = self._session.train
            ask(
                self._window,
                lambda: Question(
                    self.tr("Discard this run?"),
                    self.tr(
                        "{0} is at step {1}. Cancel stops it and deletes its files. Stop early keeps the "
                        "best weights."
                    ).format(self._session.run_title(view.folder), view.step),
                    self.tr("Discard the run"),
                    self.tr("Keep training"),
                ),
                lambda: self._session.execute(commands.CANCEL),
            )
        return reason

    def show_graph(self) -> str:
        """Trace the model of the settings and show the page Graph."""
        reason = self._session.blocked(commands.SHOW_GRAPH)
        if reason:
            return reason
        after_agreement(self._session, self._window, self._show_graph)
        return ""

    def _show_graph(self) -> None:
        self._actions.trigger(commands.PAGE_GRAPH)
        self._refuse(self._session.execute(commands.SHOW_GRAPH))

    def _refuse(self, reason: str) -> None:
        if reason:
            self._actions.refused.emit(reason)

    def open_folder(self, folder: str = "") -> str:
        """Show a run's folder in the file manager."""
        reason = "" if folder else self._session.blocked(commands.OPEN_FOLDER)
        if reason:
            return reason
        folder = folder or self._session.selected_run
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(folder)):
            return self.tr("{0}: no file manager is available").format(folder)
        return ""

    def close(self) -> None:
        """Follow the session no longer."""
        self.list.close()
        self.doings.close()
