"""Runs next to each other: results, settings with the differences marked, and the difference in source."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPlainTextEdit,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from widgets import theme
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

    def __init__(self, parent: QWidget, titles: list[str], rows: list[ComparisonRow]) -> None:
        super().__init__(parent)
        self.setObjectName("comparison")
        self._titles, self._rows = titles, rows
        self._columns = max((len(row.values) for row in rows), default=0)
        self.only = QCheckBox()
        self.only.toggled.connect(self._hide_alike)
        self.table = QTableWidget(len(rows), self._columns + 1)
        self.first, self.second = QComboBox(), QComboBox()
        self._with = QLabel("\u2194")
        self.source = QPlainTextEdit()
        self.source.setReadOnly(True)
        self.source.setFont(theme.mono_font())
        self.source.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
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
        return QSize(860, 600)

    def _fill(self) -> None:
        tokens = theme.current()
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
        self._show_diff(self.source.toPlainText())

    def _hide_alike(self, hide: bool) -> None:
        for place, row in enumerate(self._rows):
            self.table.setRowHidden(place, hide and bool(row.values) and not row.marked)

    def _chosen(self) -> None:
        self.pair_chosen.emit(self.first.currentIndex(), self.second.currentIndex())

    def show_source(self, difference: str, instead: str) -> None:
        """Show a unified diff, or say ``instead`` why there is none."""
        self._no_source.setText(instead)
        self._no_source.setVisible(bool(instead))
        self.source.setVisible(bool(difference))
        self._show_diff(difference)

    def _show_diff(self, text: str) -> None:
        """Lines that begin with + and - are coloured too."""
        self.source.setPlainText(text)
        tokens = theme.current()
        cursor = QTextCursor(self.source.document())
        for line in text.split("\n"):
            if line[:1] in "+-" and line:
                shade = QTextCharFormat()
                tint = tokens.ok if line[0] == "+" else tokens.bad
                shade.setForeground(QColor(tint))
                cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
                cursor.mergeCharFormat(shade)
            cursor.movePosition(QTextCursor.MoveOperation.NextBlock)
        self.source.moveCursor(QTextCursor.MoveOperation.Start)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.setWindowTitle(tr("Compare runs"))
        self.only.setText(tr("Only differences"))
        self._source_title.setText(tr("Source"))
        extra = [tr("Difference")] if self._columns > len(self._titles) else []
        self.table.setHorizontalHeaderLabels(["", *self._titles, *extra])
        for column, title in enumerate(self._titles, 1):
            self.table.horizontalHeaderItem(column).setToolTip(title)
        self.table.setAccessibleName(tr("Results and settings of the runs"))
        self.first.setAccessibleName(tr("Source of the run"))
        self.second.setAccessibleName(tr("Compared with that of the run"))
        self.source.setAccessibleName(tr("Differences in the source"))
