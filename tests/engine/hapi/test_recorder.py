"""A ``fit`` that is recorded: the folder is a run like others, and the callbacks see nothing of it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import callbacks, nn
from engine.core.errors import ArgumentError, SaveError
from engine.files.journal import read_run
from engine.training import TrainingRun
from engine.training.exporting.export import export_run
from engine.training.folder import run_folder
from studio.session.runs.run_history import read_history
from studio.session.runs.runs_folder import RunsFolder, list_runs
from tests.engine.hapi.test_callbacks import BATCH, model


def events(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]


def test_a_fit_is_recorded_as_a_run(tmp_path: Path) -> None:
    recorder = callbacks.RunRecorder(tmp_path / "runs")
    made = model()
    made.fit([BATCH] * 3, [BATCH], epochs=2, verbose=0, callbacks=recorder)
    folder = tmp_path / "runs" / "linear-eager-001"
    assert recorder.folder == folder
    kinds = [event["event"] for event in events(folder)]
    epoch = ["step"] * 3 + ["evaluating", "epoch", "checkpoint"]
    assert kinds == ["started", *epoch, *epoch, "finished"]
    first, last = events(folder)[0], events(folder)[-1]
    assert (first["total_steps"], first["parameters"], first["config"]["optimizer"]) == (6, 15, "SGD")
    assert (last["step"], last["epoch"]) == (6, 2)
    columns = read_run(folder).columns
    assert columns["step"]["step"].tolist() == [1, 2, 3, 4, 5, 6]
    losses = columns["step"]["loss"]
    assert (np.diff(losses) < 0).all()
    measured = [event for event in events(folder) if event["event"] == "epoch"]
    assert measured[1]["validation_loss"] == pytest.approx(made.evaluate([BATCH], verbose=0)["loss"][0])
    assert measured[1]["train_loss"] == pytest.approx(losses[3:].mean())
    assert measured[1]["scalar:acc"] == measured[1]["validation_accuracy"]


def test_callbacks_and_what_is_printed_stay_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[list[str]] = [[], []]

    class Watch(callbacks.Callback):
        def __init__(self, seen: list[str]) -> None:
            super().__init__()
            self.seen = seen

        def __getattribute__(self, name: str) -> Any:
            if name.startswith("on_"):
                self.seen.append(name)
            return super().__getattribute__(name)

    printed = []
    for seen in calls:
        paddle.seed(1)
        model(0.0).fit([BATCH] * 2, [BATCH], epochs=2, verbose=3, log_freq=1, callbacks=[Watch(seen)])
        text = capsys.readouterr().out
        printed.append([line.partition(" - avg_reader")[0] for line in text.splitlines()])
        monkeypatch.setenv("MODEL_STUDIO_RUNS", str(tmp_path))
    assert calls[0] == calls[1]
    assert [line.split(" - loss")[0] for line in printed[0]] == [
        line.split(" - loss")[0] for line in printed[1]
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["linear-eager-001"]


def test_nothing_is_written_unless_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model().fit([BATCH], verbose=0)
    assert not list(tmp_path.iterdir())


def test_a_run_in_progress_is_distinguished_from_one_that_crashed(tmp_path: Path) -> None:
    found = RunsFolder()
    states = []

    class Look(callbacks.Callback):
        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            states.append([(run.state, run.step, run.resumable) for run in found.read(tmp_path)])

    recorder = callbacks.RunRecorder(tmp_path)
    model().fit([BATCH] * 2, epochs=3, verbose=0, callbacks=[recorder, Look()])
    assert [[state for state, *_ in each] for each in states] == [["running"]] * 3
    assert [each[0][1] for each in states] == [0, 2, 4]
    (run,) = found.read(tmp_path)
    assert (run.state, run.step, run.epoch) == ("finished", 6, 3)
    assert list_runs(tmp_path) == [run]
    # Its process was killed: no last event, and the lock is gone.
    journal = Path(run.path, "journal.jsonl")
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]))
    assert found.read(tmp_path)[0].state == "interrupted"


def test_an_error_and_ctrl_c_end_the_run_too(tmp_path: Path) -> None:
    class Stop(callbacks.Callback):
        def __init__(self, error: BaseException) -> None:
            super().__init__()
            self.error = error

        def on_train_batch_end(self, step: int, logs: Any = None) -> None:
            if step == 1:
                raise self.error

    recorder = callbacks.RunRecorder(tmp_path)
    for error, state in [(KeyboardInterrupt(), "interrupted"), (ZeroDivisionError("why"), "failed")]:
        with pytest.raises(type(error)):
            model().fit([BATCH] * 3, verbose=0, callbacks=[recorder, Stop(error)])
        assert recorder.folder is not None
        assert events(recorder.folder)[-1]["step"] == 2
        assert list_runs(tmp_path)[0].state == state
    assert recorder.folder is not None
    assert events(recorder.folder)[-1]["what"] == "why"
    model().fit([BATCH] * 3, epochs=5, verbose=0, callbacks=[recorder, Stopping()])
    assert list_runs(tmp_path)[0].state == "stopped"


class Stopping(callbacks.Callback):
    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.model.stop_training = epoch == 1


@pytest.mark.parametrize("static", [False, True])
def test_a_checkpoint_can_be_loaded_and_the_training_continues_alike(tmp_path: Path, static: bool) -> None:
    def make() -> paddle.Model:
        specs = [paddle.static.InputSpec([None, 4], "float32", "x")]
        labels = [paddle.static.InputSpec([None, 1], "int64", "y")]
        with paddle.utils.unique_name.guard():
            made = paddle.Model(nn.Linear(4, 3), specs, labels)
            optimizer = paddle.optimizer.Momentum(0.1, parameters=made.parameters())
            made.prepare(optimizer, nn.CrossEntropyLoss())
        return made

    def losses(made: paddle.Model) -> list[float]:
        return [float(made.train_batch([BATCH[0]], [BATCH[1]])[0]) for _ in range(3)]

    if static:
        paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            recorder = callbacks.RunRecorder(tmp_path)
            first = make()
            first.fit([BATCH] * 3, epochs=1, verbose=0, callbacks=recorder)
            expected = losses(first)
        assert recorder.folder is not None
        assert recorder.folder.name.startswith("linear-static" if static else "linear-eager")
        with (
            paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()),
            paddle.static.scope_guard(paddle.static.Scope()),
        ):
            second = make()
            second.load(str(recorder.folder / "checkpoints" / "step-00000003.h5"))
            assert losses(second) == expected
    finally:
        paddle.disable_static()


def test_actions_that_need_the_script_raise_with_the_reason(tmp_path: Path) -> None:
    recorder = callbacks.RunRecorder(tmp_path)
    model().fit([BATCH] * 2, verbose=0, callbacks=recorder)
    assert recorder.folder is not None
    with pytest.raises(ArgumentError, match=r"it is a fit of .*run the script again"):
        TrainingRun.from_folder(recorder.folder)
    with pytest.raises(ArgumentError, match="it is a fit of"):
        export_run(recorder.folder, str(tmp_path / "model"))
    (run,) = list_runs(tmp_path)
    assert "model.load" in run.resumable
    assert "model.save" in run.exportable


def test_losses_without_an_accuracy_and_of_unknown_length(tmp_path: Path) -> None:
    made = paddle.Model(nn.Linear(4, 3))
    made.prepare(paddle.optimizer.SGD(0.1, parameters=made.parameters()), nn.CrossEntropyLoss())
    recorder = callbacks.RunRecorder(tmp_path)
    made.fit((BATCH for _ in range(4)), epochs=1, verbose=0, callbacks=recorder)
    assert recorder.folder is not None
    history = read_history(recorder.folder)
    assert history.steps == [1, 2, 3, 4]
    assert all(math.isnan(value) for value in history.accuracies)
    (run,) = list_runs(tmp_path)
    assert math.isnan(run.accuracy)
    assert run.checkpoint_step == 4


@pytest.mark.parametrize("full_from", [1, 2])
def test_a_fit_whose_weights_are_not_on_disk_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full_from: int
) -> None:
    real, calls = run_folder.write_checkpoint, []

    def write(folder: Path, step: int, tree: Any) -> Path:
        calls.append(step)
        if len(calls) >= full_from:
            raise SaveError(f"{folder}: could not be saved: no space left on device; free some space")
        return real(folder, step, tree)

    monkeypatch.setattr(run_folder, "write_checkpoint", write)
    recorder = callbacks.RunRecorder(tmp_path)
    made = model()
    with pytest.warns(RuntimeWarning, match=r"the last weights \(step 6\) lost.*no space left on device"):
        made.fit([BATCH] * 3, epochs=2, verbose=0, callbacks=recorder)
    (run,) = list_runs(tmp_path)
    assert (run.state, run.step) == ("failed", 6)
    assert recorder.folder is not None
    assert events(recorder.folder)[-1]["message"].startswith(f"{recorder.folder}: the training ended, but")


def test_a_checkpoint_that_is_written_later_makes_up_for_a_failed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = run_folder.write_best
    full = [True]

    def write(folder: Path, tree: Any) -> Path:
        if full:
            full.clear()
            raise SaveError("no space left")
        return real(folder, tree)

    monkeypatch.setattr(run_folder, "write_best", write)
    model().fit([BATCH] * 3, [BATCH], epochs=2, verbose=0, callbacks=callbacks.RunRecorder(tmp_path))
    assert list_runs(tmp_path)[0].state == "finished"
