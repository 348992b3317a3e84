"""The page Graph: the Program as a tree, a diagram or text, the model's source next to what to_static made of
it."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QHideEvent,
    QShortcut,
    QShowEvent,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import (
    QButtonGroup,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTextEdit,
    QWidget,
)

from studio.windows.controls import PageCard, Stack
from studio.windows.graph.graph_bar import GraphBar
from studio.windows.graph.graph_search import GraphSearch
from widgets import theme
from widgets.cards import Chip, EmptyState, set_role
from widgets.code_view import CodeView
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.program_diagram import ProgramDiagram
from widgets.program_tree import ProgramTree
from widgets.retranslated import Retranslated

TREE, DIAGRAM, TEXT = range(3)
# How Program and sources share the page, by view.
_SHARES = {TREE: (430, 270), DIAGRAM: (520, 180), TEXT: (380, 320)}


class GraphPage(Retranslated, QWidget):
    """``line_chosen`` carries a line of the model's file that was clicked or entered; ``shown`` follows each
    change of whether the page is visible."""

    show_requested = Signal()
    view_chosen = Signal(int)
    line_chosen = Signal(int)
    converted_line_chosen = Signal(int)
    text_line_chosen = Signal(int)
    shown = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.tree = ProgramTree()
        self.tree.view.setAllColumnsShowFocus(False)
        # Ctrl+F belongs to the page; two shortcuts of the same keys would cancel each other.
        for shortcut in self.tree.findChildren(QShortcut):
            shortcut.setEnabled(False)
        self.diagram, self.bar, self.search = ProgramDiagram(), GraphBar(), GraphSearch()
        self.finder = _Finder(self)
        self._note = mute(wrap=True)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        flags = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        self.text.setTextInteractionFlags(flags)
        self.text.cursorPositionChanged.connect(
            lambda: self.text_line_chosen.emit(self.text.textCursor().blockNumber())
        )
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.document().setDocumentMargin(theme.SPACE_S)
        self.source, self.converted = CodeView(), CodeView()
        self._no_source, self._no_converted = QLabel(), QLabel()
        self._program_card, self._source_card, self._converted_card = PageCard(), PageCard(), PageCard()
        self._views = QStackedWidget()
        self._switch = QButtonGroup(self)
        self.tabs = [Chip(checkable=True) for _ in range(3)]
        self.copy_button = QPushButton()
        set_icon(self.copy_button, "copy")
        self._empty = EmptyState("", icon="graph")
        self._empty.action_triggered.connect(self.show_requested)
        self._empty.button.setProperty("role", "primary")
        self._stack = Stack()
        self._file = ""
        self._title = ""
        self._by_hand = False
        self._build()
        theme.changed.connect(self._recolor)
        self._recolor()
        self.retranslate()
        self.show_view(TREE)
        self.set_note("")
        self.show_empty(True)

    def _build(self) -> None:
        for place, tab in enumerate(self.tabs):
            self._switch.addButton(tab, place)
            self._program_card.header.addWidget(tab, 0, Qt.AlignmentFlag.AlignVCenter)
        self.tabs[TREE].setChecked(True)
        self._switch.idClicked.connect(self.show_view)
        self._program_card.header.addWidget(self.copy_button)
        self.copy_button.clicked.connect(self.copy_text)
        for view in (self.tree, self.diagram, self.text):
            self._views.addWidget(view)
        for widget in (self.bar, self.search):
            self._program_card.body.addWidget(widget)
        self._program_card.body.addWidget(self._views, 1)
        self._program_card.body.addWidget(self._note)
        for card, view, label in (
            (self._source_card, self.source, self._no_source),
            (self._converted_card, self.converted, self._no_converted),
        ):
            label.setProperty("role", "mute")
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignTop)
            card.body.addWidget(view, 1)
            card.body.addWidget(label, 1)
        self.source.line_clicked.connect(self.line_chosen)
        self.converted.line_clicked.connect(self.converted_line_chosen)
        self.sources = QSplitter(Qt.Orientation.Horizontal)
        self.sources.addWidget(self._source_card)
        self.sources.addWidget(self._converted_card)
        self.halves = QSplitter(Qt.Orientation.Vertical)
        self.halves.addWidget(self._program_card)
        self.halves.addWidget(self.sources)
        for splitter in (self.sources, self.halves):
            splitter.setChildrenCollapsible(False)
            splitter.setHandleWidth(theme.SPACE_M)
            splitter.setStretchFactor(0, 1)
            splitter.setStretchFactor(1, 1)
        self.halves.setSizes(_SHARES[TREE])
        self.halves.splitterMoved.connect(self._moved_by_hand)
        full = QWidget()
        inner = horizontal(full, theme.PAGE_PADDING, spacing=None)
        inner.addWidget(self.halves)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(full)
        layout = vertical(self, 0, spacing=None)
        layout.addWidget(self._stack)

    # contents

    def show_empty(self, empty: bool, why: str = "", offer: str = "") -> None:
        """Show why there is no Program, with a button where there is something to ``offer``; without a reason
        the offer to trace the model."""
        self._stack.setCurrentIndex(0 if empty else 1)
        if why:
            self._empty.set_text(why, offer)
        else:
            self._empty.set_text(
                self.tr(
                    "Shows the model as a Program of operators with shapes, dtypes and attributes, "
                    "and its source next to the code that to_static generated. No training is needed."
                ),
                self.tr("Show graph"),
            )

    def is_empty(self) -> bool:
        """Whether there is only the offer."""
        return self._stack.currentIndex() == 0

    def set_program_title(self, title: str) -> None:
        """What the Program is of."""
        self._title = title
        self._program_card.set_title(self.tr("Program"), title)

    def program_title(self) -> str:
        """What the Program is of."""
        return self._title

    def mark_text_line(self, line: int | None) -> None:
        """Mark a line of the text, counted from 0, and bring it into view; None marks none."""
        block = self.text.document().findBlockByNumber(-1 if line is None else line)
        if not block.isValid():
            self.text.setExtraSelections([])
            return
        mark = QTextEdit.ExtraSelection()
        mark.cursor = QTextCursor(block)
        mark.format.setBackground(QColor(theme.current().selection))
        mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        self.text.setExtraSelections([mark])
        if self.text.textCursor().blockNumber() != line:
            with QSignalBlocker(self.text):
                self.text.setTextCursor(mark.cursor)
        self.text.ensureCursorVisible()

    def set_text(self, text: str) -> None:
        """The Program as Paddle prints it."""
        with QSignalBlocker(self.text):
            self.text.setPlainText(text)
        self.text.setExtraSelections([])
        self.copy_button.setEnabled(bool(text))

    def set_sources(self, file: str, source: str, first: int, converted: str) -> None:
        """The model's file with the forward in view, and the converted source; either may be absent."""
        self._file = file.replace("\\", "/").rpartition("/")[2]
        self.source.set_code(source)
        if source:
            self.source.show_line(max(1, first - 2), at_top=True)
        self.converted.set_code(converted)
        for view, label, there in (
            (self.source, self._no_source, bool(source)),
            (self.converted, self._no_converted, bool(converted)),
        ):
            view.setVisible(there)
            label.setVisible(not there)
        self.retranslate()

    def show_view(self, view: int) -> None:
        """The tree, the diagram or the text."""
        self.tabs[view].setChecked(True)
        self._views.setCurrentIndex(view)
        self.search.setVisible(view != TREE)
        self.bar.setVisible(view != TEXT)
        self.bar.show_in_diagram(view == DIAGRAM)
        self.search.show_buttons(view == DIAGRAM)
        self.copy_button.setVisible(view == TEXT)
        if not self._by_hand:
            self.halves.setSizes(_SHARES[view])
        self.view_chosen.emit(view)

    def current_view(self) -> int:
        """Which of them is shown."""
        return self._views.currentIndex()

    def _moved_by_hand(self) -> None:
        self._by_hand = True

    def focus_search(self) -> None:
        """Put the caret where the view that is shown is searched."""
        field = self.tree.filter_box if self.current_view() == TREE else self.search.field
        field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        field.selectAll()

    def set_note(self, text: str, warning: bool = False) -> None:
        """What the groups are of, and what the colours mean."""
        self._note.setText(text)
        set_role(self._note, "warn" if warning else "mute")
        self._note.setVisible(bool(text))

    def copy_text(self) -> None:
        """Copy the Program's text."""
        QGuiApplication.clipboard().setText(self.text.toPlainText())

    def _recolor(self) -> None:
        self.text.setFont(theme.mono_font())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.shown.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.shown.emit()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.tabs[TREE].setText(tr("Tree"))
        self.tabs[DIAGRAM].setText(tr("Diagram"))
        self.tabs[DIAGRAM].setToolTip(tr("The Program as nested groups, which open in place"))
        self.tabs[TEXT].setText(tr("Text"))
        self.tabs[TEXT].setToolTip(tr("The Program as Paddle prints it"))
        self.copy_button.setText(tr("Copy"))
        self.copy_button.setToolTip(tr("Copy the Program as Paddle prints it"))
        self.set_program_title(self._title)
        self._source_card.set_title(tr("Source"), self._file)
        self._converted_card.set_title(tr("Converted"), tr("by to_static"))
        self._no_source.setText(
            tr("Inference files hold the Program alone; the model's source is not needed to run it.")
        )
        self._no_converted.setText(tr("Nothing to convert: this Program is already static."))
        self.text.setAccessibleName(tr("Text of the Program"))
        self.source.setAccessibleName(tr("Source of the model"))
        self.converted.setAccessibleName(tr("Converted source"))


class _Finder(QWidget):
    """Gives the focus, which Ctrl+F sets here, to where the view that is shown is searched."""

    def __init__(self, page: GraphPage) -> None:
        super().__init__(page)
        self._page = page
        self.hide()

    def setFocus(self, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
        self._page.focus_search()
