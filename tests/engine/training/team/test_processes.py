"""A training on several processes: the curve of one process, orders, and how it ends when a rank does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError, DeviceError, LimitError, WorkerError
from engine.distributed import mpi
from engine.files.checkpoint import list_checkpoints
from engine.training import TrainingConfig, TrainingRun
from engine.training.problem import describe_problem
from resources.interruptions import is_interruption
from resources.settings import problems
from tests.engine.training import several_inputs

ROOT = Path(__file__).resolve().parents[4]
MODEL = """
import os
import signal
from engine import nn

class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.hidden, self.normal, self.drop = nn.Linear(784, 24), nn.LayerNorm(24), nn.Dropout({dropout})
        self.last = nn.Linear(24, 10)
        self.seen = 0

    def forward(self, x):
        self.seen += self.training
        if self.seen == 10 and os.environ.get("PADDLE_TRAINER_ID") == "1":
            {fault}
        return self.last(self.drop(self.normal(self.hidden(x.flatten(1)))))
"""


NORMALIZED = """
from engine import nn

class Net(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2D(1, 3, 5, stride=3), nn.BatchNorm2D(3), nn.ReLU(), nn.Flatten(),
            nn.Linear(192, 16), nn.BatchNorm1D(16), nn.Linear(16, 10),
        )
"""


class RecordedTraining:
    """Runs a training and records its events; ``orders`` has what to call after which step."""

    def __init__(self, orders: dict[int, str] | None = None, **settings: Any) -> None:
        self.orders = dict(orders or {})
        self.events: list[Any] = []
        resume = settings.pop("resume", False)
        self.run = TrainingRun(TrainingConfig(**settings), [self._take], resume=resume)

    def _take(self, event: Any) -> None:
        self.events.append(event)
        kind = event["event"]
        due = [step for step in self.orders if kind == "steps" and event["step"] >= step]
        for step in due:
            getattr(self.run, self.orders.pop(step))()

    def of(self, kind: str) -> list[Any]:
        return [event for event in self.events if event["event"] == kind]

    def losses(self) -> dict[int, float]:
        return {
            step: loss
            for event in self.of("steps")
            for step, loss in zip(event["steps"], event["losses"], strict=True)
        }


@pytest.fixture(scope="module")
def several() -> None:
    pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)


def model(folder: Path, fault: str = "pass", dropout: float = 0.0) -> str:
    folder.mkdir(exist_ok=True)
    file = folder / "net.py"
    file.write_text(MODEL.format(fault=fault, dropout=dropout), encoding="utf-8")
    return f"{file}:Net"


def same_curve(one: dict[int, float], other: dict[int, float]) -> None:
    """Equal within 1e-6 of the largest loss."""
    assert sorted(one) == sorted(other)
    expected = np.array([one[step] for step in sorted(one)])
    found = np.array([other[step] for step in sorted(one)])
    assert np.abs(found - expected).max() < 1e-6 * expected.max()


def journal(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize(
    ("static", "first", "second"),
    [(True, 2, 1), (False, 1, 3)],
)
def test_the_curve_is_that_of_one_process(
    several: None, bars: Path, tmp_path: Path, static: bool, first: int, second: int
) -> None:
    # 200 images in batches of 32: the last has 8, of which three ranks take 3, 3 and 2.
    settings: dict[str, Any] = {
        "data": str(bars),
        "model": "lenet",
        "batch_size": 32,
        "epochs": 3,
        "static": static,
        "lr": 0.005,
    }
    settings["learning_rate"] = settings.pop("lr")
    whole = RecordedTraining(**settings)
    end = whole.run.run()

    out = str(tmp_path / "run")
    begun = RecordedTraining(**settings, out=out, workers=first, orders={5: "interrupt"})
    stopped = begun.run.run()
    assert stopped.reason == "interrupted"
    assert 5 <= stopped.step < 21
    again = RecordedTraining(**settings, out=out, workers=second, resume=True)
    done = again.run.run()

    assert again.of("started")[0]["step"] == stopped.step
    same_curve(whole.losses(), begun.losses() | again.losses())
    assert (done.step, done.best_step, done.best_accuracy) == (21, end.best_step, end.best_accuracy)
    for one, other in zip(whole.of("epoch")[-2:], again.of("epoch")[-2:], strict=True):
        assert other["confusion"] == one["confusion"]
        assert [each["index"] for each in other["hardest"]] == [each["index"] for each in one["hardest"]]
        assert np.array_equal(other["pictures"], one["pictures"])
    weights = again.run.network.state_dict()
    for name, value in whole.run.network.state_dict().items():
        assert np.abs(weights[name].numpy() - value.numpy()).max() < 1e-4 * np.abs(value.numpy()).max()
    reported = journal(Path(out))
    assert [event["step"] for event in reported if event["event"] == "step"] == list(range(1, 22))
    ranks = next(event["ranks"] for event in reported if event["event"] == "ranks")
    assert [each["rank"] for each in ranks] == list(range(max(first, second)))
    assert all(each["steps_per_second"] > 0 and 0 <= each["waiting"] <= 1 for each in ranks)


@pytest.mark.parametrize("task", ["numbers", "weights"])
def test_numbers_and_weighted_classes_have_the_curve_of_one_process(
    several: None, tmp_path: Path, task: str
) -> None:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(101, 3)).astype(np.float32)
    target = 500 + 100 * inputs[:, 0] + rng.normal(size=101) if task == "numbers" else inputs[:, 0] > 1
    rows = np.column_stack([inputs, target])
    form = "%.5f" if task == "numbers" else ["%.5f"] * 3 + ["%d"]
    np.savetxt(tmp_path / "rows.csv", rows, form, ",", header="a,b,c,target", comments="")
    settings: dict[str, Any] = {
        "data": str(tmp_path / "rows.csv"),
        "label_name": "target",
        "model": "linear",
        "learning_rate": 0.05,
        "batch_size": 32,
        "epochs": 2,
        "balance": "none" if task == "numbers" else "weights",
    }
    whole, shared = RecordedTraining(**settings), RecordedTraining(**settings, workers=2)
    end, done = whole.run.run(), shared.run.run()
    same_curve(whole.losses(), shared.losses())
    assert done.task == end.task == ("numbers" if task == "numbers" else "classes")
    assert done.best_metric == pytest.approx(end.best_metric, abs=1e-5)
    assert shared.run.config.model_params == {"features": 3, "outputs": 1 if task == "numbers" else 2}
    for one, other in zip(whole.of("epoch"), shared.of("epoch"), strict=True):
        assert other.get("confusion") == one.get("confusion")
        assert [each["index"] for each in other.get("worst", [])] == [
            each["index"] for each in one.get("worst", [])
        ]


@pytest.mark.parametrize(("static", "workers", "samples"), [(True, 3, 200), (False, 2, 199)])
def test_batch_norm_counts_over_the_whole_batch(
    several: None, bars: Path, tmp_path: Path, static: bool, workers: int, samples: int
) -> None:
    # Batches of 33: the last has 2 or 1, and the last rank none of them.
    file = tmp_path / "net.py"
    file.write_text(NORMALIZED, encoding="utf-8")
    settings: dict[str, Any] = {
        "data": str(bars),
        "model": f"{file}:Net",
        "batch_size": 33,
        "epochs": 2,
        "static": static,
        "samples": samples,
        "optimizer": "momentum",
        "learning_rate": 0.01,
    }
    one, shared = RecordedTraining(**settings), RecordedTraining(**settings, workers=workers)
    end, other = one.run.run(), shared.run.run()
    same_curve(one.losses(), shared.losses())
    assert other.validation_accuracy == end.validation_accuracy
    weights = shared.run.network.state_dict()
    for name, value in one.run.network.state_dict().items():
        # A bias before a batch norm has no gradient but rounding.
        allowed = 1e-5 * np.abs(value.numpy()).max() + 1e-7
        assert np.abs(weights[name].numpy() - value.numpy()).max() < allowed, name


def test_orders_reach_all(several: None, bars: Path, tmp_path: Path, capfd: Any) -> None:
    name = model(tmp_path / "code", "print('the model speaks')")
    recorded = RecordedTraining(
        data=str(bars),
        model=name,
        static=False,
        epochs=60,
        batch_size=20,
        workers=2,
        on_divergence="stop",
        out=str(tmp_path / "run"),
        checkpoint_every=0,
        orders={5: "pause", 30: "stop_early"},
    )

    def hold(event: Any) -> None:
        if event["event"] == "paused" and not recorded.of("resumed"):
            if "asked" not in [each["reason"] for each in recorded.of("checkpoint")]:
                recorded.run.checkpoint_now()
        elif event["event"] == "checkpoint" and event["reason"] == "asked":
            recorded.run.resume()

    recorded.run.listeners.append(hold)
    result = recorded.run.run()
    assert (result.outcome, result.reason) == ("stopped", "early")
    assert 30 <= result.step < 600
    kinds = [event["event"] for event in recorded.events]
    assert kinds.index("paused") < kinds.index("resumed") < kinds.index("stopping")
    asked = next(event for event in recorded.of("checkpoint") if event["reason"] == "asked")
    assert asked["step"] == recorded.of("paused")[0]["step"]  # of a pause between test images too
    assert "rank 1: the model speaks" in capfd.readouterr().out
    # The weights are those of the best checkpoint, as in one process.
    best = np.asarray(recorded.run.network.state_dict()["last.weight"].numpy())
    from engine.files.checkpoint import read_checkpoint

    saved = read_checkpoint(tmp_path / "run" / "checkpoints" / "best.h5")
    assert np.array_equal(best, saved["model"]["last.weight"])


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_killed_rank_ends_all_and_the_run_continues(several: None, bars: Path, tmp_path: Path) -> None:
    name = model(tmp_path / "code", "os.kill(os.getpid(), signal.SIGKILL)")
    out = tmp_path / "run"
    settings: dict[str, Any] = {
        "data": str(bars),
        "model": name,
        "static": False,
        "epochs": 1,
        "batch_size": 10,
        "out": str(out),
        "checkpoint_every": 4,
    }
    killed = RecordedTraining(**settings, workers=2)
    with pytest.raises(WorkerError) as error:
        killed.run.run()
    assert str(error.value) == (
        "workers: rank 1 of 2 was killed from outside: signal SIGKILL; the others ended with it; resume from "
        "the last checkpoint"
    )
    assert [event["message"] for event in killed.of("failed")] == [str(error.value)]
    assert is_interruption(killed.of("failed")[0])
    assert "failed" not in [event["event"] for event in journal(out)]
    assert list_checkpoints(out / "checkpoints")[-1].step == 8
    again = RecordedTraining(**settings, resume=True)
    assert again.run.run().step == 20
    assert [event["step"] for event in journal(out) if event["event"] == "step"] == list(range(1, 21))


def test_an_error_of_one_rank_is_written_down(several: None, bars: Path, tmp_path: Path) -> None:
    name = model(tmp_path / "code", "raise ValueError('not this image')")
    out = tmp_path / "run"
    failing = RecordedTraining(
        data=str(bars), model=name, static=False, batch_size=10, workers=2, out=str(out)
    )
    with pytest.raises(ValueError, match="not this image") as error:
        failing.run.run()
    problem = describe_problem(error.value)
    assert (problem.error, Path(problem.file).name, problem.line) == ("ValueError", "net.py", 16)
    last = journal(out)[-1]
    assert (last["event"], last["message"], last["line"]) == ("failed", "not this image", 16)
    assert failing.events[-1]["event"] == "failed"
    assert (out / "run.lock").exists() is False


def test_every_rank_takes_compiled_kernels(several: None, bars: Path, tmp_path: Path) -> None:
    pytest.importorskip("llvmlite", reason="needs llvmlite")
    seen = tmp_path / "seen"
    write = f"open({str(seen)!r}, 'w').write(f'{{gate.get().is_open}}')"
    look = f"from engine.kernels.choice import gate; {write}"
    RecordedTraining(
        data=str(bars),
        model=model(tmp_path, look),
        batch_size=8,
        static=False,
        kernels="fast",
        workers=2,
        out=str(tmp_path / "run"),
    ).run.run()
    assert seen.read_text() == "True"


def test_every_rank_of_a_resumed_training_takes_the_recorded_kernels(
    several: None, bars: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    pytest.importorskip("llvmlite", reason="needs llvmlite")
    seen, out = tmp_path / "seen", tmp_path / "run"
    write = f"open({str(seen)!r}, 'a').write(f'{{kernels.get()}} {{gate.get().is_open}},')"
    settings: dict[str, Any] = {
        "data": str(bars),
        "model": model(tmp_path, f"from engine.kernels.choice import gate, kernels; {write}"),
        "batch_size": 8,
        "static": False,
        "epochs": 1,
        "workers": 2,
        "out": str(out),
    }
    monkeypatch.setenv("MODEL_STUDIO_KERNELS", "numpy")
    RecordedTraining(**settings).run.run()
    monkeypatch.delenv("MODEL_STUDIO_KERNELS")
    TrainingRun.from_folder(out, epochs=2).run()
    assert seen.read_text() == "numpy False,numpy False,"


def test_errors_before_the_first_step_are_those_of_one_process(several: None, tmp_path: Path) -> None:
    failing = RecordedTraining(data="nowhere", workers=2, out=str(tmp_path / "run"))
    with pytest.raises(ArgumentError, match="data: no such data: got 'nowhere'"):
        failing.run.run()
    assert len(failing.of("failed")) == 1


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_the_ranks_end_with_the_process_that_started_them(several: None, bars: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    script = tmp_path / "start.py"
    script.write_text(
        "import sys\n"
        "from engine.training import TrainingConfig, TrainingRun\n"
        f"config = TrainingConfig(data={str(bars)!r}, model='linear', epochs=100000, workers=2,\n"
        f"                        out={str(out)!r}, checkpoint_every=0, max_size=100)\n"
        "TrainingRun(config, [lambda event: print(event['event'], flush=True)]).run()\n",
        encoding="utf-8",
    )
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
    )
    assert parent.stdout is not None
    with parent.stdout as lines:
        for line in lines:
            if line == "steps\n":
                break
        ranks = processes_with(str(tmp_path))
        assert len(ranks) >= 2
        parent.kill()
        parent.wait()
    for pid in ranks:
        wait_for_end(pid)
    reported = journal(out)
    assert (reported[-1]["event"], reported[-1]["reason"]) == ("stopped", "interrupted")
    assert list_checkpoints(out / "checkpoints")[-1].step == reported[-1]["step"]


def processes_with(text: str) -> list[int]:
    """The processes whose command line has ``text``: those that a test has started."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            try:
                words = (place / "cmdline").read_bytes()
            except OSError:
                continue
            if text.encode() in words and b"engine.training.team.rank" in words:
                found.append(int(place.name))
    return found


def wait_for_end(pid: int) -> None:
    """Wait until a process that is not our child has ended; pytest's limit ends a vain wait."""
    try:
        descriptor = os.pidfd_open(pid, 0)
    except (OSError, AttributeError):
        return
    import select

    select.select([descriptor], [], [])
    os.close(descriptor)


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    recorded = RecordedTraining(workers=2, out=str(tmp_path / "run"))
    with pytest.raises(
        DeviceError, match=r"mpi4py is not installed; pip install 'model-studio\[distributed\]'"
    ):
        recorded.run.run()
    assert not (tmp_path / "run").exists()


def test_more_workers_than_find_memory_are_refused(several: None, monkeypatch: Any) -> None:
    monkeypatch.setattr("engine.training.team.processes.available", lambda: 400_000_000)
    with pytest.raises(LimitError, match="3 processes of at least 150 MB take 450 MB, 400 MB are available"):
        RecordedTraining(workers=3).run.run()


def test_more_workers_than_images_in_a_batch_are_refused() -> None:
    said = problems({"workers": 9, "batch_size": 8})["workers"]
    assert said.endswith("got 9 workers for batches of 8; give at most 8, or a larger batch")
    assert problems({"workers": 8, "batch_size": 8}) == {}
    with pytest.raises(ArgumentError, match=r"TrainingConfig.workers: each needs an image"):
        TrainingConfig(workers=9, batch_size=8)


def test_mpiexec_that_is_absent_is_reported(monkeypatch: Any) -> None:
    pytest.importorskip("mpi4py", exc_type=ImportError)
    monkeypatch.setattr("shutil.which", lambda *words, **more: None)
    with pytest.raises(DeviceError, match="found no mpiexec; pip install"):
        mpi.require()


def test_several_inputs_are_shared_too(several: None, tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "data": several_inputs.write_data(tmp_path / "three.npz"),
        "input_name": several_inputs.NAMES,
        "model": f"{several_inputs.write_models(tmp_path, dropout=0.0)}:Three",
        "batch_size": 7,  # the last of an epoch has 6
        "epochs": 3,
        "normalize": "statistics",
    }
    whole, shared = RecordedTraining(**settings), RecordedTraining(**settings, workers=2)
    results = [each.run.run() for each in (whole, shared)]
    same_curve(whole.losses(), shared.losses())
    assert results[0].validation_accuracy == results[1].validation_accuracy
