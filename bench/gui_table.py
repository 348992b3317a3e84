"""What the table of the page Runs costs with 10,000 runs: first paint, order, filter, turns of the loop."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QApplication

from bench.frames import Figure, wait
from bench.gui_diagrams import RUNS, STALL_MS, many_runs

COLUMNS = ("learning_rate", "accuracy", "name")
FILTERS = ("lr < 0.01 and accuracy > 85 %", "adam or batch in (64, 128)", 'name ~ "77"')


def _timed(name: str, budget: float, work: Callable[[], object]) -> Figure:
    clock, own = time.perf_counter(), time.process_time()
    work()
    return Figure(name, (time.perf_counter() - clock) * 1e3, budget, (time.process_time() - own) * 1e3)


def runs_table() -> list[Figure]:
    """The whole window with 10,000 runs on the page Runs: each figure ends when the table is painted."""
    import engine  # noqa: F401  # the window would import it a moment after its start
    from studio.app import Studio
    from studio.session.session import Session

    app = QApplication.instance()
    assert isinstance(app, QApplication)
    session = Session(runs_folder=Path(tempfile.mkdtemp()))
    session.files.begin()
    studio = Studio(app, session)
    studio.window.resize(1280, 800)
    studio.show()
    wait(lambda: not session.files.listing.working)
    QApplication.processEvents()
    session.refresh_runs = lambda then=None: None  # type: ignore[method-assign]  # the runs have no folders
    found = many_runs(RUNS)
    session.runs, session.run_titles = found, {run.path: f"LeNet, run {run.name}" for run in found}
    session.run_colors = {run.path: place for place, run in enumerate(found)}
    page, figures = studio.runs_page, list[Figure]()

    def painted() -> None:
        page.table.viewport().repaint()

    figures.append(
        _timed(f"{RUNS:,} runs listed at the left", STALL_MS, lambda: session.runs_changed.emit(found))
    )
    figures.append(
        _timed(
            f"{RUNS:,} runs, first paint of the page", 2 * STALL_MS,
            lambda: (studio.actions.trigger("page_runs"), painted()),
        )
    )  # fmt: skip
    longest, begin = (0.0, 0.0), time.perf_counter()
    while studio.diagrams.busy or time.perf_counter() < begin + 1.0:
        clock, own = time.perf_counter(), time.process_time()
        QApplication.processEvents()
        longest = max(longest, (time.process_time() - own, time.perf_counter() - clock))
    studio.diagrams.panel.hide()  # gui_diagrams measures them
    figures.append(Figure("longest turn of the loop after it", longest[1] * 1e3, STALL_MS, longest[0] * 1e3))
    for column in COLUMNS:
        figures.append(
            _timed(
                f"{RUNS:,} runs sorted by {column}", STALL_MS,
                lambda column=column: (page.table.sort_requested.emit(column, False), painted()),
            )
        )  # fmt: skip
        QApplication.processEvents()
    for text in FILTERS:
        page.filter.box.setText(text)
        figures.append(
            _timed(
                f"{RUNS:,} runs filtered by {text}", STALL_MS,
                lambda text=text: (session.runs_table.set_filter(text), painted()),
            )
        )  # fmt: skip
        QApplication.processEvents()
    studio.close()
    return figures
