"""SampleCard: a sample, and what the network answers about it at the checkpoint that is shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from studio.windows.controls import Facts, PageCard, Stack
from widgets import theme
from widgets.attribution import MapView
from widgets.bars import ProbabilityBars
from widgets.cards import Chip, EmptyState
from widgets.digit_pad import DigitPad, PixelView
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.retranslated import Retranslated

LEAST, SIDE = 84, 112  # whole pixels of a digit


class SampleCard(Retranslated, PageCard):
    """``drawn`` carries a drawing of the pad; ``agreed`` comes when the user lets the run's code run,
    ``clear_requested`` when another sample is to be drawn, ``predict_requested`` for that of Predict."""

    drawn = Signal(object)
    agreed = Signal()
    clear_requested = Signal()
    predict_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.now = Chip()
        self.draw, self.from_predict = QToolButton(), QToolButton()
        set_icon(self.draw, "pen")
        set_icon(self.from_predict, "image")
        for widget in (self.now, self.draw, self.from_predict):
            self.header.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self.pad, self.image, self.bars = DigitPad(), PixelView(), ProbabilityBars()
        self.map = MapView()
        for widget in (self.pad, self.image, self.map):
            widget.setMinimumSize(SIDE, LEAST)
            widget.setMaximumSize(SIDE, SIDE)
        self._origin, self._answer = mute(wrap=True), mute(wrap=True)
        self._numbers = Facts()
        self.none = EmptyState("")
        self._images = Stack(self.image, self.pad)
        self._images.setFixedWidth(SIDE)
        self._list = QWidget()
        lines = vertical(self._list, 0)
        lines.addWidget(self._numbers)
        lines.addStretch(1)
        self._answers = Stack(self.bars, self._list)
        self._shown = QWidget()
        left = vertical(None, 0, theme.SPACE_S)
        left.addWidget(self._images, 100)
        left.addWidget(self.map, 100)
        left.addStretch(1)
        row = horizontal(self._shown, 0, theme.SPACE_M)
        row.addLayout(left)
        right = vertical(None, 0, theme.SPACE_XS)
        right.addWidget(self._answers, 1)
        right.addWidget(self._origin)
        right.addWidget(self._answer)
        row.addLayout(right, 1)
        self._stack = Stack(self.none, self._shown)
        self.body.addWidget(self._stack, 1)
        self.none.action_triggered.connect(self.agreed)
        self.pad.changed.connect(self.drawn)
        self.draw.clicked.connect(self.start_drawing)
        self.from_predict.clicked.connect(self.predict_requested)
        self.retranslate()
        self.show_nothing("")
        self.show_map(None, None)

    def start_drawing(self) -> None:
        """Offer an empty pad."""
        self.clear_requested.emit()
        self.show_sample(None, "", drawn=True)
        self.show_map(None, None)
        self.show_answer((), "")
        self.pad.clear()
        self.pad.setFocus()

    def offer(self, drawing: bool, predict: bool) -> None:
        """Whether the network takes drawn digits, and whether Predict has a sample."""
        self.draw.setVisible(drawing)
        self.from_predict.setVisible(predict)

    def show_nothing(self, why: str, ask: bool = False) -> None:
        """Say why nothing is answered; ``ask`` offers to let the run's code run."""
        self.none.set_text(why, self.tr("Allow and compute…") if ask else "")
        self._stack.setCurrentWidget(self.none)
        self.now.hide()

    def show_sample(self, image: object, origin: str, drawn: bool) -> None:
        """Show what the network is asked about: an image from 0 to 1, None for other values."""
        self.none.set_text("")
        self._stack.setCurrentWidget(self._shown)
        self._images.setCurrentWidget(self.pad if drawn else self.image)
        self._images.setVisible(drawn or isinstance(image, np.ndarray))
        if isinstance(image, np.ndarray) and not drawn:
            self.image.set_image(image)
        self._origin.setText(origin)
        self._origin.setVisible(bool(origin))

    def show_map(self, image: object, values: NDArray[np.float32] | None) -> None:
        """Show which pixels of an image the answer depends on; None for no map."""
        fits = isinstance(image, np.ndarray) and values is not None and image.shape[:2] == values.shape
        self.map.setVisible(fits)
        if fits and isinstance(image, np.ndarray):
            self.map.show_map(image, values)

    def show_answer(
        self, ranking: Sequence[tuple[str, float]], words: str, numbers: Sequence[tuple[str, str]] = ()
    ) -> None:
        """The classes with their probabilities, or numbers by their names, as the network answers now; words
        below them."""
        self._answers.setCurrentWidget(self._list if numbers else self.bars)
        self._numbers.set_rows(numbers)
        if ranking:
            labels, shares = zip(*ranking, strict=True)
            self.bars.set_probabilities(shares, labels)
        else:
            self.bars.clear()
        self._answer.setText(words)
        self._answer.setVisible(bool(words))
        self.now.setVisible(bool(ranking or numbers))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.set_title(tr("Answer"))
        self.now.setText(tr("computed now"))
        self.now.setToolTip(tr("The network of this checkpoint answers now; nothing of it is stored."))
        self.draw.setAccessibleName(tr("Draw"))
        self.draw.setToolTip(tr("Draw a digit that each checkpoint answers"))
        self.from_predict.setAccessibleName(tr("From Predict"))
        self.from_predict.setToolTip(tr("Ask each checkpoint about the sample on the page Predict"))
        self.map.setToolTip(tr("Saliency: the stronger the colour, the more a pixel changes the answer"))
