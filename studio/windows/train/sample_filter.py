"""The filter above the gallery: true class, predicted class, right or wrong, confidence, order."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QLabel, QSpinBox, QWidget

from studio.session.train.mistakes_view import SampleFilter
from widgets import theme
from widgets.flow import FlowLayout
from widgets.labels import mute
from widgets.layouts import horizontal
from widgets.retranslated import Retranslated

ORDERS = ("worst", "unsure", "sure", "data")
LETTERS = 7  # of a class that are seen at least


class SampleFilterBar(Retranslated, QWidget):
    """``changed`` carries the SampleFilter that the user chose."""

    changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.label, self.answer, self.verdict, self.order = (QComboBox() for _ in range(4))
        self.low, self.high = QSpinBox(), QSpinBox()
        self._words = [mute() for _ in range(4)]
        self._names: tuple[str, ...] = ()
        flow = FlowLayout(self, theme.SPACE_S)
        for words, box in zip(self._words[:2], (self.label, self.answer), strict=True):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(LETTERS)
            flow.addWidget(_pair(words, box))
        flow.addWidget(self.verdict)
        for box in (self.low, self.high):
            box.setRange(0, 100)
            box.setSuffix("\N{THIN SPACE}%")
            box.setKeyboardTracking(False)
        self._dash = QLabel("\u2013")
        flow.addWidget(_pair(self._words[2], self.low, self._dash, self.high))
        flow.addWidget(_pair(self._words[3], self.order))
        self.verdict.addItems(["", "", ""])
        self.order.addItems([""] * len(ORDERS))
        self.set_filter(SampleFilter())
        for combo in (self.label, self.answer, self.verdict, self.order):
            combo.activated.connect(lambda _: self._tell())
        # A range is never empty: the other end goes along.
        self.low.valueChanged.connect(lambda value: self._bound(self.high, max(value, self.high.value())))
        self.high.valueChanged.connect(lambda value: self._bound(self.low, min(value, self.low.value())))
        self.retranslate()

    def set_classes(self, names: tuple[str, ...]) -> None:
        """The classes to choose from."""
        if names == self._names:
            return
        self._names = names
        for box in (self.label, self.answer):
            chosen = box.currentIndex()
            box.clear()
            box.addItems([self.tr("Any"), *names])
            box.setCurrentIndex(chosen if chosen <= len(names) else 0)

    def set_filter(self, chosen: SampleFilter) -> None:
        """Show a filter; emits nothing."""
        for box, value in ((self.label, chosen.label), (self.answer, chosen.answer)):
            box.setCurrentIndex(value + 1)
        self.verdict.setCurrentIndex(0 if chosen.right is None else 1 if chosen.right else 2)
        for spin, share in ((self.low, chosen.low), (self.high, chosen.high)):
            with QSignalBlocker(spin):
                spin.setValue(round(100 * share))
        self.order.setCurrentIndex(ORDERS.index(chosen.order))

    def filter(self) -> SampleFilter:
        """What is chosen."""
        return SampleFilter(
            max(self.label.currentIndex() - 1, -1),
            max(self.answer.currentIndex() - 1, -1),
            {0: None, 1: True, 2: False}[self.verdict.currentIndex()],
            self.low.value() / 100,
            self.high.value() / 100,
            ORDERS[self.order.currentIndex()],
        )

    def _bound(self, other: QSpinBox, value: int) -> None:
        with QSignalBlocker(other):
            other.setValue(value)
        self._tell()

    def _tell(self) -> None:
        self.changed.emit(self.filter())

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        for words, text, box in zip(
            self._words,
            (tr("True"), tr("Predicted"), tr("Confidence"), tr("Order")),
            (self.label, self.answer, self.low, self.order),
            strict=True,
        ):
            words.setText(text)
            words.setBuddy(box)
        for box in (self.label, self.answer):
            if box.count():
                box.setItemText(0, tr("Any"))
            else:
                box.addItem(tr("Any"))
        for place, text in enumerate((tr("Right and wrong"), tr("Right"), tr("Wrong"))):
            self.verdict.setItemText(place, text)
        for place, text in enumerate(
            (tr("Worst first"), tr("Least confident first"), tr("Most confident first"), tr("As in the data"))
        ):
            self.order.setItemText(place, text)
        self.label.setAccessibleName(tr("True class"))
        self.answer.setAccessibleName(tr("Predicted class"))
        self.verdict.setAccessibleName(tr("Read right or wrong"))
        self.low.setAccessibleName(tr("Least confidence"))
        self.high.setAccessibleName(tr("Greatest confidence"))
        self.order.setAccessibleName(tr("Order of the samples"))


def _pair(*widgets: QWidget) -> QWidget:
    """Widgets that stay on one line."""
    both = QWidget()
    line = horizontal(both, 0, theme.SPACE_XS)
    for widget in widgets:
        line.addWidget(widget)
    return both
