"""Texts of the window without the mark of the pseudo-translation that are not data, and those cut off."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QScrollArea, QWidget

from tests.studio.language.marked import unmarked
from tests.studio.language.texts import painted, path_of, texts
from widgets.elided import ElidedButton, ElidedLabel

# What is the same in each language, as regular expressions.
DATA = (
    r"[\u4e00-\u9fff]+",  # Qt's own texts, which its catalogue translates
    r"/\S+|NAME\S*",  # paths
    r"Le\u200b?Net(, 2nd|, lr 0\.01)?|lenet-static-\d+|digits-\u200b?lenet",  # names of runs and projects
    r"\b(MB|kB|GB|ms|min|img/s|pp|GFLOP/s|MAE)\b",  # units
    r"\b(NaN|Inf|dtype|CPU|GPU|BLAS|NumPy|CuPy|Aa|None|R²)\b",
    r"\b(Ctrl|Shift|Alt|Return|Space|Del|Home|Tab|Esc|F\d+)\b(\+\S+)?",  # keys
    r"\([a-z_0-9]+\)(?=$|\n)",  # the name of a setting, behind its help
)
MARKS = 8  # pixels of the marks themselves, next to a word that can't be broken
_DATA = re.compile("|".join(DATA))
_WORD = re.compile(r"[^\W\d_]{2,}")
_TAGS = re.compile(r"<[^<>]*>")


def foreign(text: str, more: Collection[str] = ()) -> list[str]:
    """The words of a text that are neither marked nor data; ``more`` is data of a test."""
    rest = _DATA.sub(" ", unmarked(_TAGS.sub(" ", text)))
    longest = sorted(map(re.escape, more), key=len, reverse=True)
    return _WORD.findall(re.sub(rf"(?<!\w)({'|'.join(longest)})(?!\w)", " ", rest) if more else rest)


def settle() -> None:
    """Let what was posted happen, and remove widgets that were replaced."""
    for _ in range(3):  # a layout may ask those around it for another one
        QApplication.processEvents()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def untranslated(window: QWidget, monkeypatch: pytest.MonkeyPatch, more: Collection[str] = ()) -> set[str]:
    """The texts of a window without a mark, each with the widget that has it."""
    settle()
    found = {f"{words} in {text}" for text in texts(window) if (words := foreign(text.text, more))}
    with painted(monkeypatch) as seen:
        window.grab()
    return found | {f"{words} painted: {text!r}" for text in seen if (words := foreign(text, more))}


def cut_off(window: QWidget) -> Iterator[str]:
    """Texts in sight that have less room than they need, and pages that scroll sideways."""
    for area in window.findChildren(QScrollArea):
        excess = area.horizontalScrollBar().maximum() if area.isVisible() else 0
        if excess > MARKS:
            content = next(iter(area.widget().findChildren(QWidget)), area.widget())
            yield f"{type(content).__name__} is {excess} pixels too wide"
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or not widget.maximumWidth():  # a bar hides chips where it is narrow
            continue
        if isinstance(widget, QLabel) and not isinstance(widget, ElidedLabel) and widget.text():
            wraps = widget.wordWrap()
            has = widget.height() if wraps else widget.width()
            needs = widget.heightForWidth(widget.width()) if wraps else widget.sizeHint().width()
        elif isinstance(widget, QAbstractButton) and not isinstance(widget, ElidedButton) and widget.text():
            has, needs = widget.width(), widget.minimumSizeHint().width()
        else:
            continue
        if has < needs:
            yield f"{path_of(widget)}: {widget.text()!r} has {has} of {needs}"
