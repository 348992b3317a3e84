"""The line at the bottom: state, device, epoch and step, speed, time left, memory, the last problem."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QStatusBar, QWidget

from widgets import theme
from widgets.icons import set_icon
from widgets.retranslated import Retranslated

FIELDS = ("state", "device", "step", "speed", "left", "memory", "task")


class Dot(QWidget):
    """A coloured dot; what it means always stands next to it in words."""

    def __init__(self, token: str = "mute") -> None:
        super().__init__()
        self._token = token
        self.setFixedSize(10, 16)
        theme.changed.connect(self.update)

    def set_token(self, token: str) -> None:
        """Another colour of the theme."""
        self._token = token
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(10, 16)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(0, 0, 0, 0))
        painter.setBrush(QColor(getattr(theme.current(), self._token)))
        painter.drawEllipse(QPointF(5, 8.5), 4, 4)


class StatusBar(Retranslated, QStatusBar):
    """Fields that are empty take no room; numbers keep their places."""

    problems_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        self.setContentsMargins(theme.SPACE_M, 0, theme.SPACE_M, 0)
        self.dot = Dot()
        self.addWidget(self.dot)
        self._labels: dict[str, QLabel] = {}
        for name in FIELDS:
            label = QLabel()
            label.setFont(theme.font(theme.BODY_PX - 1))
            label.setContentsMargins(0, 0, theme.SPACE_S, 0)
            # What doesn't fit into a narrow window is cut by the layout, never pushes the window wider.
            label.setSizePolicy(
                QSizePolicy.Policy.Ignored if name == "task" else QSizePolicy.Policy.Maximum,
                QSizePolicy.Policy.Preferred,
            )
            label.hide()
            self.addWidget(label, 1 if name == "task" else 0)
            self._labels[name] = label
        self.problems = QPushButton()
        self.problems.setProperty("role", "status")
        self.problems.setFont(theme.font(theme.BODY_PX - 1))
        self.problems.clicked.connect(self.problems_requested)
        self.addPermanentWidget(self.problems)
        self._count = 0
        self.retranslate()

    def set_field(self, name: str, text: str, tip: str = "") -> None:
        """Show a field; an empty text hides it."""
        label = self._labels[name]
        if label.text() != text:
            label.setText(text)
            label.setVisible(bool(text))
            label.setAccessibleName(text)
        label.setToolTip(tip)

    def label(self, name: str) -> QLabel:
        """The label of a field, for measuring when it is painted."""
        return self._labels[name]

    def field(self, name: str) -> str:
        """The text of a field."""
        return self._labels[name].text()

    def set_problems(self, count: int) -> None:
        """How many problems there are; the button opens them."""
        self._count = count
        if count:
            set_icon(self.problems, "warning", "warn")
        self.retranslate()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        words = self.tr("No problems")
        if self._count:
            words = self.tr("1 problem") if self._count == 1 else self.tr("{0} problems").format(self._count)
        self.problems.setText(words)
        self.problems.setAccessibleName(words)
        self.problems.setToolTip(self.tr("Show the list of problems"))
