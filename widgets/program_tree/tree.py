"""ProgramTree: a filter box above the tree of a Program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHeaderView, QLineEdit, QTreeView, QWidget

from widgets import theme
from widgets.delayed import delayed
from widgets.icons import icon
from widgets.labels import mute
from widgets.layouts import vertical
from widgets.program_tree.colors import OperatorColors
from widgets.program_tree.data import ProgramData
from widgets.program_tree.model import (
    COLUMNS,
    DTYPE,
    NAME,
    OPERATORS,
    SHAPE,
    SOURCE,
    VALUE,
    VARIABLES,
    ProgramModel,
)
from widgets.program_tree.row_painting import RowDelegate
from widgets.retranslated import Retranslated

FILTER_MS = 150
# The widths of the columns before their texts are known, and the least that a fit leaves them.
WIDTHS = (190, 130, 76, 110, 96)
LEAST = 60
# Of very many operators the first that is listed before one that is selected, and how many rows from the top
# the earlier ones are listed.
BEFORE, TOP = 200, 3
# As many matches as are opened at once after a filter; the others open by hand.
OPEN_AT_ONCE = 2000


class ProgramTree(Retranslated, QWidget):
    """Shows a `ProgramData`; 100 000 operators open without delay, as rows are fetched when needed.

    `operator_selected` carries (block, index, OperatorData), `variable_selected` (block, VariableData) when
    the current row becomes one of them, by hand or by `select_operator`. `menu_requested` carries (block,
    index) of an operator and where on the screen its menu is wanted.
    """

    operator_selected = Signal(object)
    variable_selected = Signal(object)
    menu_requested = Signal(object, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = ProgramModel(self)
        self._lines: dict[tuple[str, int], list[tuple[int, int]]] | None = None
        self.filter_box = QLineEdit()
        self.filter_box.setClearButtonEnabled(True)
        self._search_icon = self.filter_box.addAction(
            icon("search", "mute"), QLineEdit.ActionPosition.LeadingPosition
        )
        self.view = QTreeView()
        self.view.setModel(self._model)
        self.view.setItemDelegate(RowDelegate(self._model))
        self.view.setUniformRowHeights(True)
        self.view.setAllColumnsShowFocus(True)
        self.view.setIndentation(14)
        self.view.setIconSize(QSize(theme.ICON_SIZE, theme.ICON_SIZE))
        self.view.setProperty("focusRing", True)
        self.view.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.view.setHorizontalScrollMode(QTreeView.ScrollMode.ScrollPerPixel)
        self.view.selectionModel().currentChanged.connect(self._current_changed)
        self.view.viewport().installEventFilter(self)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._ask_menu)
        self._fitting = self._by_hand = False
        self._fit_timer = delayed(self, 0, self._fit)
        self._columns()
        self._nothing = mute(wrap=True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        layout = vertical(self, 0, theme.SPACE_S)
        layout.addWidget(self.filter_box)
        layout.addWidget(self.view, 1)
        layout.addWidget(self._nothing, 1)
        self._timer = delayed(self, FILTER_MS, self._apply_filter)
        self.filter_box.textChanged.connect(lambda: self._timer.start())
        self.filter_box.returnPressed.connect(self._enter_tree)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self.filter_box.setFocus)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        theme.changed.connect(self._recolor)
        self.retranslate()
        self._show_nothing()

    def _columns(self) -> None:
        header = self.view.header()
        header.setStretchLastSection(True)
        header.setMinimumSectionSize(40)
        header.setResizeContentsPrecision(0)  # widths are measured from the rows in view alone
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for column, width in enumerate(WIDTHS):
            header.resizeSection(column, width)
        header.moveSection(VALUE, SHAPE)  # next to the name
        self.view.setColumnHidden(VALUE, True)
        header.sectionResized.connect(self._resized)
        self.view.verticalScrollBar().valueChanged.connect(self._scrolled)
        for changed in (self.view.expanded, self.view.collapsed, self.view.verticalScrollBar().valueChanged):
            changed.connect(lambda _: self._fit_timer.start())

    # contents

    def set_program(self, program: ProgramData) -> None:
        """Show a Program with its first block open."""
        self._lines = None
        self._model.set_program(program)
        self._show_values()
        self._open_first()
        self._show_nothing()
        if not self._by_hand:
            self._fitting = True
            self.view.header().resizeSection(NAME, WIDTHS[NAME])
            self._fitting = False
            self._fit_timer.start()

    def program(self) -> ProgramData:
        """What is shown."""
        return self._model.program

    def set_filter(self, text: str) -> None:
        """Filter as if the text had been typed, at once."""
        self.filter_box.setText(text)
        self._apply_filter()

    def set_compact(self, compact: bool) -> None:
        """Only names and shapes, in one column, for a narrow dock."""
        self._model.compact = compact
        self.view.setHeaderHidden(compact)
        for column in range(NAME + 1, COLUMNS):
            self.view.setColumnHidden(column, compact or (column == VALUE and self._model.colors is None))
        header = self.view.header()
        header.setSectionResizeMode(
            NAME, QHeaderView.ResizeMode.Stretch if compact else QHeaderView.ResizeMode.Interactive
        )
        header.setStretchLastSection(not compact)

    def _fit(self) -> None:
        """Give names the room that the other columns don't need, unless a column was dragged by hand.

        Measured from the rows in view; within one Program columns only grow, so that nothing jumps while one
        scrolls.
        """
        if self._by_hand or self._model.compact or not self.view.isVisible():
            return
        header = self.view.header()
        others = {
            column: max(
                LEAST, self.view.sizeHintForColumn(column) + theme.SPACE_S, header.sectionSizeHint(column)
            )
            for column in (VALUE, SHAPE, DTYPE, SOURCE)
            if not self.view.isColumnHidden(column)
        }
        free = self.view.viewport().width() - sum(others.values())
        wanted = max(header.sectionSize(NAME), self.view.sizeHintForColumn(NAME) + theme.SPACE_S)
        self._fitting = True
        header.resizeSection(NAME, max(WIDTHS[NAME], min(wanted, free)))
        for column, width in others.items():
            if column != SOURCE:
                header.resizeSection(column, width)
        self._fitting = False

    def _resized(self, column: int, before: int, after: int) -> None:
        # The last column follows the width of the tree by itself.
        self._by_hand = self._by_hand or not (
            self._fitting or column in (SOURCE, VALUE) or self._model.compact
        )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.view.viewport() and event.type() in (QEvent.Type.Resize, QEvent.Type.Show):
            self._fit_timer.start()
        return False

    # values

    def set_colors(self, colors: OperatorColors | None) -> None:
        """Add a column with a value of each operator, on the ground of its colour; None takes it away."""
        self._model.colors = colors
        self._show_values()
        self._model.headerDataChanged.emit(Qt.Orientation.Horizontal, VALUE, VALUE)
        self.view.viewport().update()
        self._fit_timer.start()

    def _show_values(self) -> None:
        self._fitting = True  # hiding a column resizes it
        self.view.setColumnHidden(VALUE, self._model.colors is None or self._model.compact)
        self._fitting = False

    def value_text(self, block: int, index: int) -> str:
        """What the column of values says of an operator; empty without such a column."""
        return "" if self._model.colors is None else self._model.colors.text((block, index))

    # selection

    def select_operator(self, block: int, index: int) -> None:
        """Make an operator the current row and bring it into view; a filter that hides it is cleared.

        Raises IndexError where the Program has no such operator.
        """
        blocks = self._model.program.blocks
        if not (0 <= block < len(blocks) and 0 <= index < len(blocks[block].operators)):
            raise IndexError(
                f"ProgramTree.select_operator: no operator {index} in block {block} of this Program"
            )
        if self._model.is_far(block, index):
            rooted = self.view.rootIndex().isValid()
            self._model.list_from(block, index - BEFORE)
            program = self._model.index(0, 0)
            if rooted:  # a dock shows the only block alone; a model that was reset forgets that
                self.view.setRootIndex(self._model.index(0, 0, program) if len(blocks) == 1 else program)
            self._open_first()
        row = self._model.index_of(block, OPERATORS, index)
        if not row.isValid():
            self.set_filter("")
            row = self._model.index_of(block, OPERATORS, index)
        self.view.setCurrentIndex(row)
        self.view.scrollTo(row, QTreeView.ScrollHint.EnsureVisible)

    def _scrolled(self, value: int) -> None:
        """At the top of operators that begin late, list those before them."""
        block = self._model.later_block
        if block is None or value > self.view.verticalScrollBar().minimum() + TOP:
            return
        top = self.view.indexAt(QPoint(1, 1))
        operator = self._model.operator_at(top)
        self._model.list_earlier(block)
        if operator is not None:
            row = self._model.index_of(operator[0], OPERATORS, operator[1])
            self.view.scrollTo(row, QTreeView.ScrollHint.PositionAtTop)

    def light_operators(self, operators: Iterable[tuple[int, int]]) -> None:
        """Mark operators without choosing them, and bring the first one into view where the filter lets it.

        Those that the Program does not have are ignored.
        """
        blocks = self._model.program.blocks
        lit = [
            (block, index)
            for block, index in operators
            if 0 <= block < len(blocks) and 0 <= index < len(blocks[block].operators)
        ]
        self._model.lit = frozenset(lit)
        if lit:
            row = self._model.index_of(lit[0][0], OPERATORS, lit[0][1])
            if row.isValid():
                self.view.scrollTo(row, QTreeView.ScrollHint.EnsureVisible)
        self.view.viewport().update()

    def mark_operators(self, marks: Mapping[tuple[int, int], tuple[str, str]]) -> None:
        """Show icons, each with the token of its colour, before the names of operators; those in view are
        asked for when they are painted."""
        self._model.marks = marks
        self.view.viewport().update()

    def marked_operators(self) -> Mapping[tuple[int, int], tuple[str, str]]:
        """The icons by block and number of their operators."""
        return self._model.marks

    def lit_operators(self) -> list[tuple[int, int]]:
        """Block and number of the operators that are marked."""
        return sorted(self._model.lit)

    def selected_operator(self) -> tuple[int, int] | None:
        """Block and number of the operator whose row (or detail) is current."""
        return self._model.operator_at(self.view.currentIndex())

    def operators_at_line(self, file: str, line: int) -> list[tuple[int, int]]:
        """Block and number of the operators that a line of source made, in their order."""
        if self._lines is None:
            self._lines = defaultdict(list)
            for block in self._model.program.blocks:
                for index, operator in enumerate(block.operators):
                    self._lines[operator.file, operator.line].append((block.index, index))
        return list(self._lines.get((file, line), []))

    def _ask_menu(self, at: QPoint) -> None:
        operator = self._model.operator_at(self.view.indexAt(at))
        if operator is not None:
            self.menu_requested.emit(operator, self.view.viewport().mapToGlobal(at))

    def _current_changed(self, current: QModelIndex, _: QModelIndex) -> None:
        blocks = self._model.program.blocks
        if operator := self._model.operator_at(current):
            block, index = operator
            self.operator_selected.emit((block, index, blocks[block].operators[index]))
        elif variable := self._model.variable_at(current):
            block, index = variable
            self.variable_selected.emit((block, blocks[block].variables[index]))

    # filter and looks

    def _apply_filter(self) -> None:
        self._timer.stop()
        chosen = self.selected_operator()
        self._model.set_filter(self.filter_box.text())
        self._open_first()
        if self._model.filter.text and self._model.filter.count <= OPEN_AT_ONCE:
            for index, block in enumerate(self._model.filter.blocks):
                if len(block.operators) + len(block.variables):
                    self._open_block(index)
        if chosen is not None:
            row = self._model.index_of(chosen[0], OPERATORS, chosen[1])
            if row.isValid():
                self.view.setCurrentIndex(row)
        self._show_nothing()
        self._fit_timer.start()

    def _open_first(self) -> None:
        program = self._model.index(0, 0)
        if program.isValid():
            self.view.expand(program)
            block = self._model.index(0, 0, program)
            self.view.expand(block)
            self.view.expand(self._model.index(OPERATORS, 0, block))

    def _open_block(self, index: int) -> None:
        block = self._model.index(index, 0, self._model.index(0, 0))
        self.view.expand(block)
        for section in (OPERATORS, VARIABLES):
            self.view.expand(self._model.index(section, 0, block))

    def _enter_tree(self) -> None:
        self._apply_filter()
        self.view.setFocus()
        for block, left in enumerate(self._model.filter.blocks):
            if len(left.operators):
                self.view.setCurrentIndex(self._model.index_of(block, OPERATORS, int(left.operators[0])))
                return

    def _show_nothing(self) -> None:
        text = ""
        if not self._model.program.blocks:
            text = self.tr("No Program yet")
        elif self._model.filter.text and not self._model.filter.count:
            text = self.tr("No operator or variable contains \u201c{0}\u201d").format(self._model.filter.text)
        self._nothing.setText(text)
        self._nothing.setVisible(bool(text))
        self.view.setVisible(not text)

    def _recolor(self) -> None:
        self._search_icon.setIcon(icon("search", "mute"))
        self.view.viewport().update()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.filter_box.setPlaceholderText(self.tr("Filter by type, name or attribute"))
        self.filter_box.setAccessibleName(self.tr("Filter of the Program tree"))
        self.view.setAccessibleName(self.tr("Program tree"))
        self._model.retranslate()
        self._show_nothing()
