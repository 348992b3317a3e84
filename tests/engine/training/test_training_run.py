"""TrainingRun over fakes: its events, how it obeys, what it stores, how it resumes."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

from engine.core.errors import ArgumentError, DataError, SaveError, ShapeError
from engine.files.checkpoint import list_checkpoints
from engine.kernels.cpu.threads import get_num_threads
from engine.training import TrainingConfig, TrainingRun
from engine.training.folder import run_folder
from engine.training.reporting.progress import Progress
from resources.training_events import TrainingEvent


def test_a_whole_run_reports_its_story_in_order(bench: Any) -> None:
    bench.stepper.accuracies = [0.5, 0.75, 0.7]
    result = bench.run().run()
    assert bench.kinds() == ["started", *["evaluating", "epoch"] * 3, "finished"]
    assert sorted(bench.points()) == list(range(1, 16))
    assert [e["best"] for e in bench.events if e["event"] == "epoch"] == [True, True, False]
    assert (result.outcome, result.step, result.epoch) == ("finished", 15, 3)
    assert (result.best_accuracy, result.best_step, result.validation_accuracy) == (0.75, 10, 0.7)


def test_of_equal_accuracies_the_one_with_the_lower_validation_loss_is_best(bench: Any) -> None:
    bench.stepper.accuracies = [0.7, 0.8, 0.8, 0.8, 0.8]
    bench.stepper.validation_losses = [0.1, 0.9, 0.5, 0.5, 0.7]
    result = bench.run(epochs=5).run()
    assert [e["best"] for e in bench.events if e["event"] == "epoch"] == [True, True, True, False, False]
    assert (result.best_accuracy, result.best_step) == (0.8, 15)


def test_a_checkpoint_without_the_best_loss_keeps_the_first_of_equal_accuracies() -> None:
    progress = Progress()
    progress.measured(0.8, loss=0.9)
    state = progress.state()
    assert state.pop("best_loss") == 0.9
    resumed = Progress()
    resumed.set_state(state)
    assert not resumed.measured(0.8, loss=0.1)
    assert resumed.measured(0.9, loss=5.0)
    again = Progress()
    again.set_state(resumed.state())
    assert again.measured(0.9, loss=4.0)


def test_points_come_in_batches_with_speed_and_time_left(bench: Any) -> None:
    bench.run().run()
    batches = [event for event in bench.events if event["event"] == "steps"]
    assert 3 < len(batches) < 15
    last = batches[-1]
    assert (last["step"], last["total_steps"], last["seconds_left"]) == (15, 15, 0.0)
    assert 0 < last["samples_per_second"] < 4 / 0.02


def test_without_a_folder_nothing_is_written(bench: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    bench.run().run()
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_run(bench: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    bench.run(out=str(out), checkpoint_every=2, keep=3).run()
    names = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert names == {
        "journal.jsonl",
        "run.h5",
        "checkpoints/best.h5",
        "checkpoints/step-00000012.h5",
        "checkpoints/step-00000014.h5",
        "checkpoints/step-00000015.h5",
    }
    lines = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]
    assert lines[0]["event"] == "started"
    assert lines[-1]["event"] == "finished"
    assert [line["step"] for line in lines if line["event"] == "step"] == list(range(1, 16))


@pytest.mark.parametrize("stop_at", [1, 4, 5, 7, 10, 14])
def test_a_resumed_run_ends_bit_equal(bench: Any, tmp_path: Path, stop_at: int) -> None:
    whole = bench.run(checkpoint_every=0, out=str(tmp_path / "whole"))
    expected = whole.run()
    weight, losses = bench.stepper.weight, bench.points()

    first = bench.run(out=str(tmp_path / "parts"), checkpoint_every=0)
    bench.stepper.before_step = lambda step: first.interrupt() if step == stop_at - 1 else None
    assert first.run().reason == "interrupted"
    assert bench.one("stopped")["step"] == stop_at
    bench.stepper.before_step = lambda step: None

    np.random.seed(99)  # another process would not have this one's random state either
    second = bench.run(resume=True, out=str(tmp_path / "parts"), checkpoint_every=0)
    result = second.run()
    assert bench.one("started")["step"] == stop_at
    assert np.array_equal(bench.stepper.weight, weight)
    assert bench.points() == {step: loss for step, loss in losses.items() if step > stop_at}
    assert (result.step, result.best_step, result.outcome) == (expected.step, expected.best_step, "finished")
    assert list(second.history.losses) == list(losses.values())


@pytest.mark.parametrize("asked_at", ["evaluating", "last step"])
def test_a_run_stopped_at_the_end_of_an_epoch_does_not_repeat_it(
    bench: Any, tmp_path: Path, asked_at: str
) -> None:
    bench.run().run()
    weight = bench.stepper.weight

    first = bench.run(out=str(tmp_path))
    if asked_at == "evaluating":
        bench.on_event = lambda event: first.interrupt() if event["event"] == "evaluating" else None
    else:
        bench.stepper.before_step = lambda step: first.interrupt() if step == 4 else None
    stopped = first.run()
    assert (stopped.reason, stopped.step, stopped.epoch) == ("interrupted", 5, 0)
    bench.on_event, bench.stepper.before_step = (lambda event: None), (lambda step: None)

    result = bench.run(resume=True, out=str(tmp_path)).run()
    assert (result.step, result.epoch) == (15, 3)
    assert [event["step"] for event in bench.events if event["event"] == "epoch"] == [5, 10, 15]
    assert np.array_equal(bench.stepper.weight, weight)


def test_resuming_from_an_older_checkpoint_cuts_the_journal(bench: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    bench.run(out=str(out), checkpoint_every=2, keep=9).run()
    weight = bench.stepper.weight
    older = out / "checkpoints" / "step-00000006.h5"
    bench.run(resume=older, out=str(out), checkpoint_every=2, keep=9).run()
    assert np.array_equal(bench.stepper.weight, weight)
    lines = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if line["event"] == "step"] == list(range(1, 16))
    assert [line["event"] for line in lines].count("finished") == 1


def test_more_epochs_may_be_added_but_not_another_seed(bench: Any, tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    bench.run(out=out, epochs=1).run()
    assert bench.run(resume=True, out=out, epochs=2).run().step == 10
    with pytest.raises(ArgumentError, match=r"TrainingConfig\.seed: a continued run .* has 5, asked for 6"):
        bench.run(resume=True, out=out, epochs=3, seed=6).run()


def test_from_folder_takes_the_recorded_settings(bench: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    bench.run(out=str(out), epochs=1).run()
    run = TrainingRun.from_folder(out, epochs=4)
    assert run.config == TrainingConfig(
        model="lenet", epochs=4, seed=5, out=str(out), threads=get_num_threads()
    )


def test_pause_and_resume_from_another_thread(bench: Any) -> None:
    run = bench.run()
    states: list[str] = []

    def on_event(event: dict[str, Any]) -> None:
        if event["event"] == "steps" and event["step"] < 6:
            run.pause()
        elif event["event"] == "paused":
            states.append(run.state)
            threading.Thread(target=run.resume).start()
        elif event["event"] == "resumed":
            states.append(run.state)

    bench.on_event = on_event
    result = run.run()
    assert states[:2] == ["paused", "running"]
    assert result.outcome == "finished"
    assert sorted(bench.points()) == list(range(1, 16))


def test_a_checkpoint_can_be_asked_for_while_paused(bench: Any, tmp_path: Path) -> None:
    run = bench.run(out=str(tmp_path / "run"), checkpoint_every=0)
    bench.stepper.before_step = lambda step: run.pause() if step == 2 else None

    def on_event(event: dict[str, Any]) -> None:
        if event["event"] == "paused":
            run.checkpoint_now()
        elif event["event"] == "checkpoint" and event["reason"] == "asked":
            assert event["step"] == 3
            run.resume()

    bench.on_event = on_event
    run.run()
    assert "asked" in [e["reason"] for e in bench.events if e["event"] == "checkpoint"]


def test_stop_early_measures_and_keeps_the_best(bench: Any, tmp_path: Path) -> None:
    bench.stepper.accuracies = [0.9, 0.6]
    run = bench.run(out=str(tmp_path / "run"))
    weights: list[np.ndarray] = []

    def before(step: int) -> None:
        if step == 5:
            weights.append(bench.stepper.weight)
        if step == 7:
            run.stop_early()

    bench.stepper.before_step = before
    result = run.run()
    assert (result.outcome, result.reason, result.step) == ("stopped", "early", 8)
    assert (result.best_accuracy, result.best_step, result.validation_accuracy) == (0.9, 5, 0.6)
    assert np.array_equal(bench.stepper.weight, weights[0])
    assert [e["partial"] for e in bench.events if e["event"] == "epoch"] == [False, True]


def test_stop_early_without_a_folder_keeps_the_best_too(bench: Any) -> None:
    bench.stepper.accuracies = [0.9, 0.6]
    run = bench.run()
    weights: list[np.ndarray] = []

    def before(step: int) -> None:
        if step == 5:
            weights.append(bench.stepper.weight)
            run.stop_early()

    bench.stepper.before_step = before
    run.run()
    assert np.array_equal(bench.stepper.weight, weights[0])


def test_cancel_discards_what_the_run_wrote_and_nothing_else(bench: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    run = bench.run(out=str(out))
    bench.stepper.before_step = lambda step: run.cancel() if step == 7 else None
    assert run.run().outcome == "cancelled"
    assert not out.exists()

    out.mkdir()
    (out / "notes.txt").write_text("mine")
    bench.stepper.before_step = lambda step: None
    run = bench.run(out=str(out))
    bench.stepper.before_step = lambda step: run.cancel() if step == 7 else None
    run.run()
    assert [path.name for path in out.iterdir()] == ["notes.txt"]


def test_cancelling_a_resumed_run_keeps_what_was_there_before(bench: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    bench.run(out=str(out), epochs=1).run()
    run = bench.run(resume=True, out=str(out), epochs=3)
    bench.stepper.before_step = lambda step: run.cancel() if step == 7 else None
    run.run()
    assert [entry.step for entry in list_checkpoints(out / "checkpoints")] == [0, 5]
    assert '"step":6' not in (out / "journal.jsonl").read_text()


def test_a_failing_checkpoint_does_not_lose_the_training(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    real = run_folder.write_checkpoint

    def full_disk(folder: Path, step: int, tree: Any) -> Path:
        if step >= 10:
            error = SaveError(f"{folder}: could not be saved: no space left on device; free some space")
            error.filename = str(folder)
            raise error
        return real(folder, step, tree)

    monkeypatch.setattr(run_folder, "write_checkpoint", full_disk)
    run = bench.run(out=str(out), checkpoint_every=0)
    with pytest.raises(
        SaveError, match=r"the last weights \(step 15\) lost, the checkpoint of step 5 is kept"
    ):
        run.run()
    failures = [event for event in bench.events if event["event"] == "checkpoint_failed"]
    assert [event["step"] for event in failures] == [10, 15]
    assert "no space left" in failures[0]["message"]
    assert (bench.kinds()[-1], run.state) == ("failed", "failed")
    assert bench.one("failed")["checkpoint"].endswith("step-00000005.h5")
    assert [entry.step for entry in list_checkpoints(out / "checkpoints")] == [0, 5]
    monkeypatch.undo()
    assert bench.run(resume=True, out=str(out)).run().outcome == "finished"


def test_a_run_whose_best_weights_are_lost_is_not_finished(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = True
    real = run_folder.write_best

    def full_disk(folder: Path, tree: Any) -> Path:
        if full:
            raise SaveError("best.h5: could not be saved: no space left on device; free some space")
        return real(folder, tree)

    monkeypatch.setattr(run_folder, "write_best", full_disk)
    bench.stepper.accuracies = [0.5, 0.75, 0.6]
    out = str(tmp_path / "run")
    with pytest.raises(SaveError, match=r"the best weights \(step 10, accuracy 75.00.%\) lost.*no space"):
        bench.run(out=out).run()
    with pytest.raises(SaveError, match=r"the best weights \(step 10"):
        bench.run(resume=True, out=out).run()
    # Room again before the end: the weights that waited are written with the next checkpoint.
    bench.on_event = lambda event: None

    def make_room(step: int) -> None:
        nonlocal full
        full = step < 12

    full = True
    bench.stepper.before_step = make_room
    out = str(tmp_path / "again")
    assert bench.run(out=out).run().outcome == "finished"
    assert run_folder.RunFolder(out).best_step() == 10


def test_a_failing_journal_is_reported_once_and_caught_up_with(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    real = run_folder.JournalWriter.write

    def full_disk(self: Any, event: dict[str, Any]) -> None:
        if 4 <= bench.stepper.steps <= 8:
            raise SaveError("journal: could not be saved: no space left on device; free some space")
        real(self, event)

    monkeypatch.setattr(run_folder.JournalWriter, "write", full_disk)
    bench.run(out=str(out)).run()
    assert bench.kinds().count("checkpoint_failed") == 1
    lines = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if line["event"] == "step"] == list(range(1, 16))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_diverged_loss_stops_the_run(bench: Any, tmp_path: Path, bad: float) -> None:
    bench.stepper.losses = lambda step: bad if step == 8 else 1.0
    result = bench.run(out=str(tmp_path / "run"), learning_rate=0.5).run()
    event = bench.one("diverged")
    assert (event["step"], event["epoch"]) == (8, 2)
    assert "smaller learning rate, e.g. 0.05" in event["message"]
    assert event["checkpoint"].endswith("step-00000005.h5")
    assert (result.outcome, result.reason, result.step) == ("stopped", "diverged", 7)


def test_a_diverged_loss_may_be_allowed(bench: Any) -> None:
    bench.stepper.losses = lambda step: float("nan") if step == 8 else 1.0
    assert bench.run(on_divergence="continue").run().step == 15
    assert bench.one("diverged")["step"] == 8


def test_an_error_in_a_step_is_reported_and_raised(bench: Any, tmp_path: Path) -> None:
    def fail(step: int) -> None:
        if step == 6:
            raise ShapeError("linear: shapes don't fit: (64, 400) and (256, 10); make the layer 400 wide")

    bench.stepper.before_step = fail
    with pytest.raises(ShapeError, match="linear"):
        bench.run(out=str(tmp_path / "run")).run()
    event = bench.one("failed")
    assert (event["where"], event["do"]) == ("linear", "make the layer 400 wide")
    assert event["what"] == "shapes don't fit: (64, 400) and (256, 10)"
    assert event["step"] == 6
    assert event["checkpoint"].endswith("step-00000005.h5")
    assert "ShapeError: linear: shapes" in event["traceback"]
    assert bench.kinds()[-1] == "failed"


def test_a_folder_that_holds_a_run_is_not_written_over(bench: Any, tmp_path: Path) -> None:
    bench.run(out=str(tmp_path)).run()
    before = (tmp_path / "journal.jsonl").read_bytes()
    with pytest.raises(ArgumentError, match="already holds a run"):
        bench.run(out=str(tmp_path)).run()
    assert (tmp_path / "journal.jsonl").read_bytes() == before


def test_nothing_to_resume_from(bench: Any, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no sound checkpoint"):
        bench.run(resume=True, out=str(tmp_path)).run()
    with pytest.raises(ArgumentError, match=r"config\.out is empty"):
        bench.run(resume=True)


def test_a_damaged_newest_checkpoint_is_passed_over(bench: Any, tmp_path: Path) -> None:
    bench.run(out=str(tmp_path)).run()
    weight = bench.stepper.weight
    newest = tmp_path / "checkpoints" / "step-00000015.h5"
    data = bytearray(newest.read_bytes())
    data[len(data) // 2] ^= 255
    newest.write_bytes(data)
    bench.run(resume=True, out=str(tmp_path)).run()
    assert bench.one("started")["step"] == 10
    assert np.array_equal(bench.stepper.weight, weight)


def test_a_pause_is_obeyed_during_an_evaluation(bench: Any, tmp_path: Path) -> None:
    run = bench.run(out=str(tmp_path / "run"), epochs=1, checkpoint_every=0)
    real = bench.stepper.evaluate

    def evaluate(batches: Any, classes: int, stopped: Any) -> Any:
        run.pause()
        assert not stopped()
        return real(batches, classes, lambda: False)

    bench.stepper.evaluate = evaluate
    bench.on_event = lambda event: run.resume() if event["event"] == "paused" else None
    run.run()
    assert bench.kinds() == [
        "started",
        "checkpoint",
        "evaluating",
        "paused",
        "resumed",
        "epoch",
        "checkpoint",
        "finished",
    ]


def test_a_checkpoint_asked_for_in_a_paused_evaluation_follows_it(bench: Any, tmp_path: Path) -> None:
    run = bench.run(out=str(tmp_path / "run"), epochs=2, checkpoint_every=0)
    real = bench.stepper.evaluate
    pauses = []

    def evaluate(batches: Any, classes: int, stopped: Any) -> Any:
        if not pauses:
            run.pause()
            assert not stopped()
        return real(batches, classes, lambda: False)

    def on_event(event: Any) -> None:
        if event["event"] == "paused":
            pauses.append(event["step"])
            run.checkpoint_now() if len(pauses) == 1 else run.resume()

    bench.stepper.evaluate = evaluate
    bench.on_event = on_event
    run.run()
    first_epoch = bench.kinds()[: bench.kinds().index("resumed") + 1]
    assert first_epoch == [
        "started",
        "checkpoint",
        "evaluating",
        "paused",
        "epoch",
        "checkpoint",
        "checkpoint",
        "paused",
        "resumed",
    ]
    assert bench.kinds()[-1] == "finished"


def test_a_folder_that_cannot_be_written_fails_before_the_training(bench: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(SaveError, match="could not be saved"):
        bench.run(out=str(tmp_path / "file" / "run")).run()
    assert bench.kinds() == ["failed"]
    assert bench.one("failed")["do"]


def test_points_carry_the_learning_rate(bench: Any, tmp_path: Path) -> None:
    bench.run(out=str(tmp_path / "run")).run()
    events = [event for event in bench.events if event["event"] == "steps"]
    assert {event["learning_rate"] for event in events} == {bench.stepper.learning_rate}
    lines = (tmp_path / "run" / "journal.jsonl").read_text().splitlines()
    rates = [json.loads(line).get("learning_rate") for line in lines if '"event":"step"' in line]
    assert rates == [bench.stepper.learning_rate] * 15


def test_a_schedule_learns_what_each_epoch_measured(bench: Any) -> None:
    bench.stepper.accuracies = [0.25, 0.5, 0.75]
    bench.run().run()
    measured = bench.stepper.measured
    assert [values["validation_accuracy"] for values in measured] == [0.25, 0.5, 0.75]
    reported = [event for event in bench.events if event["event"] == "epoch"]
    assert [values["train_loss"] for values in measured] == [event["train_loss"] for event in reported]
    assert [values["validation_loss"] for values in measured] == [1.0] * 3


NUMBERS = {"validation_r2", "validation_mae"}
ABSENT = {
    "steps": {"ranks"},  # of several processes
    # Of a file of corrections, of another number of threads, of other weights, of data that was read.
    "started": {
        *("corrections", "differs", "fallback", "transferred"),
        *("kind", "task", "targets", "units", "chosen_on", "validation_samples", "skipped"),
        *("unlabelled", "inputs"),
    },
    # Of a fit, of numbers, of over 20 classes.
    "epoch": {"scalars", "task", "worst", "validation_top5", *NUMBERS},
    # Of numbers, of a validation split.
    "finished": {
        *("best_r2", "test_loss", "test_accuracy", "test_top5", "test_r2", "test_mae"),
        *NUMBERS,
    },
}
"""Fields that the events of a run on the tests' data do not have."""


def test_every_event_has_the_fields_of_its_class(bench: Any, tmp_path: Path) -> None:
    run = bench.run(out=str(tmp_path / "run"))
    bench.on_event = lambda event: run.checkpoint_now() if event["event"] == "started" else None
    run.run()
    classes = {
        kind: cls for cls in get_args(TrainingEvent) for kind in get_args(get_type_hints(cls)["event"])
    }
    for event in bench.events:
        fields = get_type_hints(classes[event["event"]]).keys()
        assert event.keys() == fields - ABSENT.get(event["event"], set()), event["event"]
    assert {"started", "steps", "evaluating", "epoch", "checkpoint", "finished"} <= set(bench.kinds()) | {
        "steps"
    }
