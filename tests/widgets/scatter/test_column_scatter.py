"""Two columns as points: the Pareto front, selected areas, clicks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from widgets.diagram import Column
from widgets.scatter import ColumnScatter, pareto_front
from widgets.scatter.lasso import in_polygon

LEFT = Qt.MouseButton.LeftButton
KEYS = ["a", "b", "c", "d", "e"]
TIME = Column.of("time", [1.0, 2.0, 3.0, 2.5, None], "Time", "less")
ACCURACY = Column.of("accuracy", [0.8, 0.9, 0.85, 0.95, 0.99], "Accuracy", "more")


@pytest.fixture
def scatter(qtbot: QtBot) -> ColumnScatter:
    made = ColumnScatter()
    qtbot.addWidget(made)
    made.resize(400, 300)
    made.set_data(KEYS, [f"Run {key}" for key in KEYS], TIME, ACCURACY, ACCURACY, front=True)
    made.show()
    return made


def at(scatter: ColumnScatter, key: str, dx: int = 0, dy: int = 0) -> QPoint:
    x, y = scatter.places()[KEYS.index(key)]
    return QPoint(round(x) + dx, round(y) + dy)


@pytest.mark.parametrize(("more_x", "more_y"), [(False, True), (False, False), (True, True), (True, False)])
def test_the_front_is_what_no_other_point_beats(more_x: bool, more_y: bool) -> None:
    random = np.random.default_rng(3)
    xs, ys = random.integers(0, 12, (2, 120)).astype(float)
    xs[:3], ys[4] = np.nan, np.inf
    worse_x, worse_y = (-xs if more_x else xs), (-ys if more_y else ys)
    usable = np.isfinite(xs) & np.isfinite(ys)
    expected = [
        row
        for row in np.flatnonzero(usable)
        if not any(
            (worse_x[other], worse_y[other]) != (worse_x[row], worse_y[row])
            and worse_x[other] <= worse_x[row]
            and worse_y[other] <= worse_y[row]
            for other in np.flatnonzero(usable)
        )
    ]
    found = pareto_front(xs, ys, more_x, more_y)
    assert sorted(found.tolist()) == expected
    assert (np.diff(worse_x[found]) >= 0).all()


def test_an_area_is_inside_its_corners() -> None:
    corners = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (2.0, 1.0), (0.0, 4.0)]
    points = np.array([[1.0, 1.0], [2.0, 3.0], [3.5, 2.0], [5.0, 1.0], [math.nan, 1.0]])
    assert in_polygon(points, corners).tolist() == [True, False, True, False, False]
    assert not in_polygon(points, []).any()


def test_the_front_is_named(scatter: ColumnScatter) -> None:
    assert scatter.front() == ["a", "b", "d"]
    assert "On the Pareto front: Run a, Run b, Run d" in scatter.accessibleDescription()
    assert "4 points\nRows without a value: 1" in scatter.accessibleDescription()


def test_a_rectangle_and_an_area_select(scatter: ColumnScatter, qtbot: QtBot) -> None:
    selected: list[list[str]] = []
    scatter.selected.connect(selected.append)
    qtbot.mousePress(scatter, LEFT, pos=at(scatter, "b", -8, -8))
    qtbot.mouseMove(scatter, at(scatter, "b"))
    qtbot.mouseMove(scatter, at(scatter, "c", 8, 8))
    qtbot.mouseRelease(scatter, LEFT, pos=at(scatter, "c", 8, 8))
    assert selected[-1] == ["b", "c"]
    shift = Qt.KeyboardModifier.ShiftModifier
    qtbot.mousePress(scatter, LEFT, shift, at(scatter, "d", -9, -9))
    for dx, dy in ((9, -9), (9, 9), (-9, 9)):
        qtbot.mouseMove(scatter, at(scatter, "d", dx, dy))
    qtbot.mouseRelease(scatter, LEFT, shift, at(scatter, "d", -9, 9))
    assert selected[-1] == ["d"]
    qtbot.mouseClick(scatter, LEFT, Qt.KeyboardModifier.ControlModifier, at(scatter, "a"))
    assert selected[-1] == ["a", "d"]
    qtbot.mouseClick(scatter, LEFT, pos=at(scatter, "a", -30, 20))
    assert selected[-1] == []


def test_ctrl_adds_a_point_to_the_marked_one(scatter: ColumnScatter, qtbot: QtBot) -> None:
    selected: list[list[str]] = []
    scatter.selected.connect(selected.append)
    scatter.row_clicked.connect(scatter.set_current)
    qtbot.mouseClick(scatter, LEFT, pos=at(scatter, "a"))
    assert not selected
    qtbot.mouseClick(scatter, LEFT, Qt.KeyboardModifier.ControlModifier, at(scatter, "c"))
    assert selected == [["a", "c"]]
    qtbot.mouseClick(scatter, LEFT, Qt.KeyboardModifier.ControlModifier, at(scatter, "a"))
    assert selected[-1] == ["c"]
    scatter.clear_selection()
    qtbot.mouseClick(scatter, LEFT, Qt.KeyboardModifier.ControlModifier, at(scatter, "a"))
    assert selected[-1] == ["a"]


def test_a_point_is_clicked_and_reached_by_keys(scatter: ColumnScatter, qtbot: QtBot) -> None:
    clicked: list[str] = []
    scatter.row_clicked.connect(clicked.append)
    qtbot.mouseClick(scatter, LEFT, pos=at(scatter, "c", 2, 1))
    assert clicked == ["c"]
    qtbot.keyClick(scatter, Qt.Key.Key_Right)
    qtbot.keyClick(scatter, Qt.Key.Key_Right)
    assert scatter.accessibleDescription() == "Run b, 2, 0.9"
    qtbot.keyClick(scatter, Qt.Key.Key_Return)
    assert clicked == ["c", "b"]
    assert "Run b" in scatter.words_of(1)


def test_a_logarithmic_axis_omits_what_is_not_positive(scatter: ColumnScatter) -> None:
    x = Column.of("x", [0.0, 1.0, 10.0, 100.0, -1.0])
    scatter.set_data(KEYS, KEYS, x, ACCURACY, log=(True, False))
    xs = scatter.places()[:, 0]
    assert np.isnan(xs[[0, 4]]).all()
    assert xs[3] - xs[2] == pytest.approx(xs[2] - xs[1])


@pytest.mark.parametrize(
    "values",
    [[], [1.0], [2.0] * 4, [math.nan, math.inf], ["x" * 200, None, "y" * 200]],
    ids=["none", "one", "equal", "not finite", "long"],
)
def test_any_values_are_painted_and_exported(qtbot: QtBot, values: list[object]) -> None:
    scatter = ColumnScatter()
    qtbot.addWidget(scatter)
    scatter.resize(260, 190)
    keys = [str(row) for row in range(len(values))]
    column = Column.of("x", values, "x" * 200, "more")
    scatter.set_data(keys, keys, column, column, column, (True, True), front=True)
    scatter.grab()
    assert not QImage.fromData(scatter.file_content(".png")).isNull()
    assert b"<svg" in scatter.file_content(".svg")
