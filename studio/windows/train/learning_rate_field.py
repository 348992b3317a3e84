"""The field for another learning rate while a training runs, with the rate that holds now above it."""

from __future__ import annotations

import math
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from resources import quantities
from resources.settings import RUN_SETTINGS
from studio.windows.controls import ValueLabel
from studio.windows.setting_fields import field_of
from widgets import theme
from widgets.labels import section
from widgets.layouts import vertical
from widgets.param_form import ParamForm
from widgets.retranslated import Retranslated

KEY = "learning_rate"


class LearningRateField(Retranslated, QWidget):
    """``rate_chosen`` carries a learning rate that was typed and confirmed, by the button or Return."""

    rate_chosen = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self._title, self._now = section(), ValueLabel()
        self._title.setContentsMargins(0, theme.SPACE_S, 0, 0)
        self._now.setProperty("role", "mute")
        self._asked = self._rate = math.nan
        self.form = ParamForm([replace(field_of(RUN_SETTINGS[KEY]), key=KEY)])
        self.button = QPushButton()
        self.button.clicked.connect(self._choose)
        control = self.form.control(KEY)
        assert isinstance(control, QLineEdit)
        control.returnPressed.connect(self._choose)
        self.form.errors_changed.connect(self._enable)
        layout = vertical(self, 0, theme.SPACE_S)
        layout.addWidget(self._title)
        layout.addWidget(self._now)
        layout.addWidget(self.form)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignRight)
        self.retranslate()

    def begin(self, rate: float) -> None:
        """A training begins: offer its rate to be changed."""
        self.form.set_value(KEY, rate)
        self.form.drop_entries()

    def show_rate(self, rate: float, asked: float) -> None:
        """The rate of the next step, and the one that was asked for and is not used yet; NaN for none."""
        self._rate, self._asked = rate, asked
        self.retranslate()
        self._enable()

    def text(self) -> str:
        """What is said of the rate now."""
        return self._now.value()

    def _choose(self) -> None:
        if self.button.isEnabled():
            self.rate_chosen.emit(float(self.form.values()[KEY]))  # type: ignore[arg-type]

    def _enable(self) -> None:
        self.button.setEnabled(self.form.is_valid() and math.isnan(self._asked))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr, setting = self.tr, RUN_SETTINGS[KEY]
        self._title.setText(tr("Learning rate now"))
        words = (
            tr("{0} at the next step").format(quantities.learning_rate(self._rate))
            if self._rate == self._rate
            else ""
        )
        if self._asked == self._asked:
            words = tr("Changing to {0} after this step…").format(quantities.learning_rate(self._asked))
        self._now.set_value(words)
        self.form.set_text(KEY, tr("New learning rate"), tr(setting.help))
        self.button.setText(tr("Change"))
        self.button.setAccessibleName(tr("Change the learning rate"))
        self.button.setToolTip(
            tr(
                "Write a checkpoint, then train with the new learning rate; "
                "a schedule continues from there, scaled"
            )
        )
