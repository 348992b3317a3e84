"""The tools below the inputs of Predict: test samples to step through, and a label to collect with."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QPushButton, QWidget

from widgets import theme
from widgets.elided import ElidedButton
from widgets.flow import FlowLayout
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import vertical
from widgets.retranslated import Retranslated


class SampleTools(Retranslated, QWidget):
    """``step_requested`` carries 1, -1, or 0 for any sample; ``collect_requested`` the label."""

    step_requested = Signal(int)
    collect_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.before_button, self.next_button, self.random_button = QPushButton(), QPushButton(), QPushButton()
        self.words = mute()
        self.label, self.collect_button = QComboBox(), ElidedButton()
        self.label.setEditable(True)
        self.label.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.label.setMinimumContentsLength(6)
        set_icon(self.collect_button, "plus")
        steps, collecting = QWidget(), QWidget()
        row = FlowLayout(steps, theme.SPACE_S, theme.SPACE_XS)
        for widget in (self.before_button, self.next_button, self.random_button, self.words):
            row.addWidget(widget)
        row = FlowLayout(collecting, theme.SPACE_S, theme.SPACE_XS)
        for control in (self.label, self.collect_button):
            row.addWidget(control)
        self._collecting = collecting
        layout = vertical(self, 0, theme.SPACE_XS)
        layout.addWidget(steps)
        layout.addWidget(collecting)
        self.before_button.clicked.connect(lambda: self.step_requested.emit(-1))
        self.next_button.clicked.connect(lambda: self.step_requested.emit(1))
        self.random_button.clicked.connect(lambda: self.step_requested.emit(0))
        self.collect_button.clicked.connect(
            lambda: self.collect_requested.emit(self.label.currentText().strip())
        )
        self.label.currentTextChanged.connect(lambda _: self._offer())
        self._possible = False
        self.set_labels([])
        self.offer_collecting(False, False)
        self.retranslate()

    def set_labels(self, labels: list[str]) -> None:
        """The classes to choose a label from; none is chosen."""
        self.label.clear()
        self.label.addItems(labels)
        self.label.setCurrentIndex(-1)
        self.label.setEditText("")

    def show_label(self, label: str) -> None:
        """The label that is known, or none."""
        self.label.setCurrentIndex(self.label.findText(label))
        self.label.setEditText(label)

    def offer_collecting(self, shown: bool, possible: bool) -> None:
        """Whether the input is an image, and whether there is one."""
        self._collecting.setVisible(shown)
        self._possible = possible
        self._offer()

    def _offer(self) -> None:
        self.collect_button.setEnabled(self._possible and bool(self.label.currentText().strip()))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.before_button.setText(tr("Previous"))
        self.before_button.setToolTip(tr("Previous test sample"))
        self.next_button.setText(tr("Test sample"))
        self.next_button.setToolTip(tr("The next test sample of the model's data, with its true label"))
        self.random_button.setText(tr("Random"))
        self.random_button.setToolTip(tr("Random test sample"))
        self.label.setAccessibleName(tr("True label"))
        self.label.setToolTip(tr("True label of the image"))
        line = self.label.lineEdit()
        if line is not None:
            line.setPlaceholderText(tr("Label"))
            line.setAccessibleName(tr("True label"))
        self.collect_button.setText(tr("Add to data set"))
        self.collect_button.setToolTip(tr("Save the image with this label in the project, for training"))
