"""PlayBar: a slider over checkpoints, with buttons that play them and that step."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QSlider, QToolButton, QWidget

from widgets import theme
from widgets.elided import ElidedLabel
from widgets.icons import set_icon
from widgets.layouts import horizontal
from widgets.retranslated import Retranslated

SPEEDS = (1, 2, 5, 10)
USUAL = 2  # which of them
WIDEST = 300  # of the words, where there is no more room


class PlayBar(Retranslated, QWidget):
    """``place_chosen`` carries the place of a checkpoint, ``step_asked`` 1 or -1; ``play_toggled`` comes for
    play and pause, and ``speed_chosen`` carries how many are shown in a second."""

    place_chosen = Signal(int)
    step_asked = Signal(int)
    play_toggled = Signal()
    speed_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.back, self.play, self.forward = QToolButton(), QToolButton(), QToolButton()
        self.slider, self.speed = QSlider(Qt.Orientation.Horizontal), QComboBox()
        self._words, self._playing = ElidedLabel(), False
        for each in SPEEDS:
            self.speed.addItem("", each)
        self.speed.setCurrentIndex(USUAL)
        set_icon(self.back, "step-back")
        set_icon(self.forward, "step")
        self.slider.setPageStep(1)
        self._words.setFont(theme.font())
        self._words.setBuddy(self.slider)
        row = horizontal(self, 0)
        for widget in (self.back, self.play, self.forward):
            row.addWidget(widget)
        row.addWidget(self.slider, 1)
        row.addWidget(self._words)
        row.addWidget(self.speed)
        self.slider.valueChanged.connect(self.place_chosen)
        self.back.clicked.connect(lambda: self.step_asked.emit(-1))
        self.forward.clicked.connect(lambda: self.step_asked.emit(1))
        self.play.clicked.connect(self.play_toggled)
        self.speed.currentIndexChanged.connect(lambda _: self.speed_chosen.emit(self.chosen_speed()))
        self.retranslate()
        self.show_place(-1, 0, "")

    def chosen_speed(self) -> int:
        """How many checkpoints are shown in a second."""
        return int(self.speed.currentData())

    def show_place(self, place: int, count: int, words: str) -> None:
        """Show the place of a checkpoint among ``count``, and which one it is in words."""
        blocker = QSignalBlocker(self.slider)
        self.slider.setRange(0, max(0, count - 1))
        self.slider.setValue(max(0, place))
        blocker.unblock()
        several = count > 1
        for widget in (self.slider, self.play, self.speed):
            widget.setEnabled(several)
        self.back.setEnabled(place > 0)
        self.forward.setEnabled(0 <= place < count - 1)
        self._words.setText(words)
        # The widest text so far sets the width: the slider does not move under the pointer.
        wide = min(self._words.sizeHint().width(), WIDEST)
        self._words.setMinimumWidth(max(self._words.minimumWidth(), wide))
        self.slider.setAccessibleDescription(words)

    def words(self) -> str:
        """Which checkpoint is shown."""
        return self._words.text()

    def show_playing(self, playing: bool) -> None:
        """Whether the checkpoints are being played."""
        self._playing = playing
        set_icon(self.play, "pause" if playing else "play")
        name = self.tr("Pause") if playing else self.tr("Play")
        self.play.setAccessibleName(name)
        self.play.setToolTip(self.tr("{0} (Space)").format(name))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.slider.setAccessibleName(tr("Checkpoint"))
        self.slider.setToolTip(tr("Move through the checkpoints (Left, Right, Home, End)"))
        for button, name, key in (
            (self.back, tr("Previous checkpoint"), tr("Left key")),
            (self.forward, tr("Next checkpoint"), tr("Right key")),
        ):
            button.setAccessibleName(name)
            button.setToolTip(tr("{0} ({1})").format(name, key))
        self.speed.setAccessibleName(tr("Speed"))
        self.speed.setToolTip(tr("Checkpoints a second while playing"))
        for at, each in enumerate(SPEEDS):
            self.speed.setItemText(at, tr("{0} / s").format(each))
        self.show_playing(self._playing)
