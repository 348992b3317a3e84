"""The table of exit codes and lines in docs/guide/exit-codes.md: each row is carried out."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from engine import jit, nn
from engine.files import installation
from engine.files import space as disk
from engine.files.checkpoint import list_checkpoints, write_checkpoint
from engine.jit.input_spec import InputSpec
from engine.static.nn import cond
from engine.training.checkpoint_keeper import CheckpointKeeper
from engine.training.stepper import Stepper
from resources.locks import LOCK_NAME, Lock, take
from studio.cli import app
from studio.session import display
from studio.session.sweep.pool import Job
from studio.session.sweep.runner import lock_sweep
from tests.robust import strangers
from tests.studio.conftest import bars, write_idx  # noqa: F401  (the fixture)
from tests.studio.forked import Victim
from tests.studio.session.sweep.inside import InsidePool

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "exit-codes.md"
MODEL = """
import engine
from engine import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(784, 10)

    def forward(self, x):
        return self.linear(engine.flatten(x, 1))
"""


@dataclass(frozen=True)
class Row:
    """A row of the table; in ``line`` three dots stand for any text, and an empty one for nothing."""

    command: str
    case: str
    code: int
    line: str

    def says(self, text: str) -> bool:
        """Whether ``text`` is what the row has; a frame around it and its line breaks do not count."""
        words = " ".join(re.sub("[│╭╮╰╯─]", " ", text).split())
        parts = " ".join(self.line.split()).split("...")
        return re.fullmatch(r".*".join(map(re.escape, parts)), words) is not None


def rows() -> list[Row]:
    found = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split(" | ")]
        if line.startswith("|") and len(cells) == 4 and cells[2].isdigit():
            found.append(Row(cells[0].strip("`"), cells[1], int(cells[2]), cells[3].strip("`")))
    return found


@dataclass
class Place:
    """Where a case is set up: a folder of its own, data, a run and a saved model to be copied and spoilt."""

    tmp: Path
    data: Path
    patch: pytest.MonkeyPatch
    made: Path
    saved: Path
    around: AbstractContextManager[Any] = field(default_factory=nullcontext)

    def run(self) -> Path:
        """A copy of a finished run."""
        shutil.copytree(self.made, self.tmp / "run")
        return self.tmp / "run"

    def prefix(self) -> Path:
        """A copy of a saved model."""
        for file in self.saved.parent.iterdir():
            shutil.copy(file, self.tmp / file.name)
        return self.tmp / self.saved.name

    def picture(self) -> Path:
        pixels = np.zeros((28, 28), np.uint8)
        pixels[8:11, 4:24] = 255
        Image.fromarray(pixels).save(self.tmp / "digit.png")
        return self.tmp / "digit.png"

    def train(self, *words: str | Path) -> list[str | Path]:
        return [*self.chosen(), "--out", self.tmp / "run", *words]

    def chosen(self) -> list[str | Path]:
        """The settings of a training that takes a moment."""
        return ["train", "--data", self.data, "--model", "linear", "--epochs", "2", "--lr", "0.01"]

    def model(self, change: Callable[[str], str] = str) -> str:
        (self.tmp / "net.py").write_text(change(MODEL))
        return f"{self.tmp / 'net.py'}:Net"

    def strangers_run(self) -> Path:
        """A run with code that another installation wrote."""
        run = self.run()
        (run / "source").mkdir()
        (run / "source" / "net.py").write_text(MODEL)
        (run / "source" / "net.py").touch()
        return run

    def full_disk(self, free: float = 0) -> None:
        self.patch.setattr(disk, "free_bytes", lambda folder: free)

    def at_checkpoint(self, reason: str, act: Callable[[], object]) -> None:
        """Let ``act`` happen before the first checkpoint that is written for ``reason``."""
        real, done = CheckpointKeeper.write, []

        def write(keeper: CheckpointKeeper, tree: dict[str, Any], why: str, best: bool) -> None:
            if why == reason and not done:
                done.append(why)
                act()
            real(keeper, tree, why, best)

        self.patch.setattr(CheckpointKeeper, "write", write)


# Where the tests run under nohup a hangup is ignored, and stays so.
HANGUP = getattr(signal, "SIGHUP", signal.SIGTERM)
if signal.getsignal(HANGUP) == signal.SIG_IGN:
    HANGUP = signal.SIGTERM

Words: TypeAlias = list[str | Path]
CASES: dict[tuple[str, str], Callable[[Place], Words]] = {}


def case(command: str, text: str) -> Callable[[Callable[[Place], Words]], Callable[[Place], Words]]:
    def add(setup: Callable[[Place], Words]) -> Callable[[Place], Words]:
        assert (command, text) not in CASES
        CASES[command, text] = setup
        return setup

    return add


# ----- any command -----


@case("any", "done, `--help`, `--version`")
def _(place: Place) -> Words:
    return ["--version"]


@case("any", "no such command")
def _(place: Place) -> Words:
    return ["fly"]


@case("any", "no such option, or one with a wrong value")
def _(place: Place) -> Words:
    return ["train", "--optimizer", "adamm"]


@case("any", "an argument is missing")
def _(place: Place) -> Words:
    return ["predict", "model"]


@case("any", "Ctrl+C, SIGTERM or a closed terminal, but for a training or a launch under way")
def _(place: Place) -> Words:
    place.patch.setattr("engine.training.export.export_run", lambda *_, **__: signal.raise_signal(HANGUP))
    return ["export", place.run()]


@case("any", "the reader of standard output is gone (`\\| head`), but for a training")
def _(place: Place) -> Words:
    def gone(*_: object, **__: object) -> None:
        raise BrokenPipeError

    place.patch.setattr("studio.session.inspecting.describe_model", gone)
    return ["inspect", place.prefix()]


@case("any", "standard output finds no room (`> FILE` on a full disk), but for a training")
def _(place: Place) -> Words:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    place.patch.setattr("studio.cli.models.emit_json", full)
    return ["inspect", place.prefix(), "--json"]


# ----- the window -----


@case("(the window)", "no display")
def _(place: Place) -> Words:
    place.patch.setattr(display, "display_problem", lambda: "neither DISPLAY nor WAYLAND_DISPLAY is set")
    return []


@case("(the window)", "PySide6 is not installed")
def _(place: Place) -> Words:
    place.patch.setattr(display.importlib.util, "find_spec", lambda name: None)
    return []


# ----- train -----


@case("train", "no such data")
def _(place: Place) -> Words:
    return ["train", "--data", "nowhere", "--out", place.tmp / "run"]


@case("train", "a file of the data is damaged")
def _(place: Place) -> Words:
    shutil.copytree(place.data, place.tmp / "data")
    path = place.tmp / "data" / "train-labels-idx1-ubyte"
    path.write_bytes(path.read_bytes()[:-5])
    return place.train("--data", place.tmp / "data")


@case("train", "the test pictures are no pictures like those to train on")
def _(place: Place) -> Words:
    shutil.copytree(place.data, place.tmp / "data")
    write_idx(place.tmp / "data" / "t10k-images-idx3-ubyte", np.zeros((50, 28, 20)))
    return place.train("--data", place.tmp / "data")


@case("train", "no such model, or no such file")
def _(place: Place) -> Words:
    return place.train("--model", place.tmp / "net.py:Net")


@case("train", "the model's code fails")
def _(place: Place) -> Words:
    return place.train("--model", place.model(lambda text: text.replace("784", "700")))


@case("train", "the model does not fit the data")
def _(place: Place) -> Words:
    return place.train("--model", place.model(lambda text: text.replace("10)", "7)")))


@case("train", "the device is not there, or needs an extra that is not installed")
def _(place: Place) -> Words:
    return place.train("--device", "gpu")


@case("train", "not enough memory")
def _(place: Place) -> Words:
    def train(*_: object) -> None:
        raise MemoryError

    place.patch.setattr(Stepper, "train", train)
    return place.train()


@case("train", "`--out` holds a run")
def _(place: Place) -> Words:
    return place.train("--out", place.run())


@case("train", "a training goes on in `--out`")
def _(place: Place) -> Words:
    lock = take(place.run() / LOCK_NAME)
    assert isinstance(lock, Lock)
    place.around = _released(lock)
    return ["train", "--resume", "--out", place.tmp / "run"]


class _released(AbstractContextManager[None]):
    def __init__(self, lock: Lock) -> None:
        self._lock = lock

    def __exit__(self, *_: object) -> None:
        self._lock.release()


@case("train", "`--out` can't be written")
def _(place: Place) -> Words:
    (place.tmp / "file").touch()
    return place.train("--out", place.tmp / "file" / "run")


@case("train", "the loss is no longer a number")
def _(place: Place) -> Words:
    place.patch.setattr(Stepper, "train", lambda *_: (float("nan"), 0.1))
    return place.train()


@case("train", "the disk is full at the end of the training")
def _(place: Place) -> Words:
    place.at_checkpoint("epoch", place.full_disk)
    return place.train()


@case("train", "`--max-size` can't hold the last and the best checkpoint")
def _(place: Place) -> Words:
    return place.train("--max-size", "1")


@case("train", "Ctrl+C, SIGTERM or a closed terminal")
def _(place: Place) -> Words:
    place.at_checkpoint("epoch", lambda: signal.raise_signal(HANGUP))
    return place.train()


@case("train", "a second one while the last checkpoint is being written")
def _(place: Place) -> Words:
    place.at_checkpoint("epoch", lambda: signal.raise_signal(signal.SIGTERM))
    first = CheckpointKeeper.write

    def write(keeper: CheckpointKeeper, tree: dict[str, Any], why: str, best: bool) -> None:
        if why == "stop":
            signal.raise_signal(signal.SIGINT)
        first(keeper, tree, why, best)

    place.patch.setattr(CheckpointKeeper, "write", write)
    return place.train()


@case("train", "the reader of standard output is gone (`\\| head`)")
def _(place: Place) -> Words:
    def gone(*_: object) -> None:
        raise BrokenPipeError

    place.patch.setattr("studio.cli.train_command.Watcher.on_event", gone)
    return place.train()


@case("train", "standard output finds no room: the training goes on")
def _(place: Place) -> Words:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    place.patch.setattr("studio.cli.train_command.Watcher.on_event", full)
    return place.train()


@case("train", "more `--workers` than pictures in a batch")
def _(place: Place) -> Words:
    return place.train("--workers", "9", "--batch-size", "8")


@case("train", "`--workers 2` without the extra")
def _(place: Place) -> Words:
    place.patch.setattr("importlib.util.find_spec", lambda name: None)
    return place.train("--workers", "2")


@case("train", "more `--workers` than find memory")
def _(place: Place) -> Words:
    pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
    place.patch.setattr("engine.training.processes.available", lambda: 200_000_000)
    return place.train("--workers", "2")


@case("train", "one of several workers is ended by a signal")
def _(place: Place) -> Words:
    pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
    end = "if os.environ['PADDLE_TRAINER_ID'] == '1': os.kill(os.getpid(), 9)\n        "
    code = place.model(lambda text: "import os\n" + text.replace("return", end + "return"))
    return place.train("--model", code, "--workers", "2", "--eager")


# ----- train --resume -----


@case("train --resume", "no `--out`")
def _(place: Place) -> Words:
    return ["train", "--resume"]


@case("train --resume", "a setting that would make it another run")
def _(place: Place) -> Words:
    return ["train", "--resume", "--out", place.run(), "--seed", "7"]


@case("train --resume", "no checkpoint, or none that is sound")
def _(place: Place) -> Words:
    for entry in list_checkpoints(place.run() / "checkpoints"):
        entry.path.write_bytes(b"\x89HDF" + entry.path.read_bytes()[4:])
    return ["train", "--resume", "--out", place.tmp / "run"]


@case("train --resume", "the run is a `fit` of a script")
def _(place: Place) -> Words:
    write_checkpoint(place.tmp / "run" / "checkpoints", 1, {"config": {"kind": "fit", "script": "a.py"}})
    return ["train", "--resume", "--out", place.tmp / "run"]


@case("train --resume, export", "the run's code was written by another installation")
def _(place: Place) -> Words:
    return ["export", place.strangers_run()]


@case("train --resume, export", "a link leads out of the run")
def _(place: Place) -> Words:
    run = place.run()
    (run / "journal.jsonl").rename(place.tmp / "journal.jsonl")
    (run / "journal.jsonl").symlink_to(place.tmp / "journal.jsonl")
    return ["train", "--resume", "--out", run]


# ----- sweep -----


def trained_here(place: Place, end: Callable[[Job], tuple[int, str] | None] = lambda job: None) -> None:
    """Trials are trained in this process, or end as ``end`` says."""
    place.patch.setattr("studio.cli.sweeping._pool", lambda *_: InsidePool(end))


def sweep(place: Place, *words: str | Path) -> Words:
    return ["sweep", *place.chosen()[1:], "--out", place.tmp / "sweep", *words]


def swept(place: Place, *words: str | Path) -> Path:
    """The folder of a finished sweep of one trial."""
    trained_here(place)
    done = CliRunner().invoke(app, [str(word) for word in sweep(place, "--param", "seed=1", *words)])
    assert done.exit_code == 0, done.output
    return place.tmp / "sweep"


@case("sweep", "nothing to vary")
def _(place: Place) -> Words:
    return sweep(place)


@case("sweep", "a parameter that no training has")
def _(place: Place) -> Words:
    return sweep(place, "--param", "lrate=0.1")


@case("sweep", "a value or a combination that no training takes: none is begun")
def _(place: Place) -> Words:
    return sweep(place, "--clip-norm", "1", "--param", "optimizer=adam,lbfgs")


@case("sweep", "no such data")
def _(place: Place) -> Words:
    return sweep(place, "--data", "nowhere", "--param", "seed=1,2")


@case("sweep", "a trial fails or is killed; the others are trained")
def _(place: Place) -> Words:
    trained_here(place, lambda job: (-9, "") if job.number == 1 else None)
    return sweep(place, "--param", "seed=1,2")


@case("sweep", "the loss of every trial is no longer a number")
def _(place: Place) -> Words:
    trained_here(place)
    place.patch.setattr(Stepper, "train", lambda *_: (float("nan"), 0.1))
    return sweep(place, "--param", "seed=1")


@case("sweep", "Ctrl+C, SIGTERM or a closed terminal")
def _(place: Place) -> Words:
    def end(job: Job) -> tuple[int, str]:
        signal.raise_signal(HANGUP)
        return 1, "stopped at step 4; ..."

    trained_here(place, end)
    return sweep(place, "--param", "seed=1,2")


@case("sweep", "`--out` holds a sweep")
def _(place: Place) -> Words:
    return ["sweep", "--out", swept(place), "--param", "seed=1"]


@case("sweep", "it goes on in `--out`")
def _(place: Place) -> Words:
    lock = lock_sweep(place.tmp / "sweep")
    place.around = _released(lock)
    return sweep(place, "--param", "seed=1")


@case("sweep --scheduler", "Dask is not installed")
def _(place: Place) -> Words:
    place.patch.delitem(sys.modules, "studio.session.sweep.cluster", raising=False)
    place.patch.setitem(sys.modules, "distributed", None)
    return sweep(place, "--param", "seed=1", "--scheduler", "tls://host:8786")


@case("sweep --scheduler", "an address without encryption")
def _(place: Place) -> Words:
    return sweep(place, "--param", "seed=1", "--scheduler", "tcp://host:8786")


@case("sweep --scheduler", "a model of one's own")
def _(place: Place) -> Words:
    return sweep(place, "--model", place.model(), "--param", "seed=1", "--scheduler", "tls://host:8786")


@case("sweep --resume", "no `--out`")
def _(place: Place) -> Words:
    return ["sweep", "--resume"]


@case("sweep --resume", "a setting that would make it another sweep")
def _(place: Place) -> Words:
    return ["sweep", "--resume", "--out", swept(place), "--lr", "7"]


@case("sweep --resume", "no sweep there, or a damaged one")
def _(place: Place) -> Words:
    return ["sweep", "--resume", "--out", place.tmp / "nowhere"]


@case("sweep --resume", "the model has changed since")
def _(place: Place) -> Words:
    swept(place, "--model", place.model())
    place.model(lambda text: text + "\n")
    return ["sweep", "--resume", "--out", place.tmp / "sweep"]


@case("sweep --resume", "a stranger's sweep trains a model of their own")
def _(place: Place) -> Words:
    file = swept(place, "--model", place.model()) / "sweep.json"
    file.write_text(re.sub('"mark": "[0-9a-f]+"', '"mark": ""', file.read_text()))
    return ["sweep", "--resume", "--out", file.parent]


# ----- profile -----


@case("profile", "no run there")
def _(place: Place) -> Words:
    return ["profile", place.tmp / "nowhere"]


@case("profile", "a setting that a run has itself")
def _(place: Place) -> Words:
    return ["profile", place.run(), "--optimizer", "sgd"]


@case("profile", "neither operators nor lines")
def _(place: Place) -> Words:
    return ["profile", "--by", "file"]


@case("profile", "the loss is no longer a number")
def _(place: Place) -> Words:
    place.patch.setattr(Stepper, "train", lambda *_: (float("nan"), 0.0))
    return ["profile", *place.chosen()[1:]]


@case("profile", "a file can't be written")
def _(place: Place) -> Words:
    (place.tmp / "file").touch()
    return ["profile", *place.chosen()[1:], "--steps", "1", "--trace", place.tmp / "file" / "trace.json"]


# ----- export -----


@case("export", "no run there")
def _(place: Place) -> Words:
    return ["export", place.tmp / "nowhere"]


@case("export", "no checkpoint of that step")
def _(place: Place) -> Words:
    return ["export", place.run(), "--step", "3"]


@case("export", "its weights are untrained")
def _(place: Place) -> Words:
    run = place.run()
    for entry in list_checkpoints(run / "checkpoints")[1:]:
        entry.path.unlink()
    return ["export", run, "--checkpoint", "last"]


@case("export", "the best weights were not saved")
def _(place: Place) -> Words:
    journal = place.run() / "journal.jsonl"
    journal.write_text(journal.read_text() + '{"event":"epoch","step":12,"best":true}\n')
    return ["export", place.tmp / "run"]


@case("export", "the files can't be written")
def _(place: Place) -> Words:
    (place.tmp / "file").touch()
    return ["export", place.run(), "--out", place.tmp / "file" / "model"]


# ----- quantize -----


@case("quantize", "an option with a value that it does not take")
def _(place: Place) -> Words:
    return ["quantize", place.prefix(), "--bits", "17"]


@case("quantize", "no such algorithm")
def _(place: Place) -> Words:
    return ["quantize", place.prefix(), "--algo", "entropy"]


@case("quantize", "`--qat` for a saved model, which has no data and no code")
def _(place: Place) -> Words:
    return ["quantize", place.prefix(), "--qat"]


@case("quantize", "no run and no saved model there")
def _(place: Place) -> Words:
    return ["quantize", place.tmp / "nowhere", "--data", "digits"]


@case("quantize", "fewer samples than asked for")
def _(place: Place) -> Words:
    return ["quantize", place.run(), "--samples", "320"]


@case("quantize", "a saved model without data that calibrates")
def _(place: Place) -> Words:
    return ["quantize", place.prefix()]


@case("quantize", "data of another shape than the model takes")
def _(place: Place) -> Words:
    np.save(place.tmp / "wide.npy", np.zeros((4, 2, 28, 28), np.float32))
    return ["quantize", place.prefix(), "--data", place.tmp / "wide.npy"]


@case("quantize", "data with NaN or infinity")
def _(place: Place) -> Words:
    values = np.zeros((4, 1, 28, 28), np.float32)
    values[2, 0, 5, 5] = np.nan
    np.save(place.tmp / "nan.npy", values)
    return ["quantize", place.prefix(), "--data", place.tmp / "nan.npy"]


@case("quantize", "`--target-drop` without labels")
def _(place: Place) -> Words:
    np.save(place.tmp / "plain.npy", np.zeros((4, 1, 28, 28), np.float32))
    return ["quantize", place.prefix(), "--data", place.tmp / "plain.npy", "--target-drop", "0.5"]


@case("quantize --qat", "the loss is no longer a number")
def _(place: Place) -> Words:
    place.patch.setattr(Stepper, "train", lambda *_: (float("nan"), 0.1))
    return ["quantize", place.run(), "--qat"]


@case("quantize", "the target is not met")
def _(place: Place) -> Words:
    place.patch.setattr("engine.quantization.sensitivity._points", lambda before, after: 30.0)
    return ["quantize", place.run(), "--target-drop", "0.5"]


@case("quantize", "`--skip` fits no layer")
def _(place: Place) -> Words:
    return ["quantize", place.run(), "--skip", "fc9"]


@case("quantize", "a model with control flow")
def _(place: Place) -> Words:
    class Branching(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            return cond(x.sum() > 0, lambda: self.linear(x), lambda: x)

    jit.save(Branching(), str(place.tmp / "flow"), input_spec=[InputSpec([None, 4], "float32", "x")])
    np.save(place.tmp / "plain.npy", np.zeros((4, 4), np.float32))
    return ["quantize", place.tmp / "flow", "--data", place.tmp / "plain.npy"]


@case("quantize", "a model that is quantized already")
def _(place: Place) -> Words:
    words = ["quantize", place.prefix(), "--weights-only", "--out", place.tmp / "small"]
    assert CliRunner().invoke(app, [str(word) for word in words]).exit_code == 0
    return ["quantize", place.tmp / "small", "--weights-only"]


@case("quantize", "the files can't be written")
def _(place: Place) -> Words:
    (place.tmp / "file").touch()
    return ["quantize", place.run(), "--out", place.tmp / "file" / "model"]


# ----- runs -----


@case("runs", "no such folder")
def _(place: Place) -> Words:
    return ["runs", "--in", place.tmp / "nowhere"]


@case("runs", "what is described is no run")
def _(place: Place) -> Words:
    return ["runs", "describe", place.tmp, "--name", "first"]


@case("runs", "a tag that is too long")
def _(place: Place) -> Words:
    return ["runs", "describe", place.run(), "--tags", "x" * 60]


@case("runs", "a run that is deleted is running")
def _(place: Place) -> Words:
    run = place.run()
    lock = take(run / LOCK_NAME)
    assert isinstance(lock, Lock)
    place.around = _released(lock)
    return ["runs", "delete", run]


# ----- predict and inspect -----


@case("predict, inspect", "no such model")
def _(place: Place) -> Words:
    return ["predict", place.tmp / "nowhere", place.picture()]


@case("predict, inspect", "a file of the model is damaged, or none of ours")
def _(place: Place) -> Words:
    path = place.prefix().with_name("bars.pdiparams")
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    return ["predict", place.tmp / "bars", place.picture()]


@case("predict, inspect", "files of two different saves")
def _(place: Place) -> Words:
    import engine
    from engine import jit, nn

    spec = [jit.input_spec.InputSpec([None, 1, 28, 28], "float32", "x")]
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
    jit.save(jit.to_static(net, input_spec=spec), str(place.tmp / "other"))
    assert engine.in_dynamic_mode()
    shutil.copy(place.tmp / "other.pdiparams", place.prefix().with_name("bars.pdiparams"))
    return ["predict", place.tmp / "bars", place.picture()]


@case("predict", "a picture is absent, or none; the others are answered")
def _(place: Place) -> Words:
    (place.tmp / "note.txt").write_text("no picture")
    return ["predict", place.prefix(), place.tmp / "note.txt", place.picture()]


@case("predict", "a stranger's model takes more time or memory than its limits")
def _(place: Place) -> Words:
    prefix = strangers.unsign(strangers.saved(strangers.Endless(), place.tmp / "endless"))
    return ["predict", prefix, place.picture(), "--seconds", "0.2"]


@case("predict", "a limit that is no number")
def _(place: Place) -> Words:
    return ["predict", place.prefix(), place.picture(), "--memory", "much"]


# ----- run -----


@case("run", "no such script")
def _(place: Place) -> Words:
    return ["run", place.tmp / "nowhere.py"]


@case("run", "the script ends with `sys.exit(3)`")
def _(place: Place) -> Words:
    (place.tmp / "script.py").write_text("import sys\nsys.exit(3)\n")
    return ["run", place.tmp / "script.py"]


@case("run", "the script raises an error: its traceback, as Python shows it")
def _(place: Place) -> Words:
    (place.tmp / "script.py").write_text("raise ZeroDivisionError('no')\n")
    return ["run", place.tmp / "script.py"]


@case("run", "the script asks for a name of Paddle that is not there")
def _(place: Place) -> Words:
    (place.tmp / "script.py").write_text("import paddle\npaddle.nonesuch\n")
    return ["run", place.tmp / "script.py"]


@case("run", "Ctrl+C: a traceback, and the status that a shell gives it")
def _(place: Place) -> Words:
    (place.tmp / "script.py").write_text("raise KeyboardInterrupt\n")
    return ["run", place.tmp / "script.py"]


# ----- launch -----


def _launched(place: Place, script: str, *words: str | Path) -> Words:
    (place.tmp / "script.py").write_text(script)
    return ["launch", *words, place.tmp / "script.py"]


@case("launch", "no such script")
def _(place: Place) -> Words:
    return ["launch", place.tmp / "nowhere.py"]


@case("launch", "no processes, an unknown option, options that do not fit")
def _(place: Place) -> Words:
    return _launched(place, "", "--nproc_per_node", "0")


@case("launch", "GPUs are named where there is none")
def _(place: Place) -> Words:
    place.patch.setitem(sys.modules, "engine.kernels.cupy", None)
    return _launched(place, "", "--selected_gpus=0,1")


@case("launch", "the file of machines can't be read, or is none")
def _(place: Place) -> Words:
    (place.tmp / "machines").write_text("node1:none\n")
    return _launched(place, "", "--hosts", place.tmp / "machines")


@case("launch", "mpi4py or mpiexec is not installed")
def _(place: Place) -> Words:
    place.patch.setitem(sys.modules, "mpi4py", None)
    return _launched(place, "", "--nproc_per_node=2", "--print_config=no")


@case("launch", "too many processes for the memory")
def _(place: Place) -> Words:
    return _launched(place, "", "--nproc_per_node", "100000")


@case("launch", "a process ends with `sys.exit(3)`; where it has printed, its last lines follow")
def _(place: Place) -> Words:
    return _launched(place, "import sys; sys.exit(3)")


@case("launch", "a process is ended by a signal")
def _(place: Place) -> Words:
    return _launched(place, "import os; os.abort()")


@case("launch", "Ctrl+C, SIGTERM or a closed terminal")
def _(place: Place) -> Words:
    return _launched(place, f"import os, time; os.kill({os.getpid()}, 15); time.sleep(60)")


# ----- the rows -----


@pytest.fixture(scope="module")
def made(bars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:  # noqa: F811
    """A finished run and what was exported from it, by one installation for the whole module."""
    home = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(installation, "key_path", lambda: home / "installation.key")
        words = ["--data", bars, "--model", "linear", "--epochs", "2", "--lr", "0.01", "--out", home / "run"]
        for call in (["train", *words], ["export", home / "run", "--out", home / "saved" / "bars"]):
            done = CliRunner().invoke(app, [str(word) for word in call])
            assert done.exit_code == 0, done.output
        yield home / "run", home / "saved" / "bars"


def test_each_row_has_a_case_and_each_case_a_row() -> None:
    assert [(row.command, row.case) for row in rows()] == list(CASES)


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row.command}: {row.case}"[:60])
def test_the_row_is_true(
    row: Row,
    made: tuple[Path, Path],
    bars: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = Place(tmp_path, bars, monkeypatch, *made)
    words = CASES[row.command, row.case](place)
    if row.command == "run" and row.code != 2:
        if not hasattr(os, "fork"):
            pytest.skip("a script takes its process over; each gets a forked one")
        victim = Victim(tmp_path, words)
        code, said = victim.ended(), victim.stderr.read_text()
    else:
        with place.around:
            done = CliRunner().invoke(app, [str(word) for word in words])
        code, said = done.exit_code, done.stderr
    assert (code, row.says(said)) == (row.code, True), said
    assert "\x1b" not in said
    if code == 1 and row.command != "run":
        assert said.count("\n") == (1 if row.line else 0)
        assert "Traceback" not in said
