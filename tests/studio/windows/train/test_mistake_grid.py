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
