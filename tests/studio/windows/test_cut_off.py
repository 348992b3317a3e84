"""Nothing is cut off, in a wide window and in a small one; every control has a name."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt, QTranslator
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSlider,
    QWidget,
)

pytestmark = pytest.mark.styled

PAGES = ("train", "graph", "export", "debug", "predict")


def visible(window: QWidget, kind: Any) -> list[Any]:
    return [widget for widget in window.findChildren(kind) if widget.isVisible()]


def train(stage: Any) -> None:
    stage.start()
    stage.steps(1, 2.0, 1.5)


@pytest.fixture(scope="module")
def training(shared_stage: Any) -> Any:
    train(shared_stage)
    return shared_stage


def check(stage: Any, qtbot: Any, page: str, size: tuple[int, int]) -> None:
    stage.window.resize(*size)
    stage.studio.frame.show_page(page)
    QTest.qWait(0)
    qtbot.waitUntil(lambda: (stage.window.width(), stage.window.height()) == size)
    for area in visible(stage.window, QScrollArea):
        assert area.horizontalScrollBar().maximum() == 0, (page, area.widget())
    for button in visible(stage.window, QPushButton):
        words = button.fontMetrics().horizontalAdvance(button.text())
        assert words <= button.width(), (page, button.text())
        inside = button.mapTo(stage.window, button.rect().topRight()).x()
        assert inside <= stage.window.width(), (page, button.text())


@pytest.mark.parametrize("size", [(1280, 800), (640, 400)], ids=["1280x800", "its half"])
@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_cut_off(training: Any, qtbot: Any, page: str, size: tuple[int, int]) -> None:
    check(training, qtbot, page, size)


class Longer(QTranslator):
    """Another language: every word is 40 % longer."""

    def isEmpty(self) -> bool:
        return False

    def translate(self, context: str, text: str, note: str | None = None, number: int = -1) -> str:
        return " ".join(word + "\u00f6" * math.ceil(0.4 * len(word)) for word in text.split(" "))


@pytest.fixture
def longer(qapp: QApplication) -> Iterator[QTranslator]:
    translator = Longer()
    qapp.installTranslator(translator)
    yield translator
    qapp.removeTranslator(translator)


def test_longer_texts_fit(longer: QTranslator, stage: Any, qtbot: Any) -> None:
    assert stage.studio.actions["start"].text() == "Start\u00f6\u00f6"
    train(stage)
    for page in PAGES:
        check(stage, qtbot, page, (1280, 800))


@pytest.mark.parametrize("page", PAGES)
def test_every_control_has_a_name_and_can_be_reached(training: Any, page: str) -> None:
    stage = training
    stage.studio.frame.show_page(page)
    stage.window.show_output(0)
    controls = [
        *visible(stage.window, QAbstractButton),
        *visible(stage.window, QLineEdit),
        *visible(stage.window, QComboBox),
        *visible(stage.window, QSlider),
        *visible(stage.window, QAbstractScrollArea),
    ]
    assert len(controls) > 10
    for control in controls:
        inner = control.objectName().startswith("qt_") or control.focusPolicy() == Qt.FocusPolicy.NoFocus
        named = control.accessibleName() or getattr(control, "text", str)()
        assert inner or named, control
