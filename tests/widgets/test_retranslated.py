"""Retranslated calls ``retranslate`` when the language changes, and for no other change."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QDialog, QFrame, QLabel, QWidget

from widgets.retranslated import Retranslated


@pytest.mark.parametrize("base", [QWidget, QFrame, QDialog, QLabel])
def test_a_change_of_the_language_sets_the_texts_again(qtbot: Any, base: type[QWidget]) -> None:
    seen: list[str] = []

    class Shown(Retranslated, base):  # type: ignore[misc, valid-type]
        def retranslate(self) -> None:
            seen.append("language")

    widget = Shown()
    qtbot.addWidget(widget)
    QApplication.sendEvent(widget, QEvent(QEvent.Type.FontChange))
    assert seen == []
    QApplication.sendEvent(widget, QEvent(QEvent.Type.LanguageChange))
    assert seen == ["language"]


def test_a_widget_without_texts_raises_an_error(qtbot: Any) -> None:
    class Silent(Retranslated, QWidget):
        pass

    widget = Silent()
    qtbot.addWidget(widget)
    with pytest.raises(NotImplementedError):
        widget.changeEvent(QEvent(QEvent.Type.LanguageChange))
