"""CodeBanner: something about the file that waits for an answer, above the editor."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from widgets import theme
from widgets.icons import icon_pixmap
from widgets.layouts import vertical


class CodeBanner(QFrame):
    """One question with up to two answers; ``answered`` carries the id of the one that was pressed."""

    answered = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._icon, self.text = QLabel(), QLabel()
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.buttons = [QPushButton(), QPushButton()]
        self._ids = ["", ""]
        row = QHBoxLayout()
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.text, 1)
        answers = QHBoxLayout()
        answers.addStretch(1)
        for place, button in enumerate(self.buttons):
            answers.addWidget(button)
            button.clicked.connect(lambda _=False, which=place: self.answered.emit(self._ids[which]))
        layout = vertical(self, theme.SPACE_S, theme.SPACE_S)
        layout.addLayout(row)
        layout.addLayout(answers)
        theme.changed.connect(self._tint)
        self._tint()
        self.hide()

    def ask(self, text: str, *answers: tuple[str, str]) -> None:
        """Show a text with its answers, each (id, words); an empty text takes the banner away."""
        self.setVisible(bool(text))
        self.text.setText(text)
        self.text.setMinimumHeight(max(0, self.text.heightForWidth(self.text.width())))
        self.setAccessibleName(text)
        for place, button in enumerate(self.buttons):
            self._ids[place], words = answers[place] if place < len(answers) else ("", "")
            button.setText(words)
            button.setVisible(bool(words))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The card around it takes the height it gets and asks for none that depends on its width.
        self.text.setMinimumHeight(max(0, self.text.heightForWidth(self.text.width())))

    def _tint(self) -> None:
        scale = self.devicePixelRatioF()
        self._icon.setPixmap(icon_pixmap("warning", theme.current().warn, scale=scale))
