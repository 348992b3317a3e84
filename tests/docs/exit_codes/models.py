"""Cases of profile, export and quantize."""

from __future__ import annotations

from typing import Any

import numpy as np
from typer.testing import CliRunner

from engine import jit, nn
from engine.files.checkpoint import list_checkpoints
from engine.jit.input_spec import InputSpec
from engine.static.nn import cond
from engine.training.stepper import Stepper
from studio.cli import app
from tests.docs.exit_codes.place import Place, Words, case


@case("profile", "no run there")
def _(place: Place) -> Words:
    return ["profile", place.tmp / "nowhere"]


@case("profile", "a setting that a run has itself")
def _(place: Place) -> Words:
    return ["profile", place.run(), "--optimizer", "sgd"]


@case("profile", "rows of another kind")
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


@case("export --deploy", "the folder is not empty")
def _(place: Place) -> Words:
    (place.tmp / "used").mkdir()
    (place.tmp / "used" / "file").touch()
    return ["export", place.run(), "--deploy", place.tmp / "used"]


@case("export", "--fixed without --deploy")
def _(place: Place) -> Words:
    return ["export", place.run(), "--fixed"]


@case("export", "--deploy with the format of files")
def _(place: Place) -> Words:
    return ["export", place.run(), "--deploy", place.tmp / "new", "--format", "onnx"]


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
