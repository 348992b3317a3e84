"""What the screens' budgets are about: ``python -m bench.screens``.

A curve of a million points next to one of ten thousand and a block of 100,000 operators next to one of 1,000,
in alternation within one run, and the first built-in digits. Prints ms and the ratio of large to small.
Budgets on an idle machine: 16 ms a frame, 50 ms to open a block, 300 ms for 1,000 digits.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtWidgets import QApplication

from bench.timing import paired_ratio, table, take_turns
from engine.vision.datasets import Digits
from widgets.plot import CurvePlot
from widgets.program_tree import BlockData, OperatorData, ProgramData, ProgramTree

ROUNDS = 15


def pan(points: int) -> Callable[[], float]:
    """Seconds to move and repaint a plot of one smoothed series."""
    plot = CurvePlot("Loss", "step")
    plot.resize(1200, 600)
    plot.add_series("a", "train")
    plot.append("a", np.arange(points), np.random.default_rng(0).normal(size=points))
    plot.set_smoothing(0.98)
    plot.show()
    QApplication.processEvents()
    shifts = itertools.count()

    def frame() -> float:
        shift = next(shifts) % 100 / 1000 * points
        start = time.perf_counter()
        plot.chart.set_view(shift, shift + points / 2)
        plot.chart.viewport().repaint()
        return time.perf_counter() - start

    return frame


def expand(operators: int) -> Callable[[], float]:
    """Seconds to open the operators of a block in the tree."""
    made = tuple(OperatorData("relu", {"X": (f"v{n}",)}, {"Out": (f"v{n + 1}",)}) for n in range(operators))
    tree = ProgramTree()
    tree.resize(600, 600)
    tree.set_program(ProgramData("large", (BlockData(0, made),)))
    tree.show()
    model = tree.view.model()
    program = model.index(0, 0)
    block = model.index(0, 0, program)
    branch = model.index(0, 0, block)
    for index in (program, block):
        tree.view.expand(index)

    def once() -> float:
        tree.view.collapse(branch)
        QApplication.processEvents()
        start = time.perf_counter()
        tree.view.expand(branch)
        QApplication.processEvents()
        return time.perf_counter() - start

    return once


def digits(count: int) -> Callable[[], float]:
    """Seconds to draw the first ``count`` built-in digits."""
    seeds = itertools.count(1000)

    def once() -> float:
        start = time.perf_counter()
        _ = Digits(count=count, seed=next(seeds)).images
        return time.perf_counter() - start

    return once


def main() -> None:
    """Measure and print one table."""
    application = QApplication.instance() or QApplication([])
    rows = [["ms", "min", "median", "x small"]]
    for name, make, sizes in (
        ("pan, points", pan, (10_000, 1_000_000)),
        ("expand, operators", expand, (1_000, 100_000)),
        ("draw, digits", digits, (100, 999)),
    ):
        contenders = {f"{name} {size}": make(size) for size in sizes}
        for run in contenders.values():
            run()
        series = take_turns(contenders, ROUNDS)
        for one in series:
            ratio = f"{paired_ratio(one, series[0]):.2f}"
            rows.append([one.name, f"{one.best * 1e3:.2f}", f"{one.typical * 1e3:.2f}", ratio])
    print(table(rows))
    application.processEvents()


if __name__ == "__main__":
    main()
