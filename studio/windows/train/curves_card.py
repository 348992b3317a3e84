"""The curves on the page Train: loss next to another quantity, over steps, epochs or time; the layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QButtonGroup, QComboBox, QWidget

from resources import quantities
from studio.windows.columns import Columns
from studio.windows.controls import PageCard, Stack
from studio.windows.train.layers_panel import LayersPanel
from widgets import theme
from widgets.cards import Chip
from widgets.flow import FlowLayout
from widgets.labels import mute
from widgets.plot.controls import SmoothingControl
from widgets.retranslated import Retranslated

if TYPE_CHECKING:
    from widgets.plot import CurvePlot
    from widgets.plot.controls import CarryOut

SMOOTHING = 0.02
SECOND_CURVES = ("accuracy", "rate", "throughput", "memory", "gradient")
AXES = ("step", "epoch", "time")
PLOT_HEIGHT = 190


class CurvesCard(Retranslated, PageCard):
    """Two plots and the choice of what they show; a tab for the layers.

    The plots are made when the card is first seen, or asked for: what draws them takes long to import.
    ``plot_added`` (quantity) comes when a quantity gets its plot: ``plots`` has it then.
    ``saved`` and ``failed`` say what came of saving points or an image.
    """

    plot_added = Signal(str)
    axis_chosen = Signal(str)
    curve_clicked = Signal(str)
    saved = Signal(str)
    failed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.plots: dict[str, CurvePlot] = {}
        self.carry_out: CarryOut | None = None  # what plots write files with
        self.smoothing = SmoothingControl()
        self.axis = QComboBox()
        for axis in AXES:
            self.axis.addItem("", axis)
        self.log = Chip(checkable=True)
        self.tabs = {name: Chip(checkable=True) for name in ("curves", "layers")}
        self.quantities = {name: Chip(checkable=True) for name in SECOND_CURVES}
        self.layers, self.note = LayersPanel(), mute(wrap=True)
        self._first, self._second = Stack(), Stack()
        self._share, self._task, self._readable = SMOOTHING, "classes", True
        self._pages: Stack
        self._build()
        self.retranslate()

    def _build(self) -> None:
        self._groups = [QButtonGroup(self), QButtonGroup(self)]
        for group, chips in zip(self._groups, (self.tabs, self.quantities), strict=True):
            for chip in chips.values():
                chip.setChecked(False)
                group.addButton(chip)
        self.log.setChecked(False)
        bar, legend = QWidget(), QWidget()
        chips = FlowLayout(legend, theme.SPACE_XS, theme.SPACE_XS)
        for chip in self.quantities.values():
            chips.addWidget(chip)
        flow = FlowLayout(bar, theme.SPACE_S, theme.SPACE_XS)
        self._for_curves = (self.axis, self.smoothing, self.log, legend)
        for widget in (*self.tabs.values(), *self._for_curves):
            flow.addWidget(widget)
        curves = Columns(self._first, self._second)
        self._pages = Stack(curves, self.layers)
        self.body.addWidget(bar)
        self.body.addWidget(self._pages, 1)
        self.body.addWidget(self.note)
        self.set_note("")
        self.smoothing.changed.connect(self.set_smoothing)
        self.axis.currentIndexChanged.connect(self._axis_changed)
        for name, chip in self.tabs.items():
            chip.clicked.connect(lambda _=False, name=name: self.show_tab(name))
        for name, chip in self.quantities.items():
            chip.clicked.connect(lambda _=False, name=name: self.show_quantity(name))
        self.set_smoothing(SMOOTHING)
        self.tabs["curves"].setChecked(True)
        self.quantities["accuracy"].setChecked(True)

    def make_plots(self) -> None:
        """Create the plots of loss and accuracy if they do not exist yet."""
        if "loss" not in self.plots:
            loss = self._add_plot("loss", self._first)
            loss.set_log(self.log.isChecked())
            self.log.toggled.connect(loss.set_log)
            self._add_plot("accuracy", self._second)

    def plot(self, quantity: str) -> CurvePlot:
        """The plot of a quantity. Raises KeyError where one next to the first two was never shown."""
        self.make_plots()
        return self.plots[quantity]

    def showEvent(self, event: QShowEvent) -> None:
        self.make_plots()
        super().showEvent(event)

    def _add_plot(self, quantity: str, stack: Stack) -> CurvePlot:
        from widgets.plot import CurvePlot

        plot = self.plots[quantity] = CurvePlot()
        plot.set_controls_visible(False)
        plot.set_smoothing(self._share)
        # Far out is what diverges; a rate that falls by tenths, say, is shown whole.
        plot.set_robust(quantity in ("loss", "gradient"))
        plot.setMinimumHeight(PLOT_HEIGHT)
        plot.curve_clicked.connect(self.curve_clicked)
        if self.carry_out is not None:
            plot.actions_bar.carry_out = self.carry_out
        plot.exported.connect(self.saved)
        plot.export_failed.connect(self.failed)
        stack.addWidget(plot)
        self.retranslate()
        self.plot_added.emit(quantity)
        return plot

    def set_task(self, task: str) -> None:
        """Classes have an accuracy; of ``numbers``, R² is drawn in its place."""
        self._task = task
        self.retranslate()

    def _is_share(self, quantity: str) -> bool:
        return quantity == "accuracy" and self._task != "numbers"

    def _format_of(self, quantity: str) -> Callable[[float], str]:
        if self._is_share(quantity):
            return quantities.percent
        return {
            "loss": quantities.loss,
            "accuracy": quantities.loss,
            "rate": quantities.learning_rate,
        }.get(quantity, quantities.number)

    def set_note(self, text: str) -> None:
        """Say which runs are not drawn; empty for none."""
        self.note.setText(text)
        self.note.setVisible(bool(text))

    def show_tab(self, name: str) -> None:
        """Show ``curves`` or ``layers``."""
        self.tabs[name].setChecked(True)
        self._pages.setCurrentIndex(list(self.tabs).index(name))
        for widget in self._for_curves:
            widget.setVisible(name == "curves")

    def show_quantity(self, name: str) -> None:
        """Show a quantity next to the loss."""
        self.make_plots()
        if name not in self.plots:
            self._add_plot(name, self._second)
        self.quantities[name].setChecked(True)
        self._second.setCurrentWidget(self.plots[name])

    def set_smoothing(self, share: float) -> None:
        """The moving average of all charts, over this share of a run; 0 is off."""
        self._share = share
        for plot in self.plots.values():
            plot.set_smoothing(share)
        self.smoothing.set_share(share)

    def _axis_changed(self) -> None:
        self.retranslate()
        self.axis_chosen.emit(self.axis.currentData())

    def set_readable(self, readable: bool) -> None:
        """Say in charts without points whether the run's points can be read."""
        if readable != self._readable:
            self._readable = readable
            for plot in self.plots.values():
                plot.set_placeholder(self._placeholder())

    def _placeholder(self) -> str:
        if self._readable:
            return self.tr("The first points appear within a second")
        return self.tr("The journal of this run can't be read")

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.setAccessibleName(tr("Curves"))
        self.tabs["curves"].setText(tr("Curves"))
        self.tabs["layers"].setText(tr("Layers"))
        for place, words in enumerate((tr("Steps"), tr("Epochs"), tr("Time"))):
            self.axis.setItemText(place, words)
        self.axis.setAccessibleName(tr("Horizontal axis"))
        self.axis.setToolTip(tr("Choose the x axis: steps, epochs or seconds of training"))
        over = (tr("step"), tr("epoch"), tr("seconds of training"))[self.axis.currentIndex()]
        words = {
            "loss": (tr("Loss"), ""),
            "accuracy": (tr("R²") if self._task == "numbers" else tr("Accuracy"), ""),
            "rate": (tr("Learning rate"), ""),
            "memory": (tr("Memory"), "MB"),
            "throughput": (tr("Throughput"), tr("samples a second")),
            "gradient": (tr("Gradient"), tr("norm of all gradients")),
        }
        for name, (title, unit) in words.items():
            if name in self.plots:
                self.plots[name].set_title(title, over, unit)
                self.plots[name].set_format(self._format_of(name), percent=self._is_share(name))
                self.plots[name].set_placeholder(self._placeholder())
            if name in self.quantities:
                self.quantities[name].setText(title)
                self.quantities[name].setToolTip(tr("{0} next to the loss").format(title))
        self.log.setText(tr("log"))
        self.log.setToolTip(tr("Logarithmic axis for the loss; values at or below zero are not shown on it"))
        for plot in self.plots.values():
            plot.retranslate()
