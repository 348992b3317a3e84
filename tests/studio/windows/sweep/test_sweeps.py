"""The trials of a sweep in the window: under its name, chosen together, compared by their curves."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox

import studio.session.sweep.queued as queued
from studio.session.sweep.making import new_sweep
from studio.windows.sweep import sweep_dialog
from studio.windows.sweep.sweep_dialog import SweepDialog
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
        ("lr 0.01", False),
        ("lr 0.02", False),
    ]
    assert rows[0].value == "2 trials"
    assert shown.keys() == [str(folder / "trial-001"), str(folder / "trial-002")]
    # A heading is not a run: neither the keyboard nor "all" chooses it.
    assert shown.model().index(0, 0).flags() == Qt.ItemFlag.NoItemFlags
    shown.selectAll()
    assert sorted(shown.chosen()) == shown.keys()
    assert stage.studio.train_page.confusion.isVisible()


def test_a_late_look_up_of_earlier_words_is_ignored(
    stage: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, answers, threads = threading.Event(), threading.Event(), set[int]()
    sweep_of_words = queued.sweep_of_words

    def late(*arguments: Any) -> Any:
        threads.add(threading.get_ident())
        begun.set()
        assert answers.wait(20)
        return sweep_of_words(*arguments)

    monkeypatch.setattr(queued, "sweep_of_words", late)
    monkeypatch.setattr(sweep_dialog, "LATE_MS", 0)
    stage.session.files.begin()
    stage.studio.actions.trigger("start_sweep")
    dialog, shown = stage.window.findChild(SweepDialog), list[str]()
    show = dialog._show
    monkeypatch.setattr(dialog, "_show", lambda *of: (show(*of), shown.append(dialog.outcome.text())))
    dialog.words.setPlainText("lr=0.1,0.2")
    dialog.look()
    qtbot.waitUntil(lambda: shown == ["Reading your model and data…"])
    assert begun.wait(20)
    dialog.words.setPlainText("lr=0.1,0.2,0.3")
    answers.set()
    qtbot.waitUntil(lambda: shown[-1] == "3 trials")
    assert "2 trials" not in shown
    QTest.mouseClick(dialog.buttons.button(QDialogButtonBox.StandardButton.Ok), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(stage.session.queue.waiting) == 2)
    assert threading.get_ident() not in threads
