"""The gallery: the test samples that a filter lets through, one of them large, and what is said about it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QShortcut
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from studio.windows.controls import Facts, Stack, ValueLabel
from studio.windows.train.mistake_grid import MistakeGrid
from studio.windows.train.sample_filter import SampleFilterBar
from studio.windows.train.sample_images import Sample, describe, draw_sample
from widgets import theme
from widgets.bars import ProbabilityBars
from widgets.cards import EmptyState
from widgets.labels import heading, mute
from widgets.layouts import horizontal, vertical
from widgets.retranslated import Retranslated

LARGE = 180


class LargeImage(QWidget):
    """One sample, large; its pixels stay visible."""

    def __init__(self) -> None:
        super().__init__()
        self._sample: Sample | None = None
        self.setMinimumSize(LARGE, LARGE)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def show_sample(self, sample: Sample | None) -> None:
        self._sample = sample
        self.setAccessibleName(describe(sample, self) if sample is not None else self.tr("No image"))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(LARGE, LARGE)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._sample is not None:
            side = min(self.width(), self.height())
            box = QRectF((self.width() - side) / 2, 0, side, side)
            draw_sample(QPainter(self), box, self._sample.image, smooth=False)


class SampleGallery(Retranslated, QDialog):
    """A window next to the page; Escape closes it.

    ``page_turned`` carries -1 or 1, ``selected`` the number of an image, ``relabelled`` the number of a
    class; ``dropped``, ``taken_back``, ``corrections_requested`` and ``why_requested`` are about the selected
    image and the list of all corrections.
    """

    page_turned = Signal(int)
    selected = Signal(int)
    relabelled = Signal(int)
    dropped = Signal()
    taken_back = Signal()
    corrections_requested = Signal()
    why_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.grid, self.large, self.bars = MistakeGrid(), LargeImage(), ProbabilityBars()
        self.grid.setMinimumSize(440, 390)
        self.grid.show_current(True)
        self.facts, self.said = Facts(), ValueLabel()
        self._none = EmptyState("")
        self._stack = Stack(self.grid, self._none)
        self._title, self._pages, self.filter = heading(), mute(), SampleFilterBar()
        self.back, self.on = QPushButton(), QPushButton()
        self.classes, self.relabel = QComboBox(), QPushButton()
        self._label_as = QLabel()
        self._label_as.setBuddy(self.classes)
        self.drop, self.undo, self.all = QPushButton(), QPushButton(), QPushButton()
        self.why = QPushButton()
        self._samples: list[Sample] = []
        self._build()
        self.retranslate()
        self.resize(820, 600)

    def _build(self) -> None:
        left = QVBoxLayout()
        turn = QHBoxLayout()
        turn.addWidget(self._pages, 1)
        turn.addWidget(self.back)
        turn.addWidget(self.on)
        left.addWidget(self._stack, 1)
        left.addLayout(turn)
        inside = QWidget()
        right = vertical(inside, 0, theme.SPACE_S)
        label = QHBoxLayout()
        label.addWidget(self._label_as)
        label.addWidget(self.classes, 1)
        label.addWidget(self.relabel)
        buttons = QHBoxLayout()
        for button in (self.drop, self.undo):
            buttons.addWidget(button, 1)
        for widget in (self.large, self.facts, self.bars):
            right.addWidget(widget)
        right.addStretch(1)
        side = QScrollArea()
        side.setWidgetResizable(True)
        side.setFrameShape(QScrollArea.Shape.NoFrame)
        side.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        side.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        side.setWidget(inside)
        side.setMinimumWidth(260)
        columns = horizontal(None, 0, theme.SPACE_L)
        columns.addLayout(left, 3)
        side_column = QVBoxLayout()
        side_column.addWidget(side, 1)
        side_column.addWidget(self.said)
        side_column.addLayout(label)
        side_column.addLayout(buttons)
        last = QHBoxLayout()
        for button in (self.why, self.all):
            last.addWidget(button, 1)
        side_column.addLayout(last)
        columns.addLayout(side_column, 2)
        layout = vertical(self, theme.SPACE_L, theme.SPACE_M)
        layout.addWidget(self._title)
        layout.addWidget(self.filter)
        layout.addLayout(columns, 1)
        self.back.clicked.connect(lambda: self.page_turned.emit(-1))
        self.on.clicked.connect(lambda: self.page_turned.emit(1))
        self.grid.moved.connect(self.selected)
        self.relabel.clicked.connect(lambda: self.relabelled.emit(self.classes.currentIndex()))
        self.drop.clicked.connect(self.dropped)
        self.undo.clicked.connect(self.taken_back)
        self.all.clicked.connect(self.corrections_requested)
        self.why.clicked.connect(self.why_requested)
        for key, by in ((Qt.Key.Key_PageUp, -1), (Qt.Key.Key_PageDown, 1)):
            QShortcut(key, self, lambda by=by: self.page_turned.emit(by))
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)

    # what is shown

    def set_classes(self, names: tuple[str, ...]) -> None:
        """The classes that an image can be given, and that are filtered by."""
        self.filter.set_classes(names)
        if names != tuple(self.classes.itemText(place) for place in range(self.classes.count())):
            self.classes.clear()
            self.classes.addItems(list(names))

    def show_page(
        self,
        title: str,
        samples: list[Sample],
        selected: int,
        pages: str,
        turns: tuple[bool, bool],
        message: str = "",
    ) -> None:
        """Show the samples of a page; ``turns`` says whether there are pages before and after it."""
        self.setWindowTitle(title)
        self._title.setText(title)
        self._samples = samples
        self.grid.set_title(title)
        self.grid.set_samples(samples, selected)
        self._none.set_text(message)
        self._stack.setCurrentWidget(self.grid if samples and not message else self._none)
        self._pages.setText(pages)
        self.back.setEnabled(turns[0])
        self.on.setEnabled(turns[1])

    def show_sample(
        self, sample: Sample | None, facts: list[tuple[str, str]], names: tuple[str, ...]
    ) -> None:
        """Show one sample large, with its facts and the probabilities of all classes; the facts of a row of a
        table are enough."""
        self.large.show_sample(sample)
        self.large.setVisible(sample is None or not sample.row)
        self.facts.set_rows(facts)
        self.why.setEnabled(sample is not None)
        known = sample is not None and len(sample.probabilities) == len(names)
        self.bars.setVisible(known)
        if sample is not None and known:
            self.bars.set_probabilities(sample.probabilities, names)

    def show_correction(self, words: str, can_correct: bool, label: int) -> None:
        """What was said about the image (empty for nothing), and the class that is offered."""
        self.said.set_value(words)
        self.said.setVisible(bool(words))
        self.undo.setEnabled(bool(words))
        for widget in (self.classes, self.relabel, self.drop):
            widget.setEnabled(can_correct)
        if 0 <= label < self.classes.count():
            self.classes.setCurrentIndex(label)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.back.setText(tr("Previous"))
        self.back.setAccessibleName(tr("Page before"))
        self.on.setText(tr("Next"))
        self.on.setAccessibleName(tr("Next page"))
        self._label_as.setText(tr("It is"))
        self.classes.setAccessibleName(tr("Class of the sample"))
        self.relabel.setText(tr("Relabel"))
        self.relabel.setToolTip(tr("Save this class for the sample in the project; the data stays unchanged"))
        self.drop.setText(tr("Exclude"))
        self.drop.setToolTip(tr("Exclude the sample from training in the project; the data stays unchanged"))
        self.undo.setText(tr("Undo"))
        self.undo.setToolTip(tr("Remove the correction of this sample"))
        self.all.setText(tr("All corrections…"))
        self.why.setText(tr("Why…"))
        self.why.setToolTip(tr("Show which pixels or values of the sample the answer depends on"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.drop.isEnabled():
            self.dropped.emit()
        else:
            super().keyPressEvent(event)
