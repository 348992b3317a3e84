"""The card of a report with the error of each layer as bars, and what can be done with a layer."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QPushButton, QWidget

from studio.windows.controls import Stack, ValueLabel
from widgets import theme
from widgets.bars import MeasuredBars, MeasuredRow
from widgets.cards import Card, EmptyState
from widgets.flow import FlowLayout
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import horizontal
from widgets.retranslated import Retranslated

MEASURES = ("noise_to_signal", "weight_noise_to_signal", "drop")
ORDERS = ("error", "place")


class LayersCard(Retranslated, Card):
    """``shown_otherwise`` comes when another measure or order is wanted, ``layer_chosen`` carries the name of
    a layer, ``again_requested`` asks for a quantization without the chosen one, ``keep_toggled`` says whether
    it stays in float the next time."""

    shown_otherwise = Signal()
    layer_chosen = Signal(str)
    again_requested = Signal()
    keep_toggled = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self._why_not = ""
        self.bars = MeasuredBars()
        self.measure, self.order = QComboBox(), QComboBox()
        self._order_label = mute()
        self._order_label.setBuddy(self.order)
        self.explained = mute(wrap=True)
        self.about = ValueLabel()
        self.keep, self.again = QPushButton(), QPushButton()
        self.keep.setCheckable(True)
        set_icon(self.again, "refresh")
        self._none = EmptyState("")
        self._stack = Stack(self.bars, self._none)
        head = QWidget()
        flow = FlowLayout(head, theme.SPACE_S, theme.SPACE_XS)
        sorting = QWidget()
        pair = horizontal(sorting, 0, theme.SPACE_S)
        for widget in (self._order_label, self.order):
            pair.addWidget(widget)
        for widget in (self.measure, sorting):
            flow.addWidget(widget)
        buttons = QWidget()
        row = FlowLayout(buttons, theme.SPACE_S, theme.SPACE_S)
        for widget in (self.keep, self.again):
            row.addWidget(widget)
        for part in (head, self.explained, self._stack, self.about, buttons):
            self.body.addWidget(part)
        self.measure.currentIndexChanged.connect(lambda _: self.shown_otherwise.emit())
        self.order.currentIndexChanged.connect(lambda _: self.shown_otherwise.emit())
        self.bars.row_chosen.connect(self.layer_chosen)
        self.keep.clicked.connect(self.keep_toggled)
        self.again.clicked.connect(self.again_requested)
        self.set_measures(MEASURES)
        self.retranslate()

    def set_measures(self, measures: tuple[str, ...]) -> None:
        """Offer these measures; the chosen one stays where it is among them."""
        before = self.measure.currentData()
        self.measure.blockSignals(True)
        self.measure.clear()
        for name in measures:
            self.measure.addItem("", name)
        self.measure.setCurrentIndex(max(0, self.measure.findData(before)))
        self.measure.blockSignals(False)
        self._name_measures()

    def show_layers(self, rows: list[MeasuredRow], explained: str) -> None:
        """Show the layers in this order; ``explained`` says what the numbers are."""
        self.bars.set_rows(rows)
        self.explained.setText(explained)
        self._stack.setCurrentIndex(0 if rows else 1)

    def show_chosen(self, layer: str, about: str, in_float: bool, why_not: str) -> None:
        """Mark a layer (empty for none) and say all about it; ``why_not`` says why nothing can be quantized
        again without it."""
        self.bars.choose(layer)
        self.about.set_value(about)
        self.about.setVisible(bool(about))
        for button in (self.keep, self.again):
            button.setVisible(bool(layer))
        self.keep.setChecked(in_float)
        self.again.setEnabled(not why_not)
        self._why_not = why_not
        self._explain_again()

    def _explain_again(self) -> None:
        self.again.setToolTip(self._why_not or self.tr("Quantize with the same choices, this layer in float"))

    def _name_measures(self) -> None:
        words = {
            "noise_to_signal": self.tr("Error of its input"),
            "weight_noise_to_signal": self.tr("Error of its weight"),
            "drop": self.tr("Accuracy lost by it alone"),
        }
        for place in range(self.measure.count()):
            self.measure.setItemText(place, words[self.measure.itemData(place)])

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.set_title(tr("Error per layer"), tr("a click selects the layer in the Program"))
        self.bars.setAccessibleName(tr("Error per layer"))
        self.measure.setAccessibleName(tr("Measure of the layers"))
        self._name_measures()
        self._order_label.setText(tr("sorted by"))
        self.order.setAccessibleName(tr("Order of the layers"))
        self.order.blockSignals(True)
        chosen = max(0, self.order.currentIndex())
        self.order.clear()
        for words, name in zip((tr("error", "of rounding"), tr("place in the network")), ORDERS, strict=True):
            self.order.addItem(words, name)
        self.order.setCurrentIndex(chosen)
        self.order.blockSignals(False)
        self._none.set_text(tr("No layer was quantized."))
        self.keep.setText(tr("Keep in float"))
        self.keep.setToolTip(tr("Keep this layer in float when this run is quantized again"))
        self.again.setText(tr("Quantize again without this layer"))
        self._explain_again()
