"""Two diagrams side by side scroll, zoom and select together."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QApplication, QSplitter
from pytestqt.qtbot import QtBot

from widgets.program_diagram import LinkedDiagrams, PlainScene, ProgramDiagram
from widgets.program_diagram.demo import SceneBuilder


def column(boxes: int, gap: float, first_id: int, left: float = 20.0) -> PlainScene:
    made = SceneBuilder()
    for number in range(boxes):
        made.box((left, 20 + number * gap, 150, 40), f"box {number}")
    return made.scene(first_id)


@pytest.fixture
def sides(qtbot: QtBot) -> tuple[ProgramDiagram, ProgramDiagram, LinkedDiagrams]:
    left, right = ProgramDiagram(), ProgramDiagram()
    for diagram, scene in ((left, column(40, 80, 0)), (right, column(60, 120, 1000, left=400.0))):
        qtbot.addWidget(diagram)
        diagram.resize(500, 600)
        diagram.set_scene(scene)
        diagram.show()
    QApplication.processEvents()
    linked = LinkedDiagrams(left, right)
    # Box 10 of the left one is missing in the right one; those after it are further on there.
    linked.set_pairs({node: 1000 + node + (node > 10) for node in range(40) if node != 10})
    return left, right, linked


def test_the_other_side_shows_the_counterpart_at_the_same_place(
    sides: tuple[ProgramDiagram, ProgramDiagram, LinkedDiagrams], qtbot: QtBot
) -> None:
    left, right, _ = sides
    left.center_on(30)
    assert right.box_rect(1031).top() == pytest.approx(left.box_rect(30).top(), abs=0.5)
    left.zoom_by(1.5, QPointF(200, 300))
    assert right.view().zoom == pytest.approx(left.view().zoom)
    right.center_on(1006)
    assert left.box_rect(6).top() == pytest.approx(right.box_rect(1006).top(), abs=0.5)


def test_both_begin_with_one_zoom_when_they_appear(qtbot: QtBot) -> None:
    both = QSplitter()
    qtbot.addWidget(both)
    both.resize(900, 500)
    left, right = ProgramDiagram(), ProgramDiagram()
    both.addWidget(left)
    both.addWidget(right)
    linked = LinkedDiagrams(left, right)
    linked.set_pairs({0: 1000})
    left.set_scene(column(3, 80, 0))
    right.set_scene(column(30, 80, 1000, left=1500.0))
    right.set_scene(column(7, 80, 1000))
    assert left._beginning().zoom != right._beginning().zoom
    both.show()
    qtbot.waitUntil(lambda: left.is_sharp and right.is_sharp)
    assert left.view().zoom == right.view().zoom


def test_a_selection_is_shared(
    sides: tuple[ProgramDiagram, ProgramDiagram, LinkedDiagrams], qtbot: QtBot
) -> None:
    left, right, _ = sides
    left.center_on(20)
    qtbot.mouseClick(left, Qt.MouseButton.LeftButton, pos=left.box_rect(20).center().toPoint())
    assert right.selection() == [1021]
    right.center_on(1005)
    qtbot.mouseClick(right, Qt.MouseButton.LeftButton, pos=right.box_rect(1005).center().toPoint())
    assert left.selection() == [5]


def test_without_pairs_nothing_follows(
    sides: tuple[ProgramDiagram, ProgramDiagram, LinkedDiagrams],
) -> None:
    left, right, linked = sides
    linked.set_pairs({})
    before = right.view()
    left.center_on(30)
    assert right.view() == before
