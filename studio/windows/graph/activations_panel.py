"""ActivationsPanel: the sample whose activations the diagram shows, and the values of the chosen operator."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker, QSize, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from studio.windows.predict.input_editors import SquareFrame
from widgets import theme
from widgets.digit_pad import DigitPad
from widgets.flow import FlowLayout
from widgets.icons import set_icon
from widgets.labels import mute, section
from widgets.layouts import vertical
from widgets.retranslated import Retranslated
from widgets.tensor_view import TensorView

PAD_SIDE, TENSOR_HIGH = 140, 280


class ActivationsPanel(Retranslated, QWidget):
    """``drawn`` carries the array of the pad; ``step_requested`` 1 for the next test sample, 0 for any;
    ``edit_requested`` comes where the sample is to be typed."""

    drawn = Signal(object)
    step_requested = Signal(int)
    edit_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.pad, self.tensor = DigitPad(), TensorView()
        self._frame = SquareFrame(
            self.pad, QSize(PAD_SIDE, PAD_SIDE), QSize(PAD_SIDE, PAD_SIDE), centred=False
        )
        self.clear_button, self.next_button, self.random_button = QPushButton(), QPushButton(), QPushButton()
        self.edit_button = QPushButton()
        self._title, self._values, self.note = section(), section(), mute(wrap=True)
        set_icon(self.clear_button, "clear")
        set_icon(self.edit_button, "pen")
        self.tensor.setMinimumHeight(TENSOR_HIGH)
        buttons = QWidget()
        flow = FlowLayout(buttons, theme.SPACE_S, theme.SPACE_XS)
        for button in (self.clear_button, self.edit_button, self.next_button, self.random_button):
            flow.addWidget(button)
        layout = vertical(self, 0, theme.SPACE_S)
        for widget in (self._title, self._frame, buttons, self.note, self._values, self.tensor):
            layout.addWidget(widget)
        self.pad.changed.connect(self.drawn)
        self.clear_button.clicked.connect(self.pad.clear)
        self.edit_button.clicked.connect(self.edit_requested)
        self.next_button.clicked.connect(lambda: self.step_requested.emit(1))
        self.random_button.clicked.connect(lambda: self.step_requested.emit(0))
        self.retranslate()
        self.show_input(False)

    def show_input(self, is_image: bool) -> None:
        """Offer the pad where the model takes an image, else the way to where values are typed."""
        self._frame.setVisible(is_image)
        self.clear_button.setVisible(is_image)
        self.edit_button.setVisible(not is_image)

    def show_image(self, image: NDArray[Any] | None) -> None:
        """Show an image that came from elsewhere on the pad; None empties it."""
        with QSignalBlocker(self.pad):
            if image is None:
                self.pad.clear()
            else:
                self.pad.set_image(image)

    def set_note(self, text: str) -> None:
        """The time that the activations took, or why there are none."""
        self.note.setText(text)
        self.note.setVisible(bool(text))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self._title.setText(tr("Sample"))
        self._values.setText(tr("Values of the operator"))
        self.clear_button.setText(tr("Clear"))
        self.edit_button.setText(tr("Enter on Predict"))
        self.edit_button.setToolTip(tr("Enter the values of the sample on the page Predict"))
        self.next_button.setText(tr("Test sample"))
        self.next_button.setToolTip(tr("The next test sample of the model's data, with its true label"))
        self.random_button.setText(tr("Random"))
        self.random_button.setToolTip(tr("Random test sample"))
