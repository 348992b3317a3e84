"""Sweeps carried out in this process: results, halving, failures, stopping and going on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from engine.core.errors import DataError, InUseError, SaveError
from engine.files.checkpoint import read_checkpoint
from studio.cli import app
from studio.session.runs.run_history import read_history
from studio.session.sweep import runner
from studio.session.sweep.document import Halving, Measurement, Sweep, read_sweep
from studio.session.sweep.live.leftovers import MARK
from studio.session.sweep.making import new_sweep
from studio.session.sweep.pool import Job
from studio.session.sweep.results import best_trial, ranked
from studio.session.sweep.runner import SweepRun, due, lock_sweep
from studio.session.sweep.words import command, setting_words
from tests.studio.session.sweep.inside import InsidePool, carry_out, settings


def states(sweep: Sweep) -> list[str]:
    return [trial.state for trial in sweep.trials]


def test_a_grid_finds_what_single_trainings_find(bars: Path, tmp_path: Path) -> None:
    sweep = new_sweep(settings(bars, epochs=1), ["lr=1e-4,0.05", "batch=50,100"], metric="loss")
    events = carry_out(tmp_path / "sweep", sweep, InsidePool())
    assert states(sweep) == ["done"] * 4
    assert read_sweep(tmp_path / "sweep") == sweep
    assert [event["event"] for event in events] == ["trial_started", "trial_ended"] * 4
    losses = [trial.measured[0].loss for trial in sweep.trials]
    best = best_trial(sweep)
    assert best is not None
    assert best.number == 1 + losses.index(min(loss for loss in losses if loss is not None))
    # The command that it gives trains the same alone.
    words = command(sweep.settings_of(best), str(tmp_path / "alone")).split()
    assert words[:2] == ["model-studio", "train"]
    assert CliRunner().invoke(app, words[1:]).exit_code == 0
    assert read_history(tmp_path / "alone").epochs[0]["validation_loss"] == best.measured[0].loss


def test_a_halving_goes_on_with_the_best_as_if_it_had_never_stopped(bars: Path, tmp_path: Path) -> None:
    # A schedule over the whole run: a training of 4 epochs that is stopped after 1 is not one of 1 epoch.
    chosen = settings(bars, epochs=4, schedule="cosine_annealing_decay", schedule_params={"T_max": 4})
    sweep = new_sweep(chosen, ["lr=1e-5,1e-4,1e-3,0.05"], halving=Halving(eta=2, min_epochs=1))
    pool = InsidePool()
    carry_out(tmp_path / "sweep", sweep, pool)
    assert [(job.number, job.resume, job.words[-2:]) for job in pool.jobs[4:]] == [
        (3, True, ("--stop-after", "2")),
        (4, True, ("--stop-after", "2")),
        (4, True, ()),
    ]
    assert states(sweep) == ["dropped", "dropped", "dropped", "done"]
    assert [[each.epochs for each in trial.measured] for trial in sweep.trials] == [
        [1],
        [1],
        [1, 2],
        [1, 2, 4],
    ]
    assert [trial.number for trial in ranked(sweep, sweep.trials)][:2] == [4, 3]
    words = setting_words(sweep.settings_of(sweep.trials[3]))
    assert CliRunner().invoke(app, ["train", "--out", str(tmp_path / "alone"), *words]).exit_code == 0
    weights = [
        read_checkpoint(folder / "checkpoints" / "step-00000016.h5")["model"]
        for folder in (tmp_path / "alone", tmp_path / "sweep" / "trial-004")
    ]
    assert weights[0].keys() == weights[1].keys()
    assert all((weights[0][name] == weights[1][name]).all() for name in weights[0])


def reached(sweep: Sweep, epochs: int, accuracies: dict[int, float]) -> None:
    for number, accuracy in accuracies.items():
        sweep.trials[number - 1].measured.append(
            Measurement(epochs=epochs, best=epochs, accuracy=accuracy, loss=None)
        )


def test_the_results_alone_decide_which_trials_continue(bars: Path) -> None:
    sweep = new_sweep(
        settings(bars, epochs=9), ["seed=1,2,3,4,5,6,7,8,9"], halving=Halving(eta=3, min_epochs=1)
    )
    assert [(trial.number, epochs) for trial, epochs in due(sweep)] == [(n, 1) for n in range(1, 10)]
    reached(sweep, 1, {1: 0.1, 2: 0.9, 3: 0.2, 4: 0.9, 5: 0.3, 6: 0.8, 7: 0.4})
    assert [trial.number for trial, _ in due(sweep)] == [8, 9]
    assert states(sweep) == ["waiting"] * 9
    sweep.trials[7].state = "failed"
    reached(sweep, 1, {9: 0.8})
    # Equal results: the earlier trial. Of nine that entered three go on.
    assert [(trial.number, epochs) for trial, epochs in due(sweep)] == [(2, 3), (4, 3), (6, 3)]
    sweep.trials[1].state = "diverged"
    reached(sweep, 3, {4: 0.91, 6: 0.95})
    # No trial replaces the one that was lost on the way.
    assert [(trial.number, epochs) for trial, epochs in due(sweep)] == [(6, 9)]
    reached(sweep, 9, {6: 0.5})
    assert due(sweep) == []
    first = ["dropped", "diverged", "dropped", "dropped", "dropped", "done", "dropped", "failed", "dropped"]
    assert states(sweep) == first
    found = best_trial(sweep)
    assert found is not None
    assert found.number == 6


def test_others_go_on_where_one_is_killed_fails_or_diverges(bars: Path, tmp_path: Path) -> None:
    def before(job: Job) -> tuple[int, str] | None:
        return {1: (-9, "loading\nworking"), 3: (1, "memory: not enough for this step: x; y")}.get(job.number)

    chosen = settings(bars, epochs=1, optimizer="sgd", model="cnn")
    sweep = new_sweep(chosen, ["lr=0.01,1e30,0.02,0.03"])
    carry_out(tmp_path / "sweep", sweep, InsidePool(before))
    assert states(sweep) == ["failed", "diverged", "failed", "done"]
    said = [trial.message for trial in sweep.trials]
    assert said[0] == "the process ended: stopped by signal 9 (SIGKILL); it said last: loading / working"
    assert said[1].startswith("step ")
    assert "the loss is not a finite number" in said[1]
    assert said[2] == "memory: not enough for this step: x; y"


def test_a_stopped_sweep_goes_on_where_it_was(bars: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    folder.mkdir()
    sweep = new_sweep(settings(bars), ["seed=1,2,3"])

    def before(job: Job) -> tuple[int, str] | None:
        if job.number == 2:
            run.interrupt()
            # As far as the end of the first epoch, as a stop in the middle would leave it.
            code, said = InsidePool.train(Job(2, job.folder, (*job.words, "--stop-after", "1")))
            assert code == 0, said
            return 1, "stopped at step 4; continue with: ..."
        return None

    run = SweepRun(folder, sweep, InsidePool(before))
    run.run()
    assert run.stopping
    assert states(sweep) == ["done", "interrupted", "waiting"]

    again = read_sweep(folder)
    again.trials[1].state = "running"  # as a kill leaves it
    pool = InsidePool()
    events = carry_out(folder, again, pool)
    assert [(job.number, job.resume) for job in pool.jobs] == [(2, True), (3, False)]
    assert [event["resumed"] for event in events if event["event"] == "trial_started"] == [True, False]
    assert states(again) == ["done"] * 3
    assert [row["epoch"] for row in read_history(folder / "trial-002").epochs] == [1, 2]


def test_a_trial_stopped_from_outside_waits_for_a_resume(bars: Path, tmp_path: Path) -> None:
    def before(job: Job) -> tuple[int, str] | None:
        if job.number == 1 and not job.resume:  # a SIGTERM to the child alone
            InsidePool.train(Job(1, job.folder, (*job.words, "--stop-after", "1")))
            return 1, "stopped at step 4; continue with: ..."
        return None

    sweep = new_sweep(settings(bars), ["seed=1,2"])
    pool = InsidePool(before)
    carry_out(tmp_path / "sweep", sweep, pool)
    assert [job.number for job in pool.jobs] == [1, 2]
    assert states(sweep) == ["interrupted", "done"]
    carry_out(tmp_path / "sweep", sweep, pool)
    assert states(sweep) == ["done", "done"]


def test_a_disk_without_room_ends_the_sweep_and_its_trainings(
    bars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = new_sweep(settings(bars), ["seed=1,2"])

    def full(folder: Path, whole: Sweep) -> None:
        raise SaveError(f"{folder}: could not be saved: no space left on device")

    monkeypatch.setattr(runner, "write_sweep", full)
    pool = InsidePool()
    with pytest.raises(SaveError, match="no space left"):
        SweepRun(tmp_path, sweep, pool).run()
    assert pool.closed


def test_a_folder_that_is_a_link_is_not_followed(bars: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep" / "trial-001").symlink_to(tmp_path / "elsewhere")
    sweep = new_sweep(settings(bars), ["seed=1"])
    carry_out(tmp_path / "sweep", sweep, InsidePool())
    assert sweep.trials[0].state == "failed"
    assert "a link, which a sweep must not bring along" in sweep.trials[0].message
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_one_process_at_a_time(tmp_path: Path) -> None:
    lock = lock_sweep(tmp_path / "sweep")
    with pytest.raises(InUseError, match="sweep: it is running"):
        lock_sweep(tmp_path / "sweep")
    lock.release()
    lock_sweep(tmp_path / "sweep").release()


def test_combinations_that_no_training_takes_are_refused_before_any_starts(
    bars: Path, tmp_path: Path
) -> None:
    def refused(words: list[str], **more: Any) -> str:
        with pytest.raises(ValueError) as caught:
            new_sweep(settings(bars), words, **more)
        return str(caught.value)

    assert "nothing to vary" in refused([])
    assert "lr is given twice" in refused(["lr=0.1", "learning-rate=0.2"])
    assert "epochs: a halving decides" in refused(["epochs=1,2"], halving=Halving(eta=2, min_epochs=1))
    assert refused(["optimizer=lbfgs", "clip-norm=1,2"]).startswith(
        "trial 1 (optimizer=lbfgs, clip-norm=1): clip-norm: lbfgs takes no clipping"
    )
    assert "--search bayes needs the number of trials: got none" in refused(["lr=0.1,0.2"], search="bayes")
    assert "--search random needs the number of trials" in refused(["lr=0.1,0.2"], search="random")
    assert "--search grid takes every combination: got --trials 3" in refused(
        ["lr=0.1,0.2"], search="grid", trials=3
    )
    assert "--halving compares trials that are all known" in refused(
        ["lr=0.1,0.2"], search="bayes", trials=3, halving=Halving(eta=2, min_epochs=1)
    )
    with pytest.raises(DataError, match="model: the file can't be read"):
        new_sweep(settings(bars), [f"model=linear,{tmp_path / 'net.py'}:Net"])


def test_a_trial_that_a_killed_sweep_had_followed_begins_again_here(bars: Path, tmp_path: Path) -> None:
    sweep = new_sweep(settings(bars, epochs=1), ["seed=1"])
    folder = tmp_path / "sweep" / "trial-001"
    folder.mkdir(parents=True)
    (folder / "journal.jsonl").write_text('{"event":"started","config":{}}\n{"event":"step","step":1}\n')
    (folder / MARK).touch()
    carry_out(tmp_path / "sweep", sweep, InsidePool())
    assert (sweep.trials[0].state, sweep.trials[0].message) == ("done", "")
