"""Texts of a diagram can be read on every ground, light and dark."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from widgets import theme
from widgets.program_diagram.demo import residual_scene
from widgets.program_diagram.painting.boxes import tinted
from widgets.program_diagram.painting.look import Paint, look
from widgets.program_diagram.painting.marks import MARKS, mark_color
from widgets.program_diagram.painting.values import NodeColors, Values
from widgets.program_diagram.scene import KINDS

THEMES: tuple[theme.Mode, ...] = ("light", "dark")


def lightness(color: QColor) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    parts = np.array([color.red(), color.green(), color.blue()]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: QColor, other: QColor) -> float:
    low, high = sorted((lightness(one), lightness(other)))
    return (high + 0.05) / (low + 0.05)


def assert_readable(paint: Paint) -> None:
    assert contrast(paint.ink, paint.fill) >= 4.5, paint.fill.name()
    assert contrast(paint.faint, paint.fill) >= 4.5, paint.fill.name()


@pytest.mark.parametrize("mode", THEMES)
def test_texts_on_kinds_and_changes_can_be_read(qapp: QApplication, mode: theme.Mode) -> None:
    theme.apply_theme(qapp, mode)
    for paint in look().kinds:
        assert_readable(paint)
        for mark in MARKS:
            assert_readable(tinted(paint, mark_color(mark)))
    assert len(look().kinds) == len(KINDS)


@pytest.mark.parametrize("mode", THEMES)
@pytest.mark.parametrize("labels", [(), ("float32", "float16", "int8"), tuple(map(str, range(20)))])
def test_texts_on_every_color_of_the_scale_can_be_read(
    qapp: QApplication, mode: theme.Mode, labels: tuple[str, ...]
) -> None:
    theme.apply_theme(qapp, mode)
    scene = residual_scene()
    positions = {node: float(node) for node in scene.ids.tolist() if not labels or node < len(labels)}
    colors = NodeColors(Values(positions, "Time", "s", "linear", labels), scene)
    paints = colors.paints()
    assert len(paints) >= 4
    for paint in paints:
        assert_readable(paint)


@pytest.mark.parametrize("mode", THEMES)
def test_ink_can_be_read_on_any_color(qapp: QApplication, mode: theme.Mode) -> None:
    theme.apply_theme(qapp, mode)
    for grey in range(256):
        for color in (QColor(grey, grey, grey), QColor(grey, 255 - grey, 128), QColor(255 - grey, 0, grey)):
            assert contrast(theme.ink_on(color), color) >= 4.5


def test_the_scale_covers_closed_boxes_and_ends_hold_what_is_beyond() -> None:
    scene = residual_scene()
    values: dict[int, float | None] = {2: 1000.0, 3: None, 4: 1.0, 5: 10.0, 6: float("inf"), 7: 0.0}
    colors = NodeColors(Values(values, "Time", "s", "log"), scene)
    codes, last = colors.codes(), len(colors.paints()) - 1
    assert codes[4] == 0
    assert codes[5] == codes[6] == last - 1
    assert codes[2] == last - 1, "a frame above the scale has its last color"
    assert codes[7] == 0, "zero is at the lower end of a logarithmic scale"
    assert codes[3] == codes[8] == last, "grey without a value"
    assert colors.text(4) == "1.0\u2009s"
    assert colors.text(3) == ""
    assert colors.some_unmeasured
