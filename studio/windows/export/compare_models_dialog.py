"""The dialog that compares models: what is compared, a table for each kind of difference, both Programs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from studio.session.export.compare_job import MODELS, PASSES, TRAINING
from studio.session.export.model_differences import Section
from studio.windows.controls import ValueLabel
from studio.windows.dialogs import FittingDialog
from studio.windows.export.change_words import change_words
from studio.windows.export.compared_programs_view import ComparedProgramsView
from widgets import theme
from widgets.labels import mute
from widgets.layouts import grid, horizontal, vertical
from widgets.retranslated import Retranslated

NARROWEST, WIDEST = 96, 360
LEVELS = (1, 2, 3)
HOWS = (MODELS, TRAINING, PASSES)


class CompareModelsDialog(Retranslated, FittingDialog):
    """Modeless: the window stays usable. ``compare_requested`` carries both models, one of ``HOWS`` and the
    level of passes; ``file_requested`` asks for a file of the model at a position, 0 or 1; ``models_changed``
    comes with each change of what is to be compared, ``step_chosen`` with the number of a pass."""

    compare_requested = Signal(str, str, str, int)
    cancel_requested = Signal()
    copy_requested = Signal()
    file_requested = Signal(int)
    models_changed = Signal()
    step_chosen = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._running = False
        self._sections: list[Section] = []
        self._with_programs = False
        self.how, self.level, self.steps = QComboBox(), QComboBox(), QComboBox()
        self._how_label, self._step_label = QLabel(), QLabel()
        self.programs = ComparedProgramsView()
        self._about, self._result = mute(wrap=True), ValueLabel()
        self.models = (QComboBox(), QComboBox())
        self.files = (QPushButton(), QPushButton())
        self.tabs = QTabWidget()
        self.compare, self.copy, self.stop = QPushButton(), QPushButton(), QPushButton()
        self.compare.setProperty("role", "primary")
        self.compare.setDefault(True)
        self.compare.clicked.connect(lambda: self.compare_requested.emit(*self.chosen(), *self.chosen_way()))
        self.copy.clicked.connect(self.copy_requested)
        self.stop.clicked.connect(self._stop)
        for button in (self.copy, self.stop, *self.files):
            button.setAutoDefault(False)  # Enter compares
        layout = vertical(self, theme.SPACE_L, theme.SPACE_M)
        layout.addWidget(self._about)
        self._add_models(layout)
        layout.addWidget(self._result)
        steps = horizontal(None, 0)
        self._step_label.setBuddy(self.steps)
        steps.addWidget(self._step_label)
        steps.addWidget(self.steps, 1)
        layout.addLayout(steps)
        layout.addWidget(self.tabs, 1)
        layout.addStretch(0)
        buttons = horizontal(None, 0)
        buttons.addWidget(self.copy)
        buttons.addStretch(1)
        buttons.addWidget(self.stop)
        buttons.addWidget(self.compare)
        layout.addLayout(buttons)
        self.programs.setParent(self)
        self.programs.hide()
        self.show_result(False, "", [])
        self.resize(self.sizeHint())

    def _add_models(self, layout: QVBoxLayout) -> None:
        self._names: list[QLabel] = []
        lines = grid(None, 0, theme.SPACE_S)
        lines.setColumnStretch(1, 1)
        self._how_label.setBuddy(self.how)
        self.how.addItems([""] * len(HOWS))
        self.level.addItems(list(map(str, LEVELS)))
        for box in (self.how, self.level):
            box.currentIndexChanged.connect(lambda _: self._way_changed())
        self.steps.activated.connect(self.step_chosen)
        for column, widget in enumerate((self._how_label, self.how, self.level)):
            lines.addWidget(widget, 0, column)
        for place, (name, box, button) in enumerate(zip("AB", self.models, self.files, strict=True)):
            label = QLabel(name)
            label.setFont(theme.font())
            label.setBuddy(box)
            self._names.append(label)
            box.setEditable(True)
            box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
            box.setMinimumContentsLength(24)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.editTextChanged.connect(self.models_changed)
            button.clicked.connect(lambda _=False, place=place: self.file_requested.emit(place))
            for column, widget in enumerate((label, box, button)):
                lines.addWidget(widget, place + 1, column)
        layout.addLayout(lines)

    def sizeHint(self) -> QSize:
        return QSize(940, 640)

    def set_models(self, paths: Sequence[str]) -> None:
        """Offer these models; what is entered stays, and empty lines get the first ones."""
        for place, box in enumerate(self.models):
            box.blockSignals(True)
            entered = box.currentText() or (paths[place] if place < len(paths) else "")
            box.clear()
            box.addItems(list(paths))
            box.setEditText(entered)
            box.blockSignals(False)

    def set_model(self, place: int, path: str) -> None:
        """Enter a model."""
        self.models[place].setEditText(path)

    def chosen(self) -> tuple[str, str]:
        """Both models as they are entered."""
        a, b = (box.currentText().strip() for box in self.models)
        return a, b

    def chosen_way(self) -> tuple[str, int]:
        """One of ``HOWS`` and the level of passes."""
        return HOWS[max(0, self.how.currentIndex())], LEVELS[max(0, self.level.currentIndex())]

    def _way_changed(self) -> None:
        self._show_lines()
        self.models_changed.emit()

    def _show_lines(self) -> None:
        how, _ = self.chosen_way()
        for widget in (self._names[1], self.models[1], self.files[1]):
            widget.setVisible(how == MODELS)
        self.level.setVisible(how == PASSES)

    def show_result(
        self, running: bool, words: str, sections: list[Section], with_programs: bool = False
    ) -> None:
        """Whether models are being compared, the result or the problem in words, the differences, and whether
        both Programs are shown too."""
        self._running = running
        self._result.set_value(words)
        self._result.setVisible(bool(words))
        self.copy.setEnabled(bool(words) and not running)
        for widget in (*self.models, *self.files, self.how, self.level):
            widget.setEnabled(not running)
        if sections != self._sections or with_programs != self._with_programs:
            self._sections, self._with_programs = sections, with_programs
            self._fill()
        self.tabs.setVisible(bool(sections))
        ready = all(self.chosen()) if self.chosen_way()[0] == MODELS else bool(self.chosen()[0])
        self.compare.setEnabled(not running and ready)
        if not running and self.stop.hasFocus():  # it has the focus since Compare was pressed
            self.compare.setFocus()
        self._show_lines()
        self.retranslate()

    def set_steps(self, names: Sequence[str], chosen: int) -> None:
        """The passes that changed something; none for two models."""
        if [self.steps.itemText(n) for n in range(self.steps.count())] != list(names):
            self.steps.clear()
            self.steps.addItems(list(names))
        self.steps.setCurrentIndex(chosen)
        for widget in (self.steps, self._step_label):
            widget.setVisible(bool(names))

    def text(self) -> str:
        """The result or the problem in words."""
        return self._result.value()

    def _fill(self) -> None:
        while self.tabs.count():
            page = self.tabs.widget(0)
            self.tabs.removeTab(0)
            if page is not self.programs:
                page.deleteLater()
        self.programs.setParent(self)
        self.programs.hide()
        for section in self._sections:
            page = QWidget()
            column = vertical(page, (0, theme.SPACE_S, 0, 0), theme.SPACE_S)
            column.addWidget(_table(section), 1)
            column.addWidget(mute(wrap=True))
            self.tabs.addTab(page, "")
        if self._with_programs:
            self.tabs.addTab(self.programs, "")

    def _stop(self) -> None:
        if self._running:
            self.cancel_requested.emit()
        else:
            self.reject()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.setWindowTitle(tr("Compare models"))
        self._about.setText(
            tr(
                "Choose models of any format, or runs with exported files. Nothing of them is executed. Save "
                "ids, dates, formats and names of Variables are not compared."
            )
        )
        for name, box, button in zip("AB", self.models, self.files, strict=True):
            line = box.lineEdit()
            for widget in (box, line):
                if widget is not None:
                    widget.setAccessibleName(tr("Model {0}").format(name))
            if line is not None:
                line.setPlaceholderText(tr("A packed, ONNX or other file, or the prefix of several"))
            button.setText(tr("Choose file…"))
            button.setAccessibleName(tr("Choose the file of model {0}").format(name))
        for place, section in enumerate(self._sections):
            title = _capitalized(tr(section.title).format(section.compared))
            self.tabs.setTabText(place, title)
            page = self.tabs.widget(place)
            table, note = page.findChild(QTableWidget), page.findChild(QLabel)
            shown = len(section.rows)
            if isinstance(table, QTableWidget):
                table.setHorizontalHeaderLabels(
                    [_capitalized(tr(name) if name else "") for name in section.columns]
                )
                _say_changes(table, section)
                table.setAccessibleName(title)
                _fit(table)
            if isinstance(note, QLabel):
                note.setText(tr("The first {0} of {1} are shown.").format(shown, section.total))
                note.setVisible(section.total > shown)
        if self._with_programs:
            self.tabs.setTabText(len(self._sections), tr("Programs side by side"))
        self._how_label.setText(tr("Compare"))
        words = {
            MODELS: tr("Two models, A and B"),
            TRAINING: tr("Training and inference of A"),
            PASSES: tr("A before and after each pass"),
        }
        for place, how in enumerate(HOWS):
            self.how.setItemText(place, words[how])
        levels = (
            tr("Passes for training"),
            tr("Passes for inference too"),
            tr("Passes for prediction too"),
        )
        for place, text in enumerate(levels):
            self.level.setItemText(place, text)
        self.how.setAccessibleName(tr("What is compared"))
        self.level.setAccessibleName(tr("Level of the passes"))
        self._step_label.setText(tr("Pass"))
        self.steps.setAccessibleName(tr("Pass whose changes are shown"))
        self.copy.setText(tr("Copy as text"))
        self.compare.setText(tr("Compare"))
        self.stop.setText(tr("Cancel") if self._running else tr("Close"))


def _capitalized(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _table(section: Section) -> QTableWidget:
    table = QTableWidget(len(section.rows), len(section.columns))
    table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
    table.setShowGrid(False)
    table.verticalHeader().hide()
    for place, row in enumerate(section.rows):
        for column, text in enumerate(row):
            item = QTableWidgetItem(text)
            item.setToolTip(text)
            table.setItem(place, column, item)
    header = table.horizontalHeader()
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    header.setStretchLastSection(True)
    return table


def _say_changes(table: QTableWidget, section: Section) -> None:
    """Name what changed, in the column that says it."""
    column = section.columns.index("change") if "change" in section.columns else 0
    if section.columns[column] not in ("change", "") or section.title == "information":
        return  # else the file's own names
    for place, row in enumerate(section.rows):
        item, words = table.item(place, column), change_words(row[column])
        item.setText(words)
        item.setToolTip(words)


def _fit(table: QTableWidget) -> None:
    """Give each column the width of its cells and its title, within bounds."""
    table.resizeColumnsToContents()
    for column in range(table.columnCount()):
        table.setColumnWidth(column, min(max(table.columnWidth(column), NARROWEST), WIDEST))
