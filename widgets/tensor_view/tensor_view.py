"""TensorView: one tensor as image, histogram, table or statistics; asks for what it shows."""

from __future__ import annotations

from typing import Literal, get_args

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSpinBox,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from widgets import theme
from widgets.cards import Chip
from widgets.distribution import Histogram
from widgets.elided import ElidedLabel
from widgets.flow import FlowLayout
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.retranslated import Retranslated
from widgets.tensor_view.data import Block, Counts, Planes, Statistics
from widgets.tensor_view.image_grid import ImageGrid
from widgets.tensor_view.statistics_list import StatisticsList
from widgets.tensor_view.table import TensorTable

Kind = Literal["image", "histogram", "table", "statistics"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class TensorView(Retranslated, QWidget):
    """``set_tensor`` names a tensor; the view that is shown then asks for what it needs.

    ``image_wanted`` carries a sample and the first channel, ``block_wanted`` row, rows, column and columns of
    the table; ``cell_entered`` an index and the text typed for its number; ``kind_chosen`` the view that was
    chosen.
    """

    image_wanted = Signal(int, int)
    histogram_wanted = Signal()
    statistics_wanted = Signal()
    block_wanted = Signal(object, object, object, object)
    cell_entered = Signal(object, str)
    kind_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name, self._shape, self._dtype = "", (), ""
        self._present = False
        self._asked: set[Kind] = set()
        self.image, self.histogram, self.table = ImageGrid(), Histogram(), TensorTable()
        self.statistics = StatisticsList()
        self._title, self._note = ElidedLabel(), mute(wrap=True)
        self._title.setFont(theme.mono_font())
        self._note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._switch, self.tabs = QButtonGroup(self), {kind: Chip(checkable=True) for kind in KINDS}
        self.sample, self._sample_label = QSpinBox(), QLabel()
        self.previous, self.next, self._channels = QToolButton(), QToolButton(), mute()
        self.index, self._index_label = QLineEdit(), QLabel()
        self._views = QStackedWidget()
        self._image_tools, self._table_tools = QWidget(), QWidget()
        self._build()
        self.retranslate()
        self.show_kind("image")
        self.clear("")

    def _build(self) -> None:
        tabs = QWidget()
        flow = FlowLayout(tabs, theme.SPACE_S, theme.SPACE_XS)
        for number, kind in enumerate(KINDS):
            self._switch.addButton(self.tabs[kind], number)
            flow.addWidget(self.tabs[kind])
        self._switch.idClicked.connect(lambda number: self.show_kind(KINDS[number]))
        self._sample_label.setBuddy(self.sample)
        self.sample.setKeyboardTracking(False)
        # The keyboard reaches the box, which hands its keys to the line within.
        self.sample.lineEdit().setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.sample.valueChanged.connect(lambda _: self._ask_image(0))
        for button, name in ((self.previous, "style-up"), (self.next, "style-down")):
            set_icon(button, name)
        self.previous.clicked.connect(lambda: self._turn(-1))
        self.next.clicked.connect(lambda: self._turn(1))
        tools = horizontal(self._image_tools, 0)
        for widget in (self._sample_label, self.sample, self._channels, self.previous, self.next):
            tools.addWidget(widget)
        tools.addStretch(1)
        self._index_label.setBuddy(self.index)
        self.index.returnPressed.connect(self._go)
        self.table.current_changed.connect(self._show_index)
        tools = horizontal(self._table_tools, 0)
        tools.addWidget(self._index_label)
        tools.addWidget(self.index, 1)
        self.table.block_wanted.connect(self.block_wanted)
        self.table.cell_entered.connect(self.cell_entered)
        figures = QScrollArea()
        figures.setWidget(self.statistics)
        figures.setWidgetResizable(True)
        figures.setFrameShape(QScrollArea.Shape.NoFrame)
        figures.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        for view in (self.image, self.histogram, self.table, figures):
            self._views.addWidget(view)
        layout = vertical(self, 0, theme.SPACE_S)
        layout.addWidget(self._title)
        layout.addWidget(tabs)
        layout.addWidget(self._image_tools)
        layout.addWidget(self._table_tools)
        layout.addWidget(self._views, 1)
        layout.addWidget(self._note, 1)

    # ----- contents -----

    def set_tensor(self, name: str, shape: tuple[int, ...], dtype: str, editable: bool = False) -> None:
        """Show a tensor, of which nothing else is known yet; the view that is shown asks for its part."""
        same = self._present and (name, shape) == (self._name, self._shape)
        self._name, self._shape, self._dtype, self._present = name, shape, dtype, True
        self._asked.clear()
        if not same:
            with QSignalBlocker(self.sample):
                self.sample.setValue(0)
            self.image.set_planes(Planes())
            self.histogram.set_counts(0.0, 0.0, ())
            self.statistics.set_statistics(None)
        self.table.set_shape(shape, editable)
        self._note.hide()
        self._views.show()
        self._show_tools()
        self._show_title()
        self._ask()

    def clear(self, why: str) -> None:
        """Show no tensor, and why."""
        self._present, self._name = False, ""
        self._note.setText(why)
        self._note.show()
        self._views.hide()
        self._show_tools()
        self._show_title()

    def name(self) -> str:
        """The tensor that is shown; empty for none."""
        return self._name

    def note(self) -> str:
        """Why no tensor is shown."""
        return "" if self._present else self._note.text()

    def set_planes(self, planes: Planes) -> None:
        """Show channels of the tensor as images."""
        with QSignalBlocker(self.sample):
            self.sample.setRange(0, max(0, planes.samples - 1))
            self.sample.setValue(planes.sample)
        self.image.set_planes(planes)
        self._show_tools()

    def set_histogram(self, counts: Counts) -> None:
        """Show how the numbers are spread."""
        self.histogram.set_counts(counts.low, counts.high, counts.counts, counts.not_finite)

    def set_statistics(self, statistics: Statistics) -> None:
        """Show counts and figures of the numbers."""
        self.statistics.set_statistics(statistics)

    def set_block(self, block: Block) -> None:
        """Show a rectangle of the table."""
        self.table.set_block(block)

    # ----- what is shown -----

    def kind(self) -> Kind:
        """The view that is shown."""
        return KINDS[self._views.currentIndex()]

    def show_kind(self, kind: Kind) -> None:
        """Show another view."""
        self.tabs[kind].setChecked(True)
        self._views.setCurrentIndex(KINDS.index(kind))
        self._show_tools()
        self._ask()
        self.kind_chosen.emit(kind)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._ask()

    def _ask(self) -> None:
        """Ask for what the view needs, once for each tensor; the table asks by itself."""
        kind = self.kind()
        if not self._present or not self.isVisible() or kind in self._asked:
            return
        self._asked.add(kind)
        if kind == "image":
            self._ask_image(self.image.planes().first)
        elif kind == "histogram":
            self.histogram_wanted.emit()
        elif kind == "statistics":
            self.statistics_wanted.emit()

    def _ask_image(self, first: int) -> None:
        if self._present:
            self.image_wanted.emit(self.sample.value(), first)

    def _turn(self, pages: int) -> None:
        planes = self.image.planes()
        shown = max(1, len(planes.values))
        first = planes.first + pages * shown if pages > 0 else max(0, planes.first - shown)
        if 0 <= first < planes.total:
            self._ask_image(first)

    def _go(self) -> None:
        parts = self.index.text().replace("[", " ").replace("]", " ").replace(",", " ").split()
        try:
            self.table.go_to(tuple(int(part) for part in parts))
        except ValueError:
            self.index.selectAll()
        else:
            self.table.setFocus()

    def _show_index(self, index: tuple[int, ...]) -> None:
        self.index.setText(", ".join(str(at) for at in index))

    def _show_tools(self) -> None:
        planes, kind = self.image.planes(), self.kind()
        shown = len(planes.values)
        pages = planes.total > shown
        for widget in (self._sample_label, self.sample):
            widget.setVisible(planes.samples > 1)
        for widget in (self._channels, self.previous, self.next):
            widget.setVisible(pages)
        self.previous.setEnabled(planes.first > 0)
        self.next.setEnabled(planes.first + shown < planes.total)
        words = self.tr("Channels {0} to {1} of {2}")
        self._channels.setText(words.format(planes.first, planes.first + shown - 1, planes.total))
        self._image_tools.setVisible(self._present and kind == "image" and (planes.samples > 1 or pages))
        self._table_tools.setVisible(self._present and kind == "table")

    def _show_title(self) -> None:
        sizes = ", ".join(str(size) for size in self._shape)
        self._title.setText(f"{self._name}  [{sizes}] {self._dtype}" if self._present else "")
        self._title.setVisible(self._present)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        words = (tr("Image"), tr("Histogram"), tr("Table"), tr("Statistics"))
        for kind, word in zip(KINDS, words, strict=True):
            self.tabs[kind].setText(word)
        self._sample_label.setText(tr("Sample"))
        self.sample.setAccessibleName(tr("Sample"))
        self.previous.setAccessibleName(tr("Previous channels"))
        self.next.setAccessibleName(tr("Next channels"))
        for button in (self.previous, self.next):
            button.setToolTip(button.accessibleName())
        self._index_label.setText(tr("Index"))
        self.index.setAccessibleName(tr("Index of the cell"))
        self.index.setToolTip(tr("Type an index such as 0, 3, 17 and press Return"))
        self.histogram.set_title(tr("Values"))
        self._show_tools()
