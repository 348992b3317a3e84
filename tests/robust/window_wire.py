"""Attacks on the wire to the window: a session, and a whole window, whose children send made-up messages."""

from __future__ import annotations

import functools
import itertools
import random
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.robust.reader import check_message
from tests.robust.wire_events import frames, some_events

_STARTED: dict[str, Any] = {
    "event": "started",
    "time": 1.0,
    "config": {"epochs": 2, "data": "digits", "learning_rate": 0.1},
    "folder": "",
    "step": 0,
    "epoch": 1,
    "steps_per_epoch": 5,
    "total_steps": 10,
    "train_samples": 20,
    "test_samples": 4,
    "classes": ["a", "b"],
    "parameters": 3,
    "resumed_from": "",
}
_STEPS: dict[str, Any] = {
    "event": "steps",
    "time": 1.0,
    "steps": [1, 2],
    "losses": [0.5, 0.25],
    "accuracies": [0.5, 0.75],
    "step": 2,
    "epoch": 1,
    "total_steps": 10,
    "samples_per_second": 9.0,
    "seconds_left": 3.0,
    "elapsed": 1.0,
    "learning_rate": 0.1,
}
_FIRST: dict[str, list[dict[str, Any]]] = {"Train": [_STARTED, _STEPS]}
_numbers = itertools.count()
_DONE = {"event": "job_done", "time": 1.0, "ok": True}


# ----- a child whose messages are made up -----


class _Ended:
    """Stands in for a child process that has sent everything and ended."""

    exitcode, pid = 0, 0

    def join(self, timeout: float | None = None) -> None:
        """It has ended."""

    def is_alive(self) -> bool:
        return False

    def kill(self) -> None:
        """It has ended."""

    def close(self) -> None:
        """There is nothing to free."""


class Messages:
    """Stands in for the window's end of the pipe."""

    def __init__(self, messages: list[bytes]) -> None:
        self._messages = iter(messages)

    def recv_bytes(self, most: int) -> bytes:
        for message in self._messages:
            return message
        raise EOFError

    def close(self) -> None:
        """There is nothing to free."""


def _worker_class() -> type:
    from studio.session.work.worker import ProcessWorker, _Mailbox

    class MadeUpWorker(ProcessWorker):
        """A worker whose child sends what ``send_made_up`` is given."""

        def __init__(self, notify: Callable[[], None] | None) -> None:
            _Mailbox.__init__(self, notify)
            self._scratch, self._crash_path = None, Path("/dev/null")
            self._oom_kills = self._memory = 0
            self._job, self._invalid = None, ""
            self._job_done = self._killed = self._closed = False
            self._process: Any = _Ended()
            self._send_lock, self._started = threading.Lock(), threading.Event()
            self._started.set()
            self._reader = threading.Thread(target=lambda: None)
            self._reader.start()

        @property
        def job(self) -> Any:
            """The job that it was given."""
            return self._job

        def _post(self, message: dict[str, Any]) -> None:
            """What the window asks does not matter."""

        def send_made_up(self, messages: list[bytes]) -> None:
            """Let the reader of the pipe read these messages, then the end of the child."""
            self._connection: Any = Messages(messages)
            self._follow(self._process)

    return MadeUpWorker


def _openers(session: Any) -> dict[str, Callable[[], object]]:
    """What starts a job in each part of the session, by the name of the job's class."""
    from studio.session.code.job import CheckCode
    from studio.session.code.measure_job import MeasureCode
    from studio.session.code.plan_job import PlanCode
    from studio.session.export.export_job import Export, Verify
    from studio.session.export.quantization.job import Quantize
    from studio.session.graph.measure_job import MeasureStep
    from studio.session.graph.trace_job import TraceModel, TraceRun
    from studio.session.train.mistakes_view import SampleView

    settings = session.train.settings
    text = ("text", "net.py", "Net")

    def samples() -> None:
        session.samples.use({"data": f"data {next(_numbers)}"})
        session.samples.step(1)

    return {
        "Train": session.start,
        "TraceModel": lambda: session._begin_task(session.graph, TraceModel({"model": "lenet"})),
        "TraceRun": lambda: session.loader.start(TraceRun("f", {})),
        "MeasureStep": lambda: session.graph_tools.measuring.job.start(MeasureStep({"model": "lenet"})),
        "Export": lambda: (
            session.export.begin(),
            session._begin_task(session.export, Export("f", "p", session.export.settings)),
        ),
        "Verify": lambda: (session.export.begin(), session._begin_task(session.export, Verify("p", "f", 1))),
        "Quantize": lambda: (
            session.export.begin(),
            session._begin_task(session.export, Quantize("f", "p", "best", session.export.choices)),
        ),
        "FindRate": lambda: session.rate_finder.start(settings),
        "SuggestSettings": lambda: session.suggestions.start(settings, {}),
        "BrowseData": lambda: session.dataset_browser.look(settings, again=True),
        "ReadSamples": samples,
        "ReadMistakes": lambda: session.mistakes._read_images(
            [SampleView(0, 0, 1, 0.1), SampleView(1, 1, 0, 0.1)]
        ),
        "WriteReport": lambda: session.report_writer.write("f", "o"),
        "CheckCode": lambda: session.model_editor._runs.run(CheckCode(*text, (), {})),
        "MeasureCode": lambda: session.model_editor.trials.measuring.start(MeasureCode(*text, {})),
        "PlanCode": lambda: session.model_editor.trials.planning.start(PlanCode(*text, {})),
    }


JOBS = (
    *["Train"] * 5,
    *["BrowseData"] * 3,
    *("TraceModel", "Export", "Verify", "Quantize", "FindRate", "SuggestSettings", "ReadSamples"),
    *("ReadMistakes", "WriteReport", "CheckCode", "MeasureCode", "PlanCode"),
    *("TraceRun", "MeasureStep"),
)


def session_case(draw: random.Random) -> tuple[str, int]:
    """A job, and the number that its messages are drawn from once the job is there."""
    return draw.choice(JOBS), draw.getrandbits(60)


class _Stage:
    """A session whose children send made-up messages."""

    def __init__(self, folder: Path) -> None:
        from studio.session.session import Session

        self.workers: list[Any] = []
        kind = _worker_class()

        def make(notify: Callable[[], None]) -> Any:
            self.workers.append(kind(notify))
            return self.workers[-1]

        self.session = Session(make, folder / "runs")
        self.problems: list[Any] = []
        self.session.problem.connect(self.problems.append)

    def play(self, name: str, number: int, settle: Callable[[], object] = lambda: None) -> None:
        """Start the job, and let its child send messages drawn from ``number``, then end."""
        from studio.session.train.run_settings import RunSettings

        draw = random.Random(number)
        session = self.session
        self.workers.clear()
        self.problems.clear()
        session.train.settings = RunSettings()  # a suggestion may have changed them
        _openers(session)[name]()
        mine = [worker for worker in self.workers if type(worker.job).__name__ == name]
        assert len(mine) == 1, f"{name} was not started"
        (worker,) = mine
        events = some_events(worker.job, _FIRST.get(name, []), draw)
        if name == "BrowseData" and draw.random() < 0.8:
            for event in events:
                if isinstance(event, dict) and "number" in event:
                    event["number"] = session.dataset_browser._number
        if draw.random() < 0.5:
            events.append(_DONE)
        messages = frames(events, draw)
        worker.send_made_up(messages)
        assert worker.ended()
        session.pump()
        settle()
        # Mistakes, code and data start further children; none of them has anything to say.
        for other in self.workers:
            if not other.ended():
                other.send_made_up([])
        session.pump()
        settle()
        assert not session.train.busy, "the training has ended, and is shown as busy"
        assert not session.page_task.running
        for problem in self.problems:
            check_message(ValueError(problem.message.replace("\n", " ") or "empty"))


@functools.cache
def _stage(folder: Path) -> _Stage:
    return _Stage(folder)


def read_in_session(case: tuple[str, int], folder: Path) -> None:
    """The session takes the messages, and shows what came of them; no error leaves it."""
    _stage(folder).play(*case)


class _WindowStage(_Stage):
    """The same under a whole window; ``errors`` are those of slots and of what is painted."""

    def __init__(self, folder: Path) -> None:
        import os

        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        from PySide6.QtWidgets import QApplication

        from studio.app import Studio

        super().__init__(folder)
        self.errors: list[BaseException] = []
        sys.excepthook = lambda kind, error, trace: self.errors.append(error)
        self.app: Any = QApplication.instance() or QApplication([])
        self.studio = Studio(self.app, self.session, whole=True)
        self.studio.window.show()
        self.app.processEvents()

    def settle(self) -> None:
        """Let the window take and paint what has changed."""
        from PySide6.QtCore import QEvent

        self.app.processEvents()
        self.app.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)  # without a loop nothing does
        self.studio.window.grab()
        if self.errors:
            error = self.errors[0]
            self.errors.clear()
            raise error


@functools.cache
def _window_stage(folder: Path) -> _WindowStage:
    return _WindowStage(folder)


def read_in_window(case: tuple[str, int], folder: Path) -> None:
    """The whole window takes the messages, and paints the page that shows them."""
    stage = _window_stage(folder)
    pages = stage.studio.window.pages
    pages.setCurrentIndex(case[1] % pages.count())
    stage.play(*case, settle=stage.settle)
