"""Own data of each kind with real clicks: from "drop it on the window" to a finished training.

The jobs are the real ones; threads of this process carry them out, so that no child process starts.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from studio.session.work.job import Inbox, perform, plain_message
from tests.engine.training.sources import writing
from tests.studio.windows.conftest import FakeWorker, Stage
from tests.studio.windows.project.test_dropped_files import drop

WAIT_MS = 60_000


class ThreadWorker(FakeWorker):
    """Carries out its job in a thread."""

    def __init__(self, notify: Callable[[], None] | None) -> None:
        super().__init__(notify)
        self._arrived: deque[dict[str, Any]] = deque()
        self._inbox = Inbox()
        self._thread: threading.Thread | None = None

    def start(self, job: Any) -> None:
        super().start(job)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        done = perform(self.job, self._emit, self._inbox)
        self._emit(
            {
                "event": "worker_ended", "time": 1.0, "clean": done, "killed": False, "exit_code": 0,
                "message": "", "details": "",
            }
        )  # fmt: skip
        self._ended = True

    def _emit(self, event: Any) -> None:
        self._arrived.append(dict(event))
        if self.notify is not None:
            self.notify()

    def send(self, command: Any) -> None:
        self._inbox.put(plain_message(command))

    def take(self) -> list[dict[str, Any]]:
        return [self._arrived.popleft() for _ in range(len(self._arrived))]

    def ended(self) -> bool:
        return self._ended and not self._arrived

    def kill(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            self.send("cancel")
            self._thread.join(30)


class WorkingStage(Stage):
    """A window whose jobs are carried out."""

    def _make(self, notify: Callable[[], None]) -> FakeWorker:
        self.workers.append(ThreadWorker(notify))
        return self.workers[-1]


@pytest.fixture
def stage(qapp: QApplication, tmp_path: Path) -> Iterator[WorkingStage]:
    made = WorkingStage(qapp, tmp_path / "runs")
    made.session.change_setting("kernels", "numpy")
    made.session.change_setting("epochs", 1)
    yield made
    made.close()


def table(path: Path) -> Path:
    """80 rows: an id, two numbers, a colour, and a price."""
    lines = ["id,size (m2),rooms,colour,price (EUR)"]
    lines += [f"{500 + n},{40.5 + n},{n % 5},{('red', 'blue')[n % 2]},{100 * n + 0.5}" for n in range(80)]
    path.write_text("\n".join(lines) + "\n")
    return path


def opened(stage: Any, qtbot: Any, data: Path, state: str = "ready") -> None:
    assert "is the data of the next training" in drop(stage, data)
    view = stage.session.data
    qtbot.waitUntil(lambda: view.state in (state, "failed"), timeout=WAIT_MS)
    assert view.state == state, view.last_problem


def choose(stage: Any, qtbot: Any, name: str) -> None:
    asked = stage.studio.data_page.choices.table
    (row,) = [row for row in range(asked.rowCount()) if asked.item(row, 0).text() == name]
    place = asked.visualItemRect(asked.item(row, 0)).center()
    qtbot.mouseClick(asked.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: bool(stage.session.data.facts.spec), timeout=WAIT_MS)


def trained(stage: Any, qtbot: Any) -> dict[str, Any]:
    """Click Start on the page Train and wait; gives the settings that the run has recorded."""
    QTest.keyClick(stage.window, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    start = stage.studio._bars["train"].buttons["start"]
    qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    train = stage.session.train
    qtbot.waitUntil(lambda: train.state in ("finished", "failed", "crashed"), timeout=WAIT_MS)
    assert train.state == "finished", train.last_problem
    qtbot.waitUntil(lambda: stage.session.run_in(train.folder) is not None, timeout=WAIT_MS)
    return dict(stage.session.run_in(train.folder).config)


def test_a_table_with_numbers_to_predict(stage: Any, qtbot: Any, tmp_path: Path) -> None:
    opened(stage, qtbot, table(tmp_path / "houses.csv"), "asking")
    choose(stage, qtbot, "price (EUR)")
    roles = {row.name: row.role for row in stage.studio.data_page.columns.rows()}
    assert roles == {
        "id": "excluded", "size (m2)": "input", "rooms": "input", "colour": "input", "price (EUR)": "target"
    }  # fmt: skip
    config = trained(stage, qtbot)
    assert (config["model"], config["task"], config["loss"]) == ("mlp", "numbers", "mse")
    page = stage.studio.train_page
    assert page.figures["accuracy"].note().startswith("MAE ")
    qtbot.waitUntil(lambda: len(page.number_errors.scatter.points()[0]) == 16, timeout=WAIT_MS)


def test_a_table_with_classes(stage: Any, qtbot: Any, tmp_path: Path) -> None:
    opened(stage, qtbot, table(tmp_path / "houses.csv"), "asking")
    choose(stage, qtbot, "colour")
    assert stage.studio.data_page.balance.isVisible()
    config = trained(stage, qtbot)
    assert (config["kind"], config["task"], config["label_name"]) == ("table", "classes", "colour")
    assert stage.studio.train_page.confusion_card.note.text().startswith("Balanced accuracy")


def test_a_folder_of_images(stage: Any, qtbot: Any, tmp_path: Path) -> None:
    opened(stage, qtbot, writing.image_folder(tmp_path / "insects", count=12, side=16))
    config = trained(stage, qtbot)
    assert (config["kind"], config["model"], config["epochs"]) == ("images", "cnn", 1)


def test_sequences(stage: Any, qtbot: Any, tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(24, 6, 2)).astype(np.float32)
    lengths = np.where(np.arange(24) % 2, 6, 4)
    opened(stage, qtbot, writing.npz(tmp_path / "waves.npz", x=x, y=np.arange(24) % 2, lengths=lengths))
    qtbot.waitUntil(lambda: stage.studio.data_page.samples.tiles.count() > 0, timeout=WAIT_MS)
    config = trained(stage, qtbot)
    assert (config["kind"], config["model"]) == ("sequences", "gru")
