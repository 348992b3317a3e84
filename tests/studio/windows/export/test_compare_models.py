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
from engine.jit.saved import compare_models as comparing
from engine.jit.saved.compare_models import ModelComparison, ValueChange, WeightChange
from engine.jit.saved.structure import Detail, OperatorChange, Renamed
from studio.controllers.export.compare_models import CompareModelsController
from studio.session.export import compared_programs
from studio.session.export.compare_job import CompareModels
from studio.session.work.job import Inbox, checked_event, perform_sent, plain_job
from studio.session.work.wire import decode, encode
from studio.windows.export.compare_models_dialog import HOWS
from studio.windows.export.compared_programs_view import DIAGRAMS, TEXT
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


def compare(qtbot: QtBot, place: Place, a: str, b: str, how: str = "models", level: int = 1) -> None:
    """Click Compare, and do in this process what the worker would do."""
    dialog = place.dialog
    dialog.set_model(0, a)
    dialog.set_model(1, b)
    dialog.how.setCurrentIndex(HOWS.index(how))
    dialog.level.setCurrentIndex(level - 1)
    click(qtbot, dialog.compare)
    assert place.worker.job == CompareModels(a, b, how, level)
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
    monkeypatch.setattr(compared_programs, "saved_pair", lambda a, b: None)
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


class Net(nn.Layer):
    """A convolution with batch norm in one layer, and an activation."""

    def __init__(self, slope: float, drop: bool) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.ReLU())
        self.drop = nn.Dropout(0.5) if drop else nn.Identity()
        self.act = nn.LeakyReLU(slope)

    def forward(self, x: Any) -> Any:
        return self.act(self.drop(self.features(x)))


def saved(path: Path, slope: float = 0.1, drop: bool = True, training: bool = False) -> str:
    layer = Net(slope, drop)
    if not training:
        layer.eval()
    paddle.jit.save(layer, str(path), [paddle.static.InputSpec([None, 1, 8, 8], "float32", "x")])
    return str(path)


def titles(diagram: Any, nodes: Any) -> list[str]:
    scene = diagram.scene()
    rows = [scene.ids.tolist().index(node) for node in nodes]
    return [scene.titles[row] for row in rows]


def test_both_programs_are_side_by_side_and_move_together(place: Place, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = place.dialog
    compare(qtbot, place, saved(tmp_path / "a"), saved(tmp_path / "b", 0.2, drop=False))
    view = dialog.programs
    dialog.tabs.setCurrentWidget(view)
    assert dialog.tabs.tabText(dialog.tabs.count() - 1) == "Programs side by side"
    left, right = view.diagrams
    click(qtbot, view.next)
    assert titles(left, left.selection()) == ["drop · dropout"]
    assert right.selection() == [], "B has no dropout"
    click(qtbot, view.next)
    assert titles(left, left.selection()) == titles(right, right.selection()) == ["act · leaky_relu"]
    click(qtbot, view.next)
    assert titles(left, left.selection()) == ["drop · dropout"], "after the last comes the first"
    qtbot.keyClick(left, Qt.Key.Key_F7, Qt.KeyboardModifier.ShiftModifier)
    assert titles(left, left.selection()) == ["act · leaky_relu"]
    group = int(left.scene().ids[list(left.scene().titles).index("features")])
    left.activated.emit(group)
    opened = [list(each.scene().titles) for each in (left, right)]
    assert all("features.1 · batch_norm" in each for each in opened), "its counterpart opens with it"
    before = right.view()
    left.zoom_by(1.5)
    assert right.view() != before
    assert right.view().zoom == pytest.approx(left.view().zoom)
    click(qtbot, view.open_all)
    assert "reshape2" in " ".join(right.scene().titles)
    click(qtbot, view.close_all)
    assert len(right.scene().ids) < len(opened[1])


def test_the_text_marks_lines_and_leads_to_the_diagrams(place: Place, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = place.dialog
    compare(qtbot, place, saved(tmp_path / "a"), saved(tmp_path / "b", 0.2, drop=False))
    view = dialog.programs
    dialog.tabs.setCurrentWidget(view)
    click(qtbot, view.chips[TEXT])
    assert view.current_view() == TEXT
    lines = view.text.code().splitlines()
    assert [line.partition(" = ")[2].partition("(")[0] for line in lines if line[0] in "+-"] == [
        "dropout",
        "leaky_relu",
        "leaky_relu",
    ]
    at = next(n for n, line in enumerate(lines) if line.startswith("+"))
    view.text.line_clicked.emit(at + 1)
    click(qtbot, view.chips[DIAGRAMS])
    left, right = view.diagrams
    assert titles(left, left.selection()) == titles(right, right.selection()) == ["act · leaky_relu"]


def test_training_and_inference_and_each_pass(place: Place, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = place.dialog
    path = saved(tmp_path / "a", training=True)
    compare(qtbot, place, path, "", "training")
    assert dialog.text() == "The Programs differ."
    assert not dialog.models[1].isVisible()
    (kinds,) = [
        {table.item(row, 3).text() for row in range(table.rowCount())}
        for table in [dialog.tabs.widget(0).findChild(QTableWidget)]
    ]
    assert kinds == {"attribute is_test"}
    path = saved(tmp_path / "b")
    compare(qtbot, place, path, "", "passes", 2)
    assert [dialog.steps.itemText(n).partition(":")[0] for n in range(dialog.steps.count())][:2] == [
        "fold_batch_norms",
        "fuse_convolutions",
    ]
    dialog.steps.setCurrentIndex(1)
    dialog.steps.activated.emit(1)
    click(qtbot, dialog.copy)
    assert "fold_weights" in QApplication.clipboard().text()
    assert "conv2d_fusion" in dialog.programs.text.code()
    dialog.level.setCurrentIndex(0)
    assert (dialog.text(), dialog.tabs.isVisible()) == ("", False), "the result of another level"


def test_a_damaged_program_is_shown_as_data(place: Place, qtbot: QtBot, tmp_path: Path) -> None:
    from engine.files.packed import read_packed, write_packed

    paddle.jit.save(
        nn.Tanh(), str(tmp_path / "a"), [paddle.static.InputSpec([4], "float32", "x")], format="packed"
    )
    files = read_packed(tmp_path / "a.h5")
    files.program["blocks"][0]["ops"][0]["inputs"] = {"X": ["none"]}
    write_packed(tmp_path / "b.h5", files.program, files.weights, files.info)
    compare(qtbot, place, str(tmp_path / "a.h5"), str(tmp_path / "b.h5"))
    assert place.dialog.text() == "The models differ."
    assert "none" in place.dialog.programs.text.code()
    assert place.dialog.programs.diagrams[1].scene().ids.size


def test_changes_are_named_in_the_language() -> None:
    from studio.windows.export.change_words import change_words
    from tests.studio.language.marked import Language, marked

    Language.marked()
    try:
        assert change_words("attribute alpha") == marked("attribute {0}").format("alpha")
        assert change_words("removed, 3 operators in it") == marked("removed, {0} operators in it").format(
            "3"
        )
        assert change_words("removed") == marked("removed")
        assert change_words("conv2d_0.w_0") == "conv2d_0.w_0"
    finally:
        Language.english()
    assert change_words("attribute alpha") == "attribute alpha"
