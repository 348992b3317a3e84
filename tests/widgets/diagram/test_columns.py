"""Columns, scales, colours and what all diagrams share."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PySide6.QtCore import QObject, QSize
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from widgets import theme
from widgets.diagram import ColorScale, Column, Layer, Scale


def test_a_column_is_of_numbers_or_of_categories() -> None:
    numbers = Column.of("lr", [0.1, None, 10**400, math.nan, 2])
    assert not numbers.is_categorical
    assert numbers.known().tolist() == [True, False, False, False, True]
    assert [numbers.text_of(row) for row in range(5)] == ["0.1", "–", "∞", "–", "2"]
    words = Column.of("optimizer", ["SGD", "adam", None, "SGD", True, 3])
    assert words.labels == ("3", "adam", "SGD", "True")
    assert words.values[[0, 1, 3]].tolist() == [2, 1, 2]
    assert [words.text_of(row) for row in (0, 2)] == ["SGD", "–"]


@pytest.mark.parametrize(
    ("values", "log", "units"),
    [
        ([1.0, 2.0, 3.0], False, [0.0, 0.5, 1.0]),
        ([0.001, 0.01, 0.1], True, [0.0, 0.5, 1.0]),
        ([0.0, -1.0, 1.0, 10.0], True, [math.nan, math.nan, 0.0, 1.0]),
        ([5.0, 5.0, math.nan], False, [0.5, 0.5, math.nan]),
        ([0.0, 0.0], False, [0.5, 0.5]),
        ([3.0, math.inf, -math.inf, 4.0], False, [0.0, math.nan, math.nan, 1.0]),
        ([-1.7e308, 0.0, 1.7e308], False, [0.0, 0.5, 1.0]),
        ([0.0, 5e-324], False, [0.5, 0.5]),
        ([math.nan, math.nan], False, [math.nan, math.nan]),
    ],
)
def test_a_scale_places_values(values: list[float], log: bool, units: list[float]) -> None:
    column = Column.of("x", values)
    scale = Scale.of(column, log)
    np.testing.assert_allclose(scale.unit(column.values), units, atol=1e-12)
    np.testing.assert_allclose(scale.flip().unit(column.values), 1 - np.array(units), atol=1e-12)
    for _, words in scale.ticks(column, 6):
        assert words


@pytest.mark.parametrize(
    ("values", "log"),
    [
        ([0.001, 0.01, 0.1], True),
        ([0.001, *(each / 100 for each in range(1, 100))], False),
        ([16.0, 32.0, 64.0, 128.0], False),
        ([0.0, 0.01, 1.0], False),
        ([math.nan], False),
        (["a", "b"], False),
    ],
)
def test_an_axis_is_logarithmic_where_powers_of_ten_are(values: list[object], log: bool) -> None:
    assert Column.of("x", values).suits_log() is log


def test_values_of_a_scale_are_found_again() -> None:
    column = Column.of("x", [0.001, 0.1])
    for scale in (Scale.of(column), Scale.of(column, log=True), Scale.of(column, flipped=True)):
        for unit in (0.0, 0.3, 1.0):
            assert scale.unit(np.array([scale.value(unit)]))[0] == pytest.approx(unit, abs=1e-9)


def test_few_values_are_the_numbers_of_their_axis() -> None:
    column = Column.of("width", [16, 128, 32, 16])
    assert [words for _, words in Scale.of(column).ticks(column, 8)] == ["16", "32", "128"]
    batches = Column.of("batch size", [32, 64, 128, 256] * 6)
    assert [words for _, words in Scale.of(batches).ticks(batches, 3)] == ["32", "64", "128", "256"]
    many = Column.of("x", list(range(101)))
    assert [words for _, words in Scale.of(many).ticks(many, 6)] == ["0", "20", "40", "60", "80", "100"]
    times = Column.of("ms", [0.9 + 0.03 * place for place in range(40)], text=lambda ms: f"{ms:.2g} ms")
    marks = Scale.of(times).ticks(times, 4)
    gaps = np.diff([float(words.split()[0]) for _, words in marks])
    assert gaps == pytest.approx(gaps[0])  # 1.25 would be written as 1.2
    names = Column.of("name", [f"n{place:02}" for place in range(40)])
    assert len(Scale.of(names).ticks(names, 10)) == 10


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_colors_grow_steadily_lighter(qapp: QApplication, mode: theme.Mode) -> None:
    theme.apply_theme(qapp, mode)
    colors = ColorScale(Column.of("x", list(range(100)))).colors()[:-1]
    lightness = [theme.luminance(color) for color in colors]
    assert lightness == sorted(lightness)
    assert lightness[-1] - lightness[0] > 0.4


def test_missing_values_and_categories_have_colors_of_their_own() -> None:
    numbers = ColorScale(Column.of("x", [0.0, 1.0, math.nan, math.inf]))
    last = len(numbers.colors()) - 1
    assert numbers.codes().tolist() == [0, last - 1, last, last]
    names = ColorScale(Column.of("x", ["b", "a", None]))
    assert names.codes().tolist() == [1, 0, 2]
    assert [color.name().upper() for color in names.colors()[:2]] == [theme.run_color(0), theme.run_color(1)]


def test_a_layer_paints_in_slices(qtbot: QtBot) -> None:
    slices: list[tuple[int, int]] = []
    layer = Layer(parent := QObject(), budget=0.0)
    layer.begin(QSize(20, 20), 1.0, 120, lambda painter, start, stop: slices.append((start, stop)), first=0.0)
    assert slices == [(0, 50)]
    qtbot.waitUntil(lambda: layer.complete)
    assert slices == [(0, 50), (50, 100), (100, 120)]
    parent.deleteLater()
