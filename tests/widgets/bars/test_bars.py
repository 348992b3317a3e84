"""Sorted bars, their widths and their words."""

from __future__ import annotations

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from widgets import theme
from widgets.bars import ProbabilityBars


@pytest.fixture
def bars(qtbot: QtBot) -> ProbabilityBars:
    widget = ProbabilityBars()
    qtbot.addWidget(widget)
    widget.resize(400, 300)
    return widget


def test_largest_first_and_ten_at_most(bars: ProbabilityBars) -> None:
    values = np.arange(12) / 66
    bars.set_probabilities(values, [f"class {i}" for i in range(12)])
    assert [label for label, _ in bars.rows()] == [f"class {i}" for i in range(11, 1, -1)]
    assert bars.rows()[0][1] == pytest.approx(11 / 66)


def test_equal_shares_keep_their_order(bars: ProbabilityBars) -> None:
    bars.set_probabilities([0.25] * 4, list("abcd"))
    assert [label for label, _ in bars.rows()] == list("abcd")


def test_width_is_the_share(bars: ProbabilityBars) -> None:
    bars.set_probabilities([0.75, 0.25], ["3", "8"])
    image = bars.grab().toImage()
    tokens = theme.current()
    middle = round(bars._row_height() / 2)
    line = [image.pixelColor(x, middle).name().upper() for x in range(image.width())]
    filled, empty = line.count(tokens.accent), line.count(tokens.track)
    assert filled / (filled + empty) == pytest.approx(0.75, abs=0.02)


def test_words_for_who_can_not_see(bars: ProbabilityBars) -> None:
    assert bars.accessibleDescription() == "No prediction yet"
    bars.set_probabilities([0.016, 0.984], ["3", "8"])
    assert bars.accessibleDescription() == "8 98.40\u2009%, 3 1.60\u2009%"
    bars.clear()
    assert bars.rows() == []


def test_nan_is_named_not_hidden(bars: ProbabilityBars) -> None:
    bars.set_probabilities([np.nan, 0.5], ["a", "b"])
    assert bars.rows()[0] == ("b", 0.5)
    assert bars.accessibleDescription().endswith("a NaN")
    bars.grab()


def test_labels_must_match(bars: ProbabilityBars) -> None:
    with pytest.raises(ValueError, match=r"shape \(2,\), 3 labels"):
        bars.set_probabilities([0.5, 0.5], ["a", "b", "c"])
