"""The tab Layers of the page Train: a table of layers, the histograms of one, a slider over the looks."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QSlider,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from resources import quantities
from studio.session.train.layers_view import Alert, LayerRow, LayerSnapshot, Spread
from studio.windows.columns import Columns
from studio.windows.controls import Stack
from widgets import theme
from widgets.cards import EmptyState, set_role
from widgets.distribution import Histogram, SparklineDelegate
from widgets.distribution.sparkline import VALUES_ROLE
from widgets.icons import set_icon
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

NAME, RATIO, HISTORY, GRADIENT, DEAD = range(5)
TABLE_HEIGHT = 150


class LayersPanel(Retranslated, QWidget):
    """Shows plain values; follows the newest look until the slider is moved back. ``layer_asked`` carries a
    layer that the user wants to see in the graph."""

    layer_asked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.table = QTableWidget(0, 5)
        self.weights, self.gradients = Histogram(0), Histogram(1)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self._moment, self.notice = QLabel(), QLabel()
        self.show_in_graph = QPushButton()
        set_icon(self.show_in_graph, "graph")
        self._none = EmptyState("")
        self._looks: list[LayerSnapshot] = []
        self._alerts: list[Alert] = []
        self._history: Callable[[str], list[float]] = lambda layer: []
        self._whole = QWidget()
        self._stack = Stack(self._none, self._whole)
        self._build()
        self.retranslate()

    def _build(self) -> None:
        table = self.table
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setShowGrid(False)
        table.setFont(theme.font())
        table.setMinimumHeight(TABLE_HEIGHT)
        table.verticalHeader().hide()
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(56)
        table.setItemDelegateForColumn(HISTORY, SparklineDelegate(table))
        table.itemSelectionChanged.connect(self._show_chosen)
        self._moment.setProperty("role", "mute")
        self._moment.setFont(theme.font())
        self._moment.setBuddy(self.slider)
        self.notice.setWordWrap(True)
        self.slider.valueChanged.connect(lambda _: self._show_look())
        self.show_in_graph.clicked.connect(self._ask_layer)
        table.itemActivated.connect(lambda item: self.layer_asked.emit(self._row_name(item.row())))
        spreads = QWidget()
        stacked = vertical(spreads, 0, spacing=None)
        stacked.addWidget(self.weights, 1)
        stacked.addWidget(self.gradients, 1)
        row = QHBoxLayout()
        row.addWidget(self._moment)
        row.addWidget(self.slider, 1)
        layout = vertical(self._whole, 0, theme.SPACE_S)
        head = QHBoxLayout()
        head.addWidget(self.notice, 1)
        head.addWidget(self.show_in_graph, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(head)
        layout.addWidget(Columns(table, spreads, shares=(3, 2)), 1)
        layout.addLayout(row)
        outer = vertical(self, 0, spacing=None)
        outer.addWidget(self._stack)

    def show_looks(
        self, looks: list[LayerSnapshot], alerts: list[Alert], history: Callable[[str], list[float]]
    ) -> None:
        """Show the looks at a run's layers; ``history`` gives a layer's ratio at all of them."""
        follows, before = self.slider.value() >= self.slider.maximum(), self.look()
        self._looks, self._alerts, self._history = looks, alerts, history
        self.slider.blockSignals(True)
        self.slider.setRange(0, max(0, len(looks) - 1))
        if follows:
            self.slider.setValue(self.slider.maximum())
        elif before is not None:  # older looks may have been left out
            place = bisect_left(looks, before.step, key=lambda look: look.step)
            self.slider.setValue(min(place, self.slider.maximum()))
        self.slider.blockSignals(False)
        self.slider.setEnabled(len(looks) > 1)
        self._stack.setCurrentIndex(1 if looks else 0)
        self._show_look()

    def look(self) -> LayerSnapshot | None:
        """The look that the slider stands at."""
        return self._looks[self.slider.value()] if self._looks else None

    def _show_look(self) -> None:
        look = self.look()
        if look is None:
            self.table.setRowCount(0)
            return
        words = self.tr("step {0}, epoch {1}").format(theme.format_number(look.step), look.epoch)
        self._moment.setText(words)
        self.slider.setAccessibleDescription(words)
        chosen = max(self.table.currentRow(), 0)
        self.table.blockSignals(True)
        self.table.setRowCount(len(look.rows))
        for place, row in enumerate(look.rows):
            self._fill(place, row, look.step)
        self.table.blockSignals(False)
        self.table.selectRow(min(chosen, len(look.rows) - 1))
        self._show_chosen()
        self._show_alerts(look.step)

    def _fill(self, place: int, row: LayerRow, step: int) -> None:
        number = theme.format_number
        about = self.tr("{0}: {1} numbers").format(row.name, number(row.size))
        alerts = [alert for alert in self._alerts if self._is_about(alert, row.name) and alert.step <= step]
        texts = {
            NAME: f"\u26a0 {row.name}" if any(not alert.hint for alert in alerts) else row.name,
            RATIO: "" if math.isnan(row.ratio) else quantities.number(row.ratio, digits=2, keep_zeros=True),
            HISTORY: "",
            GRADIENT: ""
            if math.isnan(row.gradient_norm)
            else quantities.number(row.gradient_norm, digits=3, keep_zeros=True),
            DEAD: "" if math.isnan(row.dead) else quantities.percent(row.dead),
        }
        for column, text in texts.items():
            item = QTableWidgetItem(text)
            if column in (RATIO, GRADIENT, DEAD):
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            if column == HISTORY:
                item.setData(VALUES_ROLE, self._history(row.name))
            item.setToolTip("\n".join([about, *(alert.message for alert in alerts)]))
            self.table.setItem(place, column, item)

    @staticmethod
    def _is_about(alert: Alert, layer: str) -> bool:
        return alert.layer == layer or alert.layer.startswith((f"{layer}.", f"{layer} #"))

    def _show_chosen(self) -> None:
        look, place = self.look(), self.table.currentRow()
        row = look.rows[place] if look is not None and 0 <= place < len(look.rows) else LayerRow("")
        for widget, spread in ((self.weights, row.weights), (self.gradients, row.gradients)):
            _show(widget, spread)
        self.weights.set_title(self.tr("Weights of {0}").format(row.name))
        self.gradients.set_title(self.tr("Gradient of {0}").format(row.name))

    def _row_name(self, place: int) -> str:
        look = self.look()
        return look.rows[place].name if look is not None and 0 <= place < len(look.rows) else ""

    def _ask_layer(self) -> None:
        """The layer of the newest alert, else the one that is selected."""
        look = self.look()
        alerts = [each for each in self._alerts if look is not None and each.step <= look.step]
        wrong = [each for each in alerts if not each.hint]
        self.layer_asked.emit(wrong[-1].layer if wrong else self._row_name(self.table.currentRow()))

    def _show_alerts(self, step: int) -> None:
        found = [alert for alert in self._alerts if alert.step <= step]
        alerts = [alert for alert in found if not alert.hint]
        if alerts:
            more = self.tr(" (and {0} more)").format(len(alerts) - 1) if len(alerts) > 1 else ""
            self.notice.setText(f"\u26a0 {alerts[-1].message}{more}")
        elif found:
            self.notice.setText(self.tr("No alerts. Hint: {0}").format(found[-1].message))
        else:
            self.notice.setText(self.tr("No alerts: gradients, updates and units of all layers look sound."))
        self.notice.setToolTip("\n".join(alert.message for alert in found))
        set_role(self.notice, "warn" if alerts else "mute")

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self._none.set_text(
            tr("Statistics of each layer appear after the first step and at the end of each epoch.")
        )
        words = [tr("Layer"), tr("Update"), tr("over time"), tr("Gradient"), tr("Dead")]
        self.table.setHorizontalHeaderLabels(words)
        tips = {
            RATIO: tr("Norm of the update divided by the norm of the weights; usually 1e-4 to 1e-1"),
            GRADIENT: tr("Norm of the gradient"),
            DEAD: tr("Share of ReLU units that are zero for every image of the batch"),
        }
        self.table.horizontalHeaderItem(NAME).setTextAlignment(
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        )
        for column, tip in tips.items():
            self.table.horizontalHeaderItem(column).setToolTip(tip)
        self.table.setAccessibleName(tr("Layers"))
        self.show_in_graph.setText(tr("Show in graph"))
        self.show_in_graph.setToolTip(tr("Show the layer of the newest alert, or else the selected one"))
        self.slider.setAccessibleName(tr("Look at the step"))
        self._show_look()


def _show(widget: Histogram, spread: Spread) -> None:
    widget.set_counts(spread.low, spread.high, spread.counts, spread.bad)
