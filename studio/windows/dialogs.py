"""Questions to the user, which open without stopping the loop, and dialogs that are high enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QMessageBox, QPushButton, QWidget

from widgets import theme
from widgets.icons import icon_pixmap
from widgets.labels import breakable
from widgets.retranslated import Retranslated

FRAME = 60  # of the system around a dialog


class FittingDialog(QDialog):
    """Grows with what it shows, up to the height of the screen.

    Qt gives a dialog no minimum height where that depends on the width: its fields would be cut off.
    """

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show) and self.isVisible():
            self._fit()
        return handled

    def _fit(self) -> None:
        layout = self.layout()
        if layout is None or not layout.hasHeightForWidth():
            return
        room = self.screen().availableGeometry().height() - FRAME
        least = min(layout.minimumHeightForWidth(self.width()), room)
        if self.height() < least:
            self.resize(self.width(), least)


class Question(NamedTuple):
    """The words of a question: ``instead`` is a third answer."""

    title: str
    text: str
    yes: str
    no: str
    instead: str = ""


class _Box(Retranslated, QMessageBox):
    """Shows a question, in the language that holds now."""

    def __init__(self, parent: QWidget, words: Callable[[], Question]) -> None:
        super().__init__(parent)
        self._words = words
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setIconPixmap(icon_pixmap("info", theme.current().accent, 32, parent.devicePixelRatioF()))
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(theme.font())
        roles = [("yes", QMessageBox.ButtonRole.AcceptRole), ("no", QMessageBox.ButtonRole.RejectRole)]
        if words().instead:
            roles.append(("instead", QMessageBox.ButtonRole.AcceptRole))
        self.answers = {name: self.addButton(name, role) for name, role in roles}
        for name, button in self.answers.items():
            button.setObjectName(name)
        self.setDefaultButton(self.answers["no"])
        self.setEscapeButton(self.answers["no"])
        for buttons in self.findChildren(QDialogButtonBox):
            buttons.setCenterButtons(False)
        self.retranslate()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        words = self._words()
        self.setWindowTitle(words.title)
        self.setText(breakable(words.title))
        self.setInformativeText(breakable(words.text))
        for name, button in self.answers.items():
            button.setText(getattr(words, name))


def ask(
    parent: QWidget,
    words: Callable[[], Question],
    on_yes: Callable[[], object],
    instead: Callable[[], object] | None = None,
) -> QMessageBox:
    """Ask a question with two answers; ``no`` is the default and what Escape means.

    Args:
        words: gives its words, again after each change of the language.
        instead: what a third answer does.
    """
    box = _Box(parent, words)
    box.buttonClicked.connect(lambda button: on_yes() if button is box.answers["yes"] else None)
    if instead is not None:
        box.answers["instead"].clicked.connect(instead)
    box.open()
    return box


def button_of(box: QMessageBox, name: str) -> QPushButton:
    """The button ``yes`` or ``no`` of a question."""
    found = box.findChild(QPushButton, name)
    assert isinstance(found, QPushButton)
    return found
