"""Pictures on the boxes of a diagram: where they are, what they show, and when there are none."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from widgets import theme
from widgets.program_diagram import Picture, ProgramDiagram, View
from widgets.program_diagram.demo import layered_scene
from widgets.program_diagram.painting.pictures import strip_of
from widgets.tensor_view import Counts, Planes

RED = QColor("#F0883E")  # the colour of the largest value where there are negative ones


def planes(values: object) -> Planes:
    array = np.asarray(values, np.float32)
    return Planes(array, total=len(array), low=float(array.min()), high=float(array.max()))


@pytest.fixture
def diagram(qtbot: QtBot) -> ProgramDiagram:
    diagram = ProgramDiagram()
    qtbot.addWidget(diagram)
    diagram.resize(600, 400)
    diagram.set_scene(layered_scene(6, 3, high=104.0))
    diagram.show()
    QApplication.processEvents()
    diagram.set_view(View(0.0, 0.0, 1.0))
    qtbot.waitUntil(lambda: diagram.is_sharp)
    return diagram


def colors(diagram: ProgramDiagram, node: int, lower: bool = True) -> set[str]:
    box = diagram.box_rect(node)
    part = box.adjusted(4, 48 if lower else 4, -4, -4 if lower else -60).toRect()
    image = diagram.grab(part).toImage()
    return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}


def test_channels_are_below_the_texts_of_their_box(diagram: ProgramDiagram) -> None:
    diagram.set_pictures({0: Picture(planes(np.stack([np.ones((4, 4)), -np.ones((4, 4))])))})
    assert RED.name() in colors(diagram, 0)
    assert RED.name() not in colors(diagram, 0, lower=False)
    assert RED.name() not in colors(diagram, 1)


@pytest.mark.parametrize("whole", [True, False])
def test_saved_images_have_the_pictures(diagram: ProgramDiagram, whole: bool) -> None:
    diagram.set_pictures({0: Picture(planes(np.stack([np.ones((4, 4)), -np.ones((4, 4))])))})
    image = QImage.fromData(diagram.png_content(whole), "PNG")
    found = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(0, image.height(), 3)}
    assert RED.name() in found


def test_channels_are_given_as_one_image_for_a_file(diagram: ProgramDiagram) -> None:
    large = planes(np.stack([np.ones((900, 700)), -np.ones((900, 700))]))
    counts = Counts(0.0, 1.0, (0, 4))
    small = planes(np.stack([np.ones((4, 4)), -np.ones((4, 4))]))
    diagram.set_pictures(
        {0: Picture(small), 1: Picture(large), 2: Picture(counts=counts), 9999: Picture(small)}
    )
    found = {node: strip for node, _, strip in diagram.saved_pictures()}
    assert set(found) == {0, 1, 2}
    assert found[2] is None
    assert found[0] is not None
    assert (found[0].width(), found[0].height()) == (4 + 1 + 4, 4)
    assert found[0].pixelColor(0, 0) == RED
    assert found[1] is not None  # not larger than a fine screen shows it
    box = diagram.box_rect(1)
    assert found[1].width() <= 2 * box.width()
    assert found[1].height() <= 2 * box.height()


def test_boxes_that_are_small_on_the_screen_have_no_picture(diagram: ProgramDiagram) -> None:
    diagram.set_pictures({0: Picture(planes(np.stack([np.ones((4, 4)), -np.ones((4, 4))])))})
    diagram.set_view(View(0.0, 0.0, 47.0 / 104.0))
    image = diagram.grab(diagram.box_rect(0).toRect()).toImage()
    found = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert RED.name() not in found


def test_a_vector_has_its_distribution(diagram: ProgramDiagram) -> None:
    diagram.set_pictures({0: Picture(counts=Counts(0.0, 1.0, (0, 4, 0, 0)))})
    box = diagram.box_rect(0)
    image = diagram.grab(box.toRect()).toImage()
    accent = theme.current().accent.lower()
    filled = [x for x in range(image.width()) if image.pixelColor(x, image.height() - 10).name() == accent]
    # The second of four bars.
    assert box.width() * 0.23 < filled[0] < filled[-1] < box.width() * 0.53


def test_the_hint_is_in_the_tool_tip_and_in_the_description(diagram: ProgramDiagram) -> None:
    diagram.set_pictures({0: Picture(words="6 × 28 × 28", hint="37 % zeros")})
    assert diagram.tip(QPointF(diagram.box_rect(0).center())).endswith("<br>37 % zeros")
    diagram.select([0])
    assert diagram.accessibleDescription().endswith("37 % zeros")
    diagram.set_pictures({})
    assert "zeros" not in diagram.tip(QPointF(diagram.box_rect(0).center()))


def test_a_strip_has_clear_columns_between_the_channels() -> None:
    strip = strip_of(planes(np.ones((5, 3, 3))), 2)
    assert (strip.width(), strip.height()) == (7, 3)
    assert [strip.pixelColor(x, 1).alpha() for x in range(7)] == [255, 255, 255, 0, 255, 255, 255]
