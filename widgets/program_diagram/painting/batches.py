"""Draws arrays of lines and rectangles in one call.

A list of 2,000 objects of Qt is made in 2 ms, but then Python collects garbage, for up to 50 ms in a frame.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QPainter
from shiboken6 import Shiboken


def draw_lines(painter: QPainter, lines: NDArray[np.float64]) -> None:
    """Lines as rows of x and y of both ends."""
    memory = np.ascontiguousarray(lines, np.float64)
    if len(memory):
        first = Shiboken.wrapInstance(memory.ctypes.data, QLineF)
        assert isinstance(first, QLineF)
        painter.drawLines(first, len(memory))


def draw_rects(painter: QPainter, boxes: NDArray[np.float64]) -> None:
    """Rectangles as rows of left, top, width and height."""
    memory = np.ascontiguousarray(boxes, np.float64)
    if len(memory):
        first = Shiboken.wrapInstance(memory.ctypes.data, QRectF)
        assert isinstance(first, QRectF)
        painter.drawRects(first, len(memory))
