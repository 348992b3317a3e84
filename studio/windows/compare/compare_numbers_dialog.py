"""The dialog that compares numbers: which pair, the verdict, and tables of operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from studio.windows.controls import ValueLabel
from studio.windows.dialogs import FittingDialog
from widgets import theme
from widgets.cards import set_role
from widgets.column_table import Cell, ColumnTable, TableColumn
from widgets.labels import mute
from widgets.layouts import grid, horizontal, vertical
from widgets.retranslated import Retranslated

TWO, EAGER_STATIC, PASSES, DEVICES = PAIRS = ("two", "eager-static", "passes", "devices")
NEWEST = -1
_MOST = 2**31 - 1


@dataclass(frozen=True)
class Subject:
    """A run or saved model that can be chosen: its path, and its title for people."""

    path: str
    title: str


class CompareNumbersDialog(Retranslated, FittingDialog):
    """Modeless: the window stays usable.

    ``compare_requested`` asks for the comparison that is entered, ``file_requested`` for the file of a model
    at a position, 0 or 1; ``entered`` comes with each change of a field. ``filter_changed`` carries the text
    and whether only rows that differ are shown, ``sort_requested`` a column and whether it is a further one.
    ``row_chosen`` carries the key of a selected row, ``alone_chosen`` that of an operator without
    counterpart; ``opened`` comes with a double click or Enter on one.

    Args:
        cell: the cell of a row's key in a column of the operators.
        alone_cell: the same of those without counterpart.
    """

    compare_requested = Signal()
    cancel_requested = Signal()
    copy_requested = Signal()
    colors_requested = Signal()
    file_requested = Signal(int)
    entered = Signal()
    filter_changed = Signal(str, bool)
    sort_requested = Signal(str, bool)
    row_chosen = Signal(str)
    alone_chosen = Signal(str)
    opened = Signal()

    def __init__(
        self, parent: QWidget, cell: Callable[[str, str], Cell], alone_cell: Callable[[str, str], Cell]
    ) -> None:
        super().__init__(parent)
        self.setObjectName("compare_numbers")
        self._running = False
        self._total, self._shown, self._alone = 0, 0, 0
        self._about, self._result, self._notes = mute(wrap=True), ValueLabel(), mute(wrap=True)
        self.pair = QComboBox()
        self.subjects = (QComboBox(), QComboBox())
        self.steps = (QSpinBox(), QSpinBox())
        self.files = (QPushButton(), QPushButton())
        self.batch, self.tolerance = QSpinBox(), QLineEdit()
        self._labels = [QLabel() for _ in range(5)]
        self._step_labels = (QLabel(), QLabel())
        self.filter, self.only = QLineEdit(), QCheckBox()
        self._count = mute()
        self.rows, self.alone = ColumnTable(cell), ColumnTable(alone_cell)
        self.tabs = QTabWidget()
        self.compare, self.copy, self.stop = QPushButton(), QPushButton(), QPushButton()
        self.colors = QPushButton()
        self._build()
        self.show_result(False, "", "", False, ())
        self._show_pair()
        self.resize(self.sizeHint())

    def _build(self) -> None:
        self.compare.setProperty("role", "primary")
        self.compare.setDefault(True)
        self.compare.clicked.connect(self.compare_requested)
        self.copy.clicked.connect(self.copy_requested)
        self.colors.clicked.connect(self.colors_requested)
        self.stop.clicked.connect(self._stop)
        for button in (self.copy, self.stop, self.colors, *self.files):
            button.setAutoDefault(False)  # Enter compares
        layout = vertical(self, theme.SPACE_L, theme.SPACE_M)
        layout.addWidget(self._about)
        self._add_fields(layout)
        layout.addWidget(self._result)
        layout.addWidget(self._notes)
        self.tabs.addTab(self._operators(), "")
        self.tabs.addTab(self._without_counterpart(), "")
        layout.addWidget(self.tabs, 1)
        layout.addStretch(0)
        buttons = horizontal(None, 0)
        for button in (self.copy, self.colors):
            buttons.addWidget(button)
        buttons.addStretch(1)
        for button in (self.stop, self.compare):
            buttons.addWidget(button)
        layout.addLayout(buttons)

    def _add_fields(self, layout: QVBoxLayout) -> None:
        self.pair.addItems([""] * len(PAIRS))
        self.pair.currentIndexChanged.connect(self._changed)
        lines = grid(None, 0, theme.SPACE_S)
        lines.setColumnStretch(1, 1)
        lines.addWidget(self._labels[0], 0, 0)
        lines.addWidget(self.pair, 0, 1)
        for place, (box, step, button) in enumerate(zip(self.subjects, self.steps, self.files, strict=True)):
            box.setMinimumContentsLength(20)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.currentIndexChanged.connect(self._changed)
            step.setRange(NEWEST, _MOST)
            step.setValue(NEWEST)
            step.valueChanged.connect(self._changed)
            button.clicked.connect(lambda _=False, place=place: self.file_requested.emit(place))
            for column, widget in enumerate(
                (self._labels[place + 1], box, button, self._step_labels[place], step)
            ):
                lines.addWidget(widget, place + 1, column)
        self.batch.setRange(0, _MOST)
        self.batch.valueChanged.connect(self._changed)
        self.tolerance.textChanged.connect(self._changed)
        line = horizontal(None, 0)
        line.addWidget(self.batch)
        line.addWidget(self._labels[4])
        line.addWidget(self.tolerance)
        line.addStretch(1)
        lines.addWidget(self._labels[3], 3, 0)
        lines.addLayout(line, 3, 1, 1, 4)
        buddies = (self.pair, *self.subjects, self.batch, self.tolerance)
        for label, widget in zip((*self._labels, *self._step_labels), (*buddies, *self.steps), strict=True):
            label.setFont(theme.font())
            label.setBuddy(widget)
        layout.addLayout(lines)

    def _operators(self) -> QWidget:
        page = QWidget()
        column = vertical(page, (0, theme.SPACE_S, 0, 0), theme.SPACE_S)
        line = horizontal(None, 0)
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._filter)
        self.only.toggled.connect(self._filter)
        line.addWidget(self.filter, 1)
        line.addWidget(self.only)
        line.addWidget(self._count)
        column.addLayout(line)
        column.addWidget(self.rows, 1)
        self.rows.sort_requested.connect(self.sort_requested)
        self.rows.opened.connect(lambda _: self.opened.emit())
        self.rows.chosen_changed.connect(lambda keys: self.row_chosen.emit(keys[0]) if keys else None)
        return page

    def _without_counterpart(self) -> QWidget:
        page = QWidget()
        column = vertical(page, (0, theme.SPACE_S, 0, 0), theme.SPACE_S)
        column.addWidget(self.alone, 1)
        self.alone.opened.connect(lambda _: self.opened.emit())
        self.alone.chosen_changed.connect(lambda keys: self.alone_chosen.emit(keys[0]) if keys else None)
        return page

    def sizeHint(self) -> QSize:
        return QSize(900, 600)

    # ----- what is entered -----

    def set_subjects(self, subjects: Sequence[Subject]) -> None:
        """Offer these; those that are chosen stay."""
        for place, box in enumerate(self.subjects):
            blocker = QSignalBlocker(box)
            chosen = box.currentData()
            box.clear()
            for each in subjects:
                box.addItem(each.title, each.path)
                box.setItemData(box.count() - 1, each.path, Qt.ItemDataRole.ToolTipRole)
            at = box.findData(chosen)
            box.setCurrentIndex(at if at >= 0 else min(place, box.count() - 1))
            blocker.unblock()
        self._show_pair()

    def choose(self, pair: str, paths: Sequence[str]) -> None:
        """Enter a pair, and its run or runs."""
        self.pair.setCurrentIndex(PAIRS.index(pair))
        for box, path in zip(self.subjects, paths, strict=False):
            box.setCurrentIndex(max(0, box.findData(path)))

    def add_subject(self, place: int, subject: Subject) -> None:
        """Offer a model on both lines, and choose it on one."""
        for box in self.subjects:
            if box.findData(subject.path) < 0:
                box.addItem(subject.title, subject.path)
        box = self.subjects[place]
        box.setCurrentIndex(box.findData(subject.path))

    def chosen_pair(self) -> str:
        """The pair that is entered."""
        return PAIRS[self.pair.currentIndex()]

    def chosen(self) -> tuple[str, str]:
        """The paths of both; the second is empty where one is computed in two ways."""
        a, b = (str(box.currentData() or "") for box in self.subjects)
        return a, b if self.chosen_pair() == TWO else ""

    def chosen_steps(self) -> tuple[int, int]:
        """The steps of the checkpoints of both, NEWEST for the newest."""
        a, b = (step.value() for step in self.steps)
        return a, b

    def show_wrong_tolerance(self, reason: str) -> None:
        """Mark the tolerance as invalid with the reason; empty where it is valid."""
        self.tolerance.setProperty("invalid", bool(reason))
        set_role(self.tolerance, "")  # which lets the style show
        self.tolerance.setToolTip(reason)

    def _changed(self) -> None:
        self._show_pair()
        self.entered.emit()

    def _show_pair(self) -> None:
        two = self.chosen_pair() == TWO
        for widget in (self._labels[2], self.subjects[1], self.files[1], self._step_labels[1], self.steps[1]):
            widget.setVisible(two)
        self._labels[1].setText("A" if two else self.tr("Of"))

    # ----- the result -----

    def show_result(
        self, running: bool, verdict: str, role: str, done: bool, notes: Sequence[str], reason: str = ""
    ) -> None:
        """Whether numbers are being compared; the verdict, or what is being done or wrong, with its role
        (ok, bad or empty); whether there are tables; and why nothing can be compared now."""
        self._running = running
        self._result.set_value(verdict)
        set_role(self._result, role)
        self._result.setVisible(bool(verdict))
        self._notes.setText("\n".join(notes))
        self._notes.setVisible(bool(notes))
        self.tabs.setVisible(done)
        for button in (self.copy, self.colors):
            button.setEnabled(done)
        fields = (self.pair, *self.subjects, *self.steps, *self.files, self.batch, self.tolerance)
        for widget in fields:
            widget.setEnabled(not running)
        self.compare.setEnabled(not running and not reason)
        self.compare.setToolTip(reason)
        if not running and self.stop.hasFocus():  # it has the focus since Compare was pressed
            self.compare.setFocus()
        self.retranslate()

    def show_rows(self, keys: Sequence[str], total: int, sort: Sequence[tuple[str, bool]]) -> None:
        """Show these rows of the operators, of so many in all."""
        self._total, self._shown = total, len(keys)
        self.rows.set_keys(keys)
        self.rows.set_sort(sort)
        self._show_counts()

    def show_alone(self, keys: Sequence[str]) -> None:
        """Show these operators without counterpart."""
        self._alone = len(keys)
        self.alone.set_keys(keys)
        self._show_counts()

    def mark_row(self, key: str) -> None:
        """Select a row and scroll to it, without a signal."""
        self.rows.mark([key])
        self.rows.show_row(key)

    def text(self) -> str:
        """The verdict, or what is being done or wrong."""
        return self._result.value()

    def _filter(self) -> None:
        self.filter_changed.emit(self.filter.text(), self.only.isChecked())

    def _stop(self) -> None:
        if self._running:
            self.cancel_requested.emit()
        else:
            self.reject()

    # ----- words -----

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.setWindowTitle(tr("Compare numbers"))
        self._about.setText(
            tr(
                "One step is computed on both sides, with the same batch and random numbers. The first "
                "operator whose results differ is named. Code of the runs is executed."
            )
        )
        names = (
            tr("Two runs, checkpoints or saved models"),
            tr("Eager and static"),
            tr("Passes off and on"),
            tr("CPU and GPU"),
        )
        for place, name in enumerate(names):
            self.pair.setItemText(place, name)
        for label, text in zip(
            self._labels, (tr("Compare"), "A", "B", tr("Batch"), tr("Tolerance")), strict=True
        ):
            label.setText(text)
        self._show_pair()
        for name, box, step, button, label in zip(
            "AB", self.subjects, self.steps, self.files, self._step_labels, strict=True
        ):
            box.setAccessibleName(tr("Run or model {0}").format(name))
            label.setText(tr("Checkpoint"))
            step.setSpecialValueText(tr("newest"))
            step.setAccessibleName(tr("Step of the checkpoint of {0}").format(name))
            step.setToolTip(tr("The step of a saved checkpoint of a run."))
            button.setText(tr("Choose file…"))
            button.setAccessibleName(tr("Choose the file of model {0}").format(name))
        self.pair.setAccessibleName(tr("Compare"))
        self.batch.setSpecialValueText(tr("automatic"))
        self.batch.setAccessibleName(tr("Batch"))
        self.batch.setToolTip(
            tr("The batch of this step as the training counts; automatic is the one after the checkpoint.")
        )
        self.tolerance.setPlaceholderText(tr("usual"))
        self.tolerance.setAccessibleName(tr("Tolerance"))
        if not self.tolerance.toolTip():
            self.tolerance.setToolTip(
                tr("The relative difference up to which values agree; usually 1e-5 for float32.")
            )
        self.filter.setPlaceholderText(tr("Filter by operator, layer, line…"))
        self.filter.setAccessibleName(tr("Filter operators"))
        self.only.setText(tr("Only differing"))
        self._set_columns()
        self._show_counts()
        self.copy.setText(tr("Copy as text"))
        self.colors.setText(tr("Colour the graph"))
        self.colors.setToolTip(tr("Colour the operators on the page Graph by their relative difference."))
        self.compare.setText(tr("Compare"))
        self.stop.setText(tr("Cancel") if self._running else tr("Close"))

    def _set_columns(self) -> None:
        tr = self.tr
        self.rows.set_columns(
            [
                TableColumn("part", tr("Part")),
                TableColumn("type", tr("Operator"), width=136),
                TableColumn("layer", tr("Layer"), width=120),
                TableColumn("line", tr("Line")),
                TableColumn("shape", tr("Shape")),
                TableColumn("dtype", tr("Dtype")),
                TableColumn("absolute", tr("Largest difference"), numeric=True),
                TableColumn(
                    "relative", tr("Relative"), tr("Share of the largest number of A."), numeric=True
                ),
            ]
        )
        self.alone.set_columns(
            [
                TableColumn("side", tr("In")),
                TableColumn("type", tr("Operator"), width=240),
                TableColumn("layer", tr("Layer"), width=200),
                TableColumn("line", tr("Line")),
                TableColumn("shape", tr("Shape")),
            ]
        )
        self.rows.setAccessibleName(tr("Operators"))
        self.alone.setAccessibleName(tr("Operators without counterpart"))

    def _show_counts(self) -> None:
        tr = self.tr
        self.tabs.setTabText(0, tr("Operators ({0})").format(theme.format_number(self._total)))
        self.tabs.setTabText(1, tr("Without counterpart ({0})").format(theme.format_number(self._alone)))
        self._count.setText(
            tr("{0} of {1}").format(theme.format_number(self._shown), theme.format_number(self._total))
        )
