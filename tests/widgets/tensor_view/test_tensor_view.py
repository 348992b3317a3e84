"""The view of one tensor asks for what is shown, and only for that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from widgets.tensor_view import Counts, Planes, Statistics, TensorView


class Asked:
    """What a view asked for."""

    def __init__(self, view: TensorView) -> None:
        self.all: list[tuple[Any, ...]] = []
        view.image_wanted.connect(lambda *of: self.all.append(("image", *of)))
        view.histogram_wanted.connect(lambda: self.all.append(("histogram",)))
        view.statistics_wanted.connect(lambda: self.all.append(("statistics",)))
        view.block_wanted.connect(lambda *of: self.all.append(("block", *of)))

    def take(self) -> list[tuple[Any, ...]]:
        found, self.all = self.all, []
        return found


@pytest.fixture
def view(qtbot: QtBot) -> TensorView:
    made = TensorView()
    qtbot.addWidget(made)
    made.resize(480, 400)
    made.show()
    return made


def test_the_view_that_is_shown_asks(view: TensorView, qtbot: QtBot) -> None:
    asked = Asked(view)
    view.set_tensor("w", (2, 3, 4), "float32")
    assert asked.take() == [("image", 0, 0)]
    for kind in ("histogram", "statistics"):
        qtbot.mouseClick(view.tabs[kind], Qt.MouseButton.LeftButton)  # type: ignore[index]
        assert asked.take() == [(kind,)]
    qtbot.mouseClick(view.tabs["image"], Qt.MouseButton.LeftButton)
    assert asked.take() == []  # it was asked for
    qtbot.mouseClick(view.tabs["table"], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(asked.all))
    assert asked.take() == [("block", 0, 6, 0, 4)]


def test_a_new_value_of_the_same_tensor_is_asked_for_at_the_same_place(view: TensorView) -> None:
    asked = Asked(view)
    view.set_tensor("w", (2, 30, 4, 4), "float32")
    view.set_planes(Planes(np.zeros((9, 4, 4), np.float32), 9, 30, 1, 2, 0, 0))
    asked.take()
    view.set_tensor("w", (2, 30, 4, 4), "float32")
    assert asked.take() == [("image", 1, 9)]
    view.set_tensor("v", (2, 30, 4, 4), "float32")
    assert asked.take() == [("image", 0, 0)]


def test_channels_and_samples_are_walked(view: TensorView, qtbot: QtBot) -> None:
    asked = Asked(view)
    view.set_tensor("w", (5, 20, 4, 4), "float32")
    view.set_planes(Planes(np.zeros((8, 4, 4), np.float32), 0, 20, 0, 5, 0, 0))
    assert not view.previous.isEnabled()
    asked.take()
    qtbot.mouseClick(view.next, Qt.MouseButton.LeftButton)
    view.set_planes(Planes(np.zeros((8, 4, 4), np.float32), 8, 20, 0, 5, 0, 0))
    qtbot.mouseClick(view.previous, Qt.MouseButton.LeftButton)
    view.sample.setValue(3)
    assert asked.take() == [("image", 0, 8), ("image", 0, 0), ("image", 3, 0)]
    view.set_planes(Planes(np.zeros((4, 4, 4), np.float32), 16, 20, 0, 5, 0, 0))
    assert not view.next.isEnabled()


def test_figures_are_shown_and_bad_ones_marked(view: TensorView) -> None:
    view.set_tensor("w", (10,), "float32")
    view.show_kind("statistics")
    view.set_statistics(Statistics(10, 1, 0, 2, 3, -1.0, 2.0, 0.5, 1.0, 40))
    texts = view.statistics.texts()
    assert texts["NaN"] == "1 (10.00\u2009%)"
    assert texts["+\u221e"] == "0"
    assert texts["Zero"] == "3 (30.00\u2009%)"
    assert (texts["Minimum"], texts["Memory"]) == ("\u22121", "40\u2009B")
    view.set_statistics(Statistics(2, 2))
    assert view.statistics.texts()["Mean"] == "\u2013"


def test_a_histogram_is_shown(view: TensorView) -> None:
    view.set_tensor("w", (10,), "float32")
    view.show_kind("histogram")
    view.set_histogram(Counts(0.0, 1.0, (4, 5), 1))
    assert view.histogram.counts() == (4, 5)
    assert "1 not finite" in view.histogram.accessibleName()


def test_an_index_leads_to_its_cell(view: TensorView, qtbot: QtBot) -> None:
    view.set_tensor("w", (40, 50), "float32")
    view.show_kind("table")
    qtbot.keyClicks(view.index, "[39, 7]")
    qtbot.keyClick(view.index, Qt.Key.Key_Return)
    assert view.table.current() == (39, 7)
    view.index.setText("40, 0")
    qtbot.keyClick(view.index, Qt.Key.Key_Return)
    assert view.table.current() == (39, 7)


def test_without_a_tensor_the_reason_is_shown(view: TensorView) -> None:
    asked = Asked(view)
    view.set_tensor("w", (2, 3), "float32")
    view.clear("It is computed again.")
    assert (view.name(), view.note()) == ("", "It is computed again.")
    asked.take()
    view.show_kind("histogram")
    assert asked.take() == []
