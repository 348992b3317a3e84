"""The right dock next to Code: the layers of the network with shapes, numbers to learn and cost."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from studio.windows.controls import Facts
from widgets import theme
from widgets.labels import mute, section
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

NAME, SHAPE, PARAMETERS, COST = range(4)


class CodePanel(Retranslated, QFrame):
    """``layer_chosen`` carries the number of the row that was clicked or entered."""

    layer_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._title, self._nothing = section(), mute(wrap=True)
        self.table = QTableWidget(0, 4)
        self.table.verticalHeader().hide()
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.setFrameShape(QFrame.Shape.NoFrame)
        self.table.setTabKeyNavigation(False)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(36)
        header.setFont(theme.font(theme.SECTION_PX, bold=True))
        self.table.cellClicked.connect(lambda row, _: self.layer_chosen.emit(row))
        self.table.cellActivated.connect(lambda row, _: self.layer_chosen.emit(row))
        self.facts = Facts()
        layout = vertical(self, (theme.SPACE_S, 0, theme.SPACE_S, theme.SPACE_M))
        for widget in (self._title, self._nothing):
            layout.addWidget(widget)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.facts)
        layout.addStretch(0)
        self.retranslate()
        self.set_layers([])
        self.set_totals([])

    def set_layers(self, rows: Sequence[tuple[str, str, str, str, str]]) -> None:
        """Each row: name, kind, shape, numbers to learn, operations."""
        self.table.setRowCount(len(rows))
        for place, (name, kind, *figures) in enumerate(rows):
            item = QTableWidgetItem(f"{name}\n{kind}")
            item.setToolTip(f"{name} · {kind}")
            self.table.setItem(place, NAME, item)
            for column_number, figure in enumerate(figures, SHAPE):
                cell = QTableWidgetItem(figure)
                cell.setFont(theme.font(theme.SECTION_PX))
                if column_number != SHAPE:
                    cell.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.table.setItem(place, column_number, cell)
            item.setFont(theme.font(theme.SECTION_PX))
            self.table.setRowHeight(place, 2 * self.table.fontMetrics().height() + theme.SPACE_S)
        for place in (SHAPE, PARAMETERS, COST):
            title = self.table.horizontalHeaderItem(place)
            texts = [row[place + 1] for row in rows] + [title.text() if title is not None else ""]
            metrics = QFontMetrics(theme.font(theme.SECTION_PX, bold=True))
            width = max(metrics.horizontalAdvance(text) for text in texts)
            self.table.setColumnWidth(place, width + theme.SPACE_M)
        self.table.setVisible(bool(rows))
        self._nothing.setVisible(not rows)

    def set_totals(self, rows: Sequence[tuple[str, str]]) -> None:
        """Figures of the whole network."""
        self.facts.set_rows(rows)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self._title.setText(tr("Layers"))
        self._nothing.setText(tr("After a dry run, this lists the layers with shapes, parameters and cost."))
        words = (
            (tr("Layer"), tr("Name and kind of the layer")),
            (tr("Output"), tr("Output shape")),
            (tr("Params"), tr("Number of parameters")),
            (tr("Cost"), tr("Multiply-adds for one sample")),
        )
        for place, (title, tip) in enumerate(words):
            item = QTableWidgetItem(title)
            item.setToolTip(tip)
            if place == 0:
                item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            self.table.setHorizontalHeaderItem(place, item)
        self.table.setAccessibleName(tr("Layers of the network"))
