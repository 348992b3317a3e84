"""A project is saved in another folder in a thread: what is blocked meanwhile, and what a failure leaves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from studio.session.project import project_copy
from studio.session.project.movable_project import MOVING
from studio.session.project.moving_runs import move_runs
from studio.session.project.project_copy import SavedAs
from studio.session.project.project_file import ProjectError, read_document, read_project
from studio.session.project.session_state import SavedState, SessionState, remembered_path
from studio.session.selection import Selected
from studio.session.session import Session
from tests.studio.windows.runs.run_folders import make_run

SECONDS = 20.0


class Gate:
    """Holds the moving of runs, in the thread that moves them."""

    def __init__(self) -> None:
        self.reached, self._open = threading.Event(), threading.Event()

    def move_runs(self, *arguments: Any) -> dict[Path, Path]:
        self.reached.set()
        assert self._open.wait(SECONDS)
        return move_runs(*arguments)

    def open(self) -> None:
        self._open.set()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    made = Gate()
    monkeypatch.setattr(project_copy, "move_runs", made.move_runs)
    return made


@pytest.fixture
def session(stage: Any, gate: Gate) -> Iterator[Session]:
    """A session that uses threads, with one run."""
    session = stage.session
    make_run(session.runs_folder / "lenet-static-001")
    session.refresh_runs()
    session.files.begin()
    yield session
    gate.open()


def move(session: Session, folder: Path) -> tuple[list[SavedAs], list[Exception]]:
    done: list[SavedAs] = []
    failed: list[Exception] = []
    session.move_project(folder, done.append, failed.append)
    return done, failed


def titles(session: Session) -> list[str]:
    return [Path(run.path).name for run in session.runs]


def test_changes_of_runs_are_refused_and_settings_changed_meanwhile_stay(
    session: Session, gate: Gate, stage: Any, tmp_path: Path
) -> None:
    (run,) = session.runs
    session.select_run(run.path)
    old = session.keeping.document.path
    done, failed = move(session, tmp_path / "mine")
    assert gate.reached.wait(SECONDS)
    for name in ("start", "new_project", "delete_run", "run_notes", "add_to_queue", "undo", "export"):
        assert session.blocked(name) == MOVING
    assert session.blocked("pause") == "No training is running."
    session.run_changes.to_trash = lambda folder: folder
    assert session.run_changes.delete([run.path]) == MOVING
    assert session.run_changes.rename(run.path, "other") == MOVING
    assert session.queue.add([session.train.settings]) == MOVING
    session.change_setting("epochs", 9)
    session.autosave()
    session.refresh_runs()  # read from half a folder, it would show no run
    session.link_runs(tmp_path / "else")
    session.move_project(tmp_path / "again", done.append, failed.append)
    assert [str(error) for error in failed] == [MOVING]
    session.pump()
    assert titles(session) == ["lenet-static-001"]
    gate.open()
    assert session.wait_until(lambda: bool(done) and not session.files.writing.working, SECONDS)
    new = tmp_path / "mine" / "runs" / "lenet-static-001"
    assert session.wait_until(lambda: [each.path for each in session.runs] == [str(new)], SECONDS)
    assert session.selected_run == str(new)
    assert session.blocked("delete_run") == ""
    assert not old.exists()
    assert read_project(tmp_path / "mine" / "project.studio.json").settings.epochs == 9
    assert [each.title for each in stage.problems] == ["The runs are not in the list yet"]


def test_a_training_of_the_queue_begins_in_the_new_folder(
    session: Session, gate: Gate, stage: Any, tmp_path: Path
) -> None:
    session.queue.look()
    assert session.files.listing.wait(SECONDS)
    session.queue.hold()
    session.queue.add([session.train.settings])
    assert session.wait_until(lambda: len(session.queue.waiting) == 1, SECONDS)
    done, _ = move(session, tmp_path / "mine")
    assert gate.reached.wait(SECONDS)
    session.queue.release()
    session.pump()
    gate.open()
    assert session.wait_until(lambda: session.train.busy, SECONDS)
    assert done
    assert stage.worker.job.config["out"].startswith(str(tmp_path / "mine" / "runs"))
    assert session.queue.waiting == []


@pytest.mark.parametrize("fails", ["copytree", "write"])
def test_a_failure_leaves_the_project_where_it_was(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fails: str
) -> None:
    session.change_setting("epochs", 3)
    session.autosave()
    data = session.project_folder / "data"
    data.mkdir()
    (data / "numbers.csv").write_text("a\n1\n")
    place, runs = session.keeping.document.path, [run.path for run in session.runs]

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device", str(tmp_path / "mine" / "data"))

    if fails == "copytree":
        monkeypatch.setattr(project_copy.shutil, "copytree", full)
    else:
        monkeypatch.setattr(project_copy.OpenDocument, "keep_own", full)
    done, failed = move(session, tmp_path / "new" / "mine")
    assert session.wait_until(lambda: bool(failed), SECONDS)
    assert str(failed[0]) == (
        f"{tmp_path}/new/mine: the project could not be saved there: {tmp_path}/mine/data: "
        f"No space left on device; it is still in {place.parent}"
    )
    assert done == []
    assert not (tmp_path / "new").exists()
    session.change_setting("epochs", 4)
    session.autosave()
    assert session.files.writing.wait(SECONDS)
    assert (session.keeping.document.path, session.moving) == (place, "")
    assert [run.path for run in session.runs] == runs
    assert read_project(place).settings.epochs == 4


def test_the_place_of_exported_files_moves_along_with_their_run(
    session: Session, gate: Gate, tmp_path: Path
) -> None:
    (run,) = session.runs
    session.export.choose_prefix(str(Path(run.path) / "inference" / "digits"))
    steps = session.undo_stack.undoable
    done, failed = move(session, tmp_path / "mine")
    gate.open()
    assert session.wait_until(lambda: bool(done or failed), SECONDS)
    moved = tmp_path / "mine" / "runs" / "lenet-static-001" / "inference" / "digits"
    assert (session.export.prefix, session.project.export_prefix) == (str(moved), str(moved))
    assert session.undo_stack.undoable == steps
    session.autosave()
    session.files.close(SECONDS)
    assert read_project(tmp_path / "mine" / "project.studio.json").export_prefix == (
        "./runs/lenet-static-001/inference/digits"
    )


def test_a_disk_that_fills_up_while_runs_move_loses_none(
    session: Session, gate: Gate, stage: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real, calls = project_copy.OpenDocument.save, list[Path]()

    def save(document: Any, project: Any) -> None:
        calls.append(document.path)
        if len(calls) == 1:
            raise OSError("project.studio.json: could not be saved: No space left on device")
        real(document, project)

    monkeypatch.setattr(project_copy.OpenDocument, "save", save)
    gate.open()
    move(session, tmp_path / "mine")
    new = str(tmp_path / "mine" / "runs" / "lenet-static-001")
    assert session.wait_until(lambda: [each.path for each in session.runs] == [new], SECONDS)
    assert [each.title for each in stage.problems] == ["The list of the project's runs is not saved yet"]
    assert session.wait_until(lambda: not session.files.writing.working, SECONDS)
    assert read_project(tmp_path / "mine" / "project.studio.json").further_runs == []  # by the autosave


def test_closing_waits_for_the_move(session: Session, gate: Gate, tmp_path: Path) -> None:
    done, _ = move(session, tmp_path / "mine")
    assert gate.reached.wait(SECONDS)
    session.change_setting("epochs", 11)
    threading.Timer(0.1, gate.open).start()
    session.close(SECONDS)
    assert done
    assert (tmp_path / "mine" / "runs" / "lenet-static-001").is_dir()
    assert read_project(tmp_path / "mine" / "project.studio.json").settings.epochs == 11


def test_a_project_is_not_moved_while_a_training_is_about_to_start(session: Session, tmp_path: Path) -> None:
    session.train.prepare(True)
    _, failed = move(session, tmp_path / "mine")
    assert isinstance(failed[0], ProjectError)
    assert "about to start" in str(failed[0])
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("when", ["the runs have moved", "the runs move"])
def test_a_window_that_closes_without_waiting_remembers_the_project_that_is_written(
    session: Session, gate: Gate, tmp_path: Path, when: str
) -> None:
    (run,) = session.runs
    last = SessionState(session)
    last.keep("train", [run.path], Selected("run", run.path))
    move(session, tmp_path / "mine")
    assert gate.reached.wait(SECONDS)
    last.keep("export", [run.path], Selected("run", run.path))
    assert not session.files.close(0.0), "the window closes without waiting"
    if when == "the runs have moved":
        gate.open()
        session.files.writing.end()
    found = read_document(remembered_path(), SavedState, "")
    assert found.project == str(tmp_path / "mine" / "project.studio.json")
    folder = tmp_path / "mine" / "runs" if when == "the runs have moved" else session.runs_folder
    assert found.selected_run == str(folder / "lenet-static-001")
    assert found.shown_runs == [found.selected_run]
    after = Session(runs_folder=session.runs_folder)
    SessionState(after).restore()
    after.refresh_runs()
    assert [each.path for each in after.runs] == [found.selected_run]
    after.close()
