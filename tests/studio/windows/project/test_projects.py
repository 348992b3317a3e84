"""Projects with real clicks and keys: saved by themselves, given a place, undone, opened again."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6", reason="the window needs Qt")

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QPushButton, QToolButton

from studio.session.project import project_copy
from studio.session.project.movable_project import MOVING
from studio.session.project.moving_runs import move_runs
from studio.session.project.project_file import read_project
from studio.session.session import Session
from studio.windows.project.save_as_dialog import SaveAsDialog
from tests.studio.windows.runs.run_folders import make_run

WAIT = 20_000
CTRL = Qt.KeyboardModifier.ControlModifier


def press(stage: Any, qtbot: Any, key: Qt.Key, keys: Qt.KeyboardModifier = CTRL) -> None:
    stage.window.activateWindow()
    qtbot.waitUntil(stage.window.isActiveWindow, timeout=WAIT)
    QTest.keyClick(stage.window, key, keys)


def test_saving_the_project_keeps_the_list_of_runs(stage: Any, qtbot: Any, tmp_path: Path) -> None:
    make_run(stage.session.runs_folder / "lenet-static-001")
    stage.session.refresh_runs()
    stage.window.project.runs.choose(stage.window.project.runs.keys()[0])
    press(stage, qtbot, Qt.Key.Key_S)
    (dialog,) = stage.window.findChildren(SaveAsDialog)
    dialog.name.setText("a:b")
    assert not dialog.save.isEnabled()
    dialog.place.setText(str(tmp_path / "mine"))
    dialog.name.clear()
    QTest.keyClicks(dialog.name, "digits")
    QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    moved = str(tmp_path / "mine" / "digits" / "runs" / "lenet-static-001")
    assert stage.window.project.runs.keys() == [moved]
    assert stage.window.project.runs.chosen() == [moved]
    assert stage.session.selected_run == moved
    assert "Runs that moved along: 1." in stage.window.toast.text()
    assert stage.window.windowTitle().startswith("digits")
    press(stage, qtbot, Qt.Key.Key_S)
    assert "digits is saved" in stage.window.toast.text()


def test_a_change_is_saved_by_itself_and_undone(stage: Any, qtbot: Any, tmp_path: Path) -> None:
    stage.session.save_project(tmp_path / "mine")
    document = tmp_path / "mine" / "project.studio.json"
    form = stage.studio.settings_panel.form
    form.control("epochs").setFocus()
    form.control("epochs").selectAll()
    QTest.keyClicks(form.control("epochs"), "7")
    qtbot.waitUntil(lambda: read_project(document).settings.epochs == 7, timeout=WAIT)
    batch = form.control("batch_size")
    batch.setFocus()  # nothing was typed there: the keys are the window's
    stage.window.activateWindow()
    qtbot.waitUntil(stage.window.isActiveWindow, timeout=WAIT)
    QTest.keyClick(batch, Qt.Key.Key_Z, CTRL)
    assert form.value("epochs") == 5
    qtbot.waitUntil(lambda: read_project(document).settings.epochs == 5, timeout=WAIT)
    press(stage, qtbot, Qt.Key.Key_Z, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert form.value("epochs") == 7


def test_a_recent_project_that_is_gone_says_so_and_is_taken_from_the_list(
    stage: Any, qtbot: Any, tmp_path: Path
) -> None:
    for name in ("gone", "kept"):
        stage.session.save_project(tmp_path / name)
    shutil.rmtree(tmp_path / "gone")
    press(stage, qtbot, Qt.Key.Key_N)
    welcome = stage.studio.train_page.welcome
    rows = {button.text(): button for button in welcome.findChildren(QPushButton)}
    assert not rows["gone – missing"].isEnabled()
    assert rows["kept"].isEnabled()
    remove = next(
        b for b in welcome.findChildren(QToolButton) if b.accessibleName() == "Remove gone from the list"
    )
    QTest.mouseClick(remove, Qt.MouseButton.LeftButton)
    assert [project.name for project in stage.session.recent_projects()] == ["kept"]


@pytest.mark.parametrize(("answer", "epochs"), [("yes", 7), ("instead", 9), ("no", 9)])
def test_two_windows_that_changed_the_settings_are_asked(
    stage: Any, qtbot: Any, tmp_path: Path, answer: str, epochs: int
) -> None:
    stage.session.save_project(tmp_path / "mine")
    other = Session(stage.session.tasks.make_worker, tmp_path / "runs")
    other.open_project(tmp_path / "mine")
    other.change_setting("epochs", 7)
    other.autosave()
    stage.session.change_setting("epochs", 9)
    qtbot.waitUntil(lambda: stage.session.keeping.conflict is not None, timeout=WAIT)
    assert "press Ctrl+S to choose" in stage.window.toast.text()
    assert stage.window.project.project.value() == "mine (two versions: Ctrl+S)"
    assert not stage.window.findChildren(QMessageBox)
    press(stage, qtbot, Qt.Key.Key_S)
    (box,) = stage.window.findChildren(QMessageBox)
    QTest.mouseClick(box.findChild(QPushButton, answer), Qt.MouseButton.LeftButton)
    assert stage.studio.settings_panel.form.value("epochs") == epochs
    assert (stage.session.keeping.conflict is not None) == (answer == "no")
    assert ("two versions" in stage.window.project.project.value()) == (answer == "no")
    assert read_project(tmp_path / "mine" / "project.studio.json").settings.epochs == (
        9 if answer == "instead" else 7
    )
    other.close(0.0)


def test_saving_elsewhere_on_a_slow_disk_shows_it_refuses_changes_and_delays_closing(
    stage: Any, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves, moved = threading.Event(), threading.Event()

    def move(*arguments: Any) -> Any:
        moves.set()
        assert moved.wait(WAIT / 1000)
        return move_runs(*arguments)

    monkeypatch.setattr(project_copy, "move_runs", move)
    make_run(stage.session.runs_folder / "lenet-static-001")
    stage.session.refresh_runs()
    stage.session.files.begin()
    runs, label = stage.window.project.runs, stage.window.project.project
    runs.choose(runs.keys()[0])
    stage.studio.project._slow.setInterval(10)
    press(stage, qtbot, Qt.Key.Key_S)
    (dialog,) = stage.window.findChildren(SaveAsDialog)
    dialog.place.setText(str(tmp_path))
    dialog.name.setText("digits")
    QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(moves.is_set, timeout=WAIT)
    qtbot.waitUntil(lambda: label.value().endswith("(saving...)"), timeout=WAIT)
    assert stage.window.toast.text().startswith("Saving ")
    assert not stage.studio.actions["delete_run"].isEnabled()
    runs.delete_requested.emit()
    assert stage.window.toast.text() == MOVING
    stage.studio.actions.trigger("start")
    assert stage.window.toast.text() == MOVING
    assert not stage.session.train.busy
    stage.window.close()
    assert stage.window.isVisible()
    qtbot.waitUntil(lambda: "the window closes when it is done" in stage.window.toast.text(), timeout=WAIT)
    moved.set()
    qtbot.waitUntil(lambda: not stage.window.isVisible(), timeout=WAIT)
    assert stage.window.windowTitle().startswith("digits")
    assert stage.session.selected_run == str(tmp_path / "digits" / "runs" / "lenet-static-001")
    assert stage.session.keeping.document.path == tmp_path / "digits" / "project.studio.json"


def test_a_project_that_cant_be_saved_elsewhere_says_why_and_where_it_is(
    stage: Any, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device", "digits")

    monkeypatch.setattr(project_copy.OpenDocument, "keep_own", full)
    stage.session.files.begin()
    before = stage.session.project_folder
    stage.studio.project._save_in(str(tmp_path / "digits"))
    assert not stage.studio.actions["new_project"].isEnabled()
    qtbot.waitUntil(lambda: "No space left on device" in stage.window.toast.text(), timeout=WAIT)
    assert stage.window.toast.text().endswith(f"it is still in {before}")
    assert stage.studio.actions["new_project"].isEnabled()
    assert not stage.studio.project._slow.isActive()
