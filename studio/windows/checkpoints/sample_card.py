"""SampleCard: a sample, and what the network answers about it at the checkpoint that is shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from studio.windows.controls import PageCard, Stack
from widgets import theme
from widgets.bars import ProbabilityBars
from widgets.cards import Chip, EmptyState
from widgets.digit_pad import DigitPad, PixelView
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.retranslated import Retranslated

SIDE = 112


class SampleCard(Retranslated, PageCard):
    """``drawn`` carries a drawing of the pad; ``agreed`` comes when the user lets the run's code run,
    ``clear_requested`` when another sample is wanted."""

    drawn = Signal(object)
    agreed = Signal()
    clear_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.now = Chip()
        self.draw = QPushButton()
        self.header.addWidget(self.now, 0, Qt.AlignmentFlag.AlignVCenter)
        self.header.addWidget(self.draw, 0, Qt.AlignmentFlag.AlignVCenter)
        self.pad, self.image, self.bars = DigitPad(), PixelView(), ProbabilityBars()
        for widget in (self.pad, self.image):
            widget.setFixedSize(SIDE, SIDE)
        self._origin, self._answer = mute(wrap=True), mute(wrap=True)
        self.none = EmptyState("")
        self._images = Stack(self.image, self.pad)
        self._images.setFixedSize(SIDE, SIDE)
        self._shown = QWidget()
        left = vertical(None, 0, theme.SPACE_XS)
        left.addWidget(self._images)
        left.addWidget(self._origin)
        left.addStretch(1)
        row = horizontal(self._shown, 0, theme.SPACE_M)
        row.addLayout(left)
        right = vertical(None, 0, theme.SPACE_XS)
        right.addWidget(self.bars, 1)
        right.addWidget(self._answer)
        row.addLayout(right, 1)
        self._stack = Stack(self.none, self._shown)
        self.body.addWidget(self._stack, 1)
        self.none.action_triggered.connect(self.agreed)
        self.pad.changed.connect(self.drawn)
        self.draw.clicked.connect(self.start_drawing)
        self.retranslate()
        self.show_nothing("")

    def start_drawing(self) -> None:
        """Offer an empty pad."""
        self.clear_requested.emit()
        self._images.setCurrentWidget(self.pad)
        self._stack.setCurrentWidget(self._shown)
        self._origin.setText(self.tr("Draw a digit."))
        self.pad.clear()
        self.pad.setFocus()

    def offer_drawing(self, possible: bool) -> None:
        """Whether the network takes drawn digits."""
        self.draw.setVisible(possible)

    def show_nothing(self, why: str, ask: bool = False) -> None:
        """Say why nothing is answered; ``ask`` offers to let the run's code run."""
        self.none.set_text(why, self.tr("Allow and compute…") if ask else "")
        self._stack.setCurrentWidget(self.none)
        self.now.hide()

    def show_sample(self, image: object, origin: str, drawn: bool) -> None:
        """Show what the network is asked about: an image from 0 to 1, None for other values."""
        self._stack.setCurrentWidget(self._shown)
        self._images.setCurrentWidget(self.pad if drawn else self.image)
        if isinstance(image, np.ndarray) and not drawn:
            self.image.set_image(image)
        self._origin.setText(origin)

    def show_answer(self, ranking: Sequence[tuple[str, float]], words: str) -> None:
        """The classes with their probabilities, as the network answers now; words below them."""
        if ranking:
            labels, shares = zip(*ranking, strict=True)
            self.bars.set_probabilities(shares, labels)
        else:
            self.bars.clear()
        self._answer.setText(words)
        self.now.setVisible(bool(ranking))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.set_title(tr("Answer"))
        self.now.setText(tr("computed now"))
        self.now.setToolTip(tr("The network of this checkpoint answers now; nothing of it is stored."))
        self.draw.setText(tr("Draw"))
        self.draw.setToolTip(tr("Draw a digit that each checkpoint answers"))
