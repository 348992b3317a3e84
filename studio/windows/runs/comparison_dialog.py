"""Runs next to each other: results, settings with the differences marked, and the difference in source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QToolButton,
    QWidget,
)

from widgets import theme
from widgets.code_view.side_by_side import SideBySide, SideLine
from widgets.color_choice import dot_icon
from widgets.icons import set_icon
from widgets.labels import heading, mute
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

LETTERS = 16  # of a title that are seen at least
DIFFERENT = "\u2260"


@dataclass(frozen=True)
class ComparisonRow:
    """One line of the table. ``marked`` says that the values differ; ``best`` is the column of the best, -1
    for none. A row without values is a heading."""

    title: str
    values: tuple[str, ...] = ()
    marked: bool = False
    best: int = -1


class ComparisonDialog(Retranslated, QDialog):
    """``pair_chosen`` carries the places of the two runs whose source is compared."""

    pair_chosen = Signal(int, int)

    def __init__(
        self, parent: QWidget, titles: list[str], colors: list[int | str], rows: list[ComparisonRow]
    ) -> None:
        super().__init__(parent)
        self.setObjectName("comparison")
        self._titles, self._colors, self._rows = titles, colors, rows
        self._columns = max((len(row.values) for row in rows), default=0)
        self.only = QCheckBox()
        self.only.toggled.connect(self._hide_alike)
        self.table = QTableWidget(len(rows), self._columns + 1)
        self.first, self.second = QComboBox(), QComboBox()
        self._with = QLabel("\u2194")
        self.source = SideBySide()
        self.before, self.after, self.copy_difference = QToolButton(), QToolButton(), QToolButton()
        self._places = mute()
        self._unified = ""
        self._no_source = mute(wrap=True)
        self._build()
        self.retranslate()
        theme.changed.connect(self._fill)
        self._fill()

    def _build(self) -> None:
        table = self.table
        table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        table.setAlternatingRowColors(False)
        table.setShowGrid(False)
        table.verticalHeader().hide()
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        below = QWidget()
        column = vertical(below, (0, theme.SPACE_S, 0, 0), spacing=None)
        line = QHBoxLayout()
        for box, place in ((self.first, 0), (self.second, 1)):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(LETTERS)
            box.addItems(self._titles)
            box.setCurrentIndex(place)
            box.currentIndexChanged.connect(self._chosen)
        self._source_title = heading()
        for part in (self._source_title, self.first, self._with, self.second):
            line.addWidget(part)
        line.addStretch(1)
        line.addWidget(self._places)
        arrows = Qt.ArrowType
        for button, arrow, step in ((self.before, arrows.UpArrow, -1), (self.after, arrows.DownArrow, 1)):
            button.setArrowType(arrow)
            button.clicked.connect(partial(self.source.step, step))
            line.addWidget(button)
        set_icon(self.copy_difference, "copy", "mute")
        self.copy_difference.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._unified))
        line.addWidget(self.copy_difference)
        self.source.moved.connect(self._show_places)
        column.addLayout(line)
        column.addWidget(self._no_source)
        column.addWidget(self.source, 1)
        column.addStretch(0)
        split = QSplitter(Qt.Orientation.Vertical)
        split.addWidget(table)
        split.addWidget(below)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        layout = vertical(self, theme.SPACE_L, theme.SPACE_S)
        layout.addWidget(self.only)
        layout.addWidget(split, 1)

    def sizeHint(self) -> QSize:
        return QSize(980, 660)

    def _fill(self) -> None:
        tokens = theme.current()
        self._show_colors()
        for place, row in enumerate(self._rows):
            mark = f"{DIFFERENT} " if row.marked else ""
            cells = [f"{mark}{row.title}", *row.values]
            for column, text in enumerate(cells):
                item = QTableWidgetItem(text)
                item.setToolTip(text)
                if row.marked:
                    item.setBackground(QColor(tokens.selection))
                heading = not row.values
                item.setFont(theme.font(bold=heading or (column > 0 and column - 1 == row.best)))
                if heading or not row.marked:
                    item.setForeground(QColor(tokens.text if heading else tokens.mute))
                self.table.setItem(place, column, item)

    def set_rows(self, rows: list[ComparisonRow]) -> None:
        """Show the same rows in another language."""
        self._rows = rows
        self._fill()

    def _show_colors(self) -> None:
        """The colour of each run, at the head of its column and in the boxes."""
        for place, color in enumerate(self._colors):
            icon = dot_icon(color, self.devicePixelRatioF())
            head = self.table.horizontalHeaderItem(place + 1)
            if head is not None:
                head.setIcon(icon)
            for box in (self.first, self.second):
                box.setItemIcon(place, icon)

    def _hide_alike(self, hide: bool) -> None:
        for place, row in enumerate(self._rows):
            self.table.setRowHidden(place, hide and bool(row.values) and not row.marked)

    def _chosen(self) -> None:
        self.pair_chosen.emit(self.first.currentIndex(), self.second.currentIndex())

    def show_source(
        self, left: Sequence[SideLine], right: Sequence[SideLine], unified: str, instead: str
    ) -> None:
        """Show two sources next to each other, or say ``instead`` why not. ``unified`` is what is copied."""
        self._unified = unified
        self._no_source.setText(instead)
        self._no_source.setVisible(bool(instead))
        self.source.set_lines(left, right)
        for widget in (self.source, self.before, self.after, self.copy_difference, self._places):
            widget.setVisible(bool(left))
        self._show_places(-1)

    def _show_places(self, at: int) -> None:
        count = self.source.places
        if at < 0:
            words = self.tr("1 difference") if count == 1 else self.tr("{0} differences").format(count)
        else:
            words = self.tr("difference {0} of {1}").format(at + 1, count)
        self._places.setText(words)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.setWindowTitle(tr("Compare runs"))
        self.only.setText(tr("Only differences"))
        self._source_title.setText(tr("Source"))
        extra = [tr("Difference")] if self._columns > len(self._titles) else []
        self.table.setHorizontalHeaderLabels(["", *self._titles, *extra])
        self._show_colors()
        for column, title in enumerate(self._titles, 1):
            self.table.horizontalHeaderItem(column).setToolTip(title)
        self.table.setAccessibleName(tr("Results and settings of the runs"))
        self.first.setAccessibleName(tr("Source of the run"))
        self.second.setAccessibleName(tr("Compared with that of the run"))
        for button, words in (
            (self.before, tr("Go to the difference before (Shift+F7)")),
            (self.after, tr("Go to the next difference (F7)")),
            (self.copy_difference, tr("Copy the differences as a unified diff")),
        ):
            button.setAccessibleName(words)
            button.setToolTip(words)
        self._show_places(-1)
