"""The hands of the monkey: clicks, keys and texts on visible widgets."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QTabBar,
    QWidget,
)

_CONTROLS = (
    QAbstractButton,
    QComboBox,
    QLineEdit,
    QAbstractSpinBox,
    QAbstractItemView,
    QTabBar,
    QAbstractSlider,
)
_NAMES = """Tab Backtab Return Enter Escape Space Up Down Left Right Home End PageUp PageDown Delete Backspace
    F1 F2 F3 F4 F5 F6 F8 F10 Menu A S V C X Z"""
_KEYS = [Qt.Key[f"Key_{name}"] for name in _NAMES.split()]
TEXTS = (
    "0",
    "1",
    "3",
    "-1",
    "1e9",
    "nan",
    "0.5",
    "",
    "x",
    "bars",
    "\u00e4\u65e5\u672c",
    "a/b",
    "*" * 300,
    "<b>x</b>",
    "None,1",
)
_MODIFIERS = (Qt.KeyboardModifier.NoModifier,) * 6 + (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
)


class Hands:
    """Draws where and what to click and to type.

    Args:
        files: paths that may be typed.
        note: gets each action in words before it is done.
    """

    def __init__(self, draw: random.Random, files: list[Path], note: Callable[[str], None]) -> None:
        self._draw, self._files, self._note = draw, files, note

    def controls(self, root: QWidget) -> list[QWidget]:
        """Those that a user could use now."""
        return [
            each
            for each in root.findChildren(QWidget)
            if isinstance(each, _CONTROLS) and each.isVisible() and each.isEnabled()
        ]

    def control(self, root: QWidget) -> None:
        """Use one of the controls in ``root``."""
        found = self.controls(root)
        if not found:
            return self.key(root)
        widget = self._draw.choice(found)
        if isinstance(widget, QLineEdit | QAbstractSpinBox) and self._draw.random() < 0.7:
            text = self._draw.choice((*TEXTS, str(self._draw.choice(self._files))))
            self._note(f"type {text[:80]!r} into {self.name(widget)}")
            widget.setFocus()
            QTest.keyClick(widget, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
            typed = QInputMethodEvent()
            typed.setCommitString(text[:120])
            QApplication.sendEvent(widget, typed)  # QTest's keys are ASCII
            if self._draw.random() < 0.7:
                QTest.keyClick(widget, self._draw.choice((Qt.Key.Key_Return, Qt.Key.Key_Tab)))
            return
        if isinstance(widget, QAbstractItemView):
            return self.click(widget.viewport())
        return self.click(widget)

    def click(self, widget: QWidget) -> None:
        """Click, drag or turn the wheel somewhere on it."""
        draw = self._draw
        at = QPoint(draw.randrange(max(1, widget.width())), draw.randrange(max(1, widget.height())))
        if isinstance(widget, QAbstractButton):
            at = widget.rect().center()
        modifier = draw.choice(_MODIFIERS)
        kind = draw.choices(("click", "double click", "right click", "drag", "wheel"), (12, 2, 2, 2, 1))[0]
        self._note(f"{kind} on {self.name(widget)} at {at.x()},{at.y()}")
        left = Qt.MouseButton.LeftButton
        if kind == "click":
            QTest.mouseClick(widget, left, modifier, at)
        elif kind == "double click":
            QTest.mouseDClick(widget, left, modifier, at)
        elif kind == "right click":
            QTest.mouseClick(widget, Qt.MouseButton.RightButton, modifier, at)
        elif kind == "wheel":
            window = widget.window().windowHandle()
            if window is not None:
                here = widget.mapTo(widget.window(), at)
                QTest.wheelEvent(window, QPointF(here), QPoint(0, draw.choice((-120, 120))))
        else:
            QTest.mousePress(widget, left, modifier, at)
            for _ in range(3):
                at = QPoint(draw.randrange(max(1, widget.width())), draw.randrange(max(1, widget.height())))
                QTest.mouseMove(widget, at)
            QTest.mouseRelease(widget, left, modifier, at)

    def key(self, root: QWidget) -> None:
        """Press a key where the focus is."""
        widget = QApplication.focusWidget() or root
        if not root.isAncestorOf(widget):
            widget = root
        key, modifier = self._draw.choice(_KEYS), self._draw.choice(_MODIFIERS)
        self._note(f"key {key.name} {modifier.name} on {self.name(widget)}")
        QTest.keyClick(widget, key, modifier)

    def name(self, widget: QWidget) -> str:
        """What it is in words."""
        words = widget.accessibleName() or widget.objectName() or widget.windowTitle()
        if isinstance(widget, QAbstractButton):
            words = words or widget.text() or widget.toolTip()
        parents = [type(widget).__name__]
        while (above := widget.parentWidget()) is not None and len(parents) < 3:
            parents.append(type(above).__name__)
            widget = above
        return f"{words[:60]!r} ({' in '.join(parents)})"
