"""Figures are copied as images: by the menu and by the key."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from widgets.bars import CountBars
from widgets.confusion import ConfusionMatrix
from widgets.distribution import Histogram
from widgets.plot import CurvePlot


def matrix() -> ConfusionMatrix:
    made = ConfusionMatrix()
    made.set_counts(np.array([[3, 1], [0, 4]]), ("a", "b"))
    return made


def curves() -> CurvePlot:
    made = CurvePlot("Loss")
    made.add_series("a", "train")
    made.append("a", [0, 1, 2], [3.0, 2.0, 1.0])
    return made


def clipboard() -> QImage:
    return QGuiApplication.clipboard().image()


@pytest.mark.parametrize("make", [matrix, Histogram, CountBars])
def test_the_menu_of_a_figure_copies_it(qtbot: QtBot, make: type[QWidget]) -> None:
    figure = make()
    qtbot.addWidget(figure)
    figure.resize(200, 150)
    figure.show()
    QGuiApplication.clipboard().clear()
    where = QPoint(20, 20)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, where, figure.mapToGlobal(where))
    QApplication.sendEvent(figure, event)
    menu = figure.findChild(QMenu)
    assert [action.text() for action in menu.actions()] == ["Copy image"]
    assert clipboard().isNull()
    menu.actions()[0].trigger()
    assert clipboard().width() >= 400  # twice the size of the screen


def test_the_copied_matrix_is_the_one_that_is_saved(qtbot: QtBot) -> None:
    figure = matrix()
    qtbot.addWidget(figure)
    figure.show()
    figure.setFocus()
    QTest.keyClick(figure, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard() == QImage.fromData(figure.file_content(".png"), "PNG")


def test_a_chart_is_copied_with_its_title_and_key(qtbot: QtBot) -> None:
    plot = curves()
    qtbot.addWidget(plot)
    plot.resize(500, 300)
    plot.show()
    plot.actions_bar.copying.trigger()
    first = clipboard()
    assert first == QImage.fromData(plot.image(), "PNG")
    assert first.height() > 2 * plot.chart.height()  # the title is above it
    QGuiApplication.clipboard().clear()
    QTest.keyClick(plot.chart, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard() == first
