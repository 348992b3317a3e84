"""The icons of tiles: whole images in the middle of a square."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QSize

from studio.windows.data.curve_image import curve_pixmap
from studio.windows.data.tiles import SIDE, icon_of


def test_the_curve_of_a_sequence_is_whole(qapp: object) -> None:
    values = np.tile([[0.0], [1.0]], (20, 1))
    icon = icon_of(curve_pixmap(values, SIDE))
    image = icon.pixmap(QSize(SIDE, SIDE), 1.0).toImage()
    drawn = np.array([[image.pixelColor(x, y).alpha() > 0 for x in range(SIDE)] for y in range(SIDE)])
    rows, columns = np.flatnonzero(drawn.any(axis=1)), np.flatnonzero(drawn.any(axis=0))
    assert rows.min() < 6
    assert columns.min() < 6
    assert rows.max() > SIDE - 7
    assert columns.max() > SIDE - 7
