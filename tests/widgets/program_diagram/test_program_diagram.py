"""The diagram of a Program: what clicks, keys and the wheel do, and what is painted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QImage,
    QNativeGestureEvent,
    QPainter,
    QPointingDevice,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QToolButton
from pytestqt.qtbot import QtBot

from widgets.program_diagram import MARKS, ProgramDiagram, View, empty_scene
from widgets.program_diagram.demo import SceneBuilder, layered_scene, residual_scene
from widgets.program_diagram.scene import LAYER, MORE, PlainScene

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
FRAME, CONV, BLOCK, MORE_BOX = 2, 4, 7, 10  # nodes of the residual scene
Made = Callable[..., ProgramDiagram]


@pytest.fixture
def make(qtbot: QtBot) -> Made:
    def made(scene: PlainScene | None = None, wide: int = 900, high: int = 700) -> ProgramDiagram:
        diagram = ProgramDiagram()
        qtbot.addWidget(diagram)
        diagram.resize(wide, high)
        diagram.set_scene(residual_scene() if scene is None else scene)
        diagram.show()
        QApplication.processEvents()
        if len(diagram.scene().ids):
            qtbot.waitUntil(lambda: diagram.is_sharp)
        return diagram

    return made


def middle(diagram: ProgramDiagram, node: int) -> QPoint:
    return diagram.box_rect(node).center().toPoint()


def turn(
    diagram: ProgramDiagram,
    at: QPoint,
    angle: QPoint,
    modifiers: Qt.KeyboardModifier = NONE,
    pixels: QPoint | None = None,
) -> None:
    """Turn the wheel, or with ``pixels`` move two fingers on a touchpad."""
    phase = Qt.ScrollPhase.NoScrollPhase if pixels is None else Qt.ScrollPhase.ScrollUpdate
    where = QPointF(diagram.mapToGlobal(at))
    event = QWheelEvent(
        QPointF(at), where, pixels or QPoint(), angle, Qt.MouseButton.NoButton, modifiers, phase, False
    )
    QApplication.sendEvent(diagram, event)


def test_a_click_selects_and_one_with_control_adds(make: Made, qtbot: QtBot) -> None:
    diagram = make()
    chosen, lists = list[int](), list[list[int]]()
    diagram.selected.connect(chosen.append)
    diagram.selection_changed.connect(lists.append)
    qtbot.mouseClick(diagram, LEFT, pos=middle(diagram, CONV))
    qtbot.mouseClick(diagram, LEFT, CONTROL, middle(diagram, BLOCK))
    assert diagram.selection() == [CONV, BLOCK]
    assert diagram.current() == BLOCK
    qtbot.mouseClick(diagram, LEFT, CONTROL, middle(diagram, CONV))
    assert diagram.selection() == [BLOCK]
    qtbot.mouseClick(diagram, LEFT, pos=QPoint(5, 5))
    assert diagram.selection() == []
    assert chosen == [CONV, BLOCK]
    assert lists == [[CONV], [CONV, BLOCK], [BLOCK], []]


def test_groups_open_by_square_double_click_and_return(make: Made, qtbot: QtBot) -> None:
    diagram = make()
    activated, more = list[int](), list[int]()
    diagram.activated.connect(activated.append)
    diagram.more_asked.connect(more.append)
    qtbot.mouseClick(diagram, LEFT, pos=diagram.toggle_rect(FRAME).center().toPoint())
    qtbot.mouseDClick(diagram, LEFT, pos=middle(diagram, BLOCK))
    qtbot.mouseClick(diagram, LEFT, pos=middle(diagram, BLOCK))
    qtbot.keyClick(diagram, Qt.Key.Key_Return)
    assert activated == [FRAME, BLOCK, BLOCK]
    diagram.select([MORE_BOX])
    qtbot.keyClick(diagram, Qt.Key.Key_Return)
    assert (activated, more) == ([FRAME, BLOCK, BLOCK], [MORE_BOX])
    assert diagram.toggle_rect(CONV).isEmpty()


def test_arrow_keys_ask_for_steps_from_the_selected_box(make: Made, qtbot: QtBot) -> None:
    diagram = make()
    steps: list[tuple[int, str]] = []
    diagram.step_asked.connect(lambda node, way: steps.append((node, way)))
    qtbot.keyClick(diagram, Qt.Key.Key_Down)  # nothing is selected: the box in the middle becomes it
    assert len(diagram.selection()) == 1
    assert steps == []
    diagram.select([CONV])
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Left, Qt.Key.Key_Right):
        qtbot.keyClick(diagram, key)
    assert steps == [(CONV, "down"), (CONV, "up"), (CONV, "left"), (CONV, "right")]
    qtbot.keyClick(diagram, Qt.Key.Key_Escape)
    assert diagram.selection() == []


def test_alt_and_arrows_go_into_groups_and_out_of_them(make: Made, qtbot: QtBot) -> None:
    diagram = make()
    chosen = list[int]()
    diagram.selected.connect(chosen.append)
    diagram.select([CONV])
    alt = Qt.KeyboardModifier.AltModifier
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Down):
        qtbot.keyClick(diagram, key, alt)
    assert chosen == [3, FRAME, 3, CONV]
    diagram.select([BLOCK])
    qtbot.keyClick(diagram, Qt.Key.Key_Down, alt)
    assert diagram.selection() == [BLOCK]


def test_dragging_pans_and_selects_nothing(make: Made, qtbot: QtBot) -> None:
    diagram = make()
    before = diagram.view()
    begin = middle(diagram, CONV)
    qtbot.mousePress(diagram, LEFT, pos=begin)
    for step in range(1, 6):
        qtbot.mouseMove(diagram, begin + QPoint(12 * step, 8 * step))
    qtbot.mouseRelease(diagram, LEFT, pos=begin + QPoint(60, 40))
    assert diagram.view() == View(before.x + 60, before.y + 40, before.zoom)
    assert diagram.selection() == []


def test_the_wheel_zooms_around_the_pointer(make: Made) -> None:
    diagram = make()
    at, before = middle(diagram, CONV), diagram.view()
    turn(diagram, at, QPoint(0, 120))
    assert diagram.view().zoom == pytest.approx(before.zoom * 1.2)
    assert diagram.view().to_scene(at.x(), at.y()) == pytest.approx(before.to_scene(at.x(), at.y()))
    turn(diagram, at, QPoint(0, -120), CONTROL)
    assert diagram.view().zoom == pytest.approx(before.zoom)
    for _ in range(60):
        turn(diagram, at, QPoint(0, 120))
    assert diagram.view().zoom == 4.0


def test_a_touchpad_and_the_wheel_with_shift_pan(make: Made) -> None:
    diagram = make()
    at, before = QPoint(400, 300), diagram.view()
    turn(diagram, at, QPoint(0, 40), pixels=QPoint(10, 20))
    assert diagram.view() == before.moved(10, 20)
    turn(diagram, at, QPoint(0, 120), SHIFT)
    assert diagram.view() == before.moved(70, 20)
    turn(diagram, at, QPoint(0, 120), CONTROL, pixels=QPoint(0, 30))
    assert diagram.view().zoom > before.zoom


def test_keys_zoom_pan_and_fit(make: Made, qtbot: QtBot) -> None:
    diagram = make(layered_scene(400, 20))
    qtbot.keyClick(diagram, Qt.Key.Key_0)
    seen, scene = diagram.view_rect(), diagram.scene()
    assert seen.left() < 0 < scene.width < seen.right()
    assert seen.top() < 0 < scene.height < seen.bottom()
    before = diagram.view()
    qtbot.keyClick(diagram, Qt.Key.Key_Plus)
    assert diagram.view().zoom == pytest.approx(before.zoom * 1.25)
    qtbot.keyClick(diagram, Qt.Key.Key_Minus)
    assert diagram.view().zoom == pytest.approx(before.zoom)
    qtbot.keyClick(diagram, Qt.Key.Key_Right, CONTROL)
    assert diagram.view().x == pytest.approx(before.x - 60)
    diagram.select([210, 211])
    qtbot.keyClick(diagram, Qt.Key.Key_F)
    assert diagram.rect().contains(diagram.box_rect(210).toRect())
    assert diagram.rect().contains(diagram.box_rect(211).toRect())
    assert diagram.view().zoom == 1.0


def test_an_opened_group_stays_in_its_place(make: Made) -> None:
    diagram = make()
    diagram.zoom_by(1.3, QPointF(100, 100))
    before = diagram.box_rect(BLOCK)
    made = SceneBuilder()
    for row in range(BLOCK):
        made.box((2000, 100.0 * row, 50, 30), str(row))
    made.box((900, 800, 400, 300), "layer1.1", kind=LAYER, opened=True)
    made.box((920, 840, 150, 40), "inside")
    diagram.set_scene(made.scene(), keep=BLOCK)
    after = diagram.box_rect(BLOCK)
    assert (after.left(), after.top()) == pytest.approx((before.left(), before.top()), abs=0.01)
    assert after.width() > before.width()


def test_a_scene_without_common_boxes_is_shown_from_its_beginning(make: Made) -> None:
    diagram = make()
    diagram.zoom_by(3.0)
    other = SceneBuilder()
    other.box((20, 20, 150, 40), "other")
    diagram.set_scene(other.scene(first_id=1000))
    assert diagram.view().zoom == 1.0
    assert diagram.rect().contains(diagram.box_rect(1000).toRect())


def test_a_view_not_moved_by_hand_follows_the_next_scene_and_the_size(make: Made) -> None:
    diagram = make(layered_scene(40, 4))
    other = SceneBuilder()
    other.box((5000, 5000, 150, 40), "the same node, far away")
    diagram.set_scene(other.scene())
    assert diagram.rect().contains(diagram.box_rect(0).toRect())
    assert diagram.view() == diagram._beginning()
    diagram.resize(500, 400)
    QApplication.processEvents()
    assert diagram.view() == diagram._beginning()
    diagram.fit()
    diagram.set_scene(layered_scene(400, 20))
    assert diagram.view() == diagram._fitting()
    diagram.pan_by(30, 20)
    moved, rect = diagram.view(), diagram.box_rect(200)
    assert diagram.rect().contains(rect.toRect())
    diagram.set_scene(layered_scene(400, 20))
    assert (diagram.view().zoom, diagram.box_rect(200)) == (moved.zoom, rect)


def test_a_box_is_brought_into_view(make: Made) -> None:
    diagram = make(layered_scene(2000, 40))
    diagram.center_on(1999)
    assert (diagram.box_rect(1999).center() - QPointF(450, 350)).manhattanLength() < 1
    before = diagram.view()
    diagram.ensure_visible(1998)
    assert diagram.view() == before
    diagram.ensure_visible(0)
    assert diagram.rect().contains(diagram.box_rect(0).toRect())


def test_the_minimap_moves_the_view_and_hides_when_all_is_seen(make: Made, qtbot: QtBot) -> None:
    diagram = make(layered_scene(2000, 40))
    diagram.center_on(0)
    area = diagram.minimap_rect()
    assert not area.isEmpty()
    qtbot.mousePress(diagram, LEFT, pos=area.center().toPoint())
    scene, seen = diagram.scene(), diagram.view_rect()
    assert seen.center().x() == pytest.approx(scene.width / 2, rel=0.05)
    qtbot.mouseMove(diagram, area.center().toPoint() + QPoint(20, 0))
    assert diagram.view_rect().center().x() > seen.center().x()
    qtbot.mouseRelease(diagram, LEFT, pos=area.center().toPoint())
    assert diagram.selection() == []
    diagram.fit()
    assert diagram.minimap_rect().isEmpty()


def test_hovering_gives_a_tip_with_title_note_and_value(make: Made, qtbot: QtBot) -> None:
    diagram = make()
    diagram.set_colors({CONV: 0.0021}, "Time", "s")
    diagram.set_marks({CONV: ("breakpoint", "current")})
    tip = diagram.tip(QPointF(middle(diagram, CONV)))
    for words in (
        "conv1 · conv2d",
        "N×64×56×56",
        "Time: 2.1\u2009ms",
        "Breakpoint",
        "Next to run",
        "forward",
    ):
        assert words in tip
    assert "Time: not measured" in diagram.tip(QPointF(middle(diagram, BLOCK)))
    box = diagram.box_rect(0)
    between = QPointF(box.center().x(), box.bottom() + 8)
    assert diagram.tip(between) == "<b>N×64×56×56</b><br>image → conv1 · conv2d"
    assert diagram.tip(QPointF(3, 3)) == ""


def test_texts_for_screen_readers(make: Made) -> None:
    diagram = make()
    assert diagram.accessibleName() == "Diagram of the Program"
    assert "13 boxes, 14 connections, 2 opened groups" in diagram.accessibleDescription()
    diagram.select([BLOCK])
    assert "Selected: layer1.1, Layer, forward, 12 operators, Closed" in diagram.accessibleDescription()
    diagram.set_colors({CONV: 1.0}, "Memory", "B")
    assert "Coloured by Memory" in diagram.accessibleDescription()


def test_an_empty_diagram_says_why(make: Made) -> None:
    diagram = make(empty_scene())
    diagram.set_message("The model has no Program yet: run it once.")
    assert diagram.accessibleDescription() == "The model has no Program yet: run it once."
    image = diagram.grab().toImage()
    ground = QColor("#F6F7F9")
    assert any(image.pixelColor(x, image.height() // 2) != ground for x in range(200, 700))


def test_a_short_layout_shows_no_note(make: Made, qtbot: QtBot) -> None:
    diagram = make()
    quiet = diagram.grab().toImage()
    diagram.set_busy("Laying out…")
    qtbot.wait(60)
    assert diagram.grab().toImage() == quiet
    diagram.set_busy("")
    qtbot.wait(150)
    assert diagram.grab().toImage() == quiet
    diagram.set_busy("Laying out…")
    qtbot.wait(250)
    assert diagram.grab().toImage() != quiet
    diagram.set_busy("")
    qtbot.waitUntil(lambda: diagram.grab().toImage() == quiet, timeout=2000)


def test_marks_are_checked_and_painted(make: Made, qtbot: QtBot) -> None:
    diagram = make()

    def image() -> QImage:
        diagram.repaint()
        qtbot.waitUntil(lambda: diagram.is_sharp)
        return diagram.grab().toImage()

    plain = image()
    for mark in MARKS:
        diagram.set_marks({CONV: mark})
        assert image() != plain
    diagram.set_marks({})
    assert image() == plain
    with pytest.raises(ValueError, match="unknown mark: 'wrong'"):
        diagram.set_marks({CONV: "wrong"})


def test_the_image_becomes_sharp_after_a_zoom(make: Made, qtbot: QtBot) -> None:
    diagram = make(layered_scene(600, 30))
    qtbot.waitUntil(lambda: diagram.is_sharp)
    settled = list[bool]()
    diagram.view_settled.connect(lambda: settled.append(True))
    diagram.zoom_by(1.4)
    assert not diagram.is_sharp
    qtbot.waitUntil(lambda: diagram.is_sharp)
    assert settled


def test_images_of_the_view_and_of_the_whole(make: Made, tmp_path: object) -> None:
    diagram = make(layered_scene(200, 10))
    diagram.set_colors({0: 1.0, 1: 20.0}, "Time", "s")
    view, whole = (QImage.fromData(diagram.png_content(whole)) for whole in (False, True))
    assert (view.width(), view.height()) == (1800, 1400)
    assert whole.width() == pytest.approx(2 * (diagram.scene().width + 48), abs=2)
    assert whole.height() > 2 * diagram.scene().height
    image = QImage(300, 200, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.black)
    painter = QPainter(image)
    diagram.paint_into(painter, QRect(0, 0, 300, 200), whole=True)
    painter.end()
    colors = {image.pixelColor(x, 60).name() for x in range(300)}
    assert len(colors) > 5


def test_any_scene_is_painted(make: Made) -> None:
    made = SceneBuilder()
    made.box((0, 0, 1, 1), "x" * 100_000, "y" * 100_000)
    made.box((1e6, 1e6, 300, 40), "", "")
    made.edge(0, 1, "z" * 100_000)
    made.box((5, 5, 0, 0), "nothing")
    diagram = make(made.scene())
    diagram.set_colors({0: float("inf"), 1: float("nan"), 2: 0.0}, "t" * 1000, "s", "log")
    diagram.grab()
    diagram.fit()
    diagram.grab()
    diagram.center_on(1)
    diagram.grab()
    assert np.isfinite([diagram.view().x, diagram.view().y, diagram.view().zoom]).all()


def test_more_is_no_group_but_has_a_square(make: Made) -> None:
    diagram = make()
    assert diagram.scene().kinds[MORE_BOX] == MORE
    assert not diagram.toggle_rect(MORE_BOX).isEmpty()


def test_an_image_is_made_while_the_window_lives(make: Made, qtbot: QtBot) -> None:
    diagram = make(layered_scene(60, 6))
    contents = list[bytes]()
    diagram.make_png(True, contents.append)
    diagram.make_png(False, contents.append)
    assert diagram.is_making_png
    qtbot.waitUntil(lambda: not diagram.is_making_png, timeout=10_000)
    for content, whole in zip(contents, (True, False), strict=True):
        assert QImage.fromData(content) == QImage.fromData(diagram.png_content(whole))


def test_buttons_zoom_and_fit(make: Made, qtbot: QtBot) -> None:
    diagram = make(layered_scene(400, 20))
    buttons = {button.accessibleName(): button for button in diagram.findChildren(QToolButton)}
    before = diagram.view().zoom
    qtbot.mouseClick(buttons["Zoom in"], LEFT)
    assert diagram.view().zoom == pytest.approx(before * 1.25)
    qtbot.mouseClick(buttons["Zoom out"], LEFT)
    assert diagram.view().zoom == pytest.approx(before)
    qtbot.mouseClick(buttons["Show all"], LEFT)
    assert diagram.minimap_rect().isEmpty()
    diagram.set_scene(None)
    assert not buttons["Zoom in"].isVisible()


def test_a_low_diagram_has_a_small_legend_and_a_click_changes_it(make: Made, qtbot: QtBot) -> None:
    diagram = make(high=330)
    assert diagram.legend_rect().isEmpty()
    diagram.set_colors({FRAME: 1.0, CONV: 1000.0}, "Time", "s")
    small = diagram.legend_rect()
    assert 0 < small.height() <= 24
    assert diagram.rect().contains(small.toAlignedRect())
    diagram.grab()
    assert "legend" in diagram.tip(small.center())
    qtbot.mouseClick(diagram, LEFT, NONE, small.center().toPoint())
    large = diagram.legend_rect()
    assert large.height() > 2 * small.height()
    action = next(each for each in diagram.menu().actions() if each.text() == "Small legend")
    assert not action.isChecked()
    action.trigger()
    assert diagram.legend_rect() == small
    labels = [f"a long name of a label, number {place}" for place in range(6)]
    diagram.set_colors({FRAME: 0.0, CONV: 5.0}, "Data type", labels=labels)
    assert diagram.legend_rect().width() < 0.7 * diagram.width()
    diagram.grab()
    tall = make(high=700)
    tall.set_colors({FRAME: 1.0, CONV: 1000.0}, "Time", "s")
    assert not tall.has_small_legend


def test_others_add_to_the_menu_of_a_node(make: Made, qtbot: QtBot) -> None:
    diagram = make()
    asked, nodes = list[int](), list[int]()
    diagram.menu_opening.connect(lambda menu, node: (menu.addAction("Break here"), nodes.append(node)))
    diagram.activated.connect(asked.append)
    menu = diagram.menu(BLOCK)
    actions = {action.text(): action for action in menu.actions() if action.text()}
    assert list(actions)[:2] == ["Open", "Break here"]
    assert not actions["Fit selection"].isEnabled()
    actions["Open"].trigger()
    assert (asked, nodes) == ([BLOCK], [BLOCK])
    assert "Open" not in [action.text() for action in diagram.menu().actions()]
    qtbot.mouseClick(diagram, Qt.MouseButton.RightButton, pos=middle(diagram, CONV))


def test_the_ground_of_a_frame_is_for_dragging(make: Made, qtbot: QtBot) -> None:
    diagram = make()
    asked = list[int]()
    diagram.activated.connect(asked.append)
    frame = diagram.box_rect(FRAME)
    inside = QPoint(round(frame.right()) - 8, round(frame.center().y()))
    diagram.select([CONV])
    qtbot.mouseDClick(diagram, LEFT, pos=inside)
    qtbot.mouseClick(diagram, LEFT, pos=inside)
    assert (asked, diagram.selection()) == ([], [])
    title = QPoint(round(frame.center().x()), round(frame.top() + 8))
    qtbot.mouseClick(diagram, LEFT, pos=title)
    assert diagram.selection() == [FRAME]
    qtbot.mouseDClick(diagram, LEFT, pos=title)
    assert asked == [FRAME]


def test_an_old_image_stays_until_the_next_one_is_complete(make: Made, qtbot: QtBot) -> None:
    diagram = make(layered_scene(900, 30))
    diagram.center_on(450)
    qtbot.waitUntil(lambda: diagram.is_sharp)
    before = diagram.grab().toImage()
    diagram.set_marks({450: "current"})
    assert not diagram.is_sharp
    qtbot.waitUntil(lambda: diagram.is_sharp)
    assert diagram.grab().toImage() != before
    diagram.set_marks({})
    qtbot.waitUntil(lambda: diagram.is_sharp)
    assert diagram.grab().toImage() == before


def test_painting_imports_no_slow_module() -> None:
    """Functions of NumPy such as unique and median import ``numpy.ma``: the window would stand still."""
    code = (
        "import sys, PySide6.QtWidgets as qt; app = qt.QApplication([])\n"
        "from widgets.program_diagram import ProgramDiagram\n"
        "from widgets.program_diagram.demo import layered_scene\n"
        "diagram = ProgramDiagram(); diagram.set_scene(layered_scene(900, 30)); diagram.show()\n"
        "diagram.set_marks({5: 'added'}); diagram.select([5])\n"
        "diagram.set_colors({5: 1.0, 6: 2.0}, 'Time', 's')\n"
        "for zoom in (0.1, 0.5, 1.0):\n"
        "    diagram.zoom_by(zoom / diagram.view().zoom); diagram.grab()\n"
        "print([name for name in ('numpy.ma', 'pyqtgraph') if name in sys.modules])\n"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], check=True, cwd=root, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_titles_above_the_view_are_at_its_top_and_lead_to_their_groups(make: Made, qtbot: QtBot) -> None:
    made = SceneBuilder()
    made.box((20, 20, 400, 4000), "layer2", kind=LAYER, opened=True)
    made.box((40, 60, 360, 3900), "layer2.3", kind=LAYER, opened=True)
    made.box((100, 2000, 200, 40), "conv1")
    diagram = make(made.scene())
    diagram.center_on(2)
    places = {words: place for _, place, words in diagram._crumbs().places}
    assert list(places) == ["layer2", "layer2.3"]
    qtbot.mouseClick(diagram, LEFT, pos=places["layer2.3"].center().toPoint())
    assert diagram.selection() == [1]
    assert diagram.rect().contains(diagram.box_rect(1).topLeft().toPoint())
    assert not diagram._crumbs().places


def test_a_pinch_zooms(make: Made) -> None:
    diagram = make()
    before, at = diagram.view(), QPointF(300, 200)
    event = QNativeGestureEvent(
        Qt.NativeGestureType.ZoomNativeGesture,
        QPointingDevice.primaryPointingDevice(),
        2,
        at,
        at,
        QPointF(diagram.mapToGlobal(at)),
        0.25,
        QPointF(),
    )
    QApplication.sendEvent(diagram, event)
    assert diagram.view().zoom == pytest.approx(before.zoom * 1.25)
    assert diagram.view().to_scene(at.x(), at.y()) == pytest.approx(before.to_scene(at.x(), at.y()))


def test_the_keyboard_opens_the_menu_of_the_selected_box(make: Made, qtbot: QtBot) -> None:
    diagram = make()
    nodes = list[int]()
    diagram.menu_opening.connect(lambda menu, node: nodes.append(node))
    diagram.select([CONV])
    event = QContextMenuEvent(
        QContextMenuEvent.Reason.Keyboard, QPoint(1, 1), diagram.mapToGlobal(QPoint(1, 1))
    )
    QApplication.sendEvent(diagram, event)
    assert nodes == [CONV]
    menu = QApplication.activePopupWidget()
    assert menu is not None
    menu.close()


def test_the_edge_under_the_pointer_is_highlighted(make: Made, qtbot: QtBot) -> None:
    diagram = make()
    box = diagram.box_rect(0)
    between = QPoint(round(box.center().x()), round(box.bottom() + 5))
    plain = diagram.grab().toImage().pixelColor(between)
    qtbot.mouseMove(diagram, between)
    accent = QColor("#3B5BDB")
    assert diagram.grab().toImage().pixelColor(between) == accent != plain
    qtbot.mouseMove(diagram, QPoint(5, 5))
    assert diagram.grab().toImage().pixelColor(between) == plain


@pytest.mark.parametrize("keep", [0, None])
def test_a_tall_group_that_closes_around_the_view_comes_into_view(make: Made, keep: int | None) -> None:
    made = SceneBuilder()
    made.box((20, 20, 400, 9000), "layer2", kind=LAYER, opened=True)
    for number in range(80):
        made.box((100, 60 + 100 * number, 200, 40), f"conv{number}")
    diagram = make(made.scene())
    diagram.center_on(60)
    closed = SceneBuilder()
    closed.box((20, 20, 200, 40), "layer2", kind=LAYER)
    diagram.set_scene(closed.scene(), keep)
    assert diagram.rect().contains(diagram.box_rect(0).toRect())


@pytest.mark.parametrize("seed", range(6))
def test_random_scenes_are_painted_at_random_views(make: Made, seed: int) -> None:
    random, made = np.random.default_rng(seed), SceneBuilder()
    for _ in range(int(random.integers(1, 60))):
        place = (*random.uniform(-50, 2000, 2).tolist(), *random.uniform(0, 300, 2).tolist())
        title = "λ層\n" * int(random.integers(0, 20))
        kind, phase = int(random.integers(0, 8)), int(random.integers(0, 3))
        made.box(place, title, title[:5], kind, phase, bool(kind not in (0, 6, 7) and random.random() < 0.5))
    count = len(made.boxes)
    for _ in range(int(random.integers(0, 90))):
        begin, end = random.integers(0, count, 2).tolist()
        made.edge(begin, end, "N×64" * int(random.integers(0, 3)), float(random.normal(0, 200)))
    diagram = make(made.scene())
    diagram.set_marks({int(node): random.choice(MARKS, 2).tolist() for node in random.integers(0, count, 9)})
    for turn in range(5):
        if turn == 2:
            values = {
                int(node): float(random.normal()) * 10.0**turn for node in random.integers(0, count, 30)
            }
            diagram.set_colors(values, "Value", "", "log" if seed % 2 else "linear")
        diagram.select(random.integers(0, count, 3).tolist())
        diagram.set_view(View(*random.uniform(-900, 900, 2).tolist(), float(10 ** random.uniform(-1.5, 0.6))))
        diagram.tip(QPointF(*random.uniform(0, 700, 2).tolist()))
        assert not diagram.grab().isNull()
    assert diagram.png_content(whole=True)
