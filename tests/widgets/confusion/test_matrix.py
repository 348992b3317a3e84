"""The confusion matrix: counts, colours, words, clicks and keys."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
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
    assert matrix.describe_cell(2, 0) == "cow taken for cat: 30 of 100 (30.00\u2009%)"
    assert matrix.describe_cell(1, 1) == "dog read right: 5 of 5 (100.00\u2009%)"
    assert matrix.accuracy() == pytest.approx(83 / 115)
    described = matrix.accessibleDescription()
    assert described.startswith("72.17\u2009% right; most often cow taken for cat")


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
    with qtbot.waitSignal(matrix.cell_clicked) as signal:
        qtbot.mouseClick(matrix, Qt.MouseButton.LeftButton, pos=matrix.cell_rect(2, 0).center().toPoint())
    assert signal.args == [2, 0]


def test_keys_move_and_click(matrix: ConfusionMatrix, qtbot: QtBot) -> None:
    matrix.setFocus()
    qtbot.waitUntil(matrix.hasFocus)
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right):
        qtbot.keyClick(matrix, key)
    assert "dog taken for cow" in matrix.accessibleDescription()
    with qtbot.waitSignal(matrix.cell_clicked) as signal:
        qtbot.keyClick(matrix, Qt.Key.Key_Return)
    assert signal.args == [1, 2]


@pytest.mark.parametrize(("width", "height"), [(340, 180), (360, 250), (620, 520)])
@pytest.mark.parametrize("classes", [2, 10, 100])
def test_cells_fill_the_widget_at_every_size(qtbot: QtBot, width: int, height: int, classes: int) -> None:
    matrix = ConfusionMatrix()
    qtbot.addWidget(matrix)
    matrix.resize(width, height)
    matrix.set_counts(np.eye(classes, dtype=int) * 1032, [str(i) for i in range(classes)])
    first, last = matrix.cell_rect(0, 0), matrix.cell_rect(classes - 1, classes - 1)
    assert first.top() == 0
    assert last.right() - first.left() > 0.7 * width
    assert width - last.right() < 75
    assert last.bottom() > 0.7 * height


@pytest.mark.parametrize(("width", "height"), [(330, 190), (360, 250), (300, 150)])
def test_counts_of_three_and_four_digits_are_written(qtbot: QtBot, width: int, height: int) -> None:
    from widgets.confusion.drawing import Drawing, Table

    counts = np.diag([1032, 998, 980, 974, 123, 456, 789, 999, 1001, 100])
    drawing = Drawing(Table(counts, [str(i) for i in range(10)]), width, height, theme.font())
    texts, _ = drawing._fitting()
    assert [texts[i][i] for i in range(10)][1:3] == ["998", "980"]
    assert texts[0][0] in ("1\u2009032", "1k")


def test_shares_of_the_row_instead_of_counts(matrix: ConfusionMatrix) -> None:
    table = matrix._table()
    assert table.texts() == [["8", "2", ""], ["", "5", ""], ["30", "", "70"]]
    matrix.set_by_row(True)
    assert matrix._table().texts() == [["80", "20", ""], ["", "100", ""], ["30", "", "70"]]


def test_recall_and_precision_of_the_classes_of_a_cell(matrix: ConfusionMatrix) -> None:
    # cat: 8 of 10 found, 8 of the 38 taken for it; cow: 70 of 100 found, and nothing else was taken for it.
    assert matrix.describe_pointed(2, 0).split("\n")[1:] == [
        "cow: recall 70.00\u2009%, precision 100.00\u2009%",
        "cat: recall 80.00\u2009%, precision 21.05\u2009%",
    ]
    matrix.set_counts([[0, 0], [0, 3]], ["a", "b"])
    assert matrix.describe_class(0) == "a: recall \u2013, precision \u2013"


def test_files_of_a_matrix(matrix: ConfusionMatrix, qapp: QApplication) -> None:
    lines = matrix.file_content(".csv").decode().splitlines()
    assert lines[0] == "true \\ predicted,cat,dog,cow,total,recall,precision"
    assert lines[1].startswith("cat,8,2,0,10,0.8,0.2105")
    assert lines[3] == "cow,30,0,70,100,0.7,1.0"
    svg = matrix.file_content(".svg").decode()
    assert svg.startswith("<?xml")
    assert ">30</text>" in svg.replace(" ", "").replace("\n", "")
    assert "cow" in svg
    image = QImage.fromData(matrix.file_content(".png"))
    assert image.width() >= 2 * 3 * 44
    assert len({image.pixel(x, 60) for x in range(0, image.width(), 5)}) > 2
    with pytest.raises(ValueError, match=r"'\.pdf'.*\.svg, \.png, \.csv"):
        matrix.file_content(".pdf")


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


def test_a_difference_has_signs_and_says_what_is_worse(matrix: ConfusionMatrix) -> None:
    matrix.set_difference([[-2, 2, 0], [0, 0, 0], [-1, 0, 1]], ["cat", "dog", "cow"])
    assert matrix.describe_cell(0, 1) == "cat taken for dog: +2"
    assert matrix.describe_pointed(2, 0) == "cow taken for cat: \u22121"
    described = "right answers: \u22121; most in cat read right: \u22122"
    assert matrix.accessibleDescription().startswith(described)
    better, worse = QColor(theme.current().ok), QColor(theme.current().bad)
    assert corner_color(matrix, 0, 0) == corner_color(matrix, 0, 1) == worse

    def nearer(true: int, predicted: int, color: QColor, than: QColor) -> bool:
        seen = corner_color(matrix, true, predicted).getRgb()
        far = [sum(abs(a - b) for a, b in zip(seen, each.getRgb(), strict=True)) for each in (color, than)]
        return far[0] < far[1]

    assert nearer(2, 0, better, worse)
    assert nearer(2, 2, better, worse)
    assert matrix.file_content(".csv").decode().splitlines()[1] == "cat,-2,2,0"
    matrix.set_counts(COUNTS, ["cat", "dog", "cow"])
    assert matrix.accessibleDescription().startswith("72.17")
    with pytest.raises(ValueError, match="square matrix of integers"):
        matrix.set_difference([[0.5]], ["cat"])
