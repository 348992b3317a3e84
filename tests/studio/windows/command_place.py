"""One command over workers that do only what the test says, without the pages of the window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QWidget

from studio.controllers.actions import Actions
from studio.session.session import Session
from tests.studio.windows.conftest import FakeWorker


class CommandPlace:
    """A session with its actions on a bare ``window``."""

    def __init__(self, folder: Path, window: QWidget) -> None:
        self.window = window
        self.workers: list[FakeWorker] = []
        self.session = Session(self._make, folder)
        self.actions = Actions(self.session, window)

    def _make(self, notify: Any) -> FakeWorker:
        self.workers.append(FakeWorker(notify))
        return self.workers[-1]

    @property
    def worker(self) -> FakeWorker:
        return self.workers[-1]

    def tell(self, event: str, **values: Any) -> None:
        self.worker.tell(event, **values)
        self.session.pump()

    def end(self) -> None:
        """Let the worker exit."""
        self.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
