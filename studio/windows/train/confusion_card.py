"""The card of the confusion matrix: which epoch, counts or shares, a file of it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSlider, QToolButton

from studio.windows.controls import PageCard, Stack
from widgets import theme
from widgets.cards import Chip, EmptyState
from widgets.confusion import ConfusionMatrix
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.retranslated import Retranslated


class ConfusionCard(Retranslated, PageCard):
    """A matrix with a slider over epochs.

    ``epoch_chosen`` carries the place of an epoch among those that there are, ``cell_chosen`` the classes
    (true, predicted) of a cell, ``save_requested`` comes when a file is wanted.
    """

    epoch_chosen = Signal(int)
    cell_chosen = Signal(int, int)
    save_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.matrix = ConfusionMatrix()
        self._none, self.note = EmptyState(""), mute(wrap=True)
        self._stack = Stack(self._none, self.matrix)
        self.slider, self._epoch = QSlider(Qt.Orientation.Horizontal), mute()
        self.shares, self.save = Chip(checkable=True), QToolButton()
        self._words = ("", 0)
        self._epoch.setFont(theme.font())
        self._epoch.setBuddy(self.slider)
        self.slider.setFixedWidth(72)
        self.slider.setPageStep(1)
        self.shares.setChecked(False)
        set_icon(self.save, "download", "mute")
        for widget in (self._epoch, self.slider, self.shares, self.save):
            self.header.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self.body.addWidget(self._stack, 1)
        self.body.addWidget(self.note)
        self.slider.valueChanged.connect(self.epoch_chosen)
        self.shares.toggled.connect(self.matrix.set_by_row)
        self.save.clicked.connect(self.save_requested)
        self.matrix.cell_clicked.connect(self.cell_chosen)
        self.retranslate()
        self.clear()

    def clear(self) -> None:
        """Say when a matrix comes."""
        self._stack.setCurrentWidget(self._none)
        self.note.hide()
        for widget in (self._epoch, self.slider, self.shares, self.save):
            widget.setVisible(False)

    def show_table(
        self, counts: object, labels: tuple[str, ...], epoch: int, place: int, count: int, note: str = ""
    ) -> None:
        """Show the matrix of ``epoch``, the one at ``place`` of ``count``, with a ``note`` below it."""
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.matrix.set_counts(counts, labels)  # type: ignore[arg-type]
        self._stack.setCurrentWidget(self.matrix)
        self.slider.blockSignals(True)
        self.slider.setRange(0, max(0, count - 1))
        self.slider.setValue(place)
        self.slider.blockSignals(False)
        self._words = (str(epoch), count)
        for widget in (self._epoch, self.shares, self.save):
            widget.setVisible(True)
        self.slider.setVisible(count > 1)
        self._show_epoch()

    def _show_epoch(self) -> None:
        epoch, _ = self._words
        self._epoch.setText(self.tr("epoch {0}").format(epoch) if epoch else "")
        self._epoch.setMinimumWidth(max(self._epoch.minimumWidth(), self._epoch.sizeHint().width()))
        self.slider.setAccessibleDescription(self._epoch.text())

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.set_title(tr("Confusion"))
        self._none.set_text(tr("The confusion matrix appears after the first epoch."))
        self.slider.setAccessibleName(tr("Epoch of the matrix"))
        self.slider.setToolTip(tr("The matrix after each epoch; at its end it follows the training"))
        self.shares.setText(tr("%"))
        self.shares.setAccessibleName(tr("Shares of the row"))
        self.shares.setToolTip(tr("Write shares of the true class instead of counts"))
        self.save.setAccessibleName(tr("Save the matrix"))
        self.save.setToolTip(tr("Save the matrix as SVG, PNG or CSV"))
        self._show_epoch()
