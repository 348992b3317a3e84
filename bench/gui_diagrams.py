"""What diagrams of many runs cost: lines under a moved range, and the turns of the loop with 10,000 runs."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from bench.frames import Figure, Frames, wait
from widgets.diagram import Column
from widgets.parallel import ParallelCoordinates

if TYPE_CHECKING:
    from studio.session.runs.runs_folder import Run

TRIALS, AXES, FRAMES, RUNS = 1000, 8, 90, 10_000
FRAME_MS, STALL_MS = 1000 / 30, 50.0
KINDS = ("parallel", "scatter", "heat map", "importance")


def _lines(rows: int) -> ParallelCoordinates:
    random, diagram = np.random.default_rng(0), ParallelCoordinates()
    columns = [Column.of(str(axis), random.random(rows).tolist()) for axis in range(AXES)]
    keys = [str(row) for row in range(rows)]
    diagram.resize(1200, 500)
    diagram.set_data(keys, keys, columns, columns[-1])
    diagram.show()
    wait(lambda: diagram.painted)
    return diagram


def brush() -> list[Figure]:
    """From a move of the mouse that drags an end of a range to the painted lines of 1,000 trials."""
    diagram = _lines(TRIALS)
    frames, layout = Frames(), diagram.layout_of_axes()
    x = round(layout.xs[3])
    left = Qt.MouseButton.LeftButton
    QTest.mousePress(diagram, left, Qt.KeyboardModifier.NoModifier, QPoint(x, round(layout.y(0.0))))
    for unit in np.linspace(0.05, 0.98, FRAMES):
        with frames.frame():
            QTest.mouseMove(diagram, QPoint(x, round(layout.y(float(unit)))))
            diagram.repaint()
            QApplication.processEvents()
    QTest.mouseRelease(diagram, left, Qt.KeyboardModifier.NoModifier, QPoint(x, round(layout.y(0.98))))
    selected = len(diagram.selection())
    diagram.deleteLater()
    if not 0.9 * TRIALS < selected <= TRIALS:
        raise SystemExit(f"gui_diagrams: the range was not dragged: {selected} of {TRIALS} trials selected")
    return frames.p95(f"range over {TRIALS:,} trials", FRAME_MS)


def many_runs(count: int) -> list[Run]:
    """Finished runs of random rates, batch sizes and optimizers."""
    from studio.session.runs.runs_folder import Run
    from studio.session.train.run_settings import RunSettings

    random = np.random.default_rng(0)
    defaults = RunSettings().as_config("")
    found: list[Run] = []
    for place, (rate, size) in enumerate(
        zip(random.random(count).tolist(), random.random(count).tolist(), strict=True)
    ):
        config = {**defaults, "learning_rate": 10 ** (-4 * rate), "batch_size": int(16 + 200 * size)}
        config["optimizer"] = ("adam", "sgd", "momentum")[place % 3]
        accuracy = 0.9 - abs(rate - 0.5) * 0.2
        found.append(
            Run(f"/runs/{place}", str(place), "finished", config, float(place), 100, 100, 1, accuracy, "", 0)
        )
    return found


def runs() -> list[Figure]:
    """The longest turn of the window's loop while diagrams of 10,000 runs are filled."""
    from studio.controllers.runs.diagrams.diagrams_controller import DiagramsController
    from studio.session.session import Session
    from studio.windows.runs.diagrams.diagrams_panel import DiagramsPanel

    session = Session(runs_folder=Path(tempfile.mkdtemp()))
    found = many_runs(RUNS)
    session.runs_table.set_runs(found, session.run_titles)
    session.runs, session.run_titles = found, {run.path: run.name for run in found}
    panel = DiagramsPanel()
    panel.resize(1200, 600)
    panel.show()
    controller = DiagramsController(session, panel, lambda folders: None, lambda text, kind: None)
    figures: list[Figure] = []
    for kind in KINDS:
        session.diagrams.choose(diagram=kind)
        controller.refresh()
        longest, begin = (0.0, 0.0), time.perf_counter()
        while controller.busy or time.perf_counter() < begin + 0.5:
            clock, own = time.perf_counter(), time.process_time()
            QApplication.processEvents()
            session.pump()
            longest = max(longest, (time.process_time() - own, time.perf_counter() - clock))
        name = f"{kind} of {RUNS:,} runs, longest turn"
        figures.append(Figure(name, longest[1] * 1e3, STALL_MS, longest[0] * 1e3))
    controller.close()
    session.close(0.0)
    panel.deleteLater()
    return figures
