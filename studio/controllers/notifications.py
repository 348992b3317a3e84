"""A message of the system when a long training ends while the window is in the background."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Qt

from resources import quantities
from resources.words import shown
from studio.controllers.bindings import Bindings
from studio.session.session import Session
from studio.session.train.train_view import BUSY
from studio.windows.main_window import MainWindow
from studio.windows.system_notifications import SystemNotifications, is_in_background

LONG = 60.0  # seconds
FAILURES = ("failed", "crashed")


class Notifier(Protocol):
    """Shows a message of the system."""

    def show(self, title: str, text: str, is_problem: bool) -> None: ...


class NotificationsController(QObject):
    """Follows the training; ``notifier`` shows its messages.

    Args:
        show_run: called for a click on a message.
        clock: seconds, for tests.
    """

    def __init__(
        self,
        session: Session,
        window: MainWindow,
        show_run: Callable[[], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(window)
        self._session, self._window, self._show_run, self._clock = session, window, show_run, clock
        system = SystemNotifications(window)
        system.clicked.connect(self.follow_message)
        self.notifier: Notifier = system
        self._began = 0.0
        self._bonds = Bindings()
        self._bonds.follow(session.train.events.state, self._take)

    def _take(self, state: str, before: str) -> None:
        if before not in BUSY:
            self._began = self._clock()
        elif state == "finished" or state in FAILURES:
            taken = self._clock() - self._began
            if taken > LONG and self._session.preferences.notify and is_in_background(self._window):
                self._notify(state, taken)

    def _notify(self, state: str, taken: float) -> None:
        session, failed = self._session, state in FAILURES
        name = session.run_title(session.train.folder)
        title = self.tr("Training failed: {0}") if failed else self.tr("Training finished: {0}")
        problem = session.train.last_problem
        text = shown(problem.message if failed and problem is not None else session.train.message)
        words = self.tr("After {0}: {1}").format(quantities.duration(taken, whole=True), text)
        self.notifier.show(title.format(name), words, failed)

    def follow_message(self) -> None:
        """Bring the window to the front, with the run."""
        self._window.setWindowState(self._window.windowState() & ~Qt.WindowState.WindowMinimized)
        self._window.raise_()
        self._window.activateWindow()
        self._show_run()

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
