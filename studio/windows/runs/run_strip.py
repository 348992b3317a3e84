"""Below the list of runs: what the selected run is, and what can be done with it."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QToolButton, QWidget

from studio.windows.controls import ActionButton, ValueLabel
from widgets import theme
from widgets.flow import FlowLayout
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import vertical
from widgets.retranslated import Retranslated


class RunStrip(Retranslated, QWidget):
    """Buttons of commands are there where they can be used; all else is in a menu."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = mute(wrap=True)
        self.note = ValueLabel()
        self.more = QToolButton()
        self.undo = QPushButton()
        set_icon(self.undo, "undo")
        self._flow_holder = QWidget()
        self._flow = FlowLayout(self._flow_holder, theme.SPACE_XS)
        self._buttons: dict[str, ActionButton] = {}
        layout = vertical(self, (theme.SPACE_S, theme.SPACE_XS, 0, theme.SPACE_XS), theme.SPACE_XS)
        line = QHBoxLayout()
        line.addWidget(self._state, 1)
        line.addWidget(self.more)
        layout.addLayout(line)
        layout.addWidget(self.note)
        layout.addWidget(self._flow_holder)
        self.retranslate()

    def add(self, name: str, button: ActionButton) -> None:
        """A button of a command; in the order in which they are added."""
        self._buttons[name] = button
        self._flow.addWidget(button)

    def finish(self) -> None:
        """After the last button: what comes behind all of them."""
        self._flow.addWidget(self.undo)

    def button(self, name: str) -> ActionButton:
        """The button of a command."""
        return self._buttons[name]

    def show_run(self, state: str, tags: tuple[str, ...], note: str, offered: list[str]) -> None:
        """Say what the selected run is; only the commands in ``offered`` have their buttons."""
        self._state.setText(state)
        self._state.setVisible(bool(state))
        first = " \u2013 ".join(filter(None, (", ".join(tags), note.partition("\n")[0])))
        self.note.set_value(first)
        self.note.setToolTip(note)
        self.note.setVisible(bool(first))
        for name, button in self._buttons.items():
            button.setVisible(name in offered)
        self.more.setVisible(bool(state))

    def offer_undo(self, what: str) -> None:
        """Offer to take a change back; an empty text for nothing."""
        self.undo.setVisible(bool(what))
        self.undo.setToolTip(what)

    def state(self) -> str:
        """What is said of the run."""
        return self._state.text()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.undo.setText(self.tr("Undo"))
        self.more.setText("\u22ef")
        self.more.setAccessibleName(self.tr("More actions"))
        self.more.setToolTip(self.tr("Rename, note, duplicate, hide, delete…"))
