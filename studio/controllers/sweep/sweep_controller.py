"""Starts a sweep from the window: its trials go into the queue, and stand in the list under its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from studio.controllers.actions import Actions
from studio.session import commands
from studio.session.project.code_agreement import CodeCheck
from studio.session.session import Session
from studio.windows.main_window import MainWindow
from studio.windows.sweep.sweep_dialog import SweepChoices, SweepDialog

if TYPE_CHECKING:
    from studio.session.sweep.document import Sweep


class SweepController(QObject):
    """Carries out the command ``start_sweep``."""

    def __init__(self, session: Session, window: MainWindow, actions: Actions) -> None:
        super().__init__(window)
        self._session, self._window, self._actions = session, window, actions
        actions.handle(commands.START_SWEEP, self.ask)

    def ask(self) -> str:
        """Ask what varies. Own code has to be agreed to before, by a start with it."""
        self._session.check_agreement(self._ask)
        return ""

    def _ask(self, check: CodeCheck) -> None:
        code = check.code
        if code is not None:
            words = self.tr("{0}: you have not agreed to run this file; start a run with it first")
            self._actions.refused.emit(words.format(code.folder / self._session.new_files(code)[0]))
            return
        dialog = SweepDialog(self._window, self._check, self._session.train.settings.seed)
        dialog.accepted_choices.connect(self._begin)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _check(self, choices: SweepChoices) -> tuple[int, str]:
        try:
            sweep = self._sweep(choices)
        except (ValueError, OSError) as error:
            return 0, str(error)
        return sum(trial.state == "waiting" for trial in sweep.trials) or sweep.planned, ""

    def _begin(self, choices: SweepChoices) -> None:
        from studio.session.sweep.queued import queue_sweep

        sweep = self._sweep(choices)
        queue_sweep(self._session.queue, self._session.files, sweep, self._actions.refused.emit)

    def _sweep(self, choices: SweepChoices) -> Sweep:
        """Raises ValueError, DataError."""
        from studio.session.sweep.queued import sweep_of_words

        settings = self._session.train.settings
        return sweep_of_words(settings, choices.words, choices.trials, choices.search, choices.seed)
