"""The page Data: samples, class balance or histograms of targets, columns, preparation with before and after,
problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QVBoxLayout, QWidget

from resources import quantities
from studio.windows.columns import Columns
from studio.windows.controls import PageCard, Scroll
from studio.windows.data.column_table import ColumnRow, ColumnTable
from studio.windows.data.curve_image import CurveLabel
from studio.windows.data.data_problems import DataProblems
from studio.windows.data.labelling_page import LabellingPage
from studio.windows.data.sample_grid import SampleGrid
from studio.windows.data.target_histograms import TargetHistograms
from studio.windows.data.tiles import pixmap_of
from widgets import theme
from widgets.bars import CountBars
from widgets.cards import EmptyState, KeyFigure
from widgets.flow import FlowLayout
from widgets.icons import set_icon
from widgets.labels import heading, mute
from widgets.layouts import grid, horizontal, vertical
from widgets.retranslated import Retranslated

FIGURES = ("train", "test", "classes", "fed")
NARROW = 620
PAIR_SIDE = 56
PAIRS = 5


class DataPage(Retranslated, QWidget):
    """Filled by its controller.

    ``target_chosen`` carries the column that is to be predicted, where the page asked for it.
    ``page_requested`` asks for samples of (split, class or -1, whether others than those shown);
    ``compare_requested`` for others before and after; ``shown`` says that the page has come to the front;
    ``choose_requested`` asks for other data, ``cancel_requested`` for no more reading; ``why_requested`` for
    why the selected model answers so to the chosen sample.
    """

    page_requested = Signal(str, int, bool)
    compare_requested = Signal()
    shown = Signal()
    choose_requested = Signal()
    cancel_requested = Signal()
    target_chosen = Signal(str)
    why_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.figures = {name: KeyFigure() for name in FIGURES}
        self.samples, self.balance, self.problems = SampleGrid(), CountBars(), DataProblems()
        self.columns, self.targets = ColumnTable(), TargetHistograms()
        self.question, self.question_note = heading(), mute(wrap=True)
        self.choices = ColumnTable(asks=True)
        self.split, self.filter = QComboBox(), QComboBox()
        self.other, self.why = QPushButton(), QPushButton()
        self.other_pairs = QPushButton()
        set_icon(self.other, "refresh")
        set_icon(self.other_pairs, "refresh")
        self.page_note, self.pair_note = mute(wrap=True), mute(wrap=True)
        self._pairs = QWidget()
        # Pairs that don't fit next to each other go below: the page asks for no width because of them.
        self._pair_flow = FlowLayout(self._pairs, theme.SPACE_S)
        self._pair_words = (mute(), mute())
        self.cards = {name: PageCard() for name in ("samples", "balance", "pairs", "columns", "problems")}
        self.waiting = EmptyState("", icon="table")
        self.cancel = QPushButton()
        self.cancel.clicked.connect(self.cancel_requested)
        self.waiting.action_triggered.connect(self.choose_requested)
        self._body, self._grid = QWidget(), grid(None, 0, theme.SPACE_M)
        self._instead, self._asking = self._waiting_page(), self._asking_page()
        self.labelling = LabellingPage()
        outer = vertical(self, theme.PAGE_PADDING, spacing=None)
        self._views = (self._body, self._instead, self._asking, self.labelling)
        for view in self._views:
            outer.addWidget(view)
        self._stacked: bool | None = None
        self._task = "classes"
        self._build()
        self.retranslate()
        self.show_waiting("", "", cancel=False)

    def _waiting_page(self) -> QWidget:
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.addStretch(1)
        layout.addWidget(self.waiting)
        layout.addWidget(self.cancel, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)
        return page

    def _asking_page(self) -> QWidget:
        page = QWidget()
        layout = vertical(page, 0, theme.SPACE_S)
        layout.addWidget(self.question)
        layout.addWidget(self.question_note)
        layout.addWidget(self.choices, 1)
        self.choices.role_chosen.connect(lambda name, _: self.target_chosen.emit(name))
        return page

    def _build(self) -> None:
        layout = vertical(self._body, 0, theme.SPACE_M)
        layout.addWidget(Columns(*self.figures.values(), narrow=2))
        layout.addLayout(self._grid, 1)
        samples = self.cards["samples"]
        for control in (self.split, self.filter, self.other):
            samples.header.addWidget(control)
        self.filter.setMinimumContentsLength(6)
        self.filter.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        samples.body.addWidget(self.samples, 1)
        last = horizontal(None, 0)
        last.addWidget(self.page_note, 1)
        last.addWidget(self.why)
        samples.body.addLayout(last)
        bars = self._bars = Scroll(self.balance)
        bars.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        bars.setMinimumHeight(120)
        self.cards["balance"].body.addWidget(bars, 1)
        self.cards["balance"].body.addWidget(self.targets, 1)
        self.cards["columns"].body.addWidget(self.columns, 1)
        self.cards["pairs"].header.addWidget(self.other_pairs)
        self._pair_flow.addWidget(_above(*self._pair_words))
        self.cards["pairs"].body.addWidget(self._pairs)
        self.cards["pairs"].body.addWidget(self.pair_note)
        self.cards["pairs"].body.addStretch(1)
        self.cards["problems"].body.addWidget(self.problems, 1)
        self.split.activated.connect(lambda _: self._ask(False))
        self.filter.activated.connect(lambda _: self._ask(False))
        self.other.clicked.connect(lambda: self._ask(True))
        self.why.clicked.connect(self.why_requested)
        self.other_pairs.clicked.connect(self.compare_requested)
        self.show_kind("images", "classes", ())
        self._arrange(False)

    def _ask(self, other: bool) -> None:
        self.page_requested.emit(self.split.currentData(), self.filter.currentData(), other)

    def _arrange(self, stacked: bool) -> None:
        if stacked == self._stacked:
            return
        self._stacked = stacked
        # The columns of a table are in the place of the pairs.
        places = (
            ((0, 0), (1, 0), (2, 0), (2, 0), (3, 0)) if stacked else ((0, 0), (0, 1), (1, 0), (1, 0), (1, 1))
        )
        for card, (row, column) in zip(self.cards.values(), places, strict=True):
            self._grid.addWidget(card, row, column)
        for column, share in enumerate((1, 0) if stacked else (3, 2)):
            self._grid.setColumnStretch(column, share)
        for row, share in enumerate((4, 3, 0, 3) if stacked else (3, 2, 0, 0)):
            self._grid.setRowStretch(row, share)

    def minimumSizeHint(self) -> QSize:
        if self._body.isHidden():
            return super().minimumSizeHint()
        shown = [card for card in self.cards.values() if not card.isHidden()]
        wide = max(card.minimumSizeHint().width() for card in shown)
        return QSize(wide + 2 * theme.PAGE_PADDING, super().minimumSizeHint().height())

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show) and self.isVisible():
            self._arrange(self.width() < NARROW)
        return super().event(event)

    # ----- contents -----

    def show_waiting(self, text: str, action: str, cancel: bool) -> None:
        """Instead of data: what is waited for, or what is wrong, with an action that fixes it."""
        self.waiting.set_text(text, action)
        self.cancel.setVisible(cancel)
        self._show(self._instead)

    def show_data(self) -> None:
        """The data is there."""
        self._show(self._body)

    def show_question(self, rows: Sequence[ColumnRow], text: str) -> None:
        """Instead of data: all columns, to choose the one that is to be predicted."""
        self.question_note.setText(text)
        self.choices.set_rows(rows)
        self._show(self._asking)

    def show_labelling(self) -> None:
        """Instead of data: images that get their labels."""
        self._show(self.labelling)

    def _show(self, view: QWidget) -> None:
        for each in self._views:
            each.setVisible(each is view)

    def show_kind(self, kind: str, task: str, columns: Sequence[ColumnRow]) -> None:
        """Show the cards that mean something for data of this kind, and these columns of a table."""
        self.columns.set_rows(columns)
        self.cards["columns"].setVisible(bool(columns))
        self.cards["pairs"].setVisible(not columns)
        for widget, shown in ((self._bars, task == "classes"), (self.targets, task == "numbers")):
            widget.setVisible(shown)
        self.filter.setVisible(task == "classes")
        self._task = task
        self._name_by_task()

    def _name_by_task(self) -> None:
        numbers = self._task == "numbers"
        titles = (self.tr("Targets"), self.tr("training")) if numbers else None
        self.cards["balance"].set_title(*(titles or (self.tr("Classes"), self.tr("training + test"))))
        self.figures["classes"].set_label(self.tr("Targets") if numbers else self.tr("Classes"))

    def offer_classes(self, splits: Sequence[tuple[str, str]], classes: Sequence[str]) -> None:
        """What the samples can be filtered by: splits as (name, words), and all classes."""
        chosen = self.split.currentData()
        self.split.clear()
        for name, words in splits:
            self.split.addItem(words, name)
        self.split.setCurrentIndex(max(0, self.split.findData(chosen)))
        label = self.filter.currentText()
        self.filter.clear()
        self.filter.addItem(self.tr("All classes"), -1)
        for number, name in enumerate(classes):
            self.filter.addItem(name, number)
        self.filter.setCurrentIndex(max(0, self.filter.findText(label)))

    def offer_why(self, why_not: str) -> None:
        """Whether the chosen sample can be explained, or why not."""
        self.why.setEnabled(not why_not)
        self.why.setToolTip(
            why_not or self.tr("Show which pixels or values of the chosen sample the answer depends on")
        )

    def show_pairs(
        self, before: Sequence[Any], after: Sequence[Any], kind: str, texts: Sequence[str]
    ) -> None:
        """The same samples before and after, of this kind; ``texts`` say what is fed of each."""
        while self._pair_flow.count() > 1:
            item = self._pair_flow.takeAt(1)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.deleteLater()
        for first, second, text in list(zip(before, after, texts, strict=True))[:PAIRS]:
            labels = []
            for value, words in ((first, self._pair_words[0]), (second, self._pair_words[1])):
                label = CurveLabel(value, PAIR_SIDE) if kind == "sequences" else QLabel()
                if kind == "images":
                    label.setPixmap(pixmap_of(value, PAIR_SIDE))
                elif kind != "sequences":
                    label.setText("\n".join(quantities.value(number) for number in value[:4]))
                label.setToolTip(text)
                label.setAccessibleName(f"{words.text()}: {text}")
                labels.append(label)
            pair = _above(*labels)
            self._pair_flow.addWidget(pair)
            pair.show()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        titles = {
            "samples": self.tr("Samples"),
            "pairs": self.tr("Before and after"),
            "columns": self.tr("Columns"),
            "problems": self.tr("Problems of the data"),
        }
        for name, title in titles.items():
            self.cards[name].set_title(title)
        self._name_by_task()
        self.question.setText(self.tr("Which column is to be predicted?"))
        figures = {
            "train": self.tr("Training", "part of the data"),
            "test": self.tr("Test"),
            "fed": self.tr("Fed as"),
        }
        for name, words in figures.items():
            self.figures[name].set_label(words)
        for line, words in enumerate((self.tr("Before"), self.tr("After"))):
            self._pair_words[line].setText(words)
        self.other.setText(self.tr("Show others"))
        self.other.setToolTip(self.tr("Show other samples, drawn at random"))
        self.why.setText(self.tr("Why…"))
        self.other_pairs.setText(self.tr("Show others"))
        self.other_pairs.setToolTip(self.tr("Show other samples before and after"))
        self.split.setAccessibleName(self.tr("Split"))
        self.filter.setAccessibleName(self.tr("Class"))
        self.cancel.setText(self.tr("Cancel"))

    # ----- what comes from outside -----

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.shown.emit()


def _above(first: QLabel, second: QLabel) -> QWidget:
    """Two labels above each other, each as high as an image."""
    pair = QWidget()
    layout = vertical(pair, 0, theme.SPACE_S)
    for label in (first, second):
        label.setMinimumSize(PAIR_SIDE, PAIR_SIDE)
        layout.addWidget(label)
    return pair
