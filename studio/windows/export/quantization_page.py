"""The report of a quantization on the page Export: figures, layers, classes, changed answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from studio.windows.controls import Facts, ValueLabel
from studio.windows.export.changed_answers_card import ChangedAnswersCard
from studio.windows.export.quantization_layers import LayersCard
from studio.windows.train.sample_images import Sample
from widgets import theme
from widgets.bars import MeasuredBars, MeasuredRow
from widgets.cards import Card, EmptyState, KeyFigure
from widgets.confusion import ConfusionMatrix
from widgets.flow import FlowLayout
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import grid, vertical
from widgets.retranslated import Retranslated

FIGURES = ("size", "accuracy", "latency", "difference")
# From these widths on two cards stand next to each other, and four figures in a row.
TWO_CARDS, FOUR_FIGURES = 640, 900
MATRIX_HEIGHT = 300


@dataclass(frozen=True)
class ReportTexts:
    """A report in words, made by the controller: ``summary`` is honest about gains and losses, ``figures``
    has value and note by name."""

    title: str
    how: str
    summary: str
    figures: dict[str, tuple[str, str]] = field(default_factory=dict)
    in_float: list[tuple[str, str]] = field(default_factory=list)


class QuantizationPage(Retranslated, QWidget):
    """Filled by its controller. ``copy_requested`` and ``save_requested`` are about the report,
    ``predict_requested`` about its files, ``quantize_requested`` comes from the empty page."""

    copy_requested = Signal()
    save_requested = Signal()
    predict_requested = Signal()
    quantize_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.head, self.layers, self.changed = Card(), LayersCard(), ChangedAnswersCard()
        self.classes_card, self.confusion_card, self.float_card = Card(), Card(), Card()
        self.figures = {name: KeyFigure() for name in FIGURES}
        self.how, self.summary = ValueLabel(), QLabel()
        self.summary.setWordWrap(True)
        self.copy, self.save, self.predict = QPushButton(), QPushButton(), QPushButton()
        self.classes, self.matrix, self.facts = MeasuredBars(), ConfusionMatrix(), Facts()
        self.classes_note, self.matrix_note = mute(wrap=True), mute(wrap=True)
        self._none = EmptyState("", icon="export")
        self._none.action_triggered.connect(self.quantize_requested)
        self._figures, self._grid = grid(None, 0, theme.SPACE_M), grid(None, 0, theme.SPACE_M)
        self._shown = QWidget()
        self._columns: tuple[int, int] | None = None
        self._build()
        self.retranslate()
        self.show_nothing("")

    def _build(self) -> None:
        for button, icon, signal in (
            (self.copy, "copy", self.copy_requested),
            (self.save, "download", self.save_requested),
            (self.predict, "pen", self.predict_requested),
        ):
            set_icon(button, icon)
            button.clicked.connect(signal)
        buttons = QWidget()
        row = FlowLayout(buttons, theme.SPACE_S, theme.SPACE_S)
        for button in (self.copy, self.save, self.predict):
            row.addWidget(button)
        for part in (self.how, self.summary, buttons):
            self.head.body.addWidget(part)
        self.classes.setSelectionMode(MeasuredBars.SelectionMode.NoSelection)
        self.classes_card.body.addWidget(self.classes)
        self.classes_card.body.addWidget(self.classes_note)
        self.classes_card.body.addStretch(1)
        self.matrix.setMinimumHeight(MATRIX_HEIGHT)
        self.confusion_card.body.addWidget(self.matrix, 1)
        self.confusion_card.body.addWidget(self.matrix_note)
        self.float_card.body.addWidget(self.facts)
        column = vertical(self._shown, 0, theme.SPACE_M)
        column.addWidget(self.head)
        column.addLayout(self._figures)
        column.addWidget(self.layers)
        column.addLayout(self._grid)
        column.addWidget(self.changed)
        column.addWidget(self.float_card)
        column.addStretch(1)
        layout = vertical(self, 0, spacing=None)
        layout.addWidget(self._none, 1)
        layout.addWidget(self._shown, 1)
        self._arrange(TWO_CARDS)

    def _arrange(self, width: int) -> None:
        """Four figures in a row and two cards next to each other, or fewer where the page is narrow."""
        columns = (4 if width >= FOUR_FIGURES else 2, 2 if width >= TWO_CARDS else 1)
        if columns == self._columns:
            return
        self._columns = columns
        for place, figure in enumerate(self.figures.values()):
            self._figures.addWidget(figure, place // columns[0], place % columns[0])
        for place, card in enumerate((self.classes_card, self.confusion_card)):
            self._grid.addWidget(card, place // columns[1], place % columns[1])
        for place in range(4):
            self._figures.setColumnStretch(place, int(place < columns[0]))
            self._grid.setColumnStretch(place, int(place < columns[1]))

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show) and self.isVisible():
            self._arrange(self.width())
        return super().event(event)

    # contents

    def show_nothing(self, message: str) -> None:
        """Say why there is no report; an empty message says how to come by one."""
        self._none.set_text(*((message, "") if message else self._invitation()))
        self._none.setVisible(True)
        self._shown.setVisible(False)

    def show_report(self, words: ReportTexts) -> None:
        """Show a report's words; layers, classes, confusion and changed answers have ways of their own."""
        self._none.setVisible(False)
        self._shown.setVisible(True)
        self.head.set_title(words.title)
        self.how.set_value(words.how)
        self.summary.setText(words.summary)
        for name, (value, note) in words.figures.items():
            self.figures[name].clear()
            self.figures[name].set_value(value)
            self.figures[name].set_note(note)
        self.facts.set_rows(words.in_float)
        self.float_card.setVisible(bool(words.in_float))

    def show_classes(self, rows: list[MeasuredRow], least: float, note: str) -> None:
        """The accuracy of each class in float and quantized; bars begin at ``least``. Hidden without rows."""
        self.classes.set_rows(rows, least, 1.0)
        self.classes_note.setText(note)
        self.classes_card.setVisible(bool(rows))

    def show_confusion(self, difference: list[list[int]], names: list[str]) -> None:
        """How the confusion changed; hidden without classes."""
        self.confusion_card.setVisible(bool(names))
        if names:
            self.matrix.set_difference(difference, names)

    def show_changed(self, samples: list[Sample], title: str, note: str, nothing: str) -> None:
        """The images whose answer changed."""
        self.changed.show_samples(samples, title, note, nothing)

    def _invitation(self) -> tuple[str, str]:
        return self.tr(
            "The report of a quantization appears here: size, accuracy, the error of each layer, and the "
            "images whose answer changed. Choose Quantize under Files, or quantized files in the list."
        ), self.tr("Quantize…")

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        labels = (tr("Size"), tr("Accuracy"), tr("One image"), tr("Largest difference"))
        for figure, label in zip(self.figures.values(), labels, strict=True):
            figure.set_label(label)
        self.copy.setText(tr("Copy as text"))
        self.copy.setToolTip(tr("The whole report as text, to be pasted elsewhere"))
        self.save.setText(tr("Save…"))
        self.save.setToolTip(tr("As text, or the layers as a CSV table"))
        self.predict.setText(tr("Open in Predict"))
        self.predict.setToolTip(tr("Load these files and try them on a drawn digit"))
        self.classes_card.set_title(tr("Accuracy per class"))
        self.classes.setAccessibleName(tr("Accuracy per class, in float and quantized"))
        self.confusion_card.set_title(tr("Confusion"), tr("quantized minus float"))
        self.matrix_note.setText(tr("Green is better, red is worse; the sign shows more or fewer."))
        self.float_card.set_title(tr("Left in float"))
