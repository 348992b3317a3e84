"""TrainingRun with the real engine: resumes bit for bit, static equals eager, evaluation disturbs nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError, FormatError, ShapeError
from engine.core.random.generator import default_generator
from engine.files.checkpoint import list_checkpoints, read_checkpoint
from engine.files.native.container import write_container
from engine.kernels.cpu.threads import get_num_threads
from engine.training import TrainingConfig, TrainingRun
from engine.training.exporting.export import export_run
from engine.training.measuring.evaluation import HARDEST
from engine.training.network.describe import fitted_to_data
from resources.settings.export import ExportSettings

NOISY = '''"""A model with everything that has state: dropout, running statistics, NumPy's random numbers."""

import numpy as np

import engine
import engine.nn.functional as F
from engine import nn


class Noisy(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 4, 3, stride=2)
        self.norm = nn.BatchNorm2D(4)
        self.linear = nn.Linear(4 * 13 * 13, 10)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x)))
        x = engine.flatten(x, 1)
        x = F.dropout(x, 0.3, training=self.training)
        return self.linear(x)
'''


@pytest.fixture
def noisy(tmp_path: Path) -> str:
    file = tmp_path / "noisy.py"
    file.write_text(NOISY)
    return f"{file}:Noisy"


def train(
    config: TrainingConfig, stop_at: int = 0, resume: Any = False
) -> tuple[TrainingRun, list[dict[str, Any]]]:
    """Run to the end, or interrupt after ``stop_at`` steps; returns the run and its events."""
    events: list[dict[str, Any]] = []
    run = TrainingRun(config, [events.append], resume=resume)
    if stop_at:
        made = run._make_parts

        def parts(*arguments: Any) -> Any:
            found = made(*arguments)
            real = found.stepper.train

            def step(*words: Any) -> Any:
                result = real(*words)
                if run.progress.step + 1 == stop_at:
                    run.interrupt()
                return result

            found.stepper.train = step
            return found

        run._make_parts = parts
    run.run()
    return run, events


def weights(run: TrainingRun) -> dict[str, np.ndarray]:
    return {name: value.numpy() for name, value in run.network.state_dict().items()}


def losses(events: list[dict[str, Any]]) -> list[float]:
    return [loss for event in events if event["event"] == "steps" for loss in event["losses"]]


def assert_same_bits(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert value.tobytes() == other[name].tobytes(), name


@pytest.mark.parametrize("static", [True, False], ids=["static", "eager"])
@pytest.mark.parametrize("model", ["linear", "noisy"])
@pytest.mark.parametrize("stop_at", [3, 7, 9])
def test_a_resumed_run_ends_bit_equal(
    model: str, static: bool, stop_at: int, noisy: str, bars: Path, tmp_path: Path
) -> None:
    # Seven steps an epoch: 3 is within the first, 7 at its end before the evaluation, 9 within the second.
    name = noisy if model == "noisy" else model
    config = TrainingConfig(str(bars), name, batch_size=32, epochs=2, seed=3, static=static)
    whole, events = train(config)
    parts = config.changed(out=str(tmp_path / "run"))
    _, first = train(parts, stop_at=stop_at)
    assert first[-1]["reason"] == "interrupted"
    resumed, second = train(parts, resume=True)
    assert second[0]["step"] == stop_at
    assert_same_bits(weights(resumed), weights(whole))
    assert losses(first) + losses(second) == losses(events)
    assert second[-1]["validation_accuracy"] == events[-1]["validation_accuracy"]


def test_a_checkpoint_of_an_earlier_release_continues(noisy: str, bars: Path, tmp_path: Path) -> None:
    """Version 1: the two numbers of the counter-based generator, which drew the order of the data too."""
    config = TrainingConfig(str(bars), noisy, batch_size=32, epochs=2, seed=3)
    parts = config.changed(out=str(tmp_path / "run"))
    default_generator().manual_seed(0, "philox")
    try:
        whole, events = train(config)
        _, first = train(parts, stop_at=9)
    finally:
        default_generator().manual_seed(0, "mt19937_64")
    entry = list_checkpoints(tmp_path / "run" / "checkpoints")[-1]
    tree = read_checkpoint(entry.path)
    del tree["random"]["engine"]["kind"]
    del tree["loader"]["numpy"]
    tree["loader"].update(tree["loader"].pop("engine"))
    del tree["loader"]["kind"]
    assert sorted(tree["loader"]) == ["batches", "offset", "position", "running", "seed"]
    write_container(entry.path, "checkpoint", 1, tree)
    try:
        resumed, second = train(parts, resume=True)
    finally:
        default_generator().manual_seed(0, "mt19937_64")
    assert second[0]["step"] == 9
    assert_same_bits(weights(resumed), weights(whole))
    assert losses(first) + losses(second) == losses(events)


CHOSEN: dict[str, dict[str, Any]] = {
    "momentum, cosine": {
        "optimizer": "momentum",
        "optimizer_params": {"momentum": 0.8, "weight_decay": 1e-3},
        "schedule": "cosine_annealing_decay",
        "schedule_each": "batch",
        "clip_norm": 1.0,
    },
    "rmsprop, warm-up": {
        "optimizer": "rmsprop",
        "optimizer_params": {"centered": True, "momentum": 0.5},
        "schedule": "linear_warmup",
        "schedule_params": {"warmup_steps": 10},
    },
    "adamax, restarts": {
        "optimizer": "adamax",
        "schedule": "cosine_annealing_warm_restarts",
        "schedule_each": "batch",
        "schedule_params": {"T_0": 3, "T_mult": 2},
    },
    "adagrad, milestones": {
        "optimizer": "adagrad",
        "schedule": "multi_step_decay",
        "schedule_each": "batch",
        "schedule_params": {"milestones": [2, 8], "gamma": 0.5},
    },
    "lamb, plateau": {
        "optimizer": "lamb",
        "schedule": "reduce_on_plateau",
        "schedule_params": {"patience": 0, "threshold": 10.0, "threshold_mode": "abs"},
    },
    "adadelta, linear": {"optimizer": "adadelta", "schedule": "linear_lr", "learning_rate": 1.0},
    "lbfgs, cycle": {
        "optimizer": "lbfgs",
        "optimizer_params": {"max_iter": 3, "history_size": 2},
        "schedule": "one_cycle_lr",
        "learning_rate": 0.1,
    },
}


@pytest.mark.parametrize("stop_at", [3, 7, 9])
@pytest.mark.parametrize("chosen", CHOSEN)
def test_optimizers_and_schedules_resume_bit_equal(
    chosen: str, stop_at: int, bars: Path, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"learning_rate": 0.01, **CHOSEN[chosen]}
    config = TrainingConfig(str(bars), model="linear", batch_size=32, epochs=2, seed=3, **settings)
    whole, events = train(config)
    parts = config.changed(out=str(tmp_path / "run"))
    train(parts, stop_at=stop_at)
    # Everything from the folder, as the command line and the window do it.
    resumed = TrainingRun.from_folder(tmp_path / "run")
    resumed.run()
    # A run records how many threads its setting 0, all of them, came to.
    assert resumed.config == fitted_to_data(parts).changed(threads=get_num_threads())
    assert_same_bits(weights(resumed), weights(whole))
    assert resumed._parts.stepper.learning_rate == whole._parts.stepper.learning_rate
    found = losses(events)  # seven steps an epoch
    assert np.mean(found[7:]) < np.mean(found[:7])


def test_a_plateau_lowers_the_rate_of_the_run(bars: Path) -> None:
    chosen = CHOSEN["lamb, plateau"]
    run, _ = train(TrainingConfig(str(bars), model="linear", batch_size=100, epochs=4, **chosen))
    assert run._parts.stepper.learning_rate == pytest.approx(
        1e-3 * 0.1**3
    )  # after the first epoch all fail to be better by 10


def test_clipping_changes_what_is_learned(bars: Path) -> None:
    config = TrainingConfig(str(bars), model="linear", batch_size=100, epochs=1, optimizer="sgd")
    free, _ = train(config)
    tight, _ = train(config.changed(clip_norm=1e-9))
    start, _ = train(config.changed(learning_rate=1e-12))
    moved = [
        max(float(np.abs(weights(run)[name] - value).max()) for name, value in weights(start).items())
        for run in (free, tight)
    ]
    assert moved[0] > 1e-6 > moved[1]


def test_every_checkpoint_leads_to_the_same_end(noisy: str, bars: Path, tmp_path: Path) -> None:
    config = TrainingConfig(
        str(bars), noisy, batch_size=50, epochs=2, checkpoint_every=1, keep=99, out=str(tmp_path / "run")
    )
    whole, _ = train(config)
    expected = weights(whole)
    entries = list_checkpoints(tmp_path / "run" / "checkpoints")
    assert [entry.step for entry in entries] == list(range(9))
    for entry in entries:
        resumed, _ = train(config, resume=entry.path)
        assert_same_bits(weights(resumed), expected)


def test_static_and_eager_give_the_same_losses(bars: Path) -> None:
    config = TrainingConfig(str(bars), model="lenet", batch_size=20, epochs=2, seed=1)
    _, static = train(config)
    _, eager = train(config.changed(static=False))
    assert losses(static) == pytest.approx(losses(eager), rel=1e-5)
    assert losses(static)[-1] < losses(static)[0]


@pytest.mark.parametrize("static", [True, False], ids=["static", "eager"])
def test_evaluation_does_not_disturb_the_training(static: bool, noisy: str, bars: Path) -> None:
    config = TrainingConfig(str(bars), noisy, batch_size=20, epochs=2, static=static)
    plain, _ = train(config)
    run: TrainingRun

    def meddle(event: dict[str, Any]) -> None:
        if event["event"] == "steps":
            parts = run._parts
            parts.stepper.evaluate(parts.test_batches, 10)
            assert parts.stepper.network.training

    run = TrainingRun(config, [meddle], clock=_hurried())
    run.run()
    assert_same_bits(weights(run), weights(plain))


def _hurried() -> Callable[[], float]:
    """A clock by which every step takes so long that it is reported."""
    now = [0.0]

    def clock() -> float:
        now[0] += 1.0
        return now[0]

    return clock


def test_the_seed_fixes_everything(noisy: str, bars: Path) -> None:
    config = TrainingConfig(str(bars), noisy, batch_size=50, seed=11)
    one, first = train(config)
    other, second = train(config)
    _, third = train(config.changed(seed=12))
    assert_same_bits(weights(one), weights(other))
    assert losses(first) == losses(second) != losses(third)


def test_an_epoch_measures_loss_accuracy_and_confusion(bars: Path) -> None:
    _, events = train(TrainingConfig(str(bars), model="linear", batch_size=20, epochs=3, learning_rate=0.01))
    epoch = [event for event in events if event["event"] == "epoch"][-1]
    confusion = np.array(epoch["confusion"])
    assert confusion.shape == (10, 10)
    assert confusion.sum() == 50
    assert np.trace(confusion) / 50 == epoch["validation_accuracy"] > 0.9
    probabilities = [hard["probability"] for hard in epoch["hardest"]]
    assert len(probabilities) == HARDEST
    assert probabilities == sorted(probabilities)
    assert epoch["pictures"].shape == (HARDEST, 28, 28)
    assert epoch["pictures"].dtype == np.uint8
    started = events[0]
    assert (started["parameters"], started["train_samples"], started["test_samples"]) == (7850, 200, 50)


def user_model(tmp_path: Path, forward: str) -> str:
    file = tmp_path / "mine.py"
    lines = [
        '"""A model of a user."""',
        "import engine",
        "from engine import nn",
        "class Mine(nn.Layer):",
        "    def __init__(self):",
        "        super().__init__()",
        "        self.linear = nn.Linear(100, 10)",
        "    def forward(self, x):",
        "        x = engine.flatten(x, 1)",
        f"        return {forward}",
    ]
    file.write_text("\n".join(lines) + "\n")
    return f"{file}:Mine"


@pytest.mark.parametrize("static", [True, False], ids=["static", "eager"])
def test_a_shape_mismatch_names_the_users_line(static: bool, bars: Path, tmp_path: Path) -> None:
    model = user_model(tmp_path, "self.linear(x)")
    events: list[dict[str, Any]] = []
    with pytest.raises(ShapeError):
        TrainingRun(TrainingConfig(str(bars), model, static=static), [events.append]).run()
    failed = events[-1]
    assert (failed["event"], failed["error"]) == ("failed", "ShapeError")
    assert (failed["file"], failed["line"]) == (str(tmp_path / "mine.py"), 10)
    assert "784" in failed["what"]
    assert "100" in failed["what"]
    assert failed["do"]
    assert f'> File "{tmp_path / "mine.py"}", line 10, in forward' in failed["traceback"]


def test_an_output_that_does_not_fit_the_classes_is_refused(bars: Path, tmp_path: Path) -> None:
    model = user_model(tmp_path, "x[:, :3]")
    with pytest.raises(ArgumentError, match=r"shape \[1, 3\] for 1 images of 10 classes; end the model"):
        TrainingRun(TrainingConfig(str(bars), model)).run()


def test_a_run_keeps_its_own_copy_of_the_code(bars: Path, tmp_path: Path) -> None:
    model = user_model(tmp_path, "self.linear(x[:, :100])")
    config = TrainingConfig(str(bars), model, batch_size=100, epochs=1, out=str(tmp_path / "run"))
    whole, _ = train(config.changed(epochs=2, out=""))
    train(config)
    (tmp_path / "mine.py").write_text("raise RuntimeError('the original is not asked again')\n")
    resumed, _ = train(config.changed(epochs=2), resume=True)
    assert_same_bits(weights(resumed), weights(whole))


@pytest.mark.parametrize("checkpoint", ["best", "last"])
def test_an_export_is_checked_in_a_clean_process(
    checkpoint: str, noisy: str, bars: Path, tmp_path: Path
) -> None:
    config = TrainingConfig(str(bars), noisy, batch_size=20, epochs=2, out=str(tmp_path / "run"))
    train(config)
    stages: list[str] = []
    event = export_run(
        tmp_path / "run",
        str(tmp_path / "out" / "net"),
        ExportSettings(checkpoint, samples=20),
        emit=lambda received: stages.append(received["stage"]),
    )
    assert event["difference"] < 1e-5
    assert event["samples"] == 20
    assert sorted(event["sizes"]) == ["net.pdiparams", "net.pdiparams.info", "net.pdmodel"]
    assert event["latency"] > 0
    assert stages == ["read", "save", "verify"]


def test_files_that_fail_their_check_are_not_exported(
    bars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = TrainingConfig(str(bars), model="linear", batch_size=100, epochs=1, out=str(tmp_path / "run"))
    train(config)
    out = tmp_path / "out"
    for name, value, words in (
        ("VERIFY_SECONDS", 0.0, "loading the files took over"),
        ("sys.executable", shutil.which("false"), "the files don't load in a clean process"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(f"engine.training.exporting.check.{name}", value)
            with pytest.raises(FormatError, match=f"export {out}/net: nothing was exported: {words}"):
                export_run(tmp_path / "run", str(out / "net"), ExportSettings(samples=5))
        assert list(out.iterdir()) == []
    (out / f".net.{'0' * 16}.work").mkdir()
    (out / f".net.{'0' * 16}.work" / "lock").write_text("of a killed export")
    export_run(tmp_path / "run", str(out / "net"), ExportSettings(samples=5))
    assert sorted(path.name for path in out.iterdir()) == [
        "net.pdiparams",
        "net.pdiparams.info",
        "net.pdmodel",
    ]


@pytest.mark.parametrize("static", [True, False], ids=["static", "eager"])
def test_a_rate_far_too_large_is_reported_and_the_last_good_checkpoint_kept(
    static: bool, bars: Path, tmp_path: Path
) -> None:
    config = TrainingConfig(
        str(bars),
        "cnn",
        optimizer="sgd",
        learning_rate=1e30,
        batch_size=20,
        static=static,
        out=str(tmp_path / "run"),
    )
    _, events = train(config)
    (diverged,) = (event for event in events if event["event"] == "diverged")
    assert diverged["step"] <= 3
    assert not np.isfinite(diverged["loss"])
    assert "learning rate 1e+30" in diverged["message"]
    assert Path(diverged["checkpoint"]).is_file()
    assert events[-1]["reason"] == "diverged"


def test_an_export_without_the_data_is_checked_on_noise(bars: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bars"
    shutil.copytree(bars, folder)
    config = TrainingConfig(str(folder), model="linear", batch_size=100, out=str(tmp_path / "run"))
    train(config)
    shutil.rmtree(folder)
    event = export_run(tmp_path / "run", str(tmp_path / "net"), ExportSettings(samples=5))
    assert (event["pictures"], event["samples"]) == ("noise", 5)
    assert np.isnan(event["accuracy"])
    assert event["difference"] < 1e-5
