"""Curves of sequences on the page Data follow the theme."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from studio.windows.data.curve_image import CurveLabel, curve_pixmap
from studio.windows.data.sample_grid import SampleGrid
from studio.windows.data.tiles import SIDE, icon_of
from widgets import theme

WAVE = np.linspace(-1, 1, 9, dtype=np.float32)[:, None]


@pytest.fixture
def _light(qapp: QApplication) -> Iterator[None]:
    before = theme.mode()
    theme.apply_theme(qapp, "light")
    yield
    theme.apply_theme(qapp, before)


@pytest.mark.usefixtures("_light")
def test_tiles_and_pairs_are_drawn_in_the_colors_of_the_new_theme(qapp: QApplication, qtbot: Any) -> None:
    grid, label = SampleGrid(), CurveLabel(WAVE, 48)
    for widget in (grid, label):
        qtbot.addWidget(widget)
    grid.show_sequences([WAVE, WAVE], ["a", "b"], ["1", "2"])

    def shown() -> list[QImage]:
        return [grid.tiles.item(1).icon().pixmap(SIDE, SIDE).toImage(), label.pixmap().toImage()]

    def drawn_anew() -> list[QImage]:
        icon = icon_of(curve_pixmap(WAVE, SIDE))
        return [icon.pixmap(SIDE, SIDE).toImage(), CurveLabel(WAVE, 48).pixmap().toImage()]

    light = shown()
    assert light == drawn_anew()
    theme.apply_theme(qapp, "dark")
    assert shown() == drawn_anew()
    assert all(one != other for one, other in zip(shown(), light, strict=True))
    grid.clear()
    theme.apply_theme(qapp, "light")
    assert grid.tiles.count() == 0
