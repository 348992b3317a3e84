"""Cases of any command, the window and train."""

from __future__ import annotations

import errno
import os
import shutil
import signal
from typing import Any

import numpy as np
import pytest

from engine.files.checkpoint import list_checkpoints, write_checkpoint
from engine.files.data.stored_file import shorter_error
from engine.training.folder.checkpoint_keeper import CheckpointKeeper
from engine.training.stepper import Stepper
from resources.locks import LOCK_NAME, Lock, take
from studio.session import display_check
from tests.docs.exit_codes.place import HANGUP, Place, Released, Words, case
from tests.studio.conftest import write_idx


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
    place.patch.setattr(
        "engine.training.exporting.export.export_run", lambda *_, **__: signal.raise_signal(HANGUP)
    )
    return ["export", place.run()]


@case("any", "the reader of standard output is gone (`\\| head`), but for a training")
def _(place: Place) -> Words:
    def gone(*_: object, **__: object) -> None:
        raise BrokenPipeError

    place.patch.setattr("studio.session.predict.saved_files.describe_model", gone)
    return ["inspect", place.prefix()]


@case("any", "standard output finds no room (`> FILE` on a full disk), but for a training")
def _(place: Place) -> Words:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    place.patch.setattr("studio.cli.export.model_commands.emit_json", full)
    return ["inspect", place.prefix(), "--json"]


# ----- the window -----


@case("(the window)", "no display")
def _(place: Place) -> Words:
    place.patch.setattr(
        display_check, "display_problem", lambda: "neither DISPLAY nor WAYLAND_DISPLAY is set"
    )
    return []


@case("(the window)", "a system library is missing")
def _(place: Place) -> Words:
    problem = "libxcb-cursor.so.0 is missing; install: sudo apt install libxcb-cursor0"
    place.patch.setattr(display_check, "display_problem", lambda: problem)
    return []


@case("(the window)", "PySide6 is not installed")
def _(place: Place) -> Words:
    place.patch.setattr(display_check.importlib.util, "find_spec", lambda name: None)
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


@case("train", "the test images are not images like those to train on")
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


@case("train", "the device does not exist, or needs an extra that is not installed")
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


@case("train", "a training continues in `--out`")
def _(place: Place) -> Words:
    lock = take(place.run() / LOCK_NAME)
    assert isinstance(lock, Lock)
    place.around = Released(lock)
    return ["train", "--resume", "--out", place.tmp / "run"]


@case("train", "`--out` can't be written")
def _(place: Place) -> Words:
    (place.tmp / "file").touch()
    return place.train("--out", place.tmp / "file" / "run")


@case("train", "its data becomes shorter: the run is interrupted, with its reason")
def _(place: Place) -> Words:
    def shorter(*_: object) -> None:
        raise shorter_error("data.h5", 255, 1024, "rows")

    place.patch.setattr(Stepper, "train", shorter)
    return place.train()


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

    place.patch.setattr("studio.cli.train.train_command.Watcher.on_event", gone)
    return place.train()


@case("train", "standard output finds no room: the training continues")
def _(place: Place) -> Words:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    place.patch.setattr("studio.cli.train.train_command.Watcher.on_event", full)
    return place.train()


@case("train", "more `--workers` than images in a batch")
def _(place: Place) -> Words:
    return place.train("--workers", "9", "--batch-size", "8")


@case("train", "`--workers 2` without the extra")
def _(place: Place) -> Words:
    place.patch.setattr("importlib.util.find_spec", lambda name: None)
    return place.train("--workers", "2")


@case("train", "more `--workers` than find memory")
def _(place: Place) -> Words:
    pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
    place.patch.setattr("engine.training.team.processes.available", lambda: 200_000_000)
    return place.train("--workers", "2")


@case("train", "one of several workers is killed by a signal: the run is interrupted")
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
    return ["export", place.untrusted_run()]


@case("train --resume, export", "a link leads out of the run")
def _(place: Place) -> Words:
    run = place.run()
    (run / "journal.jsonl").rename(place.tmp / "journal.jsonl")
    (run / "journal.jsonl").symlink_to(place.tmp / "journal.jsonl")
    return ["train", "--resume", "--out", run]
