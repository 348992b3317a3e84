"""The trials of a sweep in the window: under its name, chosen together, compared by their curves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt

from studio.session.sweep.making import new_sweep
from tests.studio.session.sweep.inside import InsidePool, carry_out, settings


def test_trials_are_compared(stage: Any, tmp_path: Path, bars: Path) -> None:
    folder = tmp_path / "runs" / "rates"
    folder.mkdir(parents=True)
    carry_out(folder, new_sweep(settings(bars, epochs=1), ["lr=0.01,0.02"]), InsidePool())
    stage.session.refresh_runs()
    shown = stage.window.project.runs
    rows = shown.rows()
    assert [(row.title, row.heading) for row in rows] == [
        ("rates", True),
        ("lr=0.01", False),
        ("lr=0.02", False),
    ]
    assert rows[0].value == "2 trials"
    assert shown.keys() == [str(folder / "trial-001"), str(folder / "trial-002")]
    # A heading is not a run: neither the keyboard nor "all" chooses it.
    assert shown.model().index(0, 0).flags() == Qt.ItemFlag.NoItemFlags
    shown.selectAll()
    assert sorted(shown.chosen()) == shown.keys()
    assert stage.studio.train_page.confusion.isVisible()
