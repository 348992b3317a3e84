"""What the plots of the window cost, each against its budget: ``python -m bench.gui_plots [NAME ...]``.

Offscreen, or under a display where ``QT_QPA_PLATFORM=xcb`` says so. Each measurement is a function of its own
that returns figures. Next to what passed on the clock stands the time that this process computed: on a
machine with other work only that says what the code costs, and without it both are the same.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_LOGGING_RULES", "default.warning=false")  # what that platform can't do

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEventLoop, QPointF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from bench.arguments import measurement_names
from bench.frames import Figure, Frames, Moment, Paints, moment, wait
from bench.gui_checkpoints import checkpoint_steps
from bench.gui_debug import debug_stops
from bench.gui_diagrams import brush, runs
from bench.gui_graph import graph
from bench.gui_sweep import sweep
from bench.gui_table import runs_table
from bench.timing import table
from widgets.plot import CurvePlot
from widgets.program_tree import BlockData, OperatorData, ProgramData, ProgramTree

POINTS = 1_000_000
FRAMES = 120
OPERATORS = 100_000
TRAIN_SECONDS = 8.0


def _large_plot() -> CurvePlot:
    plot = CurvePlot("Loss", "step")
    plot.resize(1200, 600)
    plot.add_series("a", "train")
    steps = np.arange(POINTS)
    plot.append(
        "a", steps, (2 * np.exp(-steps / 1e5) + 0.1) * np.random.default_rng(0).gamma(4, 0.25, POINTS)
    )
    plot.set_smoothing(0.02)
    plot.show()
    plot.chart.redraw()
    QApplication.processEvents()
    return plot


def hover() -> list[Figure]:
    """From a move of the mouse over a curve of a million points to the painted chart with its cursor."""
    pg.setConfigOption("mouseRateLimit", 0)  # else most moves are dropped, and cost nothing
    plot = _large_plot()
    port = plot.chart.viewport()
    view = plot.chart.plotItem.getViewBox().sceneBoundingRect()
    frames = Frames()
    for place in np.linspace(0.05, 0.95, FRAMES):
        at = plot.chart.mapFromScene(QPointF(view.left() + place * view.width(), view.center().y()))
        with frames.frame():
            QTest.mouseMove(port, at)
            port.repaint()
            QApplication.processEvents()
    plot.deleteLater()
    return frames.p95(f"hover over {POINTS:,} points", 16.0)


def zoom() -> list[Figure]:
    """From a key that zooms or pans a curve of a million points to the painted frame."""
    plot = _large_plot()
    frames = Frames()
    for frame in range(FRAMES):
        width = POINTS * (0.3 + 0.4 * ((frame * 7) % FRAMES) / FRAMES)
        with frames.frame():
            plot.chart.set_view(frame * 1000.0, frame * 1000.0 + width)
            plot.chart.viewport().repaint()
    plot.deleteLater()
    return frames.p95(f"zoom of {POINTS:,} points", 16.0)


def tree() -> list[Figure]:
    """From opening a block of 100,000 operators in the tree to its painted rows."""
    made = tuple(OperatorData("relu", {"X": (f"v{n}",)}, {"Out": (f"v{n + 1}",)}) for n in range(OPERATORS))
    frames = Frames()
    for _ in range(12):
        shown = ProgramTree()
        shown.resize(600, 600)
        shown.set_program(ProgramData("large", (BlockData(0, made),)))
        shown.show()
        _open_block(shown, frames)
        shown.deleteLater()
    return frames.p95(f"opening {OPERATORS:,} operators", 50.0)


def _open_block(shown: ProgramTree, frames: Frames) -> None:
    model = shown.view.model()
    program = model.index(0, 0)
    block = model.index(0, 0, program)
    branch = model.index(0, 0, block)
    for index in (program, block):
        shown.view.expand(index)
    shown.view.collapse(branch)
    QApplication.processEvents()
    with frames.frame():
        shown.view.expand(branch)
        QApplication.processEvents()


def training() -> list[Figure]:
    """How often the chart of the loss is painted while the built-in LeNet trains, and the longest gap.

    While the test images are read, at the end of each epoch, no points come: the window says so, and a gap
    there is not counted. The time from a point's arrival to its paint is measured throughout.
    """
    from studio.app import Studio
    from studio.session.session import Session

    app = QApplication.instance()
    assert isinstance(app, QApplication)
    with tempfile.TemporaryDirectory(prefix="model-studio-bench-") as folder:
        studio = Studio(app, Session(runs_folder=Path(folder)))
        studio.window.resize(1280, 800)
        studio.window.show()
        view = studio.session.train
        studio.session.change_setting("epochs", 50)
        studio.actions.trigger("start")
        wait(lambda: view.step > 20)
        paints = Paints(studio.train_page.loss.chart.viewport())
        arrived, evaluated = list[Moment](), list[Moment]()
        view.new_points.connect(lambda: arrived.append(moment()))
        view.events.evaluating.connect(lambda: evaluated.append(moment()))
        begin, own = time.perf_counter(), time.process_time()
        end = begin + TRAIN_SECONDS
        first = view.step
        while time.perf_counter() < end:
            app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 10)
        seconds = time.perf_counter() - begin
        steps = (view.step - first) / seconds
        gaps, waits = [(0.0, 0.0)], [(0.0, 0.0)]
        for before, after in pairwise([(begin, own), *paints.times]):
            if not any(before < each < after for each in evaluated):
                gaps.append((after[0] - before[0], after[1] - before[1]))
            first_new = next((each for each in arrived if before < each < after), after)
            waits.append((after[0] - first_new[0], after[1] - first_new[1]))
        studio.actions.trigger("stop_early")
        wait(lambda: not view.busy)
        studio.close()
    return [
        Figure(
            f"chart painted while training ({steps:.0f} steps/s)",
            len(paints.times) / seconds,
            10.0,
            unit="/s",
            least=True,
        ),
        _longest("longest gap between paints, none evaluating", gaps),
        _longest("longest time from a point to its paint", waits),
    ]


def _longest(name: str, times: list[Moment]) -> Figure:
    return Figure(name, max(times)[0] * 1e3, 100.0, max(own for _, own in times) * 1e3)


MEASUREMENTS: dict[str, Callable[[], list[Figure]]] = {
    "hover": hover,
    "zoom": zoom,
    "tree": tree,
    "training": training,
    "brush": brush,
    "runs": runs,
    "graph": graph,
    "table": runs_table,
    "debug": debug_stops,
    "checkpoints": checkpoint_steps,
    "sweep": sweep,
    "search": lambda: sweep("bayes"),
}


def main(names: list[str]) -> None:
    """Measure what is named, or all, and print one table."""
    application = QApplication.instance() or QApplication(sys.argv[:1])
    rows = [[f"on {application.platformName()}", "clock", "own", "budget", ""]]  # type: ignore[attr-defined]
    for name in names or list(MEASUREMENTS):
        for figure in MEASUREMENTS[name]():
            sign = ">=" if figure.least else "<="
            rows.append(
                [
                    figure.name,
                    f"{figure.value:.1f} {figure.unit}",
                    "" if math.isnan(figure.own) else f"{figure.own:.1f} {figure.unit}",
                    f"{sign} {figure.budget:g} {figure.unit}",
                    "holds" if figure.holds else "MISSED",
                ]
            )
    print(table(rows))


if __name__ == "__main__":
    main(measurement_names("bench.gui_plots", MEASUREMENTS))
