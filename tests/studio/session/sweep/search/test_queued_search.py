"""A search in the window's queue: each trial is chosen when the queue comes to it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from resources.locks import Lock
from studio.session.project.project_file import ProjectError
from studio.session.runs.run_queue import NAME
from studio.session.session import Session
from studio.session.sweep.document import Sweep, read_sweep, write_sweep
from studio.session.sweep.queued import queue_sweep, sweep_of_words
from studio.session.sweep.runner import lock_sweep
from studio.session.sweep.search.next_trial import NextTrial, give_back, take_next
from studio.session.train.run_settings import RunSettings
from tests.studio.session.sweep.search.plain_pool import any_proposal, carried_out
from tests.studio.windows.runs.run_folders import make_run

WORDS = ["lr=log:1e-4..1e-1", "epochs=1"]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.session.sweep.search.next_trial.proposer", lambda _: any_proposal)


def started(stage: Any, trials: int) -> Path:
    session: Session = stage.session
    sweep = sweep_of_words(session.train.settings, WORDS, trials, "bayes", seed=5)
    queue_sweep(session.queue, session.files, sweep, pytest.fail)
    return session.runs_folder / "sweep-001"


def end(stage: Any) -> None:
    config = stage.worker.job.config
    make_run(
        Path(config["out"]),
        steps=10,
        accuracy=10 * config["learning_rate"],
        learning_rate=config["learning_rate"],
        epochs=config["epochs"],
    )
    stage.ended()


def test_the_window_trains_the_trials_that_the_command_line_would(stage: Any, tmp_path: Path) -> None:
    folder = started(stage, 4)
    for _ in range(4):
        assert stage.session.train.run_name.startswith("lr "), "what the trial chose, from its start"
        end(stage)
    there = read_sweep(folder)
    assert [trial.state for trial in there.trials] == ["done"] * 4
    assert (stage.session.queue.waiting, stage.session.train.busy) == ([], False)
    # The same without a window: the metric is a function of the choices there too.
    here = sweep_of_words(stage.session.train.settings, WORDS, 4, "bayes", seed=5)
    for number in range(4):
        found = taken(tmp_path, here, number)
        here.trials[-1].measured = there.trials[number].measured
        here.trials[-1].state = "done"
        assert (found.name, found.settings.learning_rate) == (
            there.trials[number].name,
            there.trials[number].choices["learning_rate"],
        )


def taken(folder: Path, sweep: Sweep, number: int) -> NextTrial:
    write_sweep(folder, sweep)
    found = take_next(folder)
    assert found is not None
    sweep.trials[:] = read_sweep(folder).trials
    return found


def test_a_queue_with_a_search_is_read_after_a_restart_and_not_by_earlier_versions(stage: Any) -> None:
    started(stage, 3)
    queue_file = stage.session.runs_folder / NAME
    assert json.loads(queue_file.read_text())["version"] == 2
    other = Session(stage.session.tasks.make_worker, stage.session.runs_folder)
    other.queue.look()
    assert [each.search for each in other.queue.waiting] == ["sweep-001"] * 2


def test_a_failed_and_an_interrupted_trial_do_not_end_the_search(stage: Any) -> None:
    folder = started(stage, 3)
    stage.tell("failed", message="train: no", error="E", file="", line=0, details="", step=0, folder="f")
    stage.worker.end(clean=False)
    stage.session.pump()
    assert stage.worker.job.config["out"] == str(folder / "trial-002")
    stage.ended()  # without a run: as a trial that was stopped at once
    assert stage.worker.job.config["out"] == str(folder / "trial-003")
    assert [trial.state for trial in read_sweep(folder).trials] == ["interrupted", "interrupted", "running"]


def test_entries_that_the_command_line_has_trained_leave_the_queue(stage: Any) -> None:
    folder = started(stage, 3)
    sweep = read_sweep(folder)
    sweep.trials[0].state = "waiting"
    carried_out(folder, sweep, lambda choices: 1.0)
    make_run(folder / "other", steps=1)
    stage.ended()
    assert (stage.session.queue.waiting, stage.session.train.busy) == ([], False)


def test_a_sweep_in_use_holds_the_queue_with_the_reason(stage: Any) -> None:
    folder = started(stage, 3)
    lock = lock_sweep(folder)
    assert isinstance(lock, Lock)
    end(stage)
    queue = stage.session.queue
    assert queue.held
    assert queue.why.startswith("sweep: it is running: ")
    assert len(queue.waiting) == 2
    lock.release()
    queue.release()
    assert stage.worker.job.config["out"] == str(folder / "trial-002")


def test_a_trial_that_can_not_start_waits_again(stage: Any) -> None:
    sweep = sweep_of_words(RunSettings(), WORDS, 3, "bayes")
    folder = stage.session.runs_folder
    folder.mkdir()
    found = taken(folder, sweep, 0)
    give_back(folder, found.name, "waiting")
    assert take_next(folder) == found
    sweep.search = None
    sweep.trials[0].state = "running"
    write_sweep(folder, sweep)
    with pytest.raises(ProjectError, match="the sweep has no search"):
        take_next(folder)


def test_invalid_proposals_are_skipped_until_there_are_no_more(tmp_path: Path) -> None:
    settings = RunSettings(clip_norm=1.0)
    sweep = sweep_of_words(settings, ["optimizer=lbfgs", "seed=1..9"], 4, "bayes")
    write_sweep(tmp_path, sweep)
    assert take_next(tmp_path) is None
    assert [trial.state for trial in read_sweep(tmp_path).trials] == ["invalid"] * 4


def test_a_damaged_sweep_and_a_metric_without_numbers(stage: Any) -> None:
    folder = started(stage, 3)
    config = stage.worker.job.config
    make_run(Path(config["out"]), epoch={"validation_accuracy": "NaN"}, epochs=1)
    stage.ended()
    first = read_sweep(folder).trials[0]
    assert (first.state, first.message.endswith("the accuracy of no epoch is a finite number")) == (
        "diverged",
        True,
    )
    (folder / "sweep.json").write_text("{")
    stage.ended()
    assert stage.session.queue.held
    assert stage.session.queue.why.startswith(f"{folder / 'sweep.json'}: ")
    assert len(stage.session.queue.waiting) == 1


def test_a_released_queue_resumes_the_trial_that_a_crash_ended_before_it_proposes_more(stage: Any) -> None:
    folder = started(stage, 4)
    end(stage)
    second = stage.worker.job.config
    make_run(Path(second["out"]), steps=3, ended="", learning_rate=second["learning_rate"], epochs=1)
    # Another window after a crash of this one.
    other = stage.session = Session(stage.session.tasks.make_worker, stage.session.runs_folder)
    other.queue.look()
    other.refresh_runs()
    other.execute("start_queue")
    job = stage.worker.job
    assert (job.config["out"], job.resume) == (second["out"], True)
    assert len(other.queue.waiting) == 2, "the entries of the trials that have not begun remain"
    shutil.rmtree(second["out"])
    make_run(Path(second["out"]), accuracy=0.5, learning_rate=second["learning_rate"], epochs=1)
    stage.ended()
    trials = read_sweep(folder).trials
    assert [trial.state for trial in trials] == ["done", "done", "running"]
    assert stage.worker.job.config["out"] == str(folder / "trial-003")


def test_a_trial_that_never_begins_is_taken_again_once(stage: Any) -> None:
    folder = started(stage, 3)
    stage.ended()  # leaves no run
    stage.session.queue.hold()
    stage.ended()
    queue = stage.session.queue
    assert len(queue.waiting) == 1
    queue.release()
    for name in ("trial-001", "trial-002", "trial-003"):
        assert stage.worker.job.config["out"] == str(folder / name)
        stage.ended()
    assert (queue.waiting, stage.session.train.busy) == ([], False)
