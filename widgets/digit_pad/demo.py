"""`python -m widgets.digit_pad.demo`: draw, and see the drawing in small."""

from __future__ import annotations

import sys

import numpy as np
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QWidget

from widgets.cards import Card
from widgets.demo import run_demo
from widgets.digit_pad import DigitPad, PixelView


def draw(pad: DigitPad, points: list[tuple[float, float]]) -> None:
    """Draw a stroke with the mouse, in fractions of the pad."""
    types, left = QEvent.Type, Qt.MouseButton.LeftButton
    kinds = [types.MouseButtonPress, *[types.MouseMove] * (len(points) - 1), types.MouseButtonRelease]
    for kind, (x, y) in zip(kinds, [*points, points[-1]], strict=True):
        at = QPointF(x * pad.width(), y * pad.height())
        keys = Qt.KeyboardModifier.NoModifier
        QApplication.sendEvent(pad, QMouseEvent(kind, at, pad.mapToGlobal(at), left, left, keys))


def shrunk(array: np.ndarray, side: int = 28) -> np.ndarray:
    """The mean of each of side x side squares."""
    size = array.shape[0] // side
    return array[: side * size, : side * size].reshape(side, size, side, size).mean(axis=(1, 3))


def make() -> QWidget:
    """The pad with its buttons, and the drawing in small next to it."""
    page = QWidget()
    layout = QHBoxLayout(page)
    left, right = Card("Draw"), Card("The drawing in small", "28 by 28")
    pad, view = DigitPad(), PixelView()
    pad.changed.connect(lambda array: view.set_image(shrunk(array)))
    buttons = QHBoxLayout()
    for text, action in (("Clear", pad.clear), ("Undo", pad.undo)):
        button = QPushButton(text)
        button.clicked.connect(action)
        buttons.addWidget(button)
    buttons.addStretch()
    left.body.addWidget(pad, 1)
    left.body.addLayout(buttons)
    right.body.addWidget(view)
    layout.addWidget(left, 3)
    layout.addWidget(right, 2)
    pad.resize(300, 300)
    upper = [(0.5 + 0.17 * np.cos(t), 0.33 + 0.14 * np.sin(t)) for t in np.linspace(-2.4, 1.5, 20)]
    lower = [(0.5 + 0.2 * np.cos(t), 0.64 + 0.17 * np.sin(t)) for t in np.linspace(-1.5, 2.6, 24)]
    draw(pad, upper + lower)
    return page


if __name__ == "__main__":
    sys.exit(run_demo(make, "Digit pad"))
