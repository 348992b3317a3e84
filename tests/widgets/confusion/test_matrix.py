"""The confusion matrix: counts, colours, words, clicks and keys."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from widgets import theme
from widgets.confusion import ConfusionMatrix

COUNTS = [[8, 2, 0], [0, 5, 0], [30, 0, 70]]


@pytest.fixture
def matrix(qtbot: QtBot) -> ConfusionMatrix:
    widget = ConfusionMatrix()
    qtbot.addWidget(widget)
    widget.resize(300, 300)
    widget.set_counts(COUNTS, ["cat", "dog", "cow"])
    widget.show()
    return widget


def corner_color(matrix: ConfusionMatrix, true: int, predicted: int) -> QColor:
    box = matrix.cell_rect(true, predicted)
    return matrix.grab().toImage().pixelColor(round(box.left() + 6), round(box.center().y()))


def test_words_of_a_cell(matrix: ConfusionMatrix) -> None:
    assert matrix.describe_cell(2, 0) == "cow taken for cat: 30 of 100 (30.0\u2009%)"
    assert matrix.describe_cell(1, 1) == "dog read right: 5 of 5 (100.0\u2009%)"
    assert matrix.accuracy() == pytest.approx(83 / 115)
    described = matrix.accessibleDescription()
    assert described.startswith("72.2\u2009% right; most often cow taken for cat")


def test_colour_is_the_share_of_the_row(matrix: ConfusionMatrix, qapp: QApplication) -> None:
    for mode in ("light", "dark"):
        theme.apply_theme(qapp, mode)
        panel = QColor(theme.current().panel)

        def strength(true: int, predicted: int, panel: QColor = panel) -> int:
            color = corner_color(matrix, true, predicted)
            return sum(abs(a - b) for a, b in zip(color.getRgb(), panel.getRgb(), strict=True))

        # 5 of 5 is stronger than 70 of 100, that than 30 of 100, and nothing is the weakest.
        assert strength(1, 1) > strength(2, 2) > strength(2, 0) > strength(0, 1) > strength(0, 2)
        assert corner_color(matrix, 1, 1).name().upper() == theme.current().accent


def test_a_click_names_the_cell(matrix: ConfusionMatrix, qtbot: QtBot) -> None:
    with qtbot.waitSignal(matrix.cell_clicked) as told:
        qtbot.mouseClick(matrix, Qt.MouseButton.LeftButton, pos=matrix.cell_rect(2, 0).center().toPoint())
    assert told.args == [2, 0]


def test_keys_move_and_click(matrix: ConfusionMatrix, qtbot: QtBot) -> None:
    matrix.setFocus()
    qtbot.waitUntil(matrix.hasFocus)
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right):
        qtbot.keyClick(matrix, key)
    assert "dog taken for cow" in matrix.accessibleDescription()
    with qtbot.waitSignal(matrix.cell_clicked) as told:
        qtbot.keyClick(matrix, Qt.Key.Key_Return)
    assert told.args == [1, 2]


def test_a_class_without_samples_is_no_accident(qtbot: QtBot) -> None:
    matrix = ConfusionMatrix()
    qtbot.addWidget(matrix)
    assert np.isnan(matrix.accuracy())
    matrix.set_counts(np.zeros((2, 2), int), ["a", "b"])
    assert matrix.describe_cell(0, 1) == "a taken for b: 0 of 0 (0)"
    assert matrix.accessibleDescription() == "No predictions yet"
    matrix.grab()


def test_many_classes_fit(qtbot: QtBot) -> None:
    matrix = ConfusionMatrix()
    qtbot.addWidget(matrix)
    matrix.resize(360, 360)
    matrix.set_counts(np.eye(100, dtype=int), [f"class number {i}" for i in range(100)])
    assert matrix.cell_rect(99, 99).bottom() <= 360
    image = matrix.grab().toImage()
    for place in (3, 50, 97):
        assert (
            image.pixelColor(matrix.cell_rect(place, place).center().toPoint()).name().upper()
            == theme.LIGHT.accent
        )
        assert image.pixelColor(matrix.cell_rect(place, 99 - place).center().toPoint()).lightness() > 240


def test_wrong_counts_are_refused(matrix: ConfusionMatrix) -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 3\), 2 labels"):
        matrix.set_counts(np.zeros((2, 3), int), ["a", "b"])
    with pytest.raises(ValueError, match="not negative"):
        matrix.set_counts([[-1]], ["a"])
    with pytest.raises(ValueError, match="float64"):
        matrix.set_counts([[0.5]], ["a"])
