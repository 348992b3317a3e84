"""A metric over a grid of two columns: what is in the cells, and the rows that a cell selects."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from widgets.diagram import Column
from widgets.heat_map import HeatMap
from widgets.heat_map.cells import bins_of, cells_of

LEFT = Qt.MouseButton.LeftButton
KEYS = ["a", "b", "c", "d", "e", "f"]
WIDTH = Column.of("width", [16, 16, 32, 32, 16, None], "Width")
OPTIMIZER = Column.of("optimizer", ["SGD", "SGD", "SGD", "Adam", "SGD", "Adam"], "Optimizer")
LOSS = Column.of("loss", [0.5, 0.3, 0.2, math.nan, math.inf, 0.1], "Loss", "less")


@pytest.fixture
def diagram(qtbot: QtBot) -> HeatMap:
    made = HeatMap()
    qtbot.addWidget(made)
    made.resize(400, 300)
    made.set_data(KEYS, KEYS, WIDTH, OPTIMIZER, LOSS)
    made.show()
    return made


def test_cells_have_the_mean_or_the_best_and_a_count() -> None:
    mean = cells_of(WIDTH, OPTIMIZER, LOSS, "mean")
    assert (mean.x.labels, mean.y.labels) == (("16", "32"), ("Adam", "SGD"))
    np.testing.assert_allclose(mean.values, [[math.nan, math.nan], [0.4, 0.2]])
    assert mean.counts.tolist() == [[0, 1], [3, 1]]
    assert mean.cells.tolist() == [2, 2, 3, 1, 2, -1]
    assert cells_of(WIDTH, OPTIMIZER, LOSS, "best").values[1, 0] == 0.3
    more = Column.of("loss", LOSS.values.tolist(), better="more")
    assert cells_of(WIDTH, OPTIMIZER, more, "best").values[1, 0] == 0.5


def test_many_values_are_grouped() -> None:
    ranges = bins_of(Column.of("x", [10.0 ** (each / 25 - 4) for each in range(101)]))
    assert len(ranges.labels) == 10
    assert ranges.labels[0] == "1e−4 – 2.512e−4"
    assert np.bincount(ranges.codes).tolist() == pytest.approx([10] * 10, abs=2)
    names = bins_of(Column.of("name", [*(f"n{each}" for each in range(30)), "n7", None]))
    assert len(names.labels) == 20
    assert names.labels[-1] == "+11"
    assert names.codes[7] == names.codes[30] != 19
    assert names.codes[31] == -1


def test_a_cell_selects_its_runs(diagram: HeatMap, qtbot: QtBot) -> None:
    selected: list[list[str]] = []
    diagram.selected.connect(selected.append)
    qtbot.mouseClick(diagram, LEFT, pos=diagram.cell_rect(1, 0).center().toPoint())
    assert selected[-1] == ["a", "b", "e"]
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.mouseClick(diagram, LEFT, control, diagram.cell_rect(0, 1).center().toPoint())
    assert selected[-1] == ["a", "b", "d", "e"]
    qtbot.mouseClick(diagram, LEFT, pos=diagram.cell_rect(1, 1).center().toPoint())
    assert selected[-1] == ["c"]
    assert "Width 32, Optimizer SGD: Loss, mean 0.2 (1 run)" in diagram.accessibleDescription()
    qtbot.mouseClick(diagram, LEFT, pos=diagram.cell_rect(1, 1).center().toPoint())
    assert selected[-1] == []


def test_the_keyboard_reaches_every_cell(diagram: HeatMap, qtbot: QtBot) -> None:
    diagram.setFocus()
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Return):
        qtbot.keyClick(diagram, key)
    assert diagram.selection() == ["a", "b", "e"]
    qtbot.keyClick(diagram, Qt.Key.Key_Escape)
    qtbot.keyClick(diagram, Qt.Key.Key_Down)
    assert "Width 16, Optimizer Adam: no runs" in diagram.accessibleDescription()


def test_it_is_copied_and_saved(diagram: HeatMap, qapp: QApplication) -> None:
    asked: list[bool] = []
    diagram.save_requested.connect(lambda: asked.append(True))
    for action in diagram.menu().actions():
        if action.text() in ("Copy image", "Save as image…"):
            action.trigger()
    assert asked == [True]
    assert qapp.clipboard().image().width() == 2 * (400 + 24)
    assert b"<svg" in diagram.file_content(".svg")


@pytest.mark.parametrize(
    "values",
    [[], [1.0], [2.0] * 4, [math.nan, math.inf], ["x" * 200, None, "y" * 200]],
    ids=["none", "one", "equal", "not finite", "long"],
)
def test_any_values_are_painted(qtbot: QtBot, values: list[object]) -> None:
    diagram = HeatMap()
    qtbot.addWidget(diagram)
    keys = [str(row) for row in range(len(values))]
    column = Column.of("x", values, "x" * 200)
    diagram.set_data(keys, keys, column, column, column, "best")
    diagram.grab()
    assert not QImage.fromData(diagram.file_content(".png")).isNull()
