"""The dialog of the learning-rate finder: losses over rates as they come, the suggestion, and its use."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QProgressBar, QPushButton, QWidget

from resources import quantities
from resources.settings.rate import RATE_SETTINGS, RateSettings
from studio.windows.controls import ValueLabel
from studio.windows.dialogs import FittingDialog
from studio.windows.setting_fields import field_of, retranslate_fields
from widgets import theme
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.param_form import ParamForm
from widgets.plot import CurvePlot
from widgets.retranslated import Retranslated

LOSS, SMOOTHED, SUGGESTION = "loss", "smoothed", "suggestion"


class RateFinderDialog(Retranslated, FittingDialog):
    """Modeless: the window stays usable. ``rate_used`` carries the accepted suggestion,
    ``form.changed`` what was edited of the settings of the search."""

    rate_used = Signal(float)
    again_requested = Signal()
    cancel_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._suggestion = math.nan
        self._count = 0  # points that are drawn
        self._state, self._settings, self._words = "idle", "", ""
        self.plot = CurvePlot()
        self.plot.set_controls_visible(False)
        self.plot.setMinimumHeight(220)
        self.form = ParamForm([field_of(setting) for setting in RATE_SETTINGS.values()])
        self.form.errors_changed.connect(self._enable_again)
        self._about, self._result = mute(wrap=True), ValueLabel()
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.use, self.again, self.stop = QPushButton(), QPushButton(), QPushButton()
        self.use.setProperty("role", "primary")
        self.use.clicked.connect(self._use)
        self.again.clicked.connect(self.again_requested)
        self.stop.clicked.connect(self._stop)
        buttons = horizontal(None, 0)
        buttons.addWidget(self.again)
        buttons.addStretch(1)
        buttons.addWidget(self.stop)
        buttons.addWidget(self.use)
        layout = vertical(self, theme.SPACE_L, theme.SPACE_M)
        layout.addWidget(self._about)
        layout.addWidget(self.form)
        layout.addWidget(self.plot, 1)
        layout.addWidget(self.bar)
        layout.addWidget(self._result)
        layout.addLayout(buttons)
        self.retranslate()

    def sizeHint(self) -> QSize:
        return QSize(560, 560)

    def begin(self, settings: str) -> None:
        """Nothing is tried yet; ``settings`` says with what the rates are tried."""
        self._settings = settings
        self._count = 0
        self.plot.clear()
        self.plot.add_series(LOSS, self.tr("loss of a batch"), 7, smooth=False)
        self.plot.add_series(SMOOTHED, self.tr("smoothed"), 0, smooth=False)
        self.bar.setValue(0)
        self.retranslate()

    def show_settings(self, settings: RateSettings) -> None:
        """What is searched next."""
        for name in RATE_SETTINGS:
            self.form.set_value(name, getattr(settings, name))

    def _enable_again(self) -> None:
        self.again.setEnabled(self._state != "searching" and not self.form.errors())

    def show_points(self, rates: list[float], losses: list[float], smoothed: list[float], steps: int) -> None:
        """All that was tried so far; what was shown already is not drawn anew."""
        new = slice(self._count, len(rates))
        if len(rates) > self._count:
            places = np.log10(rates[new])
            self.plot.append(LOSS, places, losses[new])
            self.plot.append(SMOOTHED, places, smoothed[new])
            self._count = len(rates)
        self.bar.setRange(0, max(steps, 1))
        self.bar.setValue(len(rates))

    def show_result(self, state: str, suggestion: float, words: str) -> None:
        """How far it is: idle, searching, done, cancelled or failed; the rate (NaN for none), and words."""
        self._state, self._suggestion, self._words = state, suggestion, words
        if suggestion == suggestion and SUGGESTION not in self.plot.series_keys():
            _, losses = self.plot.series_data(LOSS)
            _, smoothed = self.plot.series_data(SMOOTHED)
            low, high = (float(f(np.concatenate([losses, smoothed]))) for f in (np.min, np.max))
            self.plot.add_series(SUGGESTION, self.tr("suggestion"), 2, dashed=True)
            self.plot.append(SUGGESTION, [math.log10(suggestion)] * 2, [low, high])
        searching = state == "searching"
        self.bar.setVisible(searching)
        self._result.set_value(words)
        self._result.setVisible(bool(words))
        self.use.setEnabled(suggestion == suggestion)
        self.form.set_enabled_keys([] if searching else self.form.keys())
        self._enable_again()
        self.retranslate()

    def text(self) -> str:
        """What is said of the result."""
        return self._result.value()

    def _use(self) -> None:
        self.rate_used.emit(self._suggestion)
        self.accept()

    def _stop(self) -> None:
        if self._state == "searching":
            self.cancel_requested.emit()
        else:
            self.reject()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        retranslate_fields(self.form, RATE_SETTINGS, tr)
        self.setWindowTitle(tr("Find a learning rate"))
        self._about.setText(
            tr("{0}: a few steps, each with a higher learning rate. The weights are not saved.").format(
                self._settings
            )
        )
        self.plot.set_title(tr("Loss over the learning rate"), tr("learning rate, as a power of 10"))
        self.plot.set_placeholder(tr("The first points appear within seconds"))
        self.bar.setAccessibleName(tr("Rates tried"))
        rate = quantities.found_rate(self._suggestion)
        self.use.setText(tr("Use {0}").format(rate) if self.use.isEnabled() else tr("Use this learning rate"))
        self.use.setToolTip(tr("Use the learning rate for the next run"))
        self.again.setText(tr("Search again"))
        self.again.setToolTip(tr("Search again with the current settings"))
        self.stop.setText(tr("Stop") if self._state == "searching" else tr("Close"))
