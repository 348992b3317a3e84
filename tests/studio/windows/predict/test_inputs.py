"""Predict for models that do not take a digit: images in colour, numbers, several inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

import engine
from engine import nn
from engine.jit import save
from engine.static import InputSpec
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_info import ModelInfo
from studio.windows.predict.input_editors import ImageInput, NumbersInput, UnsupportedInput
from tests.studio.windows.conftest import Stage

WAIT = 60_000


class Mixed(nn.Layer):
    """How much more red than green an image is, and the sum of three numbers."""

    def forward(self, image: Any, facts: Any) -> Any:
        red, green = image[:, 0].mean(axis=[1, 2]), image[:, 1].mean(axis=[1, 2])
        return engine.stack([red - green, facts.sum(axis=1)], axis=1)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> str:
    prefix = str(tmp_path_factory.mktemp("mixed") / "mixed")
    specs = [InputSpec([None, 3, 32, 32], "float32", "picture"), InputSpec([None, 3], "float32", "facts")]
    save(Mixed(), prefix, input_spec=specs, info={"classes": ["red", "large"]})
    return prefix


@pytest.fixture
def page(stage: Stage) -> Stage:
    import engine.training  # noqa: F401  (the window has it by then)

    stage.studio.frame.show_page("predict")
    return stage


def show(page: Stage, *specs: tuple[str, list[int], str]) -> None:
    """Let a model with these inputs be there, without a process."""
    inputs = tuple({"name": name, "shape": shape, "dtype": dtype} for name, shape, dtype in specs)
    page.session.predict.loaded(ModelInfo(ModelChoice("m"), "m", "m", inputs, (), {}, {}, "", {}))


def test_an_image_in_colour_and_numbers_are_given_and_answered(
    page: Stage, qtbot: QtBot, mixed: str, tmp_path: Path
) -> None:
    view, shown = page.session.predict, page.studio.predict_page
    page.studio.predict.load(mixed)
    qtbot.waitUntil(lambda: view.model is not None, timeout=WAIT)
    assert [shown.tabs.tabText(place) for place in range(shown.tabs.count())] == ["picture", "facts"]
    assert shown.detail.text() == "picture: Draw, or drop an image."
    paper = np.zeros((60, 90, 3), np.uint8)
    paper[..., 0] = 255
    Image.fromarray(paper).save(tmp_path / "red.png")
    page.studio.predict.open_image(str(tmp_path / "red.png"))
    assert shown.fed.image().shape == (32, 32, 3)
    assert shown.fed.image()[..., 0].min() == 1.0
    assert ("From", "red.png, 90 \u00d7 60 pixels") in shown.facts.rows()
    qtbot.waitUntil(lambda: [name for name, _ in view.ranking] == ["red", "large"], timeout=WAIT)
    shown.tabs.setCurrentIndex(1)
    numbers = shown.editors[1]
    assert isinstance(numbers, NumbersInput)
    QGuiApplication.clipboard().setText("1\t2.5\t-0.5")
    qtbot.keyClick(numbers.table, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert numbers.table.values().tolist() == [1.0, 2.5, -0.5]
    qtbot.waitUntil(lambda: [name for name, _ in view.ranking] == ["large", "red"], timeout=WAIT)
    assert view.ranking[0][1] == pytest.approx(np.exp(3.0) / (np.exp(3.0) + np.exp(1.0)), abs=1e-5)


def test_typed_numbers_are_read_and_invalid_ones_are_marked(page: Stage, qtbot: QtBot) -> None:
    show(page, ("measured", [-1, 4], "int64"))
    editor = page.studio.predict_page.editors[0]
    assert isinstance(editor, NumbersInput)
    assert page.studio.predict_page.tabs.isHidden()

    def type_in(row: int, text: str) -> None:
        index = editor.table.model().index(row, 0)
        editor.table.setCurrentIndex(index)
        editor.table.edit(index)
        line = editor.table.findChildren(QLineEdit)[-1]  # the one before is gone only soon
        line.selectAll()
        qtbot.keyClicks(line, text)
        qtbot.keyClick(line, Qt.Key.Key_Return)

    type_in(2, "7")
    qtbot.waitUntil(lambda: page.session.predict.fed[0].tolist() == [0, 0, 7, 0])
    type_in(0, "x")
    qtbot.waitUntil(lambda: editor.problem.text() == "Not an integer: x")
    assert page.session.predict.fed[0].tolist() == [0, 0, 7, 0]
    QGuiApplication.clipboard().setText("1, 2, 3")
    qtbot.mouseClick(editor.paste_button, Qt.MouseButton.LeftButton)
    assert "3 numbers where 4 are taken" in editor.problem.text()
    qtbot.mouseClick(editor.clear_button, Qt.MouseButton.LeftButton)
    assert page.session.predict.fed[0].tolist() == [0, 0, 0, 0]
    assert editor.problem.isHidden()


def test_a_row_of_a_csv_file_is_taken(page: Stage, tmp_path: Path) -> None:
    show(page, ("measured", [-1, 3], "float32"))
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n1,2,3\n4,5,6\n")
    page.studio.predict.inputs.open_numbers(0, str(path))
    assert page.session.predict.fed[0].tolist() == [1.0, 2.0, 3.0]
    page.studio.predict.inputs.open_numbers(0, str(tmp_path / "absent.csv"))
    editor = page.studio.predict_page.editors[0]
    assert isinstance(editor, NumbersInput)
    assert "absent.csv: No such file" in editor.problem.text()


def test_an_input_that_can_not_be_given_is_said_in_a_line(page: Stage) -> None:
    show(page, ("wave", [-1, 9], "complex64"))
    shown = page.studio.predict_page
    assert isinstance(shown.editors[0], UnsupportedInput)
    assert "input is not supported: wave: it takes complex64" in shown.detail.text()
    assert "complex64" in shown.editors[0].line.text()


def test_a_drawing_comes_along_to_a_model_of_other_images(page: Stage, qtbot: QtBot) -> None:
    shown = page.studio.predict_page
    qtbot.mouseClick(shown.pad, Qt.MouseButton.LeftButton)
    assert page.session.predict.fed[0].shape == (28, 28)
    show(page, ("x", [-1, 3, 64, 48], "float32"))
    assert isinstance(shown.editors[0], ImageInput)
    assert page.session.predict.fed[0].shape == (64, 48, 3)
    shown.placing.setCurrentIndex(shown.placing.findData("stretch"))
    shown.placing.activated.emit(shown.placing.currentIndex())
    assert ("Placed", "stretched to the size of the input") in shown.facts.rows()


def test_an_image_is_pasted(page: Stage, qtbot: QtBot) -> None:
    from PySide6.QtGui import QImage

    show(page, ("x", [-1, 3, 16, 16], "float32"))
    image = QImage(40, 40, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.blue)
    QGuiApplication.clipboard().setImage(image)
    pad = page.studio.predict_page.pad
    pad.setFocus()
    qtbot.keyClick(pad, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert page.session.predict.fed[0][..., 2].min() == 1.0
    assert page.session.predict.fed[0][..., :2].max() == 0.0
