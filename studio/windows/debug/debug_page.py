"""The page Debug: one batch operator by operator, its source, its values, and one of them as a tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShortcut
from PySide6.QtWidgets import QButtonGroup, QSplitter, QStackedWidget, QWidget

from studio.windows.controls import PageCard, Stack
from studio.windows.debug.position_bar import PositionBar
from studio.windows.debug.updates_table import UpdatesTable
from studio.windows.debug.values_table import ValuesTable
from widgets import theme
from widgets.cards import Chip, EmptyState
from widgets.code_view import CodeView
from widgets.flow import FlowLayout
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.program_diagram import ProgramDiagram
from widgets.program_tree import ProgramTree
from widgets.retranslated import Retranslated
from widgets.tensor_view import TensorView

PARTS = ("forward", "backward", "update")


class DebugPage(Retranslated, QWidget):
    """``part_chosen`` carries forward, backward or update; ``all_values_toggled`` whether all values are
    listed, ``diagram_toggled`` whether operators are a diagram, not a tree; ``start_requested`` is the offer
    of the empty page."""

    start_requested = Signal()
    part_chosen = Signal(str)
    all_values_toggled = Signal(bool)
    diagram_toggled = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.position = PositionBar()
        self.tree, self.updates, self.source = ProgramTree(), UpdatesTable(), CodeView()
        self.diagram, self.as_diagram = ProgramDiagram(), Chip(checkable=True)
        self.as_diagram.setChecked(False)
        self.source.set_breakpoints({})
        self.tree.view.setAllColumnsShowFocus(False)
        # Ctrl+F belongs to the page; two shortcuts of the same keys would cancel each other.
        for shortcut in self.tree.findChildren(QShortcut):
            shortcut.setEnabled(False)
        self.values, self.tensor = ValuesTable(), TensorView()
        self.parts = {name: Chip(checkable=True) for name in PARTS}
        self.all_values = Chip(checkable=True)
        self.all_values.setChecked(False)
        self._part_group = QButtonGroup(self)
        self._no_source, self._no_part = mute(wrap=True), mute(wrap=True)
        self._program_card, self._source_card = PageCard(), PageCard()
        self._values_card, self._tensor_card = PageCard(), PageCard()
        self._operators = QStackedWidget()
        self._empty = EmptyState("", icon="bug")
        self._title = ""
        self._empty.button.setProperty("role", "primary")
        self._empty.action_triggered.connect(self.start_requested)
        self._why, self._offer, self._file = "", "", ""
        self._stack = Stack()
        self._build()
        self.retranslate()
        self.show_empty("", "")

    def _build(self) -> None:
        chips = QWidget()
        flow = FlowLayout(chips, theme.SPACE_XS, theme.SPACE_XS)
        for number, (name, chip) in enumerate(self.parts.items()):
            chip.setChecked(not number)
            self._part_group.addButton(chip, number)
            chip.clicked.connect(lambda _=False, name=name: self.part_chosen.emit(name))
            flow.addWidget(chip)
        self.all_values.toggled.connect(self.all_values_toggled)
        for view in (self.tree, self.diagram, self.updates, self._no_part):
            self._operators.addWidget(view)
        self.as_diagram.toggled.connect(self._toggle_diagram)
        self._program_card.header.addWidget(self.as_diagram, 0, Qt.AlignmentFlag.AlignVCenter)
        self._program_card.body.addWidget(chips)
        self._program_card.body.addWidget(self._operators, 1)
        for label in (self._no_source, self._no_part):
            label.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._source_card.body.addWidget(self.source, 1)
        self._source_card.body.addWidget(self._no_source, 1)
        self._values_card.header.addWidget(self.all_values, 0, Qt.AlignmentFlag.AlignVCenter)
        self._values_card.body.addWidget(self.values, 1)
        self._tensor_card.body.addWidget(self.tensor, 1)
        self.upper, self.lower = QSplitter(Qt.Orientation.Horizontal), QSplitter(Qt.Orientation.Horizontal)
        self.halves = QSplitter(Qt.Orientation.Vertical)
        for splitter, cards in (
            (self.upper, (self._program_card, self._source_card)),
            (self.lower, (self._values_card, self._tensor_card)),
            (self.halves, (self.upper, self.lower)),
        ):
            for place, card in enumerate(cards):
                splitter.addWidget(card)
                splitter.setStretchFactor(place, 1)
            splitter.setChildrenCollapsible(False)
            splitter.setHandleWidth(theme.SPACE_M)
            splitter.setSizes([1000, 1000])
        full = QWidget()
        inner = vertical(full, theme.PAGE_PADDING, theme.SPACE_M)
        inner.addWidget(self.position)
        inner.addWidget(self.halves, 1)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(full)
        horizontal(self, 0, spacing=None).addWidget(self._stack)

    # ----- contents -----

    def show_empty(self, why: str, offer: str) -> None:
        """Nothing is debugged: why, and the offer to begin; without a reason what the page is for."""
        self._why, self._offer = why, offer
        self._show_offer()
        self._stack.setCurrentIndex(0)

    def show_batch(self) -> None:
        """Show the batch in place of the offer; the keyboard is at its operators."""
        if self.is_empty():
            self._stack.setCurrentIndex(1)
            self.tree.view.setFocus()

    def is_empty(self) -> bool:
        """Whether there is only the offer."""
        return self._stack.currentIndex() == 0

    def _show_offer(self) -> None:
        text = self._why or self.tr(
            "Computes one batch operator by operator, forward, backward and update: stop at breakpoints or "
            "at the first NaN, look at each value, change it and continue. Nothing of a run changes."
        )
        self._empty.set_text(text, self._offer)

    def set_parts(self, names: Sequence[str], shown: str) -> None:
        """The parts that there are, and which one is shown."""
        for name, chip in self.parts.items():
            chip.setVisible(name in names)
        if shown in self.parts:
            self.parts[shown].setChecked(True)

    def show_operators(self) -> None:
        """The operators of a part, as a tree or as a diagram."""
        self.as_diagram.show()
        self._operators.setCurrentWidget(self.diagram if self.as_diagram.isChecked() else self.tree)

    def show_updates(self) -> None:
        """The parameters of an update outside of a Program."""
        self.as_diagram.hide()
        self._operators.setCurrentWidget(self.updates)

    def shows_diagram(self) -> bool:
        """Whether the diagram can be seen."""
        return self._operators.currentWidget() is self.diagram and not self.is_empty()

    def _toggle_diagram(self, on: bool) -> None:
        self.show_operators()
        # A diagram needs the width of the page.
        self._source_card.setVisible(not on)
        self.diagram_toggled.emit(on)

    def set_source(self, file: str, source: str) -> None:
        """The file of the model; empty where there is none."""
        self._file = file.replace("\\", "/").rpartition("/")[2]
        if source != self.source.code() or not source:
            self.source.set_code(source)
        self.source.setVisible(bool(source))
        self._no_source.setVisible(not source)
        self.retranslate()

    def mark_line(self, line: int) -> None:
        """The line of the operator at the position; 0 for none in this file."""
        self.source.mark_lines([line] if line else [])
        if line:
            self.source.centerCursor()

    def set_breakpoint_lines(self, lines: Mapping[int, bool]) -> None:
        """Lines of the source with breakpoints."""
        self.source.set_breakpoints(lines)

    def set_program_title(self, title: str) -> None:
        """What the operators are of."""
        self._title = title
        self._program_card.set_title(self.tr("Operators"), title)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        for name, word in zip(PARTS, (tr("Forward"), tr("Backward"), tr("Update")), strict=True):
            self.parts[name].setText(word)
        self.as_diagram.setText(tr("Diagram"))
        self.as_diagram.setToolTip(tr("Show the operators as a diagram of layers, not as a tree"))
        self.all_values.setText(tr("All"))
        self.all_values.setToolTip(
            tr("List every value that was computed so far, not only those of the operator")
        )
        self._source_card.set_title(tr("Source"), self._file)
        self.set_program_title(self._title)
        self._values_card.set_title(tr("Values"))
        self._tensor_card.set_title(tr("Tensor"))
        self._no_source.setText(tr("No source belongs to these operators."))
        self.source.setAccessibleName(tr("Source of the model"))
        self.tensor.setAccessibleName(tr("Tensor"))
        self._show_offer()
