"""A run that diverged offers to find the operator; the memory of values is a setting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from studio.windows.preferences import PreferencesDialog
from tests.studio.windows.runs.run_folders import make_run


@pytest.fixture
def diverged(stage: Any) -> Path:
    """A run of seven steps that ended with a loss that is not a number, and one that finished."""
    folder = make_run(stage.session.runs_folder / "lenet-001", steps=7, ended="stopped")
    journal = folder / "journal.jsonl"
    lines = journal.read_text().splitlines()
    last = {**json.loads(lines[-1]), "reason": "diverged", "step": 7}
    journal.write_text("\n".join([*lines[:-1], json.dumps(last)]) + "\n")
    make_run(stage.session.runs_folder / "lenet-002", started=2.0)
    stage.session.refresh_runs()
    return folder


def test_find_the_operator_replays_the_failing_step(stage: Any, diverged: Path) -> None:
    page = stage.studio.train_page
    stage.session.select_run(str(diverged))
    QApplication.processEvents()
    assert page.diverged.isVisible()
    assert page.diverged.accessibleName() == "The loss became NaN or infinite at step 8."
    QTest.mouseClick(page.diverged.find, Qt.MouseButton.LeftButton)
    assert stage.window.current_page() == "debug"
    job = stage.worker.job
    assert (job.kind, job.path, job.checkpoint, job.batch) == ("run", str(diverged), -1, -1)
    opened = {"title": "lenet-001, step 7", "notes": [], "parts": [], "source": "", "source_file": ""}
    stage.tell("debug_opened", **opened)
    begin = {"reason": "begin", "message": "", "batch": 7, "position": 0}
    more = {"breakpoints": [], "changes": [], "values": [], "updates": []}
    moving = stage.session.debugging._moving
    stage.tell("debug_stopped", request=moving, watching=moving, stop=begin, **more)
    assert [getattr(each, "way", "") for each in stage.worker.commands][-1] == "until_nan"


def test_other_runs_do_not_offer_it(stage: Any, diverged: Path) -> None:
    other = diverged.with_name("lenet-002")
    stage.session.select_run(str(other))
    QApplication.processEvents()
    assert not stage.studio.train_page.diverged.isVisible()
    reason = stage.session.blocked("find_operator")
    assert reason == "The loss of this run did not become NaN or infinite."
    assert stage.session.blocked("debug") == ""


def test_the_panel_names_the_selected_run_and_its_checkpoints(stage: Any, diverged: Path) -> None:
    stage.studio.frame.show_page("debug")
    panel = stage.studio.debug_panel
    assert panel.subject.value().startswith("Edited model")
    stage.session.select_run(str(diverged))
    QApplication.processEvents()
    assert panel.subject.value() == stage.session.run_title(str(diverged))
    assert panel.chosen_batch() == (-1, -1)
    panel.form.set_value("batch", 5)
    assert stage.studio.actions.trigger("debug") == ""
    assert stage.worker.job.batch == 5


def test_the_memory_of_values_is_set_in_the_preferences(stage: Any) -> None:
    stage.studio.actions.trigger("preferences")
    dialog = stage.window.findChild(PreferencesDialog)
    field = dialog.form.control("debug_memory")
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, "64")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert stage.session.preferences.debug_memory == 64
    dialog.close()


def test_a_run_that_diverged_at_its_first_step_offers_it_on_its_card(stage: Any) -> None:
    page = stage.studio.train_page
    asked: list[bool] = []
    page.diverged.find_requested.connect(lambda: asked.append(True))
    page.show_failure("LeNet", "the loss is not a number", details=True, find=True)
    assert page._failure.find.isVisible()
    QTest.mouseClick(page._failure.find, Qt.MouseButton.LeftButton)
    assert asked == [True]
    page.show_failure("LeNet", "the data is missing", details=True)
    assert not page._failure.find.isVisible()
