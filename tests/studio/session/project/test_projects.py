"""Projects: folders that save themselves, keep their runs in the list, and are shared by two windows."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from resources.locks import LOCK_NAME, Lock, take
from resources.settings.export import ExportSettings
from studio.session.export.quantization.choices import QuantizeChoices
from studio.session.project.project_file import (
    Preferences,
    Project,
    ProjectError,
    preferences_path,
    read_preferences,
    read_project,
    write_preferences,
    write_project,
)
from studio.session.project.session_state import SessionState, remembered_path
from studio.session.project.undo import Change, UndoStack
from studio.session.selection import NOTHING
from studio.session.session import Session
from tests.studio.windows.runs.run_folders import make_run


def names(session: Session) -> list[str]:
    return sorted(run.name for run in session.runs)


@pytest.fixture
def other(stage: Any) -> Iterator[Session]:
    """Another window on the same files."""
    session = Session(stage.session.tasks.make_worker, stage.session.runs_folder)
    session.problem.connect(stage.problems.append)
    yield session
    session.close(0.0)


# ----- its place and its runs -----------------------------------------------------------------------------


def test_saving_a_project_takes_its_runs_along(stage: Any, tmp_path: Path) -> None:
    session = stage.session
    before = [make_run(session.runs_folder / f"lenet-static-00{i}") for i in (1, 2)]
    session.refresh_runs()
    session.change_setting("epochs", 7)
    done = session.save_project(tmp_path / "mine")
    assert names(session) == ["lenet-static-001", "lenet-static-002"]
    assert [Path(run.path).parent for run in session.runs] == [tmp_path / "mine" / "runs"] * 2
    assert done.moved == {run: tmp_path / "mine" / "runs" / run.name for run in before}
    assert done.linked == 0
    assert not any(run.exists() for run in before)
    assert not list((tmp_path / "mine").rglob("*.lock"))
    # The folder is the project: it can be moved, and opened from there.
    (tmp_path / "mine").rename(tmp_path / "moved")
    session.open_project(tmp_path / "moved")
    assert names(session) == ["lenet-static-001", "lenet-static-002"]
    assert session.train.settings.epochs == 7


def test_a_run_that_trains_stays_and_is_listed_all_the_same(stage: Any, tmp_path: Path) -> None:
    session = stage.session
    for name in ("free", "held"):
        make_run(session.runs_folder / name)
    lock = take(session.runs_folder / "held" / LOCK_NAME)
    assert isinstance(lock, Lock)
    session.refresh_runs()
    try:
        done = session.save_project(tmp_path / "mine")
    finally:
        lock.release()
    assert names(session) == ["free", "held"]
    assert list(done.moved.values()) == [tmp_path / "mine" / "runs" / "free"]
    assert read_project(tmp_path / "mine" / "project.studio.json").further_runs == [
        str(tmp_path / "runs" / "held")
    ]
    session.open_project(tmp_path / "mine")
    assert names(session) == ["free", "held"]
    # The list says what is gone meanwhile: no trouble.
    shutil.rmtree(tmp_path / "runs" / "held")
    session.refresh_runs()
    assert [(run.name, run.state) for run in session.runs] == [("free", "finished"), ("held", "missing")]
    session.open_project(tmp_path / "mine")
    assert names(session) == ["free"]


def test_runs_on_another_file_system_are_listed_where_they_are(
    stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(stage.session.runs_folder / "one")
    stage.session.refresh_runs()

    def rename(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr("studio.session.project.moving_runs.os.rename", rename)
    done = stage.session.save_project(tmp_path / "mine")
    assert (done.moved, done.linked) == ({}, 1)
    assert names(stage.session) == ["one"]
    assert not list((tmp_path / "runs").rglob("*.lock"))


def test_a_project_with_a_place_stays_there_with_its_runs(stage: Any, tmp_path: Path) -> None:
    session = stage.session
    session.save_project(tmp_path / "first")
    make_run(session.runs_folder / "one")
    session.refresh_runs()
    session.save_project(tmp_path / "second")
    assert names(session) == ["one"]
    make_run(session.runs_folder / "two")
    session.refresh_runs()
    assert names(session) == ["one", "two"]
    session.open_project(tmp_path / "first")
    assert names(session) == ["one"]
    with pytest.raises(ProjectError, match="second: there is a project already; choose another folder"):
        session.save_project(tmp_path / "second")


def test_data_and_code_of_the_project_come_along(stage: Any, tmp_path: Path) -> None:
    session = stage.session
    for name in ("data/mine", "code"):
        (session.project_folder / name).mkdir(parents=True)
    (session.project_folder / "data" / "mine" / "x").write_text("digits")
    (session.project_folder / "code" / "net.py").write_text("class Net: ...\n")
    session.change_setting("data", str(session.project_folder / "data" / "mine"))
    session.change_setting("model", f"{session.project_folder / 'code' / 'net.py'}:Net")
    session.save_project(tmp_path / "mine")
    document = tmp_path / "mine" / "project.studio.json"
    assert json.loads(document.read_text())["settings"]["data"] == "./data/mine"
    assert session.train.settings.data == str(tmp_path / "mine" / "data" / "mine")
    assert Path(session.train.settings.user_file).read_text() == "class Net: ...\n"
    (tmp_path / "mine").rename(tmp_path / "moved")
    session.open_project(tmp_path / "moved")
    assert session.train.settings.model == f"{tmp_path / 'moved' / 'code' / 'net.py'}:Net"


def test_an_old_project_of_one_file_goes_on_opening(stage: Any, tmp_path: Path) -> None:
    path = tmp_path / "old" / "mine.studio.json"
    make_run(tmp_path / "old" / "runs" / "one")
    path.write_text(
        json.dumps({"format": "model-studio project", "version": 1, "name": "mine", "runs": "runs"})
    )
    session = stage.session
    session.open_project(path)
    assert names(session) == ["one"]
    session.change_setting("epochs", 7)
    session.autosave()
    assert json.loads(path.read_text())["settings"]["epochs"] == 7
    assert sorted(each.name for each in (tmp_path / "old").iterdir()) == ["mine.studio.json", "runs"]


def test_a_new_project_leaves_the_one_before(stage: Any, tmp_path: Path) -> None:
    session = stage.session
    make_run(session.runs_folder / "one")
    session.change_setting("epochs", 7)
    session.autosave()
    assert session.execute("new_project") == ""
    assert (session.train.settings.epochs, names(session)) == (5, [])
    assert session.project_folder == tmp_path / "projects" / "untitled-1"
    session.execute("new_project")
    assert session.project_folder == tmp_path / "projects" / "untitled-1"  # nothing was done in it
    (recent,) = session.recent_projects()
    session.open_project(Path(recent.path))
    assert (session.train.settings.epochs, names(session)) == (7, ["one"])


def test_recent_projects_say_which_are_gone(stage: Any, tmp_path: Path) -> None:
    session = stage.session
    for name in ("a", "b", "c"):
        session.save_project(tmp_path / name)
    shutil.rmtree(tmp_path / "a")
    (tmp_path / "b" / "project.studio.json").write_text("no")
    recent = {project.name: project.trouble for project in session.recent_projects()}
    assert recent["a"] == "missing"
    assert "not JSON" in recent["b"]
    session.forget_project(str(tmp_path / "a" / "project.studio.json"))
    assert [project.name for project in session.recent_projects()] == ["b"]
    assert str(tmp_path / "a") not in preferences_path().read_text()


# ----- two windows ----------------------------------------------------------------------------------------


def test_changes_of_two_windows_are_joined(stage: Any, other: Session, tmp_path: Path) -> None:
    stage.session.save_project(tmp_path / "mine")
    other.open_project(tmp_path / "mine")
    other.rename_project("better")
    other.autosave()
    stage.session.change_setting("epochs", 7)
    stage.session.autosave()
    project = read_project(tmp_path / "mine" / "project.studio.json")
    assert (project.name, project.settings.epochs) == ("better", 7)
    assert stage.session.project.name == "better"
    assert stage.problems == []


@pytest.mark.parametrize("own", [True, False])
def test_conflicting_changes_of_two_windows_ask_and_keep_both(
    stage: Any, other: Session, tmp_path: Path, own: bool
) -> None:
    first, second, folder = stage.session, other, tmp_path / "mine"
    first.save_project(folder)
    second.open_project(folder)
    first.change_setting("epochs", 7)
    first.autosave()
    second.change_setting("epochs", 9)
    second.autosave()
    assert [problem.title for problem in stage.problems] == ["Two windows have changed this project"]
    conflict = folder / "project.conflict-1.studio.json"
    assert read_project(folder / "project.studio.json").settings.epochs == 7
    second.change_setting("batch_size", 32)
    second.autosave()
    assert (read_project(conflict).settings.epochs, read_project(conflict).settings.batch_size) == (9, 32)
    second.resolve_conflict(own)
    assert not conflict.exists()
    second.autosave()
    assert read_project(folder / "project.studio.json").settings.epochs == (9 if own else 7)
    second.execute("undo")
    assert second.train.settings.epochs == (7 if own else 9)
    second.autosave()
    assert read_project(folder / "project.studio.json").settings.epochs == (7 if own else 9)


def test_a_project_that_cant_be_written_says_so_once(stage: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    stage.session.keeping.document.path = tmp_path / "file" / "project.studio.json"
    for epochs in (7, 8):
        stage.session.change_setting("epochs", epochs)
        stage.session.autosave()
    assert [problem.title for problem in stage.problems] == ["The project could not be saved"]


# ----- undo -----------------------------------------------------------------------------------------------


def test_settings_are_undone_and_redone(stage: Any) -> None:
    session = stage.session
    assert session.execute("undo") == "There is nothing to undo."
    session.change_setting("epochs", 7)
    session.change_setting("optimizer", "momentum")
    session.change_setting("optimizer_params.momentum", 0.5)
    assert session.undo_stack.undoable == "Change Momentum"
    session.execute("undo")
    session.execute("undo")
    assert (session.train.settings.optimizer, session.train.settings.optimizer_params) == ("adam", {})
    assert session.train.settings.epochs == 7
    session.execute("redo")
    session.execute("redo")
    assert session.train.settings.optimizer_params == {"momentum": 0.5}
    session.execute("undo")
    session.change_setting("epochs", 8)
    assert session.execute("redo") == "There is nothing to redo."
    session.rename_project("better")
    session.execute("undo")
    assert session.project.name == "digits-lenet"
    session.execute("new_project")
    assert session.blocked("undo")


def test_characters_typed_in_quick_succession_are_one_undo_step() -> None:
    now, values = [0.0], [0]
    stack = UndoStack(lambda: now[0])

    def edit(value: int) -> None:
        before = values[0]
        values[0] = value
        stack.push(
            Change("edit", lambda: values.__setitem__(0, before), lambda: values.__setitem__(0, value), "k")
        )

    for value, time in ((1, 0.0), (12, 0.5), (5, 3.0)):
        now[0] = time
        edit(value)
    stack.undo()
    assert values == [12]
    stack.undo()
    assert values == [0]
    stack.redo()
    assert values == [12]


# ----- settings of exports -----


def test_settings_of_exports_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "a.studio.json"
    write_project(path, Project())
    assert not {"export", "quantize"} & set(json.loads(path.read_text(encoding="utf-8")))
    project = Project(
        export=ExportSettings("last", samples=9, optimize=True),
        quantize=QuantizeChoices("qat", epochs=3, skip=("fc*",), target_drop=0.5),
    )
    write_project(path, project)
    assert read_project(path) == project
    plain = json.loads(path.read_text(encoding="utf-8"))
    del plain["export"]["format"]  # of a project that an earlier version wrote
    path.write_text(json.dumps(plain), encoding="utf-8")
    assert read_project(path).export.format == "native"
    assert Project().export.format == "packed"


@pytest.mark.parametrize(
    ("part", "values", "message"),
    [
        ("export", {"samples": 0}, "samples: must be from 1"),
        ("export", {"checkpoint": "other.h5"}, "checkpoint: no such choice: got 'other.h5'"),
        ("export", {"odd": 1}, "odd"),
        ("quantize", {"method": "x"}, "method: no such choice"),
        ("quantize", {"algo": "x"}, "algo: no such choice"),
        ("quantize", {"weight_bits": 99}, "weight_bits: must be from 2 to 16"),
        ("quantize", {"skip": ["fc["]}, "skip: a bracket is not closed"),
    ],
)
def test_invalid_settings_of_exports_are_refused(
    tmp_path: Path, part: str, values: dict[str, object], message: str
) -> None:
    path = tmp_path / "a.studio.json"
    write_project(path, Project())
    plain = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**plain, part: values}), encoding="utf-8")
    with pytest.raises(ProjectError, match=re.escape(message)):
        read_project(path)


def test_a_session_takes_and_stores_the_settings_of_exports(stage: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.studio.json"
    write_project(path, Project(export=ExportSettings(samples=9), quantize=QuantizeChoices("qat")))
    session = stage.session
    session.open_project(path)
    assert (session.export.settings.samples, session.export.choices.method) == (9, "qat")
    session.export.change(optimize=True)
    session.export.choose(weight_bits=4)
    session.save_project()
    found = read_project(path)
    assert (found.export, found.quantize) == (session.export.settings, session.export.choices)
    assert (found.export.optimize, found.quantize.weight_bits) == (True, 4)


def test_a_name_that_is_not_utf_8_is_an_error_that_names_it(tmp_path: Path) -> None:
    """JSON can't hold it; the file of before stays."""
    path = tmp_path / "p.studio.json"
    write_project(path, Project())
    before = path.read_bytes()
    for changed in (Project(runs="by\udcfftes"), Project(further_runs=["/a", "/by\udcfftes"])):
        with pytest.raises(OSError, match=r"p\.studio\.json: .* not UTF-8: '/?by.*; rename"):
            write_project(path, changed)
    assert path.read_bytes() == before


def test_preferences_omit_names_that_are_not_utf_8() -> None:
    preferences = Preferences()
    preferences.remember(Path("/by\udcfftes"))
    preferences.remember_model("/by\udcfftes/model")
    preferences.remember(Path("/a"))
    assert (preferences.recent_projects, preferences.recent_models) == (["/a"], [])
    write_preferences(preferences)
    assert read_preferences()[0] == preferences


def test_a_session_whose_name_is_not_utf_8_is_not_remembered() -> None:
    state = SessionState(Session())
    state.keep("train", [], NOTHING)
    before = remembered_path().read_bytes()
    state.keep("data", ["/by\udcfftes"], NOTHING)
    assert remembered_path().read_bytes() == before


def test_a_run_removed_while_it_is_read_is_omitted_and_a_damaged_one_is_an_error(stage: Any) -> None:
    session, found = stage.session, list[dict[str, Any]]()
    there, removed, damaged = (
        make_run(session.runs_folder / name) for name in ("there", "removed", "damaged")
    )
    shutil.rmtree(removed)
    (damaged / "journal.jsonl").unlink()
    session.read_histories([str(there), str(removed), str(damaged)], found.append, "histories")
    assert session.wait_until(lambda: bool(found), 10.0)
    assert found[0].keys() == {str(there), str(damaged)}
    assert found[0][str(there)].steps[-1] == 10
    assert "no such file" in str(found[0][str(damaged)])
