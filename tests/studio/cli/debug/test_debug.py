"""``model-studio debug``: real trainings that went wrong, from their folder; what it prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import engine as paddle
from engine.jit.input_spec import InputSpec
from studio.cli import app
from tests.robust.untrusted_models import unsign

_MODEL = """\
import engine as paddle
from engine import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(784, 16)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        x = self.body(x.flatten(1))
        x = paddle.exp(x)
        return self.head(x)
"""
_EXP = next(n for n, line in enumerate(_MODEL.splitlines(), 1) if "exp" in line)


def call(*words: Any, code: int) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.stdout


def diverged(tmp_path: Path, optimizer: str, rate: float) -> Path:
    """A training whose learning rate is far too high for its exponential function."""
    (tmp_path / "net.py").write_text(_MODEL)
    settings = ["--data", "digits", "--batch-size", "500", "--optimizer", optimizer, "--lr", rate]
    out = tmp_path / "run"
    words = ["--model", f"{tmp_path / 'net.py'}:Net", *settings, "--checkpoint-every", "2", "--out", out]
    call("train", *words, "--epochs", "2", code=1)
    return out


def test_a_training_that_diverged_is_found_from_its_folder(tmp_path: Path) -> None:
    run = diverged(tmp_path, "sgd", 10.0)
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    found = json.loads(call("debug", run, "--until", "nan", "--json", code=3))
    assert (found["operator"], Path(found["file"]).name, found["line"]) == ("exp", "net.py", _EXP)
    assert (found["reason"], found["found"], found["part"]) == ("not finite", True, "forward")
    assert (found["layer"], found["batch"]) == ("", 2)
    assert found["title"] == "run, step 2 (from the checkpoint of step 0)"
    assert found["inputs"][0]["maximum"] > 88
    assert found["outputs"][0]["positive_infinite"] > 0
    assert found["notes"][0].startswith("the run ended at step 2: the loss is not a finite number")
    text = call("debug", run, code=3)
    assert f"exp, net.py:{_EXP} (forward of step 2): the inputs are finite, the result has infinity" in text
    assert "x = paddle.exp(x)" in text
    assert "+inf" in text
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
    # The first step is finite, and the second one is reached from it.
    assert "batch 1 is finite" in call("debug", run, "--checkpoint", "0", code=0)
    later = json.loads(call("debug", run, "--checkpoint", "0", "--steps", "20", "--json", code=3))
    assert (later["operator"], later["batch"], later["inputs"]) == ("exp", 2, found["inputs"])


def test_the_loss_has_no_line_of_the_command(tmp_path: Path) -> None:
    run = diverged(tmp_path, "sgd", 10.0)
    found = json.loads(call("debug", run, "--break", "softmax_with_cross_entropy", "--json", code=3))
    assert (found["operator"], found["layer"]) == ("softmax_with_cross_entropy", "(loss)")
    assert (found["file"], found["line"]) == ("", 0)
    said = call("debug", run, "--break", "softmax_with_cross_entropy", code=3)
    assert "debug_command.py" not in said


def test_an_update_that_made_nan_before_the_loss_was_is_found(tmp_path: Path) -> None:
    # The gradient is finite, and its square is not: the loss of the next step is NaN.
    run = diverged(tmp_path, "adam", 0.3)
    found = json.loads(call("debug", run, "--json", code=3))
    assert (found["operator"], found["part"], found["layer"]) == ("adam", "update", "body")
    assert found["notes"][0].startswith(f"the run ended at step {found['batch'] + 1}: ")
    assert found["inputs"][1]["maximum"] > 1e19
    assert found["outputs"][0]["nan"] > 0


def test_settings_and_breakpoints(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(_MODEL)
    words = ["debug", "--model", f"{tmp_path / 'net.py'}:Net", "--data", "digits", "--json"]
    found = json.loads(call(*words, "--break", f"net.py:{_EXP - 1}", code=3))
    assert (found["reason"], found["line"]) == ("breakpoint", _EXP - 1)
    found = json.loads(call(*words, "--break", "head", code=3))
    assert found["layer"] == "head"
    found = json.loads(call(*words, "--break", "kept_mean_grad", "--batch", "3", code=3))
    assert (found["part"], found["batch"]) == ("backward", 3)
    found = json.loads(call(*words, "--above", "1e-3", "--eager", code=3))
    assert found["reason"] == "condition"
    assert json.loads(call(*words, "--break", "head", "--until", "nan", code=3))["reason"] == "breakpoint"
    assert json.loads(call(*words, "--above", "1e30", "--steps", "2", code=0))["batch"] == 2


@pytest.mark.parametrize("own", [True, False])
def test_saved_models(tmp_path: Path, own: bool) -> None:
    class Net(paddle.nn.Layer):
        def forward(self, x: Any) -> Any:
            return paddle.log(x) * 2.0

    prefix = tmp_path / "log"
    paddle.jit.save(Net(), str(prefix), input_spec=[InputSpec([None, 3], "float32", "x")])
    if not own:
        unsign(prefix)
    np.save(tmp_path / "zeros.npy", np.zeros((2, 3), np.float32))
    np.savez(tmp_path / "ones.npz", x=np.ones((2, 3), np.float32))
    found = json.loads(call("debug", prefix, "--input", tmp_path / "zeros.npy", "--json", code=3))
    assert (found["operator"], found["inputs"][0]["zero"]) == ("log", 6)
    assert any("limits" in each for each in found["notes"]) is not own
    assert "is finite" in call("debug", prefix, "--input", tmp_path / "ones.npz", code=0)
    call("debug", prefix, "--input", tmp_path / "ones.npz", "--seconds", "1e-9", code=0 if own else 1)
    call("debug", prefix, "--batch", "2", code=2)
    call("debug", prefix, "--memory", "much", code=2)


def test_ignored_operators_must_exist_and_layers_may_be_ignored(tmp_path: Path) -> None:
    run = diverged(tmp_path, "sgd", 10.0)
    found = json.loads(call("debug", run, "--until", "nan", "--ignore", "exp", "--json", code=3))
    assert found["operator"] != "exp"
    done = CliRunner().invoke(app, ["debug", str(run), "--until", "nan", "--ignore", "expp"])
    assert done.exit_code == 1
    assert "no such operator: got 'expp'; there are " in done.output
