"""Parallel coordinates with real drags: ranges, moved axes, what the pointer is over, live data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from widgets.diagram import Column
from widgets.parallel import ParallelCoordinates
from widgets.parallel.axes import Axes, Layout
from widgets.parallel.drawing import Lines

LEFT = Qt.MouseButton.LeftButton
KEYS = ["a", "b", "c", "d"]
RATE, OPTIMIZER, ACCURACY = (
    [0.001, 0.01, 0.1, 0.01],
    ["Adam", "SGD", "Adam", "SGD"],
    [0.9, 0.95, math.nan, 0.8],
)


def columns() -> list[Column]:
    return [
        Column.of("lr", RATE, "Learning rate"),
        Column.of("optimizer", OPTIMIZER, "Optimizer"),
        Column.of("accuracy", ACCURACY, "Accuracy", "more"),
    ]


@pytest.fixture
def diagram(qtbot: QtBot) -> ParallelCoordinates:
    made = ParallelCoordinates()
    qtbot.addWidget(made)
    made.resize(500, 300)
    made.set_data(KEYS, [f"Run {key}" for key in KEYS], columns(), columns()[2])
    made.show()
    return made


def at(diagram: ParallelCoordinates, axis: int, unit: float) -> QPoint:
    layout = diagram.layout_of_axes()
    return QPoint(round(layout.xs[axis]), round(layout.y(unit)))


def drag(qtbot: QtBot, diagram: ParallelCoordinates, start: QPoint, *to: QPoint) -> None:
    qtbot.mousePress(diagram, LEFT, pos=start)
    for each in to:
        qtbot.mouseMove(diagram, each)
    qtbot.mouseRelease(diagram, LEFT, pos=to[-1])


def test_a_range_is_drawn_moved_changed_and_cleared(diagram: ParallelCoordinates, qtbot: QtBot) -> None:
    selected: list[list[str]] = []
    diagram.selected.connect(selected.append)
    drag(qtbot, diagram, at(diagram, 0, 0.3), at(diagram, 0, 0.5), at(diagram, 0, 0.7))
    assert selected[-1] == ["b", "d"]  # 0.01 is in the middle of a logarithmic axis
    drag(qtbot, diagram, at(diagram, 0, 0.5), at(diagram, 0, 0.2), at(diagram, 0, 0.1))
    assert selected[-1] == ["a"]
    drag(qtbot, diagram, at(diagram, 0, 0.4), at(diagram, 0, 0.9), at(diagram, 0, 1.1))
    assert selected[-1] == KEYS
    assert diagram.brushes() == {"lr": ""}
    qtbot.mouseClick(diagram, LEFT, pos=at(diagram, 0, 0.5))
    assert selected[-1] == []
    assert diagram.brushes() == {}


def test_ranges_on_several_axes_select_what_is_in_all(diagram: ParallelCoordinates, qtbot: QtBot) -> None:
    drag(qtbot, diagram, at(diagram, 1, 0.8), at(diagram, 1, 1.2))
    assert diagram.selection() == ["b", "d"]
    drag(qtbot, diagram, at(diagram, 2, 0.8), at(diagram, 2, 1.2))
    assert diagram.selection() == ["b"]
    assert diagram.brushes() == {"optimizer": "SGD", "accuracy": "≥ 0.9197"}
    assert "Accuracy: ≥ 0.9197" in diagram.accessibleDescription()
    assert "1 of 4 selected" in diagram.accessibleDescription()
    qtbot.keyClick(diagram, Qt.Key.Key_Escape)
    assert diagram.selection() == []


def test_a_range_holds_for_rows_that_come_later(diagram: ParallelCoordinates, qtbot: QtBot) -> None:
    drag(qtbot, diagram, at(diagram, 1, 0.8), at(diagram, 1, 1.2))
    drag(qtbot, diagram, at(diagram, 2, 0.8), at(diagram, 2, 1.2))
    selected: list[list[str]] = []
    diagram.selected.connect(selected.append)
    diagram.set_data(
        [*KEYS, "e"],
        [*KEYS, "e"],
        [
            Column.of("lr", [*RATE, 0.1]),
            Column.of("optimizer", ["Adam", "SGD", "AdamW", "SGD", "SGD"]),
            Column.of("accuracy", [*ACCURACY, 0.99]),
        ],
    )
    assert selected == [["b", "e"]]
    diagram.set_data(KEYS[:1], KEYS[:1], [Column.of("lr", RATE[:1])])  # columns and rows were deleted
    assert selected[-1] == []
    assert diagram.axes() == ["lr"]


def test_another_selection_takes_the_ranges_away(diagram: ParallelCoordinates, qtbot: QtBot) -> None:
    drag(qtbot, diagram, at(diagram, 1, 0.8), at(diagram, 1, 1.2))
    diagram.set_selection(["b", "d"])
    assert diagram.brushes() == {"optimizer": "SGD"}
    diagram.set_selection(["a"])
    assert diagram.brushes() == {}
    assert diagram.selection() == ["a"]


def test_titles_are_dragged_to_move_axes(diagram: ParallelCoordinates, qtbot: QtBot) -> None:
    changed: list[bool] = []
    diagram.axes_changed.connect(lambda: changed.append(True))
    layout = diagram.layout_of_axes()
    y = round(layout.top - 12)
    drag(qtbot, diagram, QPoint(30, y), QPoint(200, y), QPoint(round(layout.xs[2]), y))
    assert diagram.axes() == ["optimizer", "accuracy", "lr"]
    assert changed
    diagram.arrange(["lr", "accuracy"], {"lr": (False, True)})
    assert diagram.axes() == ["lr", "accuracy", "optimizer"]
    assert diagram.forms()["lr"] == (False, True)


def test_the_menu_of_a_title_changes_the_axis(diagram: ParallelCoordinates, qtbot: QtBot) -> None:
    colors: list[str] = []
    diagram.color_requested.connect(colors.append)
    qtbot.mouseClick(diagram, LEFT, pos=QPoint(30, round(diagram.layout_of_axes().top - 12)))
    menu = QApplication.activePopupWidget()
    actions = {action.text(): action for action in menu.actions()}  # type: ignore[union-attr]
    assert actions["Logarithmic"].isChecked()
    actions["Flipped"].trigger()
    actions["Colour by this column"].trigger()
    menu.close()  # type: ignore[union-attr]
    assert colors == ["lr"]
    assert diagram.forms()["lr"] == (True, True)
    drag(qtbot, diagram, at(diagram, 0, 0.8), at(diagram, 0, 1.2))
    assert diagram.selection() == ["a"]  # the smallest is at the top


def test_the_keyboard_selects(diagram: ParallelCoordinates, qtbot: QtBot) -> None:
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Up):
        qtbot.keyClick(diagram, key)
    assert diagram.selection() == ["b"]
    for _ in range(4):
        qtbot.keyClick(diagram, Qt.Key.Key_Down)
    assert diagram.selection() == ["a"]
    qtbot.keyClick(diagram, Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)
    assert diagram.axes() == ["lr", "accuracy", "optimizer"]
    qtbot.keyClick(diagram, Qt.Key.Key_Delete)
    assert diagram.selection() == []


def test_a_line_is_named_and_clicked(diagram: ParallelCoordinates, qtbot: QtBot) -> None:
    clicked: list[str] = []
    diagram.row_clicked.connect(clicked.append)
    layout = diagram.layout_of_axes()
    between = QPoint(round((layout.xs[0] + layout.xs[1]) / 2), round(layout.y(0.75)))
    qtbot.mouseMove(diagram, between)
    qtbot.waitUntil(lambda: "Run b" in QToolTip.text())
    assert "0.95" in QToolTip.text()
    qtbot.mouseClick(diagram, LEFT, pos=between)
    assert clicked == ["b"]  # from the middle of the rates to the upper of two optimizers


def test_the_marked_row_is_drawn_above_the_others(diagram: ParallelCoordinates) -> None:
    before = diagram.grab().toImage()
    diagram.set_current("a")
    assert diagram.grab().toImage() != before
    assert "Marked: Run a" in diagram.accessibleDescription()
    diagram.set_current("a run that is not shown")
    assert diagram.grab().toImage() == before


def test_missing_values_are_below_the_axis(diagram: ParallelCoordinates) -> None:
    layout = diagram.layout_of_axes()
    ys = layout.ys()
    assert ys[2, 2] == layout.missing > layout.bottom
    assert np.isfinite(ys).all()


@pytest.mark.parametrize(
    "values",
    [[], [1.0], [2.0] * 5, [math.nan, math.inf, -math.inf], ["x" * 200, "y" * 200, None], [None, None]],
    ids=["none", "one", "equal", "not finite", "long", "missing"],
)
def test_any_values_are_painted_and_exported(qtbot: QtBot, values: list[object]) -> None:
    diagram = ParallelCoordinates()
    qtbot.addWidget(diagram)
    diagram.resize(260, 190)
    keys = [str(row) for row in range(len(values))]
    for names in ([], ["x"], ["x", "y"]):
        shown = [Column.of(name, values, name * 200) for name in names]
        diagram.set_data(keys, keys, shown, shown[0] if shown else None)
        diagram.grab()
    assert not QImage.fromData(diagram.file_content(".png")).isNull()
    assert diagram.file_content(".svg").startswith(b"<?xml")
    with pytest.raises(ValueError, match=r"\.gif"):
        diagram.file_content(".gif")
    with pytest.raises(ValueError, match="same length"):
        diagram.set_data(["a", "b"], ["a"], [])


def test_ten_thousand_rows_are_painted_in_slices(qtbot: QtBot) -> None:
    diagram = ParallelCoordinates()
    qtbot.addWidget(diagram)
    random = np.random.default_rng(0)
    keys = [str(row) for row in range(10_000)]
    shown = [Column.of(name, random.normal(size=10_000).tolist()) for name in "abcd"]
    diagram.set_data(keys, keys, shown, shown[0])
    diagram.resize(300, 200)
    diagram.grab()
    assert not diagram.painted
    diagram.brush(0, 0.0, 0.2)
    assert 0 < len(diagram.selection()) < 10_000


def test_of_one_axis_a_row_is_marked_apart_from_the_numbers() -> None:
    axes = Axes()
    axes.take(columns()[2:])
    layout = Layout(axes, 300, 200)
    ends = [point.x() for point in Lines(layout).line(0)]
    assert max(ends) <= layout.xs[0]  # numbers are at the right of the axis: a mark there reads as a minus
    assert max(ends) - min(ends) == 10


def test_no_line_is_seen_between_an_axis_and_its_numbers(diagram: ParallelCoordinates, qtbot: QtBot) -> None:
    rows = 400  # level lines all the way
    flat = (
        Column.of("a", [5.0] * (rows - 2) + [4.0, 6.0], "Rate"),
        Column.of("b", [5.0] * (rows - 2) + [4.0, 6.0]),
    )
    diagram.set_data([f"{row}" for row in range(rows)], ["run"] * rows, list(flat), flat[1])
    qtbot.waitUntil(lambda: diagram.painted)
    layout, image = diagram.layout_of_axes(), diagram.grab().toImage()
    y, x = round(layout.y(0.5)), round(layout.xs[0])
    scale = image.devicePixelRatio()

    def darkest(right: int) -> int:
        at = [round((y + up) * scale) for up in (-2, -1, 0, 1, 2)]
        return min(image.pixelColor(round((x + right) * scale), each).lightness() for each in at)

    assert darkest(120) < 200  # the lines
    assert darkest(3) > 220
