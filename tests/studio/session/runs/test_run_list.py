"""Runs in the list: notes, titles, differences, filter, order, trash, comparison."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.files.data.stored_file import ShorterError
from engine.training.events import failed_event
from engine.training.problem import describe_problem
from resources.locks import LOCK_NAME, Lock, take
from studio.session.runs.comparison import compared_results, compared_settings, source_of
from studio.session.runs.run_list_view import RunListView
from studio.session.runs.run_notes import NAME, NOTHING, parse_tags, read_notes
from studio.session.runs.run_titles import Differences, changed_settings
from studio.session.runs.runs_folder import list_runs, read_run_line
from studio.session.runs.source_difference import unified_difference
from studio.session.session import Session
from studio.session.sweep.results import state_of
from studio.session.train.run_settings import RunSettings
from tests.studio.windows.runs.run_folders import make_run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Three runs: a base, one with another rate that was interrupted, a linear model."""
    folder = tmp_path / "runs"
    make_run(folder / "lenet-static-001", started=1.0, accuracy=0.9, loss=0.3)
    make_run(
        folder / "lenet-static-002",
        started=2.0,
        ended="",
        steps=8,
        accuracy=0.95,
        loss=0.2,
        learning_rate=0.01,
    )
    make_run(folder / "linear-eager-001", started=3.0, steps=4, ended="failed", model="linear", static=False)
    return folder


@pytest.fixture
def session(runs: Path) -> Iterator[Session]:
    made = Session(lambda notify: pytest.fail("no worker is needed"), runs)
    made.refresh_runs()
    yield made
    made.close(0.0)


def names(session: Session) -> list[str]:
    return [run.name for run in session.run_list.arranged(session.runs, session.run_titles)]


# ----- notes ----------------------------------------------------------------------------------------------


def test_notes_of_a_run_are_stored_in_its_folder_and_can_be_undone(session: Session) -> None:
    folder = session.runs[0].path
    assert session.run_changes.describe(folder, "  The  plain\none ", ("a", "b"), " why \n") == ""
    notes = session.runs[0].notes
    assert (notes.name, notes.tags, notes.note) == ("The plain one", ("a", "b"), "why")
    assert session.run_titles[folder] == "The plain one"
    assert read_notes(Path(folder)) == (notes, "")
    session.undo_stack.undo()
    assert session.runs[0].notes == NOTHING
    session.undo_stack.redo()
    assert session.runs[0].notes == notes


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        '{"name": 3}',
        '{"name": "' + "x" * 121 + '"}',
        '{"tags": [["a"]]}',
        '{"x": 1}',
    ],
)
def test_a_damaged_file_of_notes_is_reported_and_replaced_by_new_ones(session: Session, text: str) -> None:
    folder = session.runs[0].path
    Path(folder, NAME).write_text(text)
    session.refresh_runs()
    assert session.runs[0].notes == NOTHING
    assert NAME in session.runs[0].note
    assert session.run_changes.rename(folder, "sound again") == ""
    assert (session.runs[0].notes.name, session.runs[0].note) == ("sound again", "")


def test_notes_of_a_later_version_are_reported_and_not_replaced(session: Session) -> None:
    path = Path(session.runs[0].path, NAME)
    path.write_text('{"version": 3}')
    session.refresh_runs()
    reason = f"{path}: written by a later Model Studio: version 3; update Model Studio"
    assert (session.runs[0].notes, session.runs[0].note) == (NOTHING, reason)
    assert reason in session.run_changes.rename(session.runs[0].path, "other")
    assert path.read_text() == '{"version": 3}'


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_in_the_place_of_notes_is_not_opened(runs: Path) -> None:
    os.mkfifo(runs / "lenet-static-001" / NAME)
    assert "no plain file" in read_notes(runs / "lenet-static-001")[1]


def test_tags_as_people_write_them() -> None:
    assert parse_tags(" wide,  base line, wide,, ") == ("wide", "base line")
    with pytest.raises(ValueError, match="too long"):
        parse_tags("x" * 51)
    with pytest.raises(ValueError, match="too many"):
        parse_tags(",".join(map(str, range(21))))


# ----- words ----------------------------------------------------------------------------------------------


def test_titles_name_the_settings_that_differ_from_the_previous_run(session: Session) -> None:
    words = Differences().of(session.runs)
    assert [words[run.path] for run in session.runs] == [
        "Model Linear, Learning rate 0.001, Mode eager",
        "Learning rate 0.01",
        "",
    ]


def test_a_parameter_differs_by_itself_and_a_missing_setting_is_the_default() -> None:
    before = {"optimizer": "adam", "optimizer_params": {"beta1": 0.9}}
    after = {"optimizer": "adam", "optimizer_params": {"beta1": 0.8}, "epochs": 5}
    assert [(change.name, change.before, change.after) for change in changed_settings(before, after)] == [
        ("optimizer_params.beta1", "0.9", "0.8")
    ]


def test_a_setting_that_is_left_to_auto_does_not_differ() -> None:
    recorded = RunSettings(
        model="lenet", kind="digits", task="classes", loss="cross_entropy", model_params={"classes": 10}
    ).as_config("a")
    begins = RunSettings().as_config("b")
    assert changed_settings(recorded, begins) == changed_settings(begins, recorded) == []
    assert changed_settings(recorded, RunSettings().as_dict()) == []
    own = RunSettings(data="/t.csv", model="auto").as_config("c")
    suggested = RunSettings(
        data="/t.csv", model="mlp", kind="csv", task="numbers", loss="mse", learning_rate=0.003, batch_size=32
    ).as_config("d")
    assert changed_settings(suggested, own) == []
    given = RunSettings(data="/t.csv", model="auto", learning_rate=0.1, seed=3).as_config("e")
    assert [change.name for change in changed_settings(suggested, given)] == ["learning_rate", "seed"]
    linear = RunSettings(model="linear").as_config("f")
    assert [change.name for change in changed_settings(recorded, linear)] == ["model"]


# ----- filter and order -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("lenet", 2),
        ("LENET static-002", 1),
        ("interrupted", 1),
        ("eager linear", 1),
        ("digits", 3),
        ("why not", 1),
        ("wide", 1),
        ("no such", 0),
        ("", 3),
    ],
)
def test_the_filter_searches_all_texts_of_a_run(session: Session, words: str, left: int) -> None:
    session.run_changes.describe(session.runs[-1].path, "", ("wide",), "why not")
    session.run_list.filter = words
    assert len(names(session)) == left


def test_runs_in_each_order(session: Session) -> None:
    view, base, rate, linear = session.run_list, "lenet-static-001", "lenet-static-002", "linear-eager-001"
    assert names(session) == [linear, rate, base]
    view.sort_by("date")
    assert names(session) == [base, rate, linear]
    view.sort_by("accuracy")
    assert names(session) == [rate, base, linear]
    view.sort_by("accuracy")
    assert names(session) == [base, rate, linear], "what has no accuracy stays last"
    view.sort_by("loss")
    assert names(session) == [rate, base, linear]
    view.sort_by("time")
    assert names(session) == [linear, base, rate], "of two that took as long the newer one first"
    view.sort_by("steps")
    assert names(session) == [base, rate, linear]
    view.sort_by("name")
    assert names(session) == [base, rate, linear]
    with pytest.raises(KeyError):
        RunListView().sort_by("colour")


def test_hidden_runs_are_left_out_until_asked_for(session: Session) -> None:
    first, second = session.runs[0].path, session.runs[1].path
    session.run_changes.hide([first, second])
    assert names(session) == ["lenet-static-001"]
    session.run_list.show_hidden = True
    assert len(names(session)) == 3
    session.undo_stack.undo()
    session.run_list.show_hidden = False
    assert len(names(session)) == 3


# ----- duplicate, delete ----------------------------------------------------------------------------------


def test_the_settings_of_a_run_for_another_one(session: Session, runs: Path) -> None:
    session.select_run(str(runs / "lenet-static-002"))
    session.duplicate_run()
    assert session.train.settings.learning_rate == 0.01
    assert session.project.settings.learning_rate == 0.01
    session.undo_stack.undo()
    assert session.train.settings.learning_rate == 0.001


def test_a_model_whose_file_is_gone_is_taken_from_the_copy(session: Session, runs: Path) -> None:
    made = make_run(runs / "net-static-001", started=9.0, model="/gone/net.py:Net")
    (made / "source").mkdir()
    (made / "source" / "net.py").write_text("class Net: pass\n")
    session.refresh_runs()
    session.duplicate_run(str(made))
    assert session.train.settings.model == f"{made / 'source' / 'net.py'}:Net"


def test_a_deleted_run_is_in_the_trash_and_comes_back(session: Session, tmp_path: Path) -> None:
    def to_trash(path: Path) -> Path:
        (tmp_path / "files").mkdir(exist_ok=True)
        return path.rename(tmp_path / "files" / path.name)

    folder = session.runs[0].path
    assert "no trash" in session.run_changes.delete([folder])
    session.run_changes.to_trash = to_trash
    session.select_run(folder)
    assert session.run_changes.delete([folder]) == ""
    assert (len(session.runs), session.selected_run) == (2, "")
    session.undo_stack.undo()
    assert session.runs[0].path == folder
    session.undo_stack.redo()
    assert not Path(folder).exists()
    make_run(Path(folder), started=7.0)
    problems: list[str] = []
    session.problem.connect(lambda problem: problems.append(problem.message))
    session.undo_stack.undo()
    assert "another run has this name now" in problems[0]
    assert (tmp_path / "files" / Path(folder).name).is_dir(), "the deleted one is still in the trash"


def test_a_running_run_is_never_deleted(session: Session) -> None:
    folder = session.runs[0].path
    session.run_changes.to_trash = lambda path: pytest.fail("it is running")
    lock = take(Path(folder) / LOCK_NAME)
    assert isinstance(lock, Lock)
    try:
        assert "running" in session.run_changes.delete([session.runs[1].path, folder])
    finally:
        lock.release()
    assert len(session.runs) == 3


# ----- comparison -----------------------------------------------------------------------------------------


def test_settings_and_results_of_runs_side_by_side(session: Session) -> None:
    runs = [session.runs[1], session.runs[2]]
    settings = compared_settings(runs)
    changed = [(row.title, row.values) for row in settings if row.differs]
    assert changed == [("Learning rate", ("0.01", "0.001"))]
    assert settings[0].differs
    assert not settings[-1].differs
    results = {row.name: row for row in compared_results(runs)}
    assert results["accuracy"].best == 0
    assert results["loss"].difference == pytest.approx(0.1)
    assert results["time"].best == -1, "one of the two is not known"


def test_a_run_has_its_size_and_the_speed_of_its_last_steps(runs: Path) -> None:
    folder = runs / "lenet-static-001"
    run = read_run_line(folder)
    assert run is not None
    assert run.parameters == 61706
    assert run.samples_per_second != run.samples_per_second
    journal = folder / "journal.jsonl"
    speeds = [5.0, *[100.0] * 40, *[200.0] * 30, "NaN", -1.0]
    lines = [json.dumps({"event": "step", "step": 9, "samples_per_second": each}) + "\n" for each in speeds]
    journal.write_text(journal.read_text().replace("61706", '"many"') + "".join(lines))
    run = read_run_line(folder)
    assert run is not None
    assert (run.parameters, run.samples_per_second) == (0, 200.0)


def test_the_source_of_two_runs(runs: Path, tmp_path: Path) -> None:
    for name, body in (
        ("lenet-static-001", "one = 1\nsame = 0\n"),
        ("lenet-static-002", "one = 2\nsame = 0\n"),
    ):
        (runs / name / "source").mkdir()
        (runs / name / "source" / "net.py").write_text(body)
    second, first = (source_of(run) for run in list_runs(runs)[1:])
    assert unified_difference(first, second).splitlines()[-3:] == ["-one = 1", "+one = 2", " same = 0"]
    assert unified_difference(first, first) == ""
    (tmp_path / "secret.py").write_text("key")
    (runs / "lenet-static-001" / "source" / "more.py").symlink_to(tmp_path / "secret.py")
    with pytest.raises(OSError, match="link"):
        source_of(list_runs(runs)[-1])


def test_a_run_with_a_bad_number_in_its_end_is_listed(runs: Path) -> None:
    journal = runs / "lenet-static-001" / "journal.jsonl"
    with journal.open("a") as file:
        file.write(json.dumps({"event": "finished", "time": 9.0, "seconds": "soon"}) + "\n")
    assert "damaged" in list_runs(runs)[-1].note


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_whose_data_became_shorter_is_interrupted_with_its_reason(tmp_path: Path, workers: int) -> None:
    folder = make_run(tmp_path / "run", steps=8, ended="", workers=workers)
    problem = describe_problem(ShorterError("data.h5 became shorter: 10 of 20 rows; restore it"))
    checkpoint = str(next((folder / "checkpoints").iterdir()))
    for kept, state in ((checkpoint, "interrupted"), ("", "failed")):
        with (folder / "journal.jsonl").open("a") as journal:
            journal.write(json.dumps(failed_event(problem, 8, kept)) + "\n")
        run = read_run_line(folder)
        assert run is not None
        assert (run.state, run.failure) == (state, "data.h5 became shorter: 10 of 20 rows; restore it")
        assert run.resumable == ""
        assert state_of(folder) == "failed"  # of a trial
