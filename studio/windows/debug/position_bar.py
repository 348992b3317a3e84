"""PositionBar: where the debugger stands and why, above everything else of the page Debug."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QLabel, QProgressBar

from studio.windows.controls import TextCard, ValueLabel
from widgets import theme
from widgets.elided import ElidedLabel
from widgets.icons import icon_pixmap
from widgets.labels import heading
from widgets.layouts import horizontal

# What happened -> icon and token of its colour.
LOOKS = {
    "found": ("warning", "bad"),
    "failed": ("error", "bad"),
    "ended": ("error", "bad"),
    "finite": ("check", "ok"),
    "breakpoint": ("breakpoint", "bad"),
    "working": ("clock", "mute"),
    "step": ("position", "accent"),
}


class PositionBar(TextCard):
    """A sentence, the place, and a note; ``place_clicked`` where the place leads to its line."""

    place_clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._look = "step"
        self._icon, self._title, self._place = QLabel(), heading(), ElidedLabel()
        self._title.setWordWrap(True)
        self._place.setFont(theme.mono_font())
        self._place.setProperty("role", "mute")
        self._place.clicked.connect(self.place_clicked)
        self._message, self._note = ValueLabel(), ValueLabel()
        self._note.setProperty("role", "mute")
        self._message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setMaximumHeight(4)
        self.progress.hide()
        self._icon.setFixedSize(theme.ICON_SIZE, theme.ICON_SIZE)
        head = horizontal(None, 0)
        head.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(self._title, 1)
        self.body.setSpacing(theme.SPACE_XS)
        self.body.addLayout(head)
        for part in (self._place, self._message, self._note, self.progress):
            self.body.addWidget(part)
        theme.changed.connect(self._tint)
        self._tint()

    def sizeHint(self) -> QSize:
        # Labels that wrap would like to be narrower and higher.
        return QSize(super().sizeHint().width(), self.minimumSizeHint().height())

    def show_position(
        self, look: str, title: str, place: str = "", message: str = "", note: str = ""
    ) -> None:
        """Say where it stands; ``look`` is a key of LOOKS."""
        self._look = look
        self._title.setText(title)
        self._place.setText(place)
        self._place.setVisible(bool(place))
        self._place.set_leads(bool(place))
        for label, text in ((self._message, message), (self._note, note)):
            label.set_value(text)
            label.setVisible(bool(text))
        self.setAccessibleName(". ".join(filter(None, (title, place, message, note))))
        self._tint()

    def show_progress(self, shown: bool, done: int = 0, total: int = 0) -> None:
        """How far a run is; without a total only that it works."""
        self.progress.setVisible(shown)
        self.progress.setRange(0, total)
        self.progress.setValue(done)

    def text(self) -> str:
        """All that is said."""
        return self.accessibleName()

    def _tint(self) -> None:
        name, token = LOOKS[self._look]
        color = getattr(theme.current(), token)
        self._icon.setPixmap(icon_pixmap(name, color, scale=self.devicePixelRatioF()))
