"""Questions to the user, which open without stopping the loop, and dialogs that are high enough."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QMessageBox, QPushButton, QWidget

from widgets import theme
from widgets.icons import icon_pixmap
from widgets.labels import breakable

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


def ask(
    parent: QWidget,
    title: str,
    text: str,
    yes: str,
    no: str,
    on_yes: Callable[[], object],
    instead: tuple[str, Callable[[], object]] | None = None,
) -> QMessageBox:
    """Ask a question with two answers; ``no`` is the default and what Escape means.

    Args:
        instead: a third answer, and what it does.
    """
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle(title)
    box.setIconPixmap(icon_pixmap("info", theme.current().accent, 32, parent.devicePixelRatioF()))
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(breakable(title))
    box.setFont(theme.font())
    box.setInformativeText(breakable(text))
    accept = box.addButton(yes, QMessageBox.ButtonRole.AcceptRole)
    reject = box.addButton(no, QMessageBox.ButtonRole.RejectRole)
    other = box.addButton(instead[0], QMessageBox.ButtonRole.AcceptRole) if instead is not None else None
    accept.setObjectName("yes")
    reject.setObjectName("no")
    box.setDefaultButton(reject)
    box.setEscapeButton(reject)
    for buttons in box.findChildren(QDialogButtonBox):
        buttons.setCenterButtons(False)
    box.buttonClicked.connect(lambda button: on_yes() if button is accept else None)
    if other is not None and instead is not None:
        other.setObjectName("instead")
        other.clicked.connect(instead[1])
    box.open()
    return box


def button_of(box: QMessageBox, name: str) -> QPushButton:
    """The button ``yes`` or ``no`` of a question."""
    found = box.findChild(QPushButton, name)
    assert isinstance(found, QPushButton)
    return found
