"""What Train shows before the first run: what a press on Start will do, and the other ways to begin."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from studio.windows.controls import ActionButton, mute, section
from widgets import theme

MOST_RECENT = 4
WIDEST = 520


class Welcome(QWidget):
    """``recent_chosen`` carries the path of a project."""

    recent_chosen = Signal(str)

    def __init__(self, start: QAction, others: list[tuple[QAction, str]]) -> None:
        super().__init__()
        self._title = QLabel()
        self._title.setFont(theme.font(theme.FIGURE_PX, bold=True))
        self._title.setWordWrap(True)
        self._text = mute(wrap=True)
        self._why_not = QLabel()
        self._why_not.setProperty("role", "bad")
        self._why_not.setWordWrap(True)
        self._why_not.hide()
        self.start = ActionButton(start, "play", "primary")
        self._recent_title = section()
        self._recent = QVBoxLayout()
        self._recent.setSpacing(2)
        card = QFrame()
        card.setProperty("role", "card")
        card.setMaximumWidth(WIDEST)
        inner = QVBoxLayout(card)
        inner.setContentsMargins(*[theme.SPACE_XL] * 4)
        inner.setSpacing(theme.SPACE_M)
        inner.addWidget(self._title)
        inner.addWidget(self._text)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.SPACE_S)
        buttons.addWidget(self.start)
        for action, icon in others:
            buttons.addWidget(ActionButton(action, icon))
        buttons.addStretch(1)
        inner.addLayout(buttons)
        inner.addWidget(self._why_not)
        inner.addWidget(self._recent_title)
        inner.addLayout(self._recent)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_XL, theme.SPACE_XL, theme.SPACE_XL, theme.SPACE_XL)
        layout.addStretch(1)
        layout.addWidget(card, 8, Qt.AlignmentFlag.AlignVCenter)
        layout.addStretch(1)
        self._model = self._data = ""
        self.set_recent([])
        self.retranslate()

    def set_choice(self, model: str, data: str) -> None:
        """What Start would train, and on what."""
        self._model, self._data = model, data
        self.retranslate()

    def set_why_not(self, reason: str) -> None:
        """Why Start can't be given, beside it."""
        self._why_not.setText(reason)
        self._why_not.setVisible(bool(reason))

    def set_recent(self, projects: list[tuple[str, str]]) -> None:
        """Recent projects: (name, path)."""
        while (item := self._recent.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for name, path in projects[:MOST_RECENT]:
            button = QPushButton(name)
            button.setProperty("role", "row")
            button.setToolTip(path)
            button.clicked.connect(lambda _=False, path=path: self.recent_chosen.emit(path))
            self._recent.addWidget(button)
        self._recent_title.setVisible(bool(projects))

    def title(self) -> str:
        """The large words."""
        return self._title.text()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self._title.setText(self.tr("Train {0} on {1}").format(self._model, self._data))
        self._text.setText(
            self.tr(
                "Press Start and watch the loss fall. Then look inside the model, export it, and try it on a "
                "digit that you draw. Data, model and all settings are at the right."
            )
        )
        self._recent_title.setText(self.tr("Recent projects"))

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        super().changeEvent(event)
