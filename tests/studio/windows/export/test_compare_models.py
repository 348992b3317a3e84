"""Comparing saved models in the window: what is chosen, the tables of the result, and what is copied."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

from engine.jit.saved import compare_models as comparing
from engine.jit.saved.compare_models import ModelComparison, ValueChange, WeightChange
from engine.jit.saved.structure import Detail, OperatorChange, Renamed
from studio.controllers.export.compare_models import CompareModelsController
from studio.session.export.compare_job import CompareModels
from studio.session.work.job import Inbox, checked_event, perform_sent, plain_job
from studio.session.work.wire import decode, encode
from tests.studio.windows.command_place import CommandPlace

EQUAL = ModelComparison([], [], [], [], [], [], [], 2, 3)
DIFFERENT = ModelComparison(
    [ValueChange("input 0", "x: float32 [?, 3]", None)],
    [],
    [
        OperatorChange("changed", "relu", "net.act", "4", "5", (Detail("attribute", "axis", 1, 2),)),
        OperatorChange("removed", "while", "", "7", "", (), 3),
    ],
    [Renamed("a.py:1", "b.py:2", 1)],
    [Renamed("act", "act2", 4)],
    [WeightChange("w_0", "w_1", ([2], [2]), ("float32", "float32"), 0.5, 0.25)],
    [ValueChange("classes", ["no", "yes"], ["no", "<b>maybe"])],
    2,
    3,
)


class Place(CommandPlace):
    """The dialog, opened by its command."""

    def __init__(self, folder: Path, window: QWidget) -> None:
        super().__init__(folder, window)
        self.session.preferences.recent_models = ["one", "two"]
        self.controller = CompareModelsController(self.session, window, self.actions)  # type: ignore[arg-type]
        assert self.actions.trigger("compare_models") == ""
        assert self.controller.dialog is not None
        self.dialog = self.controller.dialog


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
        "Comparing…",
        "Cancel",
        False,
    )

    def emit(event: Any) -> None:
        for each in decode(encode(event)):
            place.worker.tell(**checked_event(each, place.worker.job))

    perform_sent(next(iter(decode(encode(plain_job(place.worker.job))))), emit, Inbox())
    place.end()


def test_models_that_differ_have_a_table_for_each_kind(
    place: Place, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "compare_models", lambda a, b: DIFFERENT)
    dialog = place.dialog
    compare(qtbot, place, "a.h5", "b.onnx")
    assert dialog.text() == "The models differ."
    tabs = dialog.tabs
    assert [tabs.tabText(n) for n in range(tabs.count())] == [
        "Inputs and outputs",
        "Operators (of 3)",
        "Source lines",
        "Layers",
        "Weights (2 compared)",
        "Information",
    ]
    tables = [tabs.widget(n).findChild(QTableWidget) for n in range(tabs.count())]
    assert [_row(table) for table in tables] == [
        ["input 0", "x: float32 [?, 3]", "-"],
        ["4 → 5", "relu", "net.act", "attribute axis", "1", "2"],
        ["a.py:1", "b.py:2", "1"],
        ["act", "act2", "4"],
        ["w_0", "w_1", "float32 [2]", "0.5", "0.25"],
        ["classes", '["no", "yes"]', '["no", "<b>maybe"]'],
    ]
    click(qtbot, dialog.copy)
    copied = QApplication.clipboard().text()
    assert copied.startswith(
        "A: a.h5\nB: b.onnx\nThe models differ.\n\ninputs and outputs\n\tA\tB\ninput 0\t"
    )
    assert copied.endswith('\tA\tB\nclasses\t["no", "yes"]\t["no", "<b>maybe"]')
    dialog.set_model(0, "c.h5")
    assert (dialog.text(), tabs.isVisible()) == ("", False), "the result of other models"


def _row(table: Any) -> list[str]:
    return [table.item(0, column).text() for column in range(table.columnCount())]


def test_equal_models_and_damaged_files_have_one_line(place: Place, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = place.dialog
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "compare_models", lambda a, b: EQUAL)
        compare(qtbot, place, "a.h5", "b.onnx")
    assert dialog.text() == "No difference: 3 operators and 2 weights are equal."
    assert not dialog.tabs.isVisible()
    damaged = tmp_path / "damaged.h5"
    damaged.write_bytes(b"no model")
    compare(qtbot, place, str(damaged), "b.onnx")
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
