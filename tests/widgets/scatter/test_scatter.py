"""Points over two axes."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from widgets.scatter import ScatterPlot


@pytest.fixture
def plot(qtbot: QtBot) -> ScatterPlot:
    made = ScatterPlot()
    qtbot.addWidget(made)
    made.resize(209, 238)
    made.set_titles("true", "predicted")
    return made


def test_equal_numbers_are_on_the_diagonal(plot: ScatterPlot) -> None:
    plot.set_points([0.0, 5.0, 10.0, np.nan], [0.0, 5.0, 10.0, 3.0])
    assert plot.places().tolist() == [[4.5, 220.0], [104.5, 120.0], [204.5, 20.0]]
    assert plot.accessibleName() == "predicted over true: 3 points"
    assert plot.words_at(QPointF(104, 121)) == "true 5, predicted 5"
    assert plot.words_at(QPointF(20, 60)) == ""
    assert plot.grab().toImage().pixelColor(103, 120) != plot.grab().toImage().pixelColor(60, 60)


def test_residuals_are_above_and_below_the_middle(plot: ScatterPlot) -> None:
    plot.set_points([1.0, 2.0, 3.0], [0.0, -2.0, 1.0], line="zero")
    assert plot.places()[:, 1].tolist() == [120.0, 220.0, 70.0]


def test_lists_of_different_lengths_are_refused(plot: ScatterPlot) -> None:
    with pytest.raises(ValueError, match="same length"):
        plot.set_points([1.0], [1.0, 2.0])


def test_one_point_and_none_are_drawn(plot: ScatterPlot) -> None:
    plot.set_points([2.0], [2.0])
    assert plot.places().tolist() == [[104.5, 120.0]]
    plot.grab()
    plot.set_points([], [])
    assert plot.accessibleName() == "nothing yet"
    plot.grab()
