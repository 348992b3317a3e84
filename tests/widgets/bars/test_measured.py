"""Rows with bars: their lengths, what is chosen by mouse, keys and code, and their words."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from widgets import theme
from widgets.bars import MeasuredBars, MeasuredRow

ROWS = [
    MeasuredRow("a", "conv1", (0.5,), "50"),
    MeasuredRow("b", "conv2", (1.0,), "100"),
    MeasuredRow("c", "fc", (None,), "float", faint=True),
]


@pytest.fixture
def bars(qtbot: QtBot) -> MeasuredBars:
    widget = MeasuredBars()
    qtbot.addWidget(widget)
    widget.resize(400, 120)
    widget.set_rows(ROWS)
    widget.show()
    return widget


def filled(bars: MeasuredBars, place: int) -> int:
    """How many pixels of the row's middle line have the colour of a bar."""
    image = bars.viewport().grab().toImage()
    line = bars.visualItemRect(bars.item(place)).center().y()
    accent = theme.current().accent
    return sum(image.pixelColor(x, line).name().upper() == accent for x in range(image.width()))


def test_a_bar_is_as_long_as_its_value(bars: MeasuredBars) -> None:
    assert filled(bars, 0) / filled(bars, 1) == pytest.approx(0.5, abs=0.02)
    assert filled(bars, 2) == 0
    bars.set_rows(ROWS, most=4.0)
    assert filled(bars, 0) / filled(bars, 1) == pytest.approx(0.5, abs=0.05)
    assert filled(bars, 1) < 100


def test_a_row_is_chosen_by_mouse_keys_and_code(bars: MeasuredBars, qtbot: QtBot) -> None:
    signal = QSignalSpy(bars.row_chosen)
    place = bars.visualItemRect(bars.item(1)).center()
    qtbot.mouseClick(bars.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.keyClick(bars, Qt.Key.Key_Up)
    assert [signal.at(i)[0] for i in range(signal.count())] == ["b", "a"]
    bars.choose("c")
    assert (bars.chosen(), signal.count()) == ("c", 2)
    bars.set_rows(list(reversed(ROWS)))
    assert (bars.chosen(), bars.currentRow(), signal.count()) == ("c", 0, 2)
    bars.choose("nothing")
    assert bars.chosen() == ""


def test_rows_have_words(bars: MeasuredBars, qapp: QApplication) -> None:
    words = [bars.item(i).data(Qt.ItemDataRole.AccessibleTextRole) for i in range(3)]
    assert words == ["conv1: 50", "conv2: 100", "fc: float"]
