"""Starts a sweep from the window: its trials go into the queue, and stand in the list under its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from studio.controllers.actions import Actions
from studio.session import commands
from studio.session.project.code_agreement import CodeCheck
from studio.session.session import Session
from studio.session.sweep.parameters import short_text
from studio.windows.main_window import MainWindow
from studio.windows.sweep.sweep_dialog import Answer, SweepChoices, SweepDialog

if TYPE_CHECKING:
    from studio.session.sweep.document import Sweep


class SweepController(QObject):
    """Carries out the command ``start_sweep``."""

    def __init__(self, session: Session, window: MainWindow, actions: Actions) -> None:
        super().__init__(window)
        self._session, self._window, self._actions = session, window, actions
        self._found: Sweep | None = None  # of the choices that were checked last
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
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        import engine.training.config  # noqa: F401
        import studio.session.sweep.queued  # noqa: F401

        dialog = SweepDialog(self._window, self._check, self._session.train.settings.seed)
        dialog.accepted_choices.connect(self._begin)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _check(self, choices: SweepChoices, answer: Answer) -> None:
        """Look up the model and data of the sweep in a thread."""
        from studio.session.sweep.queued import sweep_of_words

        settings = self._session.train.settings

        def take(sweep: Sweep) -> None:
            self._found = sweep
            invalid = [trial for trial in sweep.trials if trial.state == "invalid"]
            first = f"{short_text(invalid[0].choices)}: {invalid[0].message}" if invalid else ""
            answer(sweep.planned - len(invalid), first, len(invalid))

        self._session.files.reading.attempt(
            lambda: sweep_of_words(settings, choices.words, choices.trials, choices.search, choices.seed),
            take,
            lambda error: answer(0, str(error), 0),
            (ValueError, OSError),
            "sweep",
        )

    def _begin(self, _: SweepChoices) -> None:
        """The choices have just been checked."""
        from studio.session.sweep.queued import queue_sweep

        assert self._found is not None
        queue_sweep(self._session.queue, self._session.files, self._found, self._actions.refused.emit)
