"""The map over an image, the bars of a row, and the legend of both."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QColor, QFontMetricsF, QImage
from pytestqt.qtbot import QtBot

from resources.color_map import ABOVE, BELOW
from widgets import theme
from widgets.attribution import ColumnBars, MapView, ShadeLegend, Shades
from widgets.attribution.legend import BAR_HIGH

IMAGE = np.zeros((4, 4), np.float32)
MAP = np.array([[1, 0, 0, -1], [0, 0, 0, 0], [0, 0, 0, 0], [np.nan, 0, 0, 0.5]], np.float32)


def grabbed(view: MapView, row: int, column: int) -> QColor:
    """The colour in the middle of a pixel of a map of 4 by 4."""
    side = view.width() // 4
    return view.grab().toImage().pixelColor(column * side + side // 2, row * side + side // 2)


@pytest.fixture
def view(qtbot: QtBot) -> MapView:
    view = MapView(alone=True)
    qtbot.addWidget(view)
    view.resize(80, 80)
    view.show()
    view.show_map(IMAGE, MAP)
    return view


def test_the_strongest_values_have_the_full_colours(view: MapView) -> None:
    assert grabbed(view, 0, 0) == QColor(ABOVE)
    assert grabbed(view, 0, 3) == QColor(BELOW)
    ground, half, full = (grabbed(view, *at).red() for at in ((1, 1), (3, 3), (0, 0)))
    assert abs(half - (ground + full) / 2) <= 2


def test_opacity_mixes_the_map_with_the_image(qtbot: QtBot) -> None:
    view = MapView()
    qtbot.addWidget(view)
    view.resize(80, 80)
    view.show_map(np.ones((4, 4, 3), np.float32), MAP)
    view.set_opacity(0.0)
    assert grabbed(view, 0, 0) == QColor("#FFFFFF")
    view.set_opacity(1.0)
    assert grabbed(view, 0, 0) == QColor(ABOVE)
    with pytest.raises(ValueError, match="between 0 and 1"):
        view.set_opacity(1.5)


def test_values_that_were_not_computed_are_hatched_and_named(view: MapView) -> None:
    image = view.grab().toImage()
    colors = {image.pixelColor(x, y).name() for x in range(1, 19) for y in range(61, 79)}
    assert len(colors) > 1
    assert "not computed" in view.pixel_text(3, 0)
    assert view.pixel_text(3, 3) == "row 3, column 3: 0.5"
    assert view.accessibleDescription() == "Values from −1 to 1; the largest is in row 0, column 0."


def test_a_map_of_another_shape_is_refused(view: MapView) -> None:
    with pytest.raises(ValueError, match=r"image \(4, 4\), map \(3, 3\)"):
        view.set_map(np.zeros((3, 3)))


def test_a_saved_map_is_large_enough_to_be_seen(view: MapView) -> None:
    image = QImage.fromData(view.file_content(), "PNG")
    assert image.width() == image.height() == 512
    assert image.pixelColor(10, 10) == QColor(ABOVE)


def test_shades_of_many_values_do_not_follow_one_outlier() -> None:
    values = np.full((40, 40), 0.5)
    values[0, 0] = 1000.0
    assert Shades.of(values) == Shades(0.5, False)
    assert Shades.of([]) == Shades(0.0, False)
    assert Shades.of([np.nan, -2.0, 1.0]) == Shades(2.0, True)
    assert Shades(2.0, True).share(-4.0) == -1.0


def test_the_legend_says_what_the_ends_mean(qtbot: QtBot) -> None:
    legend = ShadeLegend()
    qtbot.addWidget(legend)
    legend.show_shades(Shades(0.5, True))
    assert legend.words() == ("against, −0.5", "for, 0.5")
    legend.show_shades(Shades(0.25, False))
    assert legend.words() == ("no influence", "most, 0.25")


def test_the_legend_has_room_for_chinese_words(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    legend = ShadeLegend()
    qtbot.addWidget(legend)
    monkeypatch.setattr(legend, "tr", lambda text, *_: "\u53cd\u5bf9" if "against" in text else text)
    legend.show_shades(Shades(0.5, True))
    high = QFontMetricsF(theme.font(theme.SECTION_PX)).boundingRect("\u53cd\u5bf9").height()
    assert legend.words()[0] == "\u53cd\u5bf9"
    assert legend.sizeHint().height() >= round(BAR_HIGH + high)


def test_bars_go_from_the_middle_where_a_column_speaks_against(qtbot: QtBot) -> None:
    bars = ColumnBars()
    qtbot.addWidget(bars)
    bars.set_rows([("a", "1", 2.0), ("b", "2", -2.0), ("c", "3", float("nan"))])
    bars.resize(300, bars.sizeHint().height())
    image = bars.grab().toImage()
    height = image.height() // 3
    lines = [
        [image.pixelColor(x, n * height + height // 2).name().upper() for x in range(300)] for n in range(3)
    ]
    assert ABOVE in lines[0]
    assert BELOW not in lines[0]
    assert BELOW in lines[1]
    assert ABOVE not in lines[1]
    assert lines[0].index(ABOVE) > lines[1].index(BELOW)
    assert not {ABOVE, BELOW} & set(lines[2])
    assert bars.accessibleDescription() == "a 2, b −2"
    assert QImage.fromData(bars.file_content(), "PNG").width() == 600


def test_bars_without_signs_begin_at_the_left(qtbot: QtBot) -> None:
    bars = ColumnBars()
    qtbot.addWidget(bars)
    bars.set_rows([("a", "1", 2.0), ("b", "2", 1.0)])
    bars.resize(300, bars.sizeHint().height())
    image = bars.grab().toImage()
    lines = [
        [image.pixelColor(x, round((n + 0.5) * image.height() / 2)).name().upper() for x in range(300)]
        for n in range(2)
    ]
    assert abs(lines[0].index(ABOVE) - lines[1].index(ABOVE)) <= 1
    assert lines[0].count(ABOVE) == pytest.approx(2 * lines[1].count(ABOVE), abs=4)
