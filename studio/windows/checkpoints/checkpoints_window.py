"""CheckpointsWindow: a run at one of its checkpoints: weights, what was measured, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QGridLayout,
    QMenu,
    QProgressBar,
    QPushButton,
    QToolButton,
    QWidget,
)

from studio.session.checkpoints.checkpoint_files import LeftOut
from studio.windows.checkpoints.play_bar import PlayBar
from studio.windows.checkpoints.sample_card import SampleCard
from studio.windows.checkpoints.weights_cards import WeightsCards
from studio.windows.controls import PageCard, Stack
from studio.windows.train.mistake_grid import MistakeGrid
from studio.windows.train.sample_images import Content, Sample
from studio.windows.train.worst_numbers import WorstNumbers
from widgets import theme
from widgets.cards import Chip, EmptyState, set_role
from widgets.confusion import ConfusionMatrix
from widgets.elided import ElidedLabel
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import grid, horizontal, vertical
from widgets.plot import CurvePlot
from widgets.retranslated import Retranslated

SIZE = (1120, 720)
MOST_NAMED = 2
FORMATS = ("gif", "strip")


class CheckpointsWindow(Retranslated, QDialog):
    """Passive: it shows what it is given. ``save_requested`` carries one of ``FORMATS``, ``hard_chosen`` the
    place of one of the hardest samples, ``target_chosen`` that of another number to predict, ``closed``
    comes when it is closed."""

    save_requested = Signal(str)
    measure_requested = Signal()
    cancel_requested = Signal()
    hard_chosen = Signal(int)
    target_chosen = Signal(int)
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("checkpoints")
        self.setWindowFlags(self.windowFlags() | Qt.WindowType.WindowMinMaxButtonsHint)
        self._run, self._measured = ElidedLabel(), ElidedLabel()
        self._run.setProperty("role", "title")
        self._measured.setProperty("role", "mute")
        self.bar, self.weights, self.sample = PlayBar(), WeightsCards(self), SampleCard()
        self._confusion_card, self.matrix = PageCard(), ConfusionMatrix()
        self.measure, self.now = QToolButton(), Chip()
        self._no_matrix = EmptyState("")
        self._matrix_stack = Stack(self._no_matrix, self.matrix)
        self._hard_card, self.hardest = PageCard(), MistakeGrid()
        self._no_hardest = EmptyState("")
        self.worst, self.target = WorstNumbers(), QComboBox()
        self._hard_stack = Stack(self._no_hardest, self.hardest, self.worst)
        self._curve_card, self.curve = PageCard(), CurvePlot()
        self.left_out = [ElidedLabel() for _ in range(MOST_NAMED)]
        self.hint, self.saved = mute(wrap=True), ElidedLabel()
        self.save = QToolButton()
        self._menu = QMenu(self)
        self._gif = self._menu.addAction("", lambda: self.save_requested.emit("gif"))
        self._strip = self._menu.addAction("", lambda: self.save_requested.emit("strip"))
        self.progress, self.stop = QProgressBar(), QPushButton()
        self._measuring = False
        self._none = EmptyState("")
        self._content = QWidget()
        self._stack = Stack(self._none, self._content)
        self._build()
        self.retranslate()
        self.show_progress(None)
        self.show_measuring(False, False, False)
        self.show_nothing("")

    def _build(self) -> None:
        set_icon(self.save, "export", "mute")
        self.save.setProperty("role", "menu")
        self.save.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.save.setMenu(self._menu)
        self.stop.clicked.connect(self.cancel_requested)
        self.hardest.chosen.connect(self.hard_chosen)
        for widget in (self.now, self.measure):
            self._confusion_card.header.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self.measure.clicked.connect(self.measure_requested)
        self._confusion_card.body.addWidget(self._matrix_stack, 1)
        self._hard_card.body.addWidget(self._hard_stack, 1)
        self._hard_card.header.addWidget(self.target, 0, Qt.AlignmentFlag.AlignVCenter)
        self.target.activated.connect(self.target_chosen)
        self.worst.chosen.connect(self.hard_chosen)
        self._curve_card.body.addWidget(self.curve, 1)
        self.curve.set_controls_visible(False)
        head = horizontal(None, 0)
        head.addWidget(self._run)
        head.addWidget(self._measured, 1)
        for widget in (self.progress, self.stop, self.save):
            head.addWidget(widget)
        self.progress.setFixedWidth(140)
        inside = vertical(self._content, 0, theme.SPACE_M)
        inside.addWidget(self.bar)
        inside.addLayout(self._cards(), 1)
        outer = vertical(self, theme.PAGE_PADDING, theme.SPACE_S)
        outer.addLayout(head)
        outer.addWidget(self._stack, 1)
        for label in self.left_out:
            label.setProperty("role", "warn")
        for label in (*self.left_out, self.hint, self.saved):
            label.hide()
            outer.addWidget(label)
        self.resize(*SIZE)

    def _cards(self) -> QGridLayout:
        cards = grid(None, 0, theme.SPACE_M)
        rows = (
            (self.weights.values, self._confusion_card, self.sample),
            (self.weights.changes, self._hard_card, self._curve_card),
        )
        for row, widgets in enumerate(rows):
            cards.setRowStretch(row, 1)
            for column, widget in enumerate(widgets):
                cards.addWidget(widget, row, column)
                cards.setColumnStretch(column, 1)
        return cards

    # ----- what is shown -----

    def show_run(self, title: str) -> None:
        """Name the run."""
        self._run.setText(title)
        self.setWindowTitle(self.tr("Checkpoints of {0}").format(title))

    def show_nothing(self, why: str) -> None:
        """Say why no checkpoint is shown."""
        self._none.set_text(why)
        self._stack.setCurrentWidget(self._none)
        self.save.setEnabled(False)

    def show_checkpoint(self, place: int, count: int, words: str, measured: str) -> None:
        """Which checkpoint is shown among ``count``, and what was measured then."""
        self._none.set_text("")
        self._stack.setCurrentWidget(self._content)
        self.save.setEnabled(True)
        self.bar.show_place(place, count, words)
        self._measured.setText(measured)

    def measured(self) -> str:
        """What was measured, and when."""
        return self._measured.text()

    def show_matrix(self, counts: object, labels: Sequence[str], subtitle: str) -> None:
        """Show a confusion matrix, and when it was measured."""
        self.matrix.set_counts(counts, labels)  # type: ignore[arg-type]
        self._confusion_card.set_title(self.tr("Confusion"), subtitle)
        self._no_matrix.set_text("")
        self._matrix_stack.setCurrentWidget(self.matrix)

    def show_no_matrix(self, why: str) -> None:
        """Say why there is no matrix."""
        self._confusion_card.set_title(self.tr("Confusion"))
        self._no_matrix.set_text(why)
        self._matrix_stack.setCurrentWidget(self._no_matrix)

    def show_measuring(self, possible: bool, measuring: bool, computed: bool) -> None:
        """Whether the checkpoint can be measured now, is being measured, or was measured now."""
        self._measuring = measuring
        self.measure.setVisible(possible or measuring)
        self.measure.setEnabled(not measuring)
        self.now.setVisible(computed)
        self._name_measure()

    def _name_measure(self) -> None:
        self.measure.setText(self.tr("Measuring…") if self._measuring else self.tr("Measure now"))

    def show_hardest(self, samples: list[Sample], why: str) -> None:
        """The samples that were read worst; without any, why."""
        self.hardest.set_samples(samples)
        self.target.hide()
        self._no_hardest.set_text("" if samples else why)
        self._hard_stack.setCurrentWidget(self.hardest if samples else self._no_hardest)

    def show_worst(
        self,
        rows: Sequence[tuple[str, str, str, str]],
        shown: Sequence[Content | None],
        targets: Sequence[str],
        chosen: int,
    ) -> None:
        """The samples with the largest errors for one of the numbers that a run predicts: rows of (sample,
        true, predicted, error), and each sample, None for one that is not stored."""
        self.hardest.set_samples([])
        self.target.clear()
        self.target.addItems(list(targets))
        self.target.setCurrentIndex(chosen)
        self.target.setVisible(len(targets) > 1)
        self.worst.show_rows(rows, shown)
        self._no_hardest.set_text("")
        self._hard_stack.setCurrentWidget(self.worst)

    def show_left_out(self, left_out: Sequence[LeftOut], reasons: Sequence[str]) -> None:
        """Name the checkpoints that can't be read, with their ``reasons`` in the language of the window."""
        lines = [self.tr("Left out: {0}").format(why) for why in reasons]
        more = len(lines) - MOST_NAMED
        if more > 0:
            others = ", ".join(each.name for each in left_out[MOST_NAMED - 1 :])
            lines[MOST_NAMED - 1 :] = [self.tr("Left out too: {0}").format(others)]
        for place, label in enumerate(self.left_out):
            words = lines[place] if place < len(lines) else ""
            label.setText(words)
            label.setToolTip("\n".join(reasons) if more > 0 and place == MOST_NAMED - 1 else words)
            label.setVisible(bool(words))

    def show_hint(self, words: str) -> None:
        """A hint below the cards; empty for none."""
        self.hint.setText(words)
        self.hint.setVisible(bool(words))

    def show_progress(self, share: float | None) -> None:
        """How much of a file is written; None where none is being written."""
        working = share is not None
        self.progress.setVisible(working)
        self.stop.setVisible(working)
        self.save.setVisible(not working)
        if share is not None:
            self.progress.setRange(0, 100)
            self.progress.setValue(round(100 * share))

    def show_saved(self, words: str, failed: bool = False) -> None:
        """Say which file was written, or why none was; empty for none."""
        self.saved.setText(words)
        self.saved.setToolTip(words)
        set_role(self.saved, "bad" if failed else "mute")
        self.saved.setVisible(bool(words))

    # ----- keys -----

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, slider = event.key(), self.bar.slider
        places = {Qt.Key.Key_Home: slider.minimum(), Qt.Key.Key_End: slider.maximum()}
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.bar.step_asked.emit(1 if key == Qt.Key.Key_Right else -1)
        elif key == Qt.Key.Key_Space:
            self.bar.play_toggled.emit()
        elif key in places:
            self.bar.place_chosen.emit(places[Qt.Key(key)])
        else:
            super().keyPressEvent(event)

    def done(self, result: int) -> None:
        super().done(result)
        self.closed.emit()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.show_run(self._run.text())
        self._hard_card.set_title(tr("Hardest samples"))
        self.hardest.set_title(tr("Hardest samples"))
        self.target.setAccessibleName(tr("Target"))
        self.curve.set_title(tr("Loss"), tr("step"))
        self.save.setAccessibleName(tr("Save"))
        self.save.setToolTip(tr("Save all checkpoints as an animation or as one image"))
        self._gif.setText(tr("Save as GIF…"))
        self._strip.setText(tr("Save as strip (PNG)…"))
        self.stop.setText(tr("Cancel"))
        self._name_measure()
        self.measure.setToolTip(tr("Read the test samples with the weights of this checkpoint"))
        self.now.setText(tr("computed now"))
        self.now.setToolTip(tr("Measured now with the weights of this checkpoint, not by the training"))
        self.progress.setAccessibleName(tr("Progress"))
