"""A second start shows what the first one showed; after two starts that failed a safe one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6", reason="the window needs Qt")

from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox

from studio.app import Studio
from studio.session.project import project_copy
from studio.session.project.moving_runs import move_runs
from studio.session.project.session_state import SessionState, remembered_path
from studio.session.runs.table.choices import TableChoices
from studio.session.session import Session
from studio.windows.dialogs import button_of
from tests.studio.windows.conftest import FakeWorker
from tests.studio.windows.runs.run_folders import make_run

WAIT = 30_000


@pytest.fixture
def begin(qapp: QApplication, tmp_path: Path, qtbot: Any) -> Iterator[Callable[[], Studio]]:
    """Starts the application as its main function does; all are closed at the end."""
    opened: list[Studio] = []

    def make(wait: bool = True) -> Studio:
        session = Session(FakeWorker, tmp_path / "runs")
        last = SessionState(session)
        last.restore()
        studio = Studio(qapp, session, whole=False, last=last)
        opened.append(studio)
        studio.show()
        if wait:
            qtbot.waitUntil(lambda: json.loads(remembered_path().read_text())["failures"] == 0, timeout=WAIT)
        return studio

    yield make
    for studio in opened:
        studio.close()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.mark.parametrize("name", ["digits.h5", "deployed/model.onnx"])
def test_a_selected_model_comes_back_and_a_missing_one_is_named(
    begin: Any, tmp_path: Path, name: str
) -> None:
    model, run = tmp_path / name, str(make_run(tmp_path / "runs" / "lenet-static-001"))
    model.parent.mkdir(exist_ok=True)
    model.write_bytes(b"")
    first = begin()
    first.window.project.runs.choose(run)
    first.session.selection.select_model(str(model))
    for exists in (True, False):
        first.close()
        if not exists:
            model.unlink()
        second = begin()
        assert second.session.selection.model == (str(model) if exists else "")
        assert second.session.selected_run == ""
        words = "" if exists else f"The model that was selected last was not found: {model}"
        assert second.window.toast.text() == words
        first = second


def test_settings_page_and_runs_come_back(begin: Any, tmp_path: Path) -> None:
    runs = [str(make_run(tmp_path / "runs" / f"lenet-static-00{i}", started=i)) for i in (1, 2, 3)]
    first = begin()
    first.session.change_setting("epochs", 7)
    first.session.change_setting("schedule", "step_decay")
    first.window.project.runs.choose(runs[1], runs[0])
    first.session.diagrams.choose(diagram="scatter", x="loss", forms={"loss": (True, False)})
    first.session.runs_table.set_filter("lr < 1")
    first.session.runs_table.sort_by("accuracy")
    first.frame.show_page("export")
    first.close()
    second = begin()
    assert second.settings_panel.form.value("epochs") == 7
    assert second.session.train.settings.schedule == "step_decay"
    assert second.window.current_page() == "export"
    assert second.session.diagrams.choices == first.session.diagrams.choices
    table = second.session.runs_table
    assert (table.choices.filter, table.choices.sort) == ("lr < 1", (("accuracy", True),))
    assert second.session.selected_run == runs[1]
    assert sorted(second.window.project.runs.chosen()) == runs[:2]
    # A project with a place of its own comes back too.
    second.session.save_project(tmp_path / "mine")
    second.close()
    third = begin()
    assert third.session.project_folder == tmp_path / "mine"
    assert third.window.windowTitle().startswith("mine")
    assert third.session.selected_run == str(tmp_path / "mine" / "runs" / "lenet-static-002")
    table = third.session.runs_table
    assert table.choices.filter == "lr < 1"
    third.session.new_project()  # another project has its own
    assert table.choices == TableChoices()
    table.set_filter("loss < 2")
    third.session.open_project(tmp_path / "mine")
    assert table.choices.filter == "lr < 1"


def test_after_a_kill_it_is_what_was_open_a_second_before(begin: Any, qtbot: Any) -> None:
    studio = begin()
    studio.frame.show_page("graph")
    qtbot.waitUntil(lambda: json.loads(remembered_path().read_text())["page"] == "graph", timeout=WAIT)


def test_two_starts_that_fail_are_followed_by_a_safe_one(begin: Any, tmp_path: Path) -> None:
    first = begin()
    first.session.save_project(tmp_path / "mine")
    first.frame.show_page("graph")
    first.close()
    for _ in range(2):  # starts that end before all is there
        SessionState(Session(FakeWorker, tmp_path / "runs")).restore()
    safe = begin()
    assert safe.session.project_folder != tmp_path / "mine"
    assert safe.window.current_page() == "train"
    assert "Started in safe mode" in safe.window.toast.text()
    assert [project.name for project in safe.session.recent_projects()] == ["mine"]
    safe.session.open_project(tmp_path / "mine")
    safe.close()
    assert begin().session.project_folder == tmp_path / "mine"


@pytest.mark.parametrize("damage", ["project", "memory"])
def test_damaged_files_are_reported_and_not_overwritten(begin: Any, tmp_path: Path, damage: str) -> None:
    first = begin()
    first.session.save_project(tmp_path / "mine")
    first.close()
    path = tmp_path / "mine" / "project.studio.json" if damage == "project" else remembered_path()
    path.write_text("{")
    second = begin()
    assert second.session.project_path is None
    assert ("could not be opened" in second.window.toast.text()) == (damage == "project")
    second.session.change_setting("epochs", 7)
    second.close()
    if damage == "project":
        assert path.read_text() == "{"


def test_the_file_of_the_page_code_is_open_again_after_a_restart(begin: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("class Net:\n    pass\n")
    first = begin()
    first.frame.show_page("code")
    first.code.open_file(str(file))
    first.session.change_setting("model", "lenet")  # trains something else
    first.frame.show_page("train")
    first.close()
    second = begin()
    QTest.mouseClick(second.window.top.tab("code"), Qt.MouseButton.LeftButton)
    assert second.code_page.editor.code() == file.read_text()


def test_closing_without_waiting_for_save_as_opens_the_written_project_next(
    begin: Any, tmp_path: Path, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves, moved = threading.Event(), threading.Event()

    def move(*arguments: Any) -> Any:
        moves.set()
        assert moved.wait(WAIT / 1000)
        return move_runs(*arguments)

    monkeypatch.setattr(project_copy, "move_runs", move)
    make_run(tmp_path / "runs" / "lenet-static-001")
    first = begin()
    first.session.files.begin()
    first.project._save_in(str(tmp_path / "digits"))
    qtbot.waitUntil(moves.is_set, timeout=WAIT)

    def question() -> list[QMessageBox]:
        first.window.close()
        return [box for box in first.window.findChildren(QMessageBox) if box.isVisible()]

    qtbot.waitUntil(lambda: bool(question()), timeout=WAIT)
    QTest.mouseClick(button_of(question()[0], "yes"), Qt.MouseButton.LeftButton)
    assert not first.window.isVisible()
    threading.Timer(0.1, moved.set).start()
    first.close()
    second = begin()
    assert second.session.project_folder == tmp_path / "digits"
    assert second.window.project.runs.keys() == [str(tmp_path / "digits" / "runs" / "lenet-static-001")]
