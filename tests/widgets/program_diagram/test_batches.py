"""Arrays of lines and rectangles are drawn as the objects of Qt would be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter

from widgets.program_diagram.painting.batches import draw_lines, draw_rects


def drawn(paint: Callable[[QPainter], None]) -> QImage:
    image = QImage(200, 100, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    paint(painter)
    painter.end()
    return image


def test_batches_are_the_same_as_single_calls() -> None:
    numbers = np.random.default_rng(0).uniform(0, 90, (50, 4))
    one_by_one = [QLineF(*row) for row in numbers.tolist()], [QRectF(*row) for row in numbers.tolist()]
    assert drawn(lambda to: draw_lines(to, numbers)) == drawn(lambda to: to.drawLines(one_by_one[0]))
    assert drawn(lambda to: draw_rects(to, numbers)) == drawn(lambda to: to.drawRects(one_by_one[1]))
    part = np.asfortranarray(numbers.astype(np.float32))[::2]
    again = [QRectF(*row) for row in part.tolist()]
    assert drawn(lambda to: draw_rects(to, part)) == drawn(lambda to: to.drawRects(again))


def test_nothing_is_drawn_of_nothing() -> None:
    blank = drawn(lambda to: None)
    assert drawn(lambda to: draw_lines(to, np.zeros((0, 4)))) == blank
    assert drawn(lambda to: draw_rects(to, np.zeros((0, 4)))) == blank
