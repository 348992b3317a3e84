"""The page Code: the own model's file, what is wrong with it, and what it becomes, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from studio.windows.code.code_banner import CodeBanner
from studio.windows.code.measurement_table import MeasurementTable
from studio.windows.code.plan_table import PlanTable
from studio.windows.controls import PageCard, Stack
from widgets import theme
from widgets.cards import Chip, EmptyState
from widgets.code_view import ChangedCode, CodeEditor, FindBar
from widgets.icons import icon, set_icon
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.program_tree import ProgramTree
from widgets.retranslated import Retranslated

CONVERTED, OPERATORS, PLANNED, MEASURED = range(4)
NARROW = 720
HCENTER = Qt.AlignmentFlag.AlignHCenter
KEYS = Qt.TextInteractionFlag.LinksAccessibleByKeyboard
MOST_PROBLEM_LINES = 3
MOST_LETTERS = 12
# How editor and side share the page: next to each other, below each other where it is narrow, and with a
# table below that needs the whole width.
SIDE_BY_SIDE, BELOW, TABLE = (3, 2), (3, 1), (1, 1)


def shortened(name: str) -> str:
    """A name that leaves room for the controls next to it."""
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 9]}\u2026{name[-8:]}"


class CodePage(Retranslated, QWidget):
    """Filled by its controller. ``view_chosen`` carries CONVERTED, OPERATORS, PLANNED or MEASURED."""

    template_chosen = Signal(str)
    open_requested = Signal()
    class_chosen = Signal(str)
    inputs_entered = Signal(str)
    pass_chosen = Signal(int)
    stage_chosen = Signal(int)
    problem_chosen = Signal(int)
    view_chosen = Signal(int)
    help_requested = Signal(str)
    shown = Signal()

    def __init__(self, templates: Sequence[tuple[str, str, str]]) -> None:
        super().__init__()
        self._templates = templates
        self.editor, self.converted, self.tree = CodeEditor(), ChangedCode(), ProgramTree()
        self.planned, self.measured = PlanTable(), MeasurementTable()
        self.find_bar = FindBar(self.editor)
        self.banner = CodeBanner()
        self.classes, self.passes, self.stages = QComboBox(), QComboBox(), QComboBox()
        self.inputs = QLineEdit()
        self._class_label, self._input_label = QLabel(), QLabel()
        self.problems = QListWidget()
        self.summary = mute(wrap=True)
        self._nothing = mute(wrap=True)
        self.pass_note = mute(wrap=True)
        self._editor_card, self._side_card = PageCard(), PageCard()
        self.tabs = [Chip(checkable=True) for _ in range(4)]
        self.empty = EmptyState("", icon="code")
        self.open_button = QPushButton()
        self.menu = QMenu(self)
        self._views, self._stack = Stack(self.converted, self.tree, self.planned, self.measured), Stack()
        self._halves = QSplitter(Qt.Orientation.Horizontal)
        self._forward = ""
        self._why_not = ("", "", "", "")
        self._opening = ""
        self._build()
        self.retranslate()
        self.show_view(CONVERTED)
        self.set_file("", "")

    def _build(self) -> None:
        for place, tab in enumerate(self.tabs):
            self._editor_card.header.addWidget(tab, 0, Qt.AlignmentFlag.AlignVCenter)
            tab.setChecked(False)
            tab.clicked.connect(lambda _=False, which=place: self._tab_clicked(which))
        tools = horizontal(None, 0)
        for label, field, share in (
            (self._class_label, self.classes, 2),
            (self._input_label, self.inputs, 3),
        ):
            label.setProperty("role", "mute")
            label.setBuddy(field)
            tools.addWidget(label)
            tools.addWidget(field, share)
        self.classes.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.classes.setMinimumContentsLength(8)
        self.problems.setWordWrap(True)
        self.problems.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = self._editor_card.body
        body.addLayout(tools)
        for widget in (self.banner, self.find_bar):
            body.addWidget(widget)
        body.addWidget(self.editor, 1)
        body.addWidget(self.problems)
        body.addWidget(self.summary)
        self.tree.set_compact(True)
        for chooser, letters in ((self.passes, 10), (self.stages, 30)):
            chooser.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            chooser.setMinimumContentsLength(letters)
        # Next to the editor the title has the name of a function, which takes the whole line.
        self._side_card.body.addWidget(self.passes)
        self._side_card.body.addWidget(self.pass_note)
        self.pass_note.setTextInteractionFlags(Qt.TextInteractionFlag.LinksAccessibleByMouse | KEYS)
        self.pass_note.linkActivated.connect(self.help_requested)
        self._side_card.header.addWidget(self.stages, 0, Qt.AlignmentFlag.AlignVCenter)
        self._side_card.body.addWidget(self._views, 1)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._side_card.body.addWidget(self._nothing, 1)
        self._halves.addWidget(self._editor_card)
        self._halves.addWidget(self._side_card)
        self._halves.setChildrenCollapsible(False)
        self._halves.setHandleWidth(theme.SPACE_M)
        self._arrange()
        full = QWidget()
        inner = horizontal(full, theme.PAGE_PADDING, spacing=None)
        inner.addWidget(self._halves)
        self._stack.addWidget(self._empty_page())
        self._stack.addWidget(full)
        layout = vertical(self, 0, spacing=None)
        layout.addWidget(self._stack)
        # What a person does to the fields, not what is set by code.
        self.classes.textActivated.connect(self.class_chosen)
        self.passes.activated.connect(self.pass_chosen)
        self.stages.activated.connect(self.stage_chosen)
        self.inputs.editingFinished.connect(lambda: self.inputs_entered.emit(self.inputs.text()))
        self.problems.itemClicked.connect(self._problem_chosen)
        self.problems.itemActivated.connect(self._problem_chosen)

    def _empty_page(self) -> QWidget:
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.addWidget(self.empty)
        offers = self.empty.layout()
        assert isinstance(offers, QVBoxLayout)
        offers.insertWidget(offers.indexOf(self.empty.button) + 1, self.open_button, 0, HCENTER)
        self.empty.button.setProperty("role", "primary")
        self.empty.button.setMenu(self.menu)
        self.open_button.clicked.connect(self.open_requested)
        set_icon(self.open_button, "open")
        return page

    def _problem_chosen(self, item: QListWidgetItem) -> None:
        self.problem_chosen.emit(self.problems.row(item))

    # ----- contents -----

    def set_file(self, name: str, folder: str) -> None:
        """Which file is edited; none offers templates."""
        self._editor_card.set_title(shortened(name), shortened(Path(folder).name))
        self._editor_card.setToolTip(str(Path(folder, name)) if name else "")
        self._stack.setCurrentIndex(1 if name else 0)

    def set_classes(self, names: Iterable[str], chosen: str) -> None:
        """The classes of the file that can be models."""
        self.classes.clear()
        self.classes.addItems(list(names))
        self.classes.setCurrentText(chosen)
        self.classes.setEnabled(self.classes.count() > 0)

    def set_inputs(self, text: str, placeholder: str, problem: str) -> None:
        """What is fed: as typed, what that is where nothing is typed, and what is wrong with it."""
        if self.inputs.text() != text and not self.inputs.hasFocus():
            self.inputs.setText(text)
        self.inputs.setPlaceholderText(placeholder)
        self.inputs.setProperty("invalid", bool(problem))
        self.inputs.style().polish(self.inputs)
        self.inputs.setToolTip(problem or self.tr("Shape and dtype of each input, separated by semicolons"))

    def set_problems(self, rows: Iterable[tuple[str, bool]]) -> None:
        """One line for each problem, and whether it is only a warning."""
        self.problems.clear()
        for text, warning in rows:
            symbol = icon("warning", "warn") if warning else icon("error", "bad")
            self.problems.addItem(QListWidgetItem(symbol, text))
        self.problems.setVisible(self.problems.count() > 0)
        self._fit_problems()

    def _fit_problems(self) -> None:
        """As high as its texts need, up to a few lines; more of them scroll."""
        metrics, room = self.problems.fontMetrics(), QRect(0, 0, max(80, self.editor.width() - 48), 10_000)
        height = theme.SPACE_S
        for row in range(self.problems.count()):
            item = self.problems.item(row)
            needed = (
                metrics.boundingRect(room, Qt.TextFlag.TextWordWrap, item.text()).height() + theme.SPACE_S
            )
            item.setSizeHint(QSize(0, needed))
            height += needed
        self.problems.setFixedHeight(min(height, (MOST_PROBLEM_LINES + 1) * metrics.height() + theme.SPACE_S))

    def set_summary(self, text: str) -> None:
        """What came of the dry run, in one line."""
        self.summary.setText(text)
        self.summary.setVisible(bool(text))

    def set_passes(self, forward: str, names: Sequence[str], chosen: int) -> None:
        """The passes that changed a forward."""
        self._forward = forward
        self.passes.clear()
        self.passes.addItems(list(names))
        self.passes.setCurrentIndex(chosen)
        self._title_side()

    def set_stages(self, names: Sequence[str], chosen: int) -> None:
        """What can be looked at of passes and plans, each with what it is in few words."""
        self.stages.clear()
        for place, name in enumerate(names):
            self.stages.addItem(name)
            self.stages.setItemData(place, name, Qt.ItemDataRole.ToolTipRole)
        self.stages.setCurrentIndex(chosen)
        width = max((self.stages.fontMetrics().horizontalAdvance(name) for name in names), default=0)
        self.stages.view().setMinimumWidth(min(width + 2 * theme.SPACE_L, self.width()))
        self._show_nothing()

    def set_nothing(self, converted: str, operators: str) -> None:
        """Say why there is no converted source and why no Program; an empty text shows what there is."""
        self._why_not = (converted, operators, "", "")  # what was not planned or measured says so itself
        self._show_nothing()

    def _show_nothing(self) -> None:
        why = self._why_not[self._views.currentIndex()]
        self._nothing.setText(why)
        self._nothing.setVisible(bool(why))
        self._views.setVisible(not why)
        for widget in (self.passes, self.pass_note):
            widget.setVisible(not why and self._views.currentIndex() == CONVERTED)
        self.stages.setVisible(self.stages.count() > 0 and self._views.currentIndex() == PLANNED)

    def _tab_clicked(self, which: int) -> None:
        # A click on the one that is shown takes it away: the editor gets all the room.
        self.show_view(which if self.tabs[which].isChecked() else None)

    def show_view(self, which: int | None) -> None:
        """Show the converted source, the operators, the plan or the time next to the editor, or nothing."""
        for place, tab in enumerate(self.tabs):
            tab.setChecked(place == which)
        self._side_card.setVisible(which is not None)
        if which is not None:
            self._views.setCurrentIndex(which)
            self._arrange()
            self._title_side()
            self._show_nothing()
            self.view_chosen.emit(which)

    def shown_view(self) -> int | None:
        """Which of them is shown next to the editor."""
        return next((place for place, tab in enumerate(self.tabs) if tab.isChecked()), None)

    def _title_side(self) -> None:
        if self._views.currentIndex() == CONVERTED:
            self._side_card.set_title(self.tr("Converted"), self._forward)
        elif self._views.currentIndex() == OPERATORS:
            self._side_card.set_title(self.tr("Operators"), self.tr("of the Program"))
        elif self._views.currentIndex() == PLANNED:
            self._side_card.set_title(self.tr("Plan"), "")
        else:
            self._side_card.set_title(self.tr("Time"), self.tr("of one step"))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.shown.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
        self._fit_problems()

    def _arrange(self) -> None:
        if self._views.currentIndex() in (PLANNED, MEASURED):
            shares = TABLE
        else:
            shares = SIDE_BY_SIDE if self.width() >= NARROW else BELOW
        if self._halves.property("shares") != shares:
            self._halves.setProperty("shares", shares)
            horizontal = shares == SIDE_BY_SIDE
            self._halves.setOrientation(Qt.Orientation.Horizontal if horizontal else Qt.Orientation.Vertical)
            self._halves.setSizes([1000 * share for share in shares])
            for place, share in enumerate(shares):
                self._halves.setStretchFactor(place, share)

    def show_opening(self, name: str) -> None:
        """Say that the file ``name`` is being read, where none is shown yet; empty when it is."""
        self._opening = name
        self._show_empty()

    def _show_empty(self) -> None:
        tr = self.tr
        words = tr(
            "Write a model of your own: shapes, sizes and mistakes show at their lines while you type."
        )
        if self._opening:
            self.empty.set_text(tr("Opening {0}…").format(self._opening))
        else:
            self.empty.set_text(words, tr("New model"))
        self.open_button.setVisible(not self._opening)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.tabs[CONVERTED].setText(tr("Converted"))
        self.tabs[CONVERTED].setToolTip(tr("The generated source after each pass of to_static"))
        self.tabs[OPERATORS].setText(tr("Operators"))
        self.tabs[OPERATORS].setToolTip(tr("The operators of the source lines"))
        self.tabs[PLANNED].setText(tr("Plan"))
        self.tabs[PLANNED].setToolTip(tr("The Program after each pass, and the kernels that run"))
        self.tabs[MEASURED].setText(tr("Time"))
        self.tabs[MEASURED].setToolTip(tr("Time of a training step"))
        self._class_label.setText(tr("Class", "of Python"))
        self._input_label.setText(tr("Input"))
        self.classes.setAccessibleName(tr("Class of the network"))
        self.inputs.setAccessibleName(tr("Input of the dry run"))
        self.passes.setAccessibleName(tr("Pass of the conversion"))
        self.passes.setToolTip(tr("The source after this pass"))
        self.stages.setAccessibleName(tr("Pass over the Program, or plan"))
        self.stages.setToolTip(tr("The Program after this pass, the kernels that run, or their memory"))
        self.problems.setAccessibleName(tr("Problems of the source"))
        self.converted.setAccessibleName(tr("Converted source"))
        self._show_empty()
        self.open_button.setText(tr("Open file…"))
        self.menu.clear()
        for name, title, words in self._templates:
            action = self.menu.addAction(tr(title))
            action.setToolTip(tr(words))
            action.triggered.connect(lambda _=False, which=name: self.template_chosen.emit(which))
        self.menu.setToolTipsVisible(True)
        self._title_side()
