"""The curves of the runs shown: points of the training as they come, of the others from their journals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QCoreApplication

from studio.controllers.train.curve_points import (
    BASELINES,
    VALIDATED,
    Floats,
    Points,
    points_of,
    validated_in,
)
from studio.controllers.when_visible import WhenVisible
from studio.session.runs.run_history import RunHistory
from widgets import theme

if TYPE_CHECKING:
    from widgets.plot import CurvePlot

_END = "/validation"
_BASELINE = "/baseline/"
_BASELINE_COLORS = (2, 3, 4)  # of runs; the first two that the run itself has not


class Curves:
    """Draws runs into plots, one for each quantity, and keeps their points, so that another quantity or
    another x axis can be chosen and the training be looked away from and back at. A plot that is hidden is
    drawn when it appears."""

    def __init__(self, plots: Mapping[str, CurvePlot]) -> None:
        self._plots: dict[str, CurvePlot] = {}
        self._drawing: dict[str, tuple[WhenVisible, partial[None]]] = {}
        self._axis = "step"
        self._live = Points()
        self._live_folder = ""
        self._shown: dict[str, Points] = {}
        self._titles: Mapping[str, str] = {}
        self._colors: Mapping[str, int | str] = {}
        for quantity, plot in plots.items():
            self._add(quantity, plot)

    def _add(self, quantity: str, plot: CurvePlot) -> None:
        self._plots[quantity] = plot
        self._drawing[quantity] = WhenVisible(plot), partial(self._draw_now, quantity)

    def add_plot(self, quantity: str, plot: CurvePlot) -> None:
        """Draw a quantity from now on."""
        self._add(quantity, plot)
        self._draw_all(quantity)

    def set_axis(self, axis: str) -> None:
        """Lay the points out over ``step``, ``epoch`` or ``time``."""
        if axis != self._axis:
            self._axis = axis
            self.draw_again()

    def show(
        self,
        folders: Sequence[str],
        live: str,
        histories: Mapping[str, RunHistory],
        titles: Mapping[str, str],
        colors: Mapping[str, int | str],
    ) -> None:
        """Draw these runs anew; ``live`` is the one whose points come through ``extend``."""
        self._live_folder, self._titles, self._colors = live, dict(titles), dict(colors)
        self._shown = {
            folder: self._live if folder == live else points_of(histories.get(folder)) for folder in folders
        }
        self.draw_again()

    def draw_again(self) -> None:
        """Draw all with their names in another language."""
        for quantity in self._plots:
            self._draw_all(quantity)

    def describe(self, titles: Mapping[str, str], colors: Mapping[str, int | str]) -> None:
        """Runs have other names or colours: those that are shown are drawn anew where theirs changed."""
        same = all(
            self._titles.get(folder) == titles.get(folder) and self._colors.get(folder) == colors.get(folder)
            for folder in self._shown
        )
        self._titles, self._colors = dict(titles), dict(colors)
        if not same:
            self.draw_again()

    def extend(
        self,
        steps: list[int],
        losses: list[float],
        accuracies: list[float],
        more: Mapping[str, Any] | None = None,
    ) -> None:
        """More points of the training; ``more`` has other quantities, ``elapsed`` and ``steps_per_epoch``."""
        values = {"loss": losses, "accuracy": accuracies, **(more or {})}
        live = self._live
        live.steps_per_epoch = int(values.get("steps_per_epoch", live.steps_per_epoch))
        before = len(live.steps)
        live.extend(steps, values)
        if not live.thin():
            self._draw_more(self._live_folder, live.after(before, len(live.epochs)))
        elif self._live_folder in self._shown:
            for quantity in self._plots:
                self._draw_all(quantity)

    def end_epoch(self, event: Mapping[str, Any]) -> None:
        """The training has read the test images."""
        live = self._live
        names = ("step", "seconds")
        live.epochs.append({**{name: event.get(name, math.nan) for name in names}, **validated_in(event)})
        self._draw_more(self._live_folder, live.after(len(live.steps), len(live.epochs) - 1))

    def set_task(self, task: str) -> None:
        """What the training predicts: classes or numbers."""
        self._live.task = task
        if len(self._shown) > 1 and self._live_folder in self._shown:
            for quantity in VALIDATED.keys() & self._plots.keys():
                self._draw_all(quantity)

    def left_out(self) -> list[str]:
        """The folders of runs with another task than the first: their loss and figures can't be compared."""
        task = next((points.task for points in self._shown.values()), "")
        return [folder for folder, points in self._shown.items() if points.task != task]

    def _of(self, quantity: str) -> list[str]:
        """The runs of which a quantity is drawn."""
        others = self.left_out() if quantity in VALIDATED else []
        return [folder for folder in self._shown if folder not in others]

    def set_baseline(self, event: Mapping[str, Any]) -> None:
        """What simple models reach on the data of the training."""
        self._live.baseline = dict(event)
        if self._shown.keys() == {self._live_folder} and "accuracy" in self._plots:
            self._draw_all("accuracy")

    def forget_live(self) -> None:
        """Another training begins."""
        self._live = Points()

    def continue_from(self, history: RunHistory, step: int) -> None:
        """A run goes on after ``step``: its earlier points are those of its journal."""
        self._live = points_of(history)
        self._live.keep(step)

    def rewind(self, step: int) -> None:
        """The run goes on from an earlier checkpoint: what came after ``step`` will come once more."""
        self._live.keep(step)

    def grow(self, folder: str, history: RunHistory) -> None:
        """Draw what the journal of a run that is shown has got since it was drawn."""
        before, points = self._shown.get(folder, Points()), points_of(history)
        self._shown[folder] = points
        self._draw_more(folder, points.after(len(before.steps), len(before.epochs)))

    def _draw_all(self, quantity: str) -> None:
        when, draw = self._drawing[quantity]
        when.call(draw)

    def _draw_now(self, quantity: str) -> None:
        plot = self._plots[quantity]
        plot.clear()
        tr, alone = QCoreApplication.translate, len(self._shown) == 1
        for folder in self._of(quantity):
            points = self._shown[folder]
            color = self._colors.get(folder, 0)
            train = tr("Curves", "train") if alone else self._titles.get(folder, folder)
            # What is measured over a stretch of time is smooth as it is.
            plot.add_series(folder, train, color, smooth=quantity in ("loss", "accuracy", "gradient"))
            if quantity in VALIDATED:
                test = tr("Curves", "validation") if alone else tr("Curves", "{0}, validation").format(train)
                # In a comparison one chip a run is enough.
                plot.add_series(folder + _END, test, color, dashed=True, companion_of="" if alone else folder)
            if quantity == "accuracy" and alone:
                self._add_baselines(plot, folder, points, color)
            self._append(quantity, folder, points)
        first = next(iter(self._shown), "")
        plot.set_front([] if len(self._shown) < 2 else [first, first + _END])

    def _add_baselines(self, plot: CurvePlot, folder: str, points: Points, color: int | str) -> None:
        tr = QCoreApplication.translate
        others = [n for n in _BASELINE_COLORS if theme.run_color(n) != theme.run_color(color)]
        for name, other in zip(BASELINES, others, strict=False):
            if math.isfinite(_reached(points, name)):
                title = tr("Curves", "majority class") if name == "constant" else tr("Curves", "linear model")
                if name == "constant" and "r2" in points.baseline["constant"]:
                    title = tr("Curves", "mean")
                plot.add_series(f"{folder}{_BASELINE}{name}", title, other, dashed=True)

    def _draw_more(self, folder: str, points: Points) -> None:
        if folder in self._shown:
            for quantity in self._plots:
                self._append(quantity, folder, points)

    def _append(self, quantity: str, folder: str, points: Points) -> None:
        plot, whole = self._plots[quantity], self._shown[folder]
        when, draw = self._drawing[quantity]
        if when.waits(draw) or folder not in self._of(quantity):
            return
        if len(points.steps):
            plot.append(folder, *_known(quantity, points.xs(self._axis), points.values(quantity)))
        if points.epochs:
            if quantity in VALIDATED:
                plot.append(folder + _END, *_known(quantity, *points.validated(quantity, self._axis)))
                plot.set_best(folder + _END, whole.best(self._axis))
                xs, _ = points.validated(quantity, self._axis)
                if len(self._shown) == 1 and quantity == "accuracy":
                    for name in BASELINES:
                        value = _reached(whole, name)
                        if math.isfinite(value):
                            known = xs[np.isfinite(xs)]
                            if len(points.epochs) == len(whole.epochs):
                                known = np.append(0.0, known)
                            plot.append(f"{folder}{_BASELINE}{name}", known, np.full(len(known), value))
            if folder == next(iter(self._shown)):
                plot.set_marks(whole.epoch_marks(self._axis))


def _known(quantity: str, xs: Floats, ys: Floats) -> tuple[Floats, Floats]:
    """Those that have a place and a value. Only a loss is marked where it is no number; anything else was not
    measured there, as in the journals of older runs."""
    known = np.isfinite(xs) if quantity == "loss" else np.isfinite(xs) & ~np.isnan(ys)
    return xs[known], ys[known]


def _reached(points: Points, name: str) -> float:
    figures = points.baseline.get(name)
    values = [figures.get(each) for each in ("accuracy", "r2")] if isinstance(figures, Mapping) else []
    return next((float(value) for value in values if isinstance(value, int | float)), math.nan)


def folder_of(key: str) -> str:
    """The run that a curve belongs to."""
    return key.partition(_BASELINE)[0].removesuffix(_END)
