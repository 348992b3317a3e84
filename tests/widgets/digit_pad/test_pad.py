"""Drawing, taking back, dropping, and the pixels that come out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from widgets import theme
from widgets.digit_pad import DigitPad, PixelView


@pytest.fixture
def pad(qtbot: QtBot) -> DigitPad:
    widget = DigitPad()
    qtbot.addWidget(widget)
    widget.resize(284, 284)
    widget.show()
    return widget


def draw(qtbot: QtBot, pad: DigitPad, *points: tuple[int, int], button=Qt.MouseButton.LeftButton) -> None:
    """A stroke through points of the image (the pad has a border of 2 pixels)."""
    places = [QPoint(x + 2, y + 2) for x, y in points]
    qtbot.mousePress(pad, button, pos=places[0])
    for place in places[1:]:
        qtbot.mouseMove(pad, place)
    qtbot.mouseRelease(pad, button, pos=places[-1])


def test_a_stroke_is_ink_where_the_mouse_went(pad: DigitPad, qtbot: QtBot) -> None:
    pad.set_brush(20)
    draw(qtbot, pad, (60, 140), (140, 140), (220, 140))
    ink = pad.array()
    assert ink.shape == (280, 280)
    assert ink.dtype == np.float32
    assert (ink.min(), ink.max()) == (0, 1)
    assert ink[140, 60:221].min() == 1
    assert ink[155:, :].max() == 0
    assert np.count_nonzero(ink[:, 140] > 0.5) == pytest.approx(20, abs=1)


def test_a_click_is_a_dot(pad: DigitPad, qtbot: QtBot) -> None:
    draw(qtbot, pad, (100, 50))
    ink = pad.array()
    assert ink[50, 100] == 1
    assert ink.sum() == pytest.approx(np.pi * 11**2, rel=0.05)


def test_the_right_button_rubs_out(pad: DigitPad, qtbot: QtBot) -> None:
    draw(qtbot, pad, (60, 140), (140, 140), (220, 140))
    draw(qtbot, pad, (140, 100), (140, 140), (140, 180), button=Qt.MouseButton.RightButton)
    ink = pad.array()
    assert ink[140, 140] == 0
    assert ink[140, 70] == 1


def test_changes_are_throttled_and_the_end_is_emitted(pad: DigitPad, qtbot: QtBot) -> None:
    seen: list[np.ndarray] = []
    pad.changed.connect(seen.append)
    draw(qtbot, pad, *[(40 + i, 100) for i in range(150)])
    assert 2 <= len(seen) < 150
    np.testing.assert_array_equal(seen[-1], pad.array())


def test_undo_takes_back_strokes_wipes_and_images(pad: DigitPad, qtbot: QtBot) -> None:
    assert not pad.can_undo()
    draw(qtbot, pad, (50, 50), (90, 50))
    first = pad.array()
    draw(qtbot, pad, (50, 200), (90, 200))
    second = pad.array()
    pad.set_image(np.ones((28, 28)))
    pad.clear()
    assert pad.is_empty()
    pad.undo()
    assert pad.array().min() == 1
    pad.undo()
    np.testing.assert_array_equal(pad.array(), second)
    qtbot.keyClick(pad, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    np.testing.assert_array_equal(pad.array(), first)
    pad.undo()
    assert pad.is_empty()
    assert not pad.can_undo()


def test_an_image_is_shown_whole(pad: DigitPad, qtbot: QtBot) -> None:
    pixels = np.zeros((10, 20))
    pixels[:, 10:] = 0.5
    with qtbot.waitSignal(pad.changed):
        pad.set_image(pixels)
    ink = pad.array()
    assert ink[140, 200] == pytest.approx(0.5, abs=0.01)
    assert ink[140, 50] == 0
    assert ink[60:, :][:9].max() == 0 or ink[:69].max() == 0
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        pad.set_image(np.zeros(3))


def drop(pad: DigitPad, data: QMimeData) -> bool:
    action, left, keys = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(20, 20), action, data, left, keys)
    QApplication.sendEvent(pad, enter)
    if enter.isAccepted():
        QApplication.sendEvent(pad, QDropEvent(QPointF(20, 20), action, data, left, keys))
    return enter.isAccepted()


@pytest.mark.filterwarnings("ignore:.*QDragEnterEvent:DeprecationWarning")  # Qt 6.12 has another constructor
def test_only_local_files_can_be_dropped(pad: DigitPad, qtbot: QtBot) -> None:
    seen: list[str] = []
    pad.image_dropped.connect(seen.append)
    text, web, file = QMimeData(), QMimeData(), QMimeData()
    text.setText("/etc/passwd")
    web.setUrls([QUrl("https://example.org/three.png")])
    file.setUrls([QUrl.fromLocalFile("/tmp/three.png")])
    assert [drop(pad, data) for data in (text, web, file)] == [False, False, True]
    assert seen == ["/tmp/three.png"]


def test_the_pad_stays_square_and_maps_its_scale(pad: DigitPad, qtbot: QtBot) -> None:
    pad.resize(604, 564)
    qtbot.mousePress(pad, Qt.MouseButton.LeftButton, pos=QPoint(302, 282))
    qtbot.mouseRelease(pad, Qt.MouseButton.LeftButton, pos=QPoint(302, 282))
    rows, columns = np.nonzero(pad.array())
    assert rows.mean() == pytest.approx(139.5, abs=1)
    assert columns.mean() == pytest.approx(139.5, abs=1)


def test_the_pad_is_dark_in_both_themes(pad: DigitPad, qapp: QApplication, qtbot: QtBot) -> None:
    draw(qtbot, pad, (140, 140))
    for mode in ("light", "dark"):
        theme.apply_theme(qapp, mode)
        image = pad.grab().toImage()
        assert image.pixelColor(30, 30).name().upper() == theme.current().canvas
        assert image.pixelColor(142, 142).name().upper() == theme.current().ink


def test_pixel_view_draws_hard_pixels(qtbot: QtBot) -> None:
    view = PixelView()
    qtbot.addWidget(view)
    view.resize(200, 210)
    pixels = np.zeros((28, 28))
    pixels[14, 14] = 1
    view.set_image(pixels)
    image = view.grab().toImage()
    # 28 pixels of 7 device pixels: 196 wide, from (2, 7) on.
    colors = {image.pixelColor(2 + 14 * 7 + dx, 7 + 14 * 7 + dy).name() for dx in range(7) for dy in range(7)}
    assert colors == {theme.current().ink.lower()}
    assert image.pixelColor(2 + 15 * 7, 7 + 14 * 7 + 3).name() == theme.current().canvas.lower()
    with pytest.raises(ValueError, match="2-d"):
        view.set_image(np.zeros((1, 28, 28)))


EDITS = st.sampled_from(["stroke", "dot", "image", "clear", "nothing"])


@settings(max_examples=20, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(EDITS, st.integers(0, 279), st.integers(0, 279)), max_size=6))
def test_undoing_restores_every_drawing(
    pad: DigitPad, qtbot: QtBot, edits: list[tuple[str, int, int]]
) -> None:
    while pad.can_undo():
        pad.undo()
    before = [pad.array()]
    for edit, x, y in edits:
        if edit == "stroke":
            draw(qtbot, pad, (x, y), (y, x), (140, 140))
        elif edit == "dot":
            draw(qtbot, pad, (x, y))
        elif edit == "image":
            pad.set_image(np.full((1 + x % 5, 1 + y % 7), 0.7))
        elif edit == "clear":
            pad.clear()
        if not np.array_equal(pad.array(), before[-1]):
            before.append(pad.array())
    while pad.can_undo():
        pad.undo()
        if not np.array_equal(pad.array(), before[-1]):
            before.pop()
        assert np.array_equal(pad.array(), before[-1])
    assert len(before) == 1
