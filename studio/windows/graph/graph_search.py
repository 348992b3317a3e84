"""Search in diagram and text: a text, how many hits, the next and the previous one."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QToolButton, QWidget

from studio.windows.controls import ActionButton
from widgets import theme
from widgets.delayed import delayed
from widgets.icons import set_icon
from widgets.layouts import horizontal
from widgets.retranslated import Retranslated

WAIT_MS = 200


class GraphSearch(Retranslated, QWidget):
    """``searched`` carries the text after a pause in typing, ``moved`` 1 for the next hit and -1 for the
    previous one."""

    searched = Signal(str)
    moved = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field, self.count = _Field(), QLabel()
        self.field.setClearButtonEnabled(True)
        self.previous, self.next = QToolButton(), QToolButton()
        set_icon(self.previous, "style-up")
        set_icon(self.next, "style-down")
        self.count.setProperty("role", "mute")
        self._row = horizontal(self, 0, theme.SPACE_XS)
        self._row.addWidget(self.field, 1)
        for widget in (self.count, self.previous, self.next):
            self._row.addWidget(widget)
        self._buttons: list[ActionButton] = []
        self._timer = delayed(self, WAIT_MS, lambda: self.searched.emit(self.field.text()))
        self.field.textChanged.connect(lambda _: self._timer.start())
        self.field.entered.connect(self._enter)
        self.previous.clicked.connect(lambda: self._enter(-1))
        self.next.clicked.connect(lambda: self._enter(1))
        self.set_hits(0, -1)
        self.retranslate()

    def add_action(self, action: QAction, icon: str = "", role: str = "") -> ActionButton:
        """Add a button of the diagram, with its icon alone."""
        button = ActionButton(action, icon, role)
        button.set_compact(True)
        button.setFixedWidth(theme.CONTROL_HEIGHT + theme.SPACE_S)
        self._row.addWidget(button)
        self._buttons.append(button)
        return button

    def show_buttons(self, shown: bool) -> None:
        """The buttons of the diagram, which a text has no use for."""
        for button in self._buttons:
            button.setVisible(shown)

    def _enter(self, way: int) -> None:
        if self._timer.isActive():
            self._timer.stop()
            self.searched.emit(self.field.text())
        else:
            self.moved.emit(way)

    def set_hits(self, count: int, place: int) -> None:
        """How many hits there are, and which one is selected."""
        searched = bool(self.field.text().strip())
        number = theme.format_number(count)
        words = self.tr("{0} of {1}").format(place + 1, number) if place >= 0 else number
        self.count.setText(words if searched else "")
        for button in (self.previous, self.next):
            button.setEnabled(count > 0)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.field.setPlaceholderText(tr("Find operator, layer or variable"))
        self.field.setAccessibleName(tr("Find in the Program"))
        for button, words in ((self.previous, tr("Previous hit")), (self.next, tr("Next hit"))):
            button.setToolTip(words)
            button.setAccessibleName(words)


class _Field(QLineEdit):
    """``entered`` carries 1 for Return and -1 for Shift+Return."""

    entered = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
            return
        super().keyPressEvent(event)
