"""The window during a sweep: 24 short trials of the digits from its queue, the page Runs open all the time.

The table and each diagram are shown in turn while the trials train, once with a grid and once with a search
by Optuna. Printed: the longest turns of the loop, and where they were.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from pathlib import Path

from PySide6.QtWidgets import QApplication, QDialogButtonBox

from bench.frames import Figure
from bench.gui_diagrams import KINDS
from bench.turns import Turn, Turns, described
from studio.app import Studio
from studio.session.session import Session
from studio.windows.sweep.sweep_dialog import SweepDialog

TRIALS = 24
TURN_MS = 50.0
LIMIT_S = 900.0
SHOWN = 12  # of the slowest turns
SHOWN_S = 2.0  # that each diagram is shown before the next one
GRID = ("lr=0.001,0.003,0.01", "batch_size=64,96,128,256", "optimizer=adam,sgd")
RANGES = ("lr=0.0001..0.1", "batch_size=32,64,128")


def sweep(search: str | None = None) -> list[Figure]:
    """A grid, or a search, of 24 trials from the first to the last; table and diagrams must follow."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    studio = Studio(application, Session(runs_folder=Path(tempfile.mkdtemp()) / "runs"))
    turns, name = Turns(), "grid" if search is None else f"search by {search}"
    try:
        _begin(studio, turns, search)
        shown = _follow(studio, turns)
    finally:
        turns.close()
        studio.close()
        _print_slowest(turns, name)
    longest = next(iter(turns.slowest(1)), Turn(0.0, 0.0, 0.0, "", ()))
    count = f"{TRIALS} trials, {name}"
    return [
        Figure(f"{count}: longest turn", longest.clock * 1e3, TURN_MS, longest.own * 1e3, by_own=True),
        Figure(f"{count}: changes of rows and diagrams seen", float(shown), TRIALS, unit="", least=True),
    ]


def _print_slowest(turns: Turns, name: str) -> None:
    for turn in turns.slowest(SHOWN):
        print(f"{name}: {described(turn)}")


def _begin(studio: Studio, turns: Turns, search: str | None) -> None:
    """Show the page Runs and start the sweep, as its window does."""
    studio.window.resize(1280, 800)
    session = studio.session
    turns.doing = "start"
    turns.start(studio, LIMIT_S)
    turns.live_for(1.0)
    for setting, value in (("data", "digits"), ("model", "linear"), ("epochs", 2)):
        session.change_setting(setting, value)
    studio.frame.show_page("runs")
    turns.live(lambda: studio.runs_page.isVisible(), LIMIT_S)
    turns.turns.clear()  # what came until here is the start's
    turns.doing = "begin of the sweep"
    studio.actions.trigger("start_sweep")
    turns.live(lambda: bool(studio.window.findChildren(SweepDialog)), LIMIT_S)
    (dialog,) = studio.window.findChildren(SweepDialog)
    dialog.search.setCurrentIndex(dialog.search.findData(search or "grid"))
    dialog.trials.setValue(TRIALS)
    dialog.words.setPlainText("\n".join(RANGES if search else GRID))
    turns.live(lambda: dialog.outcome.text() == f"{TRIALS} trials", 60.0)
    dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).click()
    turns.live(lambda: session.train.busy, LIMIT_S)


def _follow(studio: Studio, turns: Turns) -> int:
    """Show each diagram in turn until all trials have ended; how often the shown rows or states changed."""
    session, kinds = studio.session, list(KINDS)
    table, states = session.runs_table, list[tuple[tuple[str, str, int], ...]]()

    def note() -> None:
        states.append(tuple((run.path, run.state, run.epoch) for run in table.visible))

    table.changed.connect(note)
    end = time.perf_counter() + LIMIT_S
    while session.train.busy or session.queue.waiting or session.queue.beginning or session.train.preparing:
        if time.perf_counter() > end:
            raise SystemExit(f"gui_sweep: {len(session.queue.waiting)} trials still wait; on a busy machine?")
        kinds.append(kinds.pop(0))
        turns.doing = f"{kinds[-1]} shown"
        session.diagrams.choose(diagram=kinds[-1])
        turns.live_for(SHOWN_S)
    turns.live(lambda: not studio.diagrams.busy, LIMIT_S)
    table.changed.disconnect(note)
    ended = Counter(run.state for run in session.runs)
    if ended["finished"] != TRIALS:
        raise SystemExit(f"gui_sweep: not all trials have finished: {dict(ended)}")
    return len(set(states))
