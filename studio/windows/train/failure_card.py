"""Why a run failed before its first step, in place of its curves; that a run diverged, above them."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from studio.windows.controls import ValueLabel
from widgets import theme
from widgets.cards import Card
from widgets.flow import FlowLayout
from widgets.icons import icon_pixmap, set_icon
from widgets.labels import heading
from widgets.layouts import horizontal, vertical
from widgets.retranslated import Retranslated


class FailureCard(Retranslated, QWidget):
    """The name of the run, the reason, and buttons to the list of problems and to the first bad value."""

    details_requested = Signal()
    find_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._name = ""
        self._card, self._icon, self._title = Card(), QLabel(), heading()
        self._title.setWordWrap(True)
        self._reason = ValueLabel()
        self._reason.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details, self.find = QPushButton(), QPushButton()
        self.details.clicked.connect(self.details_requested)
        self.find.clicked.connect(self.find_requested)
        set_icon(self.find, "bug")
        head = horizontal(None, 0)
        head.addWidget(self._icon)
        head.addWidget(self._title, 1)
        body = self._card.body
        body.setSpacing(theme.SPACE_M)
        body.addLayout(head)
        body.addWidget(self._reason)
        buttons = QWidget()
        flow = FlowLayout(buttons, theme.SPACE_S)
        for button in (self.find, self.details):
            flow.addWidget(button)
        body.addWidget(buttons)
        layout = vertical(self, theme.PAGE_PADDING, spacing=None)
        layout.addWidget(self._card)
        layout.addStretch(1)
        theme.changed.connect(self._tint)
        self._tint()
        self.retranslate()

    def show_reason(self, name: str, reason: str, details: bool, find: bool) -> None:
        """Say of the run ``name`` why it failed; ``details`` offers the list of problems, ``find`` to find
        the operator with the first bad value."""
        self._name = name
        self.details.setVisible(details)
        self.find.setVisible(find)
        self._reason.set_value(reason)
        self.retranslate()

    def reason(self) -> str:
        """What is said."""
        return self._reason.value()

    def _tint(self) -> None:
        color = theme.current().bad
        self._icon.setPixmap(icon_pixmap("error", color, scale=self.devicePixelRatioF()))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self._title.setText(self.tr("{0} failed before its first step").format(self._name))
        self._card.setAccessibleName(self._title.text())
        self.details.setText(self.tr("Show problems"))
        self.details.setToolTip(self.tr("Show the list of problems with details"))
        self.find.setText(self.tr("Find the operator"))
        self.find.setToolTip(
            self.tr("Replay the step on the page Debug, and stop at the first operator with a bad value")
        )


class DivergedCard(Retranslated, Card):
    """Says at which step the loss became NaN or infinite, and offers to find the operator."""

    find_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._step = 0
        self._icon, self._text, self.find = QLabel(), QLabel(), QPushButton()
        self._text.setWordWrap(True)
        set_icon(self.find, "bug")
        self.find.clicked.connect(self.find_requested)
        line = horizontal(None, 0)
        line.addWidget(self._icon)
        line.addWidget(self._text, 1)
        line.addWidget(self.find)
        self.body.addLayout(line)
        theme.changed.connect(self._tint)
        self._tint()
        self.retranslate()
        self.hide()

    def show_step(self, step: int) -> None:
        """Show the step at which the run diverged; 0 hides the card."""
        self._step = step
        self.setVisible(step > 0)
        self.retranslate()

    def _tint(self) -> None:
        color = theme.current().bad
        self._icon.setPixmap(icon_pixmap("error", color, scale=self.devicePixelRatioF()))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        step = theme.format_number(self._step)
        self._text.setText(self.tr("The loss became NaN or infinite at step {0}.").format(step))
        self.setAccessibleName(self._text.text())
        self.find.setText(self.tr("Find the operator"))
        self.find.setToolTip(
            self.tr("Replay the step on the page Debug, and stop at the first operator with a bad value")
        )
