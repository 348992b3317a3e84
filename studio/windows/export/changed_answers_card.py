"""The card of a report with the images whose answer changed; one of them opens large."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QWidget

from studio.windows.controls import Facts, Stack
from studio.windows.train.mistake_grid import GAP, SMALLEST, MistakeGrid
from studio.windows.train.sample_gallery import LargeImage
from studio.windows.train.sample_images import Sample, describe
from widgets import theme
from widgets.cards import Card, EmptyState
from widgets.labels import mute
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

GRID_HEIGHT, LITTLE_HEIGHT = 240, 100
LARGE = 320


class ChangedAnswersCard(Retranslated, Card):
    """Images with the answers in float and quantized below each; a click opens one large."""

    def __init__(self) -> None:
        super().__init__()
        self.grid = MistakeGrid()
        self.note = mute(wrap=True)
        self._none = EmptyState("", icon="check")
        self._stack = Stack(self.grid, self._none)
        self._stack.setFixedHeight(GRID_HEIGHT)
        self.body.addWidget(self._stack)
        self.body.addWidget(self.note)
        self.large = ChangedAnswersDialog(self)
        self.grid.chosen.connect(self._open)
        self.retranslate()

    def show_samples(self, samples: list[Sample], title: str, note: str, nothing: str) -> None:
        """Show the images; ``nothing`` says why there are none, ``note`` is about those there are."""
        self.set_title(self.tr("Changed answers"), title)
        self.grid.set_title(self.tr("Images whose answer changed"))
        self.grid.set_samples(samples)
        self._none.set_text(nothing)
        self._stack.setCurrentWidget(self._none if nothing else self.grid)
        self._fit()
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.large.set_samples(samples)

    def _fit(self) -> None:
        """High enough for all images: the page scrolls, the grid does not."""
        count = len(self.grid.samples())
        if not count:
            self._stack.setFixedHeight(LITTLE_HEIGHT)
            return
        columns = max(1, int((self.grid.width() + GAP) // (SMALLEST + GAP)))
        row = SMALLEST + self.grid.fontMetrics().height() + 2 + GAP
        self._stack.setFixedHeight(max(GRID_HEIGHT, round(-(-count // columns) * row)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _open(self, place: int) -> None:
        self.large.show_place(place)
        self.large.open()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.set_title(self.tr("Changed answers"))


class ChangedAnswersDialog(Retranslated, QDialog):
    """One image large with what both models answer; the arrow keys and buttons move to the others."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._samples: list[Sample] = []
        self._place = 0
        self.image, self.facts = LargeImage(), Facts()
        self.image.setMinimumSize(LARGE, LARGE)
        self.back, self.on = QPushButton(), QPushButton()
        row = QHBoxLayout()
        row.addStretch(1)
        for button in (self.back, self.on):
            button.setAutoDefault(False)
            row.addWidget(button)
        layout = vertical(self, theme.SPACE_L, theme.SPACE_M)
        layout.addWidget(self.image, 1)
        layout.addWidget(self.facts)
        layout.addLayout(row)
        self.back.clicked.connect(lambda: self.show_place(self._place - 1))
        self.on.clicked.connect(lambda: self.show_place(self._place + 1))
        self.retranslate()

    def set_samples(self, samples: list[Sample]) -> None:
        """The images to move over; one that is open stays at its place."""
        self._samples = samples
        if self.isVisible():
            self.show_place(min(self._place, len(samples) - 1))

    def show_place(self, place: int) -> None:
        """Show the image at this place; nothing happens where there is none."""
        if not 0 <= place < len(self._samples):
            return
        self._place, sample = place, self._samples[place]
        self.image.show_sample(sample)
        self.facts.set_rows(
            [
                (self.tr("Image"), self.tr("{0} of the test data").format(sample.index)),
                (self.tr("It is"), sample.label),
                (self.tr("In float"), sample.before),
                (self.tr("Quantized"), sample.predicted),
            ]
        )
        self.setWindowTitle(self.tr("Changed answer {0} of {1}").format(place + 1, len(self._samples)))
        self.setAccessibleDescription(describe(sample, self))
        self.back.setEnabled(place > 0)
        self.on.setEnabled(place + 1 < len(self._samples))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if Qt.Key(event.key()) in steps:
            self.show_place(self._place + steps[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.back.setText(self.tr("Previous"))
        self.on.setText(self.tr("Next"))
        if self.isVisible():
            self.show_place(self._place)
