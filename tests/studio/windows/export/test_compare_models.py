"""Comparing saved models in the window: what is chosen, the tables of the result, and what is copied."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

import engine as paddle
from engine import nn
from studio.controllers.actions import Actions
from studio.controllers.export.compare_models import CompareModelsController
from studio.session.export.compare_job import CompareModels
from studio.session.session import Session
from studio.session.work.job import Inbox, checked_event, perform_sent, plain_job
from studio.session.work.wire import decode, encode
from tests.studio.windows.conftest import FakeWorker


def saved(path: Path, bias: float, **configs: Any) -> str:
    net = nn.Linear(3, 2)
    with paddle.no_grad():
        net.weight[:] = 1.0
        net.bias[:] = bias
    paddle.jit.save(net, str(path), [paddle.static.InputSpec([None, 3], "float32", "x")], **configs)
    return str(path)


class Place:
    """The command over workers that do only what the test says, without the pages of the window."""

    def __init__(self, folder: Path, window: QWidget) -> None:
        self.workers: list[FakeWorker] = []
        self.session = Session(self._make, folder)
        self.session.preferences.recent_models = ["one", "two"]
        self.actions = Actions(self.session, window)
        self.controller = CompareModelsController(self.session, window, self.actions)  # type: ignore[arg-type]
        assert self.actions.trigger("compare_models") == ""
        assert self.controller.dialog is not None
        self.dialog = self.controller.dialog

    def _make(self, notify: Any) -> FakeWorker:
        self.workers.append(FakeWorker(notify))
        return self.workers[-1]

    @property
    def worker(self) -> FakeWorker:
        return self.workers[-1]

    def end(self) -> None:
        self.worker.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
        self.session.pump()


@pytest.fixture
def place(qtbot: QtBot, tmp_path: Path) -> Iterator[Place]:
    window = QWidget()
    qtbot.addWidget(window)
    found = Place(tmp_path / "runs", window)
    yield found
    found.dialog.close()
    found.controller.close()
    found.session.close()


def click(qtbot: QtBot, button: Any) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def compare(qtbot: QtBot, place: Place, a: str, b: str) -> None:
    """Click Compare, and do in this process what the worker would do."""
    dialog = place.dialog
    dialog.set_model(0, a)
    dialog.set_model(1, b)
    click(qtbot, dialog.compare)
    assert place.worker.job == CompareModels(a, b)
    assert (dialog.text(), dialog.stop.text(), dialog.compare.isEnabled()) == (
        "Comparing...",
        "Cancel",
        False,
    )

    def emit(event: Any) -> None:
        for each in decode(encode(event)):
            place.worker.tell(**checked_event(each, place.worker.job))

    perform_sent(next(iter(decode(encode(plain_job(place.worker.job))))), emit, Inbox())
    place.end()


def test_models_that_differ_have_a_table_for_each_kind(place: Place, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = place.dialog
    a = saved(tmp_path / "a", 0.0, info={"classes": ["no", "yes"]})
    b = saved(tmp_path / "b", 0.5, info={"classes": ["no", "<b>maybe"]}, format="packed")
    compare(qtbot, place, a, b)
    assert dialog.text() == "The models differ."
    assert [dialog.tabs.tabText(n) for n in range(2)] == ["Weights (2 compared)", "Information"]
    weights, information = (dialog.tabs.widget(n).findChild(QTableWidget) for n in range(2))
    assert [weights.item(0, column).text() for column in (2, 3)] == ["float32 [2]", "0.5"]
    assert information.item(0, 2).text() == '["no", "<b>maybe"]'
    click(qtbot, dialog.copy)
    copied = QApplication.clipboard().text()
    assert copied.startswith(
        f"A: {a}\nB: {b}\nThe models differ.\n\nweights (2 compared)\nA\tB\tshape and dtype"
    )
    dialog.set_model(0, b)
    assert (dialog.text(), dialog.tabs.isVisible()) == ("", False), "the result of other models"
    assert copied.endswith('\tA\tB\nclasses\t["no", "yes"]\t["no", "<b>maybe"]')


def test_equal_models_and_damaged_files_have_one_line(place: Place, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = place.dialog
    a = saved(tmp_path / "a", 0.0)
    compare(qtbot, place, a, a)
    assert dialog.text() == "No difference: 2 operators and 2 weights are equal."
    assert not dialog.tabs.isVisible()
    damaged = tmp_path / "damaged.h5"
    damaged.write_bytes(b"no model")
    compare(qtbot, place, a, str(damaged))
    assert "damaged.h5" in dialog.text()
    assert "\n" not in dialog.text()
    assert (dialog.tabs.count(), dialog.compare.isEnabled()) == (0, True)


def test_known_models_are_offered_a_file_is_chosen_and_a_comparison_is_cancelled(
    place: Place, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = place.dialog
    assert [dialog.models[0].itemText(n) for n in range(2)] == ["one", "two"]
    assert dialog.chosen() == ("one", "two")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("third.onnx", ""))
    click(qtbot, dialog.files[1])
    assert dialog.chosen() == ("one", "third.onnx")
    click(qtbot, dialog.compare)
    click(qtbot, dialog.stop)
    assert place.worker.killed
    place.session.pump()
    assert (dialog.text(), dialog.stop.text()) == ("Cancelled.", "Close")
    dialog.models[1].setEditText(" ")
    assert not dialog.compare.isEnabled()
