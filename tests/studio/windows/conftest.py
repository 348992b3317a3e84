"""A whole window over workers that do only what the test says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from studio.app import Studio
from studio.controllers.selection import LOAD_MS
from studio.session.session import Session
from studio.session.work.job import job_of, name_of, plain_job
from studio.session.work.wire import decode, encode
from widgets import theme


class FakeWorker:
    """Records its commands; the test puts events in."""

    pid = 0

    def __init__(self, notify: Callable[[], None] | None) -> None:
        self.notify = notify
        self.job: Any = None
        self.commands: list[str] = []
        self.killed = False
        self._events: list[dict[str, Any]] = []
        self._ended = False

    def start(self, job: Any) -> None:
        self.job = job_of(next(decode(encode(plain_job(job)))))

    @property
    def job_name(self) -> str:
        return "" if self.job is None else name_of(self.job)

    def send(self, command: str) -> None:
        self.commands.append(command)

    def tell(self, event: str, **values: Any) -> None:
        self._events.append({"event": event, "time": 1.0, **values})
        self._ended = self._ended or event == "worker_ended"
        if self.notify is not None:
            self.notify()

    def take(self) -> list[dict[str, Any]]:
        events, self._events = self._events, []
        return events

    def wait(self, timeout: float) -> bool:
        return bool(self._events)

    def ended(self) -> bool:
        return self._ended

    def kill(self) -> None:
        if not self._ended:
            self.killed = True
            self.tell("worker_ended", clean=False, killed=True, exit_code=-9, message="", details="")

    def close(self) -> None:
        self.notify = None


class Stage:
    """The studio and the events that a training would send it.

    A page behind the first one is built when the test asks for it: by its command, or by its name, such as
    ``studio.graph_page``.
    """

    def __init__(self, app: QApplication, runs: Path) -> None:
        self.workers: list[FakeWorker] = []
        self.session = Session(self._make, runs)
        self.studio = Studio(app, self.session, whole=False)
        self.window = self.studio.window
        self.load_selection(False)
        self.window.show()

    def load_selection(self, on: bool = True) -> None:
        """Whether what is selected loads where it is visible, a moment later: its worker would come between
        those that a test looks at."""
        self.studio.selection.delay(LOAD_MS if on else 10**8)

    def _make(self, notify: Callable[[], None]) -> FakeWorker:
        self.workers.append(FakeWorker(notify))
        return self.workers[-1]

    @property
    def worker(self) -> FakeWorker:
        return self.workers[-1]

    def tell(self, event: str, **values: Any) -> None:
        self.worker.tell(event, **values)
        self.session.pump()

    def start(self) -> None:
        """Begin a training of two epochs of five steps."""
        assert self.studio.actions.trigger("start") == ""
        self.tell(
            "started",
            config={"epochs": 2},
            folder=self.session.train.folder,
            step=0,
            epoch=1,
            steps_per_epoch=5,
            total_steps=10,
            train_samples=20,
            test_samples=4,
            classes=[str(i) for i in range(10)],
            parameters=61706,
            resumed_from="",
        )

    def steps(self, first: int, *losses: float) -> None:
        numbers = list(range(first, first + len(losses)))
        self.tell(
            "steps",
            steps=numbers,
            losses=list(losses),
            accuracies=[0.5] * len(losses),
            step=numbers[-1],
            epoch=1,
            total_steps=10,
            samples_per_second=91234.0,
            seconds_left=13.2,
            elapsed=1.0,
            learning_rate=0.001,
        )

    def close(self) -> None:
        """End the workers, and delete the window with all that it has posted."""
        for worker in self.workers:
            worker.kill()
        self.studio.close()
        # Without an event loop a window marked for deletion would stay, and be restyled with each new theme.
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    def die(self) -> None:
        self.tell(
            "worker_ended",
            clean=False,
            killed=False,
            exit_code=-9,
            details="",
            message="training process: it was killed from outside: signal SIGKILL; "
            "resume from the last checkpoint",
        )


def _without_style(node: pytest.Item | pytest.Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the style sheet a window is built in a third of the time; only tests of looks need it."""
    if node.get_closest_marker("styled") is None:
        monkeypatch.setattr(theme, "style_sheet", lambda tokens: "")


@pytest.fixture(autouse=True)
def _look(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    _without_style(request.node, monkeypatch)


@pytest.fixture
def stage(qapp: QApplication, tmp_path: Path) -> Iterator[Stage]:
    made = Stage(qapp, tmp_path / "runs")
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared_stage(
    readable_font: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    """One whole window for all tests of a file that only look at it: each shows the page that it looks at."""
    folder = tmp_path_factory.mktemp("shared")
    with pytest.MonkeyPatch.context() as monkeypatch:
        for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
            monkeypatch.setenv(variable, str(folder / variable))
        _without_style(request.node, monkeypatch)
        made = Stage(request.getfixturevalue("qapp"), folder / "runs")
        made.studio.complete()
        yield made
        made.close()
