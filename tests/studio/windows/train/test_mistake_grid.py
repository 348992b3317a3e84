"""The grid of the hardest samples: it fills its room, and a click or Return selects one."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.windows.train.mistake_grid import SMALLEST, MistakeGrid
from studio.windows.train.sample_images import Sample


def samples(count: int) -> list[Sample]:
    image = np.zeros((28, 28), np.uint8)
    return [Sample(image, str(i % 10), str((i + 1) % 10), 0.01, 100 + i) for i in range(count)]


@pytest.fixture
def hardest(qtbot: QtBot) -> MistakeGrid:
    widget = MistakeGrid()
    qtbot.addWidget(widget)
    widget.resize(340, 230)
    widget.set_samples(samples(40))
    widget.show()
    return widget


@pytest.mark.styled
@pytest.mark.parametrize(("width", "height"), [(200, 140), (340, 230), (800, 300), (1600, 700)])
@pytest.mark.parametrize("count", [6, 40])
def test_images_fill_the_card(hardest: MistakeGrid, width: int, height: int, count: int) -> None:
    hardest.resize(width, height)
    hardest.set_samples(samples(count))
    cells = hardest.cells()
    assert min(box.left() for box in cells) >= 0
    assert max(box.right() for box in cells) <= width
    assert all(box.width() >= SMALLEST for box in cells)
    if count == 40:
        across, down = (max(box.right() for box in cells), max(box.bottom() for box in cells))
        assert across > 0.85 * width
        assert down > 0.75 * height


def test_a_click_and_return_tell_the_image(hardest: MistakeGrid, qtbot: QtBot) -> None:
    with qtbot.waitSignal(hardest.chosen) as outcome:
        qtbot.mouseClick(hardest, Qt.MouseButton.LeftButton, pos=hardest.cells()[8].center().toPoint())
    assert outcome.args == [8]
    assert hardest.accessibleDescription().startswith("9 of 40: Test image 108: a 8 read as 9")
    hardest.setFocus()
    qtbot.waitUntil(hardest.hasFocus)
    qtbot.keyClick(hardest, Qt.Key.Key_Left)
    with qtbot.waitSignal(hardest.chosen) as outcome:
        qtbot.keyClick(hardest, Qt.Key.Key_Return)
    assert outcome.args == [7]


ROW = [["size", "113.2"], ["rooms", "4"], ["a column of a long name", "Bonn"]]


def test_rows_of_a_table_are_large_enough_to_read_and_complete_in_words(hardest: MistakeGrid) -> None:
    image = hardest.grab().toImage()
    hardest.set_samples([Sample(ROW, "yes", "no", 0.25, place) for place in range(40)])
    assert all(box.width() >= 100 for box in hardest.cells())
    assert hardest.describe(hardest.samples()[3]) == (
        "Test sample 3: yes read as no; the model gives 25.00 % to yes\n"
        "size: 113.2\nrooms: 4\na column of a long name: Bonn"
    ).replace("25.00 %", "25.00\u2009%")
    assert hardest.grab().toImage() != image


def test_a_sequence_is_drawn_as_a_curve(hardest: MistakeGrid) -> None:
    values = np.linspace(0, 1, 20, dtype=np.float32)[:, None]
    for each, high_at_left in ((values, False), (values[::-1], True)):
        hardest.set_samples([Sample(each, "up", "down", 0.5)])
        box = hardest.cells()[0].toRect()
        image = hardest.grab().toImage()
        half = box.width() // 2
        upper, lower = (
            {image.pixel(box.x() + x, box.y() + y) for x in range(20, half - 10) for y in rows}
            for rows in (range(10, half), range(half, box.height() - 10))
        )
        assert (len(upper) > 1, len(lower) > 1) == (high_at_left, not high_at_left)
    assert hardest.describe(hardest.samples()[0]).startswith("Test sample 0: up read as down")
