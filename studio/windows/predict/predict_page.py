"""The page Predict: an editor for each input, the answer, and the image that the model is really fed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QComboBox,
    QLabel,
    QPushButton,
    QScrollArea,
    QSlider,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from studio.windows.controls import Facts, PageCard, Scroll, Stack, TextCard
from studio.windows.explain.explain_panel import ExplainPanel
from studio.windows.predict.input_editors import ImageInput, NumbersInput, SquareFrame, UnsupportedInput
from studio.windows.predict.results_card import ResultsCard
from studio.windows.predict.row_editor import RowInput
from studio.windows.predict.sequence_view import SequenceView
from widgets import theme
from widgets.bars import ProbabilityBars
from widgets.cards import Chip
from widgets.digit_pad import DigitPad, PixelView
from widgets.elided import ElidedComboBox
from widgets.labels import mute
from widgets.layouts import grid, horizontal, vertical
from widgets.retranslated import Retranslated

ANSWER_PX = 44
LONG_ANSWER_PX = 28
SHORT_ANSWER = 7  # characters
NARROW = 640
SIDE = 28
LEAST_PLACING = 96  # pixels of the list of placings

Editor = ImageInput | NumbersInput | RowInput | UnsupportedInput


class PredictPage(Retranslated, QWidget):
    """Filled by its controller. The signals of editors carry the place of the input first: ``drawn`` the
    pad's array, ``file_given`` a path, ``data_given`` the bytes of an image, ``open_requested`` nothing
    more, ``numbers_given`` an array, ``text_given`` a pasted text, ``numbers_refused`` a text that is no
    number, ``row_edited`` nothing more."""

    drawn = Signal(int, object)
    file_given = Signal(int, str)
    data_given = Signal(int, bytes)
    open_requested = Signal(int)
    numbers_given = Signal(int, object)
    text_given = Signal(int, str)
    numbers_refused = Signal(int, str)
    row_edited = Signal(int)
    cleared = Signal(int)
    placing_chosen = Signal(str)
    input_chosen = Signal(int)
    cancel_requested = Signal()
    again_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.fed, self.sequence, self.bars = PixelView(), SequenceView(), ProbabilityBars()
        self.cancel_button, self.again_button = QPushButton(), QPushButton()
        self.brush = QSlider(Qt.Orientation.Horizontal)
        self._brush_label = mute()
        self._brush_label.setFont(theme.font())
        self._brush_label.setBuddy(self.brush)
        self.answer, self.detail = QLabel(), mute(wrap=True)
        self._answer_px = ANSWER_PX
        theme.changed.connect(self._fit_answer)  # another style sheet brings the first font back
        self.detail.setFont(theme.font())
        self.facts, self.comparisons, self.numbers, self.row = Facts(), Facts(), Facts(), Facts()
        self.placing = ElidedComboBox()
        self.tabs, self._editors_box = QTabBar(), QStackedWidget()
        self.editors: list[Editor] = []
        self.endings: list[tuple[str, ...]] = []  # of files that the inputs take when they are dropped
        self._titles: list[tuple[str, str]] = []
        self._draw_card, self._answer_card, self._fed_card = PageCard(), PageCard(), TextCard()
        self.results = ResultsCard()
        self.results.hide()
        self.results.closed.connect(lambda: self.show_results(False))
        self._fed_frame = SquareFrame(self.fed, QSize(200, 200), QSize(112, 112), centred=False, step=SIDE)
        self.extras = vertical(None, 0)  # what other parts put next to the image that is fed
        self.explain, self._fed_size = ExplainPanel(), ""
        self.fed_tabs = [Chip(checkable=True) for _ in range(2)]
        self._grid = grid(self, theme.PAGE_PADDING, theme.SPACE_M)
        self._stacked: bool | None = None
        self._build()
        self.set_inputs([("digit", "")], [""])
        self.show_why(False)
        self.retranslate()
        self.show_answer("", "")

    @property
    def pad(self) -> DigitPad:
        """The pad of the first image. Raises LookupError where no input is one."""
        for editor in self.editors:
            if isinstance(editor, ImageInput):
                return editor.pad
        raise LookupError("PredictPage.pad: no input is an image; ask for the editors")

    def _build(self) -> None:
        self.brush.setRange(8, 48)
        self.brush.setValue(22)
        self.brush.setFixedWidth(80)
        self.brush.valueChanged.connect(self._brush_changed)
        for widget in (self._brush_label, self.brush):
            self._draw_card.header.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self.tabs.setDrawBase(False)
        self.tabs.currentChanged.connect(self._show_input)
        self._draw_card.body.addWidget(self.tabs)
        self._draw_card.body.addWidget(self._editors_box, 1)
        head = horizontal(None, 0, theme.SPACE_M)
        head.addWidget(self.answer)
        head.addWidget(self.detail, 1, Qt.AlignmentFlag.AlignBottom)
        for button, asked in (
            (self.cancel_button, self.cancel_requested),
            (self.again_button, self.again_requested),
        ):
            button.hide()
            button.clicked.connect(asked)
            head.addWidget(button, 0, Qt.AlignmentFlag.AlignBottom)
        self.answer.setMinimumWidth(36)
        self.detail.setContentsMargins(0, 0, 0, 9)
        self._answer_card.body.addLayout(head)
        self._answer_card.body.addWidget(self.numbers)
        self._answer_card.body.addWidget(self.bars, 1)
        self._answer_card.body.addStretch(0)
        self._answer_card.body.addWidget(self.comparisons)
        fed_box = QWidget()
        fed = horizontal(fed_box, 0, theme.SPACE_L)
        fed.addWidget(self._fed_frame, 2)
        fed.addWidget(self.sequence, 3)
        rows = QWidget()
        column = vertical(rows, 0)
        column.addWidget(self.row)
        column.addStretch(1)
        self._row_box = Scroll(rows)
        fed.addWidget(self._row_box, 3)
        side = QVBoxLayout()
        side.addWidget(self.facts)
        side.addStretch(1)
        side.addLayout(self.extras)
        fed.addLayout(side, 3)
        self._fed_views = Stack(fed_box, self.explain)
        self._fed_card.body.addWidget(self._fed_views, 1)
        group = QButtonGroup(self)
        for place, tab in enumerate(self.fed_tabs):
            group.addButton(tab, place)
            self._fed_card.header.addWidget(tab)
        group.idClicked.connect(lambda place: self.show_why(place == 1))
        self.placing.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.placing.setMinimumWidth(LEAST_PLACING)
        self.placing.activated.connect(lambda _: self.placing_chosen.emit(self.placing.currentData()))
        self._fed_card.header.addWidget(self.placing)
        self._arrange(False)

    # inputs

    def set_inputs(self, inputs: Sequence[tuple[str, str]], titles: Sequence[str]) -> None:
        """An editor for each input, empty.

        Args:
            inputs: (form, why not): ``digit`` or ``image`` for a pad, ``numbers`` or ``sequence`` for a
                table of numbers, ``table`` for a form; empty for one that can't be given, with the reason.
            titles: their names, shown where there are several.
        """
        self.tabs.blockSignals(True)
        while self.tabs.count():
            self.tabs.removeTab(0)
        for editor in self.editors:
            self._editors_box.removeWidget(editor)
            editor.hide()
            editor.deleteLater()
        self.editors = [self._editor(place, *each) for place, each in enumerate(inputs)]
        for editor, title in zip(self.editors, titles, strict=True):
            self._editors_box.addWidget(editor)
            self.tabs.addTab(title)
        self.tabs.setVisible(len(inputs) > 1)
        self.tabs.blockSignals(False)
        self._brush_changed(self.brush.value())
        self._show_input(0)

    def _editor(self, place: int, form: str, why_not: str) -> Editor:
        if form in ("digit", "picture"):
            image = ImageInput(form == "digit")
            image.pad.changed.connect(partial(self.drawn.emit, place))
            image.pad.image_dropped.connect(partial(self.file_given.emit, place))
            image.pad.image_given.connect(partial(self.data_given.emit, place))
            image.open_requested.connect(partial(self.open_requested.emit, place))
            return image
        if form == "table":
            row = RowInput()
            row.edited.connect(partial(self.row_edited.emit, place))
            row.text_given.connect(partial(self.text_given.emit, place))
            row.open_requested.connect(partial(self.open_requested.emit, place))
            row.clear_requested.connect(partial(self.cleared.emit, place))
            return row
        if form in ("numbers", "sequence"):
            numbers = NumbersInput(form == "sequence")
            numbers.table.changed.connect(partial(self.numbers_given.emit, place))
            numbers.table.refused.connect(partial(self.numbers_refused.emit, place))
            numbers.text_given.connect(partial(self.text_given.emit, place))
            numbers.open_requested.connect(partial(self.open_requested.emit, place))
            numbers.clear_requested.connect(partial(self.cleared.emit, place))
            return numbers
        return UnsupportedInput(why_not)

    def current_input(self) -> int:
        """The place of the input whose editor is shown."""
        return max(0, self._editors_box.currentIndex())

    def focus_input(self) -> None:
        """Move the focus to the first field of the input that is shown, once it has its place."""
        QTimer.singleShot(0, self, self._focus_input)

    def _focus_input(self) -> None:
        for field in self.editors[self.current_input()].findChildren(QWidget):
            takes = Qt.FocusPolicy.TabFocus in field.focusPolicy() and field.isVisible()
            if takes and not isinstance(field, QAbstractButton | QScrollArea):
                field.setFocus(Qt.FocusReason.TabFocusReason)
                return

    def _show_input(self, place: int) -> None:
        self._editors_box.setCurrentIndex(place)
        is_image = isinstance(self.editors[place], ImageInput)
        self.brush.setVisible(is_image)
        self._brush_label.setVisible(is_image)
        self._draw_card.set_title(self.tr("Draw") if is_image else self.tr("Input"))
        self.input_chosen.emit(place)

    def set_placings(self, placings: Sequence[tuple[str, str]], chosen: str) -> None:
        """Ways to place an image, (key, words); none hides the choice."""
        if [
            (self.placing.itemData(i), self.placing.itemText(i)) for i in range(self.placing.count())
        ] != list(placings):
            self.placing.clear()
            for key, words in placings:
                self.placing.addItem(words, key)
        self.placing.setCurrentIndex(max(0, self.placing.findData(chosen)))
        self.placing.setVisible(bool(placings) and not self.is_why_shown())

    def _arrange(self, stacked: bool) -> None:
        if stacked == self._stacked:
            return
        self._stacked = stacked
        self._grid.addWidget(self.results, 0, 0, 3, 2)
        self._grid.addWidget(self._draw_card, 0, 0)
        self._grid.addWidget(self._answer_card, 1 if stacked else 0, 0 if stacked else 1)
        self._grid.addWidget(self._fed_card, 2 if stacked else 1, 0, 1, 1 if stacked else 2)
        for column, share in enumerate((1, 0) if stacked else (1, 1)):
            self._grid.setColumnStretch(column, share)
        for row, share in enumerate((4, 4, 3) if stacked else (8, 5, 0)):
            self._grid.setRowStretch(row, share)

    def show_why(self, shown: bool) -> None:
        """Why the model answers so, or the image that it is fed."""
        self.fed_tabs[shown].setChecked(True)
        self._fed_views.setCurrentIndex(int(shown))
        self.placing.setVisible(not shown and self.placing.count() > 0)
        self._name_fed()

    def is_why_shown(self) -> bool:
        """Whether the card shows why."""
        return self._fed_views.currentIndex() == 1

    def _name_fed(self) -> None:
        title, size = self.tr("Model input"), self._fed_size
        if self.is_why_shown():
            title, size = self.tr("Why"), ""
        self._fed_card.set_title(title, size)

    def show_results(self, shown: bool) -> None:
        """The table of many predictions, or the cards of one."""
        for card in (self._draw_card, self._answer_card, self._fed_card):
            card.setVisible(not shown)
        self.results.setVisible(shown)

    def minimumSizeHint(self) -> QSize:
        cards = (self._draw_card, self._answer_card, self._fed_card)
        wide = max(card.minimumSizeHint().width() for card in cards)
        return QSize(wide + 2 * theme.PAGE_PADDING, super().minimumSizeHint().height())

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show) and self.isVisible():
            self._arrange(self.width() < NARROW)
        return super().event(event)

    def _brush_changed(self, width: int) -> None:
        for editor in self.editors:
            if isinstance(editor, ImageInput):
                editor.pad.set_brush(width)
        self._brush_label.setText(self.tr("brush {0}").format(width))

    def file_hint(self, paths: list[str]) -> str:
        """What a drop of these files does; empty for those that the input shown does not take."""
        place = self.current_input()
        endings = self.endings[place] if place < len(self.endings) else ()
        if not paths[0].lower().endswith(endings):
            return ""
        return self.tr("Drop as input of the model: {0}").format(Path(paths[0]).name)

    def take_file(self, path: str) -> None:
        """A file was dropped for the input shown."""
        self.file_given.emit(self.current_input(), path)

    # contents

    def show_answer(self, answer: str, detail: str, number: bool = False) -> None:
        """The class, or the number with its unit, and what is next to it; without one the detail says what
        to do."""
        self.answer.setText(answer)
        self._answer_px = LONG_ANSWER_PX if number and len(answer) > SHORT_ANSWER else ANSWER_PX
        self._fit_answer()
        self.answer.setVisible(bool(answer))
        self.detail.setText(detail)
        self.answer.setAccessibleName(self.tr("Prediction: {0}").format(answer) if answer else "")

    def _fit_answer(self) -> None:
        self.answer.setFont(theme.font(self._answer_px, bold=True))

    def offer(self, cancel: bool, again: str) -> None:
        """Show the button that cancels, or the one with the text ``again``."""
        self.cancel_button.setVisible(cancel)
        self.again_button.setText(again)
        self.again_button.setVisible(bool(again))

    def set_ranking(self, ranking: list[tuple[str, float]]) -> None:
        """Class and probability, the likeliest first; none empties the bars."""
        if ranking:
            self.bars.set_probabilities([share for _, share in ranking], [name for name, _ in ranking])
        else:
            self.bars.clear()

    def show_numbers(self, rows: list[tuple[str, str]], predicts_numbers: bool) -> None:
        """The name and value of each of several numbers; a model that predicts numbers has no bars."""
        self.numbers.set_rows(rows)
        self.bars.setVisible(not predicts_numbers)

    def show_fed(
        self,
        image: NDArray[Any] | None,
        size: str,
        rows: list[tuple[str, str]],
        steps: NDArray[Any] | None = None,
        values: Sequence[tuple[str, str]] = (),
    ) -> None:
        """The image that the model is fed, or the steps of a sequence, or the (name, value) pairs of a row of
        a table; its size in words and facts about it."""
        self.sequence.show_steps(steps)
        self.row.set_rows(values)
        self._row_box.setVisible(bool(values))
        self._fed_frame.setVisible(image is not None)
        if image is not None:
            self._fed_frame.set_step(image.shape[1] if image.shape[0] == image.shape[1] else 1)
            self.fed.set_image(image)
        self._fed_size = size
        self._name_fed()
        self.facts.set_rows(rows)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self._draw_card.set_title(tr("Draw"))
        self._answer_card.set_title(tr("Prediction"))
        self.fed_tabs[0].setText(tr("Input"))
        self.fed_tabs[1].setText(tr("Why"))
        self._name_fed()
        self.cancel_button.setText(tr("Cancel"))
        self.cancel_button.setToolTip(tr("Stop the model; its process restarts when needed"))
        self.brush.setAccessibleName(tr("Width of the brush"))
        self.placing.setAccessibleName(tr("How the image is placed"))
        self.placing.setToolTip(tr("Choose how images of another size are fitted to the input"))
        self.tabs.setAccessibleName(tr("Inputs of the model"))
        self.bars.setAccessibleName(tr("Probabilities"))
        self._brush_changed(self.brush.value())
