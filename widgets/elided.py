"""Texts of one line that end in an ellipsis where they have too little room; the tooltip has all of them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStyleOptionComboBox,
    QStylePainter,
    QToolTip,
    QWidget,
)

LEAST = 3  # letters that stay
MARGIN = 2  # pixels next to the text of a combo box


class ElidedLabel(QLabel):
    """A label that may be narrower than its text; ``clicked`` where it ``leads`` somewhere.

    Args:
        least: pixels that a longer text keeps; three letters unless given.
    """

    clicked = Signal()

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        least: int = 0,
    ) -> None:
        super().__init__(text, parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._mode, self._leads, self._least = mode, False, least

    def set_leads(self, leads: bool) -> None:
        """Whether a click does something."""
        if leads == self._leads:
            return
        self._leads = leads
        self.setCursor(Qt.CursorShape.PointingHandCursor if leads else Qt.CursorShape.ArrowCursor)

    def shown_text(self) -> str:
        """What is painted now."""
        return self.fontMetrics().elidedText(self.text(), self._mode, self.contentsRect().width())

    def minimumSizeHint(self) -> QSize:
        hint = super().minimumSizeHint()
        least = self._least or LEAST * self.fontMetrics().averageCharWidth()
        return QSize(min(hint.width(), least), hint.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        self.style().drawItemText(
            QPainter(self),
            self.contentsRect(),
            self.alignment().value,
            self.palette(),
            self.isEnabled(),
            self.shown_text(),
            self.foregroundRole(),
        )

    def event(self, event: QEvent) -> bool:
        if shows_whole_text(self, event, lambda: self.shown_text() != self.text()):
            return True
        return super().event(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._leads and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit()
        else:
            super().mouseReleaseEvent(event)


class ElidedButton(QPushButton):
    """A button that may be narrower than its text."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setSizePolicy(
            QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed
        )  # else its hint is the least

    def shown_text(self) -> str:
        """What is painted now."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        room = self.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self).width()
        return self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room)

    def minimumSizeHint(self) -> QSize:
        hint = super().minimumSizeHint()
        text = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(hint.width() - text + self.fontMetrics().averageCharWidth() * LEAST, hint.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.shown_text()  # type: ignore[attr-defined]
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_PushButton, option)

    def event(self, event: QEvent) -> bool:
        if shows_whole_text(self, event, lambda: self.shown_text() != self.text()):
            return True
        return super().event(event)


def shows_whole_text(widget: QLabel | QAbstractButton, event: QEvent, is_elided: Callable[[], bool]) -> bool:
    """Show the whole text as the tooltip of a widget that has no other; whether it was shown."""
    if event.type() != QEvent.Type.ToolTip or widget.toolTip() or not is_elided():
        return False
    assert isinstance(event, QHelpEvent)
    QToolTip.showText(event.globalPos(), widget.text(), widget)
    return True


class ElidedComboBox(QComboBox):
    """A list of choices whose shown one may be wider than it."""

    def shown_text(self) -> str:
        """The current text, as far as there is room for it."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        field = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, self).width()
        icon = 0 if option.currentIcon.isNull() else self.iconSize().width() + 4
        return self.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideRight, room - icon - MARGIN
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        option.currentText = self.shown_text()  # type: ignore[misc]
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
