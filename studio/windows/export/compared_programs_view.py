"""Two Programs with their differences: diagrams side by side that move together, or one text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QPainter, QPixmap, QShortcut
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QSplitter, QWidget

from studio.windows.controls import Stack
from widgets import theme
from widgets.cards import Chip
from widgets.code_view.side_by_side import MarkedText, SideLine
from widgets.flow import FlowLayout
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.program_diagram import LinkedDiagrams, ProgramDiagram
from widgets.program_diagram.painting.marks import MARK_SIZE, paint_mark
from widgets.retranslated import Retranslated

DIAGRAMS, TEXT = 0, 1
LEAST = 140  # pixels of both views
_KINDS = ("added", "removed", "changed", "moved")
_TOKENS = {"-": "bad", "+": "ok"}


class ComparedProgramsView(Retranslated, QWidget):
    """Filled by its controller. ``toggled`` and ``more_asked`` carry the side, 0 or 1, and a node;
    ``line_chosen`` the number of a line of the text, from 0; ``stepped`` 1 or -1 for the next change or the
    one before."""

    toggled = Signal(int, int)
    more_asked = Signal(int, int)
    arrow_pressed = Signal(int, int, str)
    line_chosen = Signal(int)
    stepped = Signal(int)
    all_opened = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.diagrams = (ProgramDiagram(), ProgramDiagram())
        self.link = LinkedDiagrams(*self.diagrams)
        self.text = MarkedText()
        self.note = mute(wrap=True)
        self._titles = (QLabel(), QLabel())
        self._views = Stack(self._side_by_side(), self.text)
        self.chips = (Chip(checkable=True), Chip(checkable=True))
        self.before, self.next = QPushButton(), QPushButton()
        self.open_all, self.close_all = QPushButton(), QPushButton()
        self._position = mute()
        self._at = (-1, 0)
        self._counts: dict[str, int] = {}
        self._legend = {kind: (QLabel(), QLabel()) for kind in _KINDS}
        self._build()
        self._connect()
        self.retranslate()
        self.show_view(DIAGRAMS)

    def _side_by_side(self) -> QWidget:
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        for title, diagram in zip(self._titles, self.diagrams, strict=True):
            title.setProperty("role", "section")
            half = QWidget()
            column = vertical(half, 0, theme.SPACE_XS)
            column.addWidget(title)
            column.addWidget(diagram, 1)
            diagram.setMinimumSize(160, 120)
            split.addWidget(half)
        return split

    def _build(self) -> None:
        layout = vertical(self, (0, theme.SPACE_S, 0, 0), theme.SPACE_S)
        tools = FlowLayout(None, theme.SPACE_S)
        for widget in (*self.chips, self.before, self.next, self._position, self.open_all, self.close_all):
            tools.addWidget(widget)
        layout.addLayout(tools)
        legend = FlowLayout(None, theme.SPACE_M)
        for mark, label in self._legend.values():
            entry = QWidget()
            line = horizontal(entry, 0, theme.SPACE_XS)
            line.addWidget(mark)
            line.addWidget(label)
            label.setProperty("role", "mute")
            legend.addWidget(entry)
        layout.addLayout(legend)
        # Else a window grows to the height that they would like, above that of a small screen.
        self._views.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self._views.setMinimumHeight(LEAST)
        layout.addWidget(self._views, 1)
        layout.addWidget(self.note)

    def _connect(self) -> None:
        for view, chip in enumerate(self.chips):
            chip.clicked.connect(lambda _=False, view=view: self.show_view(view))
        for side, diagram in enumerate(self.diagrams):
            diagram.activated.connect(lambda node, side=side: self.toggled.emit(side, node))
            diagram.more_asked.connect(lambda node, side=side: self.more_asked.emit(side, node))
            diagram.step_asked.connect(lambda node, way, side=side: self.arrow_pressed.emit(side, node, way))
        self.next.clicked.connect(lambda: self.stepped.emit(1))
        self.before.clicked.connect(lambda: self.stepped.emit(-1))
        self.open_all.clicked.connect(lambda: self.all_opened.emit(True))
        self.close_all.clicked.connect(lambda: self.all_opened.emit(False))
        self.text.line_clicked.connect(lambda line: self.line_chosen.emit(line - 1))
        self.text.stepped.connect(self.stepped)
        for keys, by in (("F7", 1), ("Shift+F7", -1)):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(lambda by=by: self.stepped.emit(by))
        for button in (self.before, self.next, self.open_all, self.close_all):
            button.setAutoDefault(False)
        theme.changed.connect(self._paint_legend)

    def sizeHint(self) -> QSize:
        return QSize(900, 520)

    # ----- contents -----

    def show_view(self, which: int) -> None:
        """Show the diagrams or the text."""
        self._views.setCurrentIndex(which)
        for view, chip in enumerate(self.chips):
            chip.setChecked(view == which)
        for button in (self.open_all, self.close_all):
            button.setEnabled(which == DIAGRAMS)

    def current_view(self) -> int:
        """DIAGRAMS or TEXT."""
        return self._views.currentIndex()

    def set_titles(self, left: str, right: str) -> None:
        """The names above both diagrams."""
        for label, text in zip(self._titles, (left, right), strict=True):
            label.setText(text)

    def set_lines(self, lines: Sequence[SideLine]) -> None:
        """The text: a line for each operator."""
        self.text.set_lines(lines)

    def set_counts(self, counts: Mapping[str, int]) -> None:
        """How many operators each kind of change has; the legend shows those."""
        self._counts = dict(counts)
        for kind, labels in self._legend.items():
            for label in labels:
                label.parentWidget().setVisible(bool(self._counts.get(kind)))
        self.retranslate()

    def set_position(self, at: int, of: int) -> None:
        """Which of the changes is selected, from 0; -1 for none."""
        self._at = at, of
        for button in (self.before, self.next):
            button.setEnabled(of > 0)
        self.retranslate()

    def set_note(self, text: str) -> None:
        """What is left out, or why nothing is shown."""
        self.note.setText(text)
        self.note.setVisible(bool(text))

    def _paint_legend(self) -> None:
        ratio = self.devicePixelRatioF()
        size = int(MARK_SIZE) + 2
        for kind, (label, _) in self._legend.items():
            image = QPixmap(int(size * ratio), int(size * ratio))
            image.setDevicePixelRatio(ratio)
            image.fill(Qt.GlobalColor.transparent)
            painter = QPainter(image)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_mark(painter, kind, QPointF(size / 2, size / 2))
            painter.end()
            label.setPixmap(image)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.chips[DIAGRAMS].setText(tr("Diagrams", "of Programs"))
        self.chips[TEXT].setText(tr("Text"))
        self.next.setText(tr("Next change"))
        self.next.setToolTip(tr("Go to the next change (F7)"))
        self.before.setText(tr("Previous change"))
        self.before.setToolTip(tr("Go to the change before (Shift+F7)"))
        self.open_all.setText(tr("Open all"))
        self.open_all.setToolTip(tr("Open all groups of both diagrams"))
        self.close_all.setText(tr("Close all"))
        self.close_all.setToolTip(tr("Close all groups of both diagrams"))
        at, of = self._at
        self._position.setText(
            tr("{0} of {1} changes").format(at + 1, of) if at >= 0 else tr("{0} changes").format(of)
        )
        words = {
            "added": tr("added: {0}"),
            "removed": tr("removed: {0}"),
            "changed": tr("changed: {0}"),
            "moved": tr("moved: {0}"),
        }
        for kind, (_, label) in self._legend.items():
            label.setText(words[kind].format(theme.format_number(self._counts.get(kind, 0))))
        self.diagrams[0].setAccessibleName(tr("Diagram of Program A"))
        self.diagrams[1].setAccessibleName(tr("Diagram of Program B"))
        self.text.setAccessibleName(tr("Operators of both Programs; minus is A, plus is B"))
        self._paint_legend()


def side_line(mark: str, text: str, place: int) -> SideLine:
    """A line of the text; ``place`` is that of the operator in its block, -1 for none."""
    label = str(place) if place >= 0 else ""
    return SideLine(0, f"{mark or ' '} {text}", _TOKENS.get(mark, ""), heading=mark == "@", label=label)
