"""The command compare: runs, checkpoints and saved models, its JSON and its exit status."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import engine as paddle
from engine import nn
from engine.comparison.run_step import RunStep
from engine.core.errors import ArgumentError
from engine.files.native import installation
from studio.cli import app
from tests.studio.conftest import bars  # noqa: F401  (the fixture)

MODEL = """
from engine import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2D(1, 2, 5, stride=4), nn.BatchNorm2D(2), nn.ReLU())
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(72, 10)

    def forward(self, x):
        x = self.features(x).flatten(1)
        if x.mean() > 100:
            x = x * 2
        return self.fc(self.drop(x))
"""


@pytest.fixture(scope="module")
def run(bars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:  # noqa: F811
    """A finished run of a network with convolution, batch norm, dropout and a branch."""
    home = tmp_path_factory.mktemp("compared")
    (home / "net.py").write_text(MODEL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(installation, "key_path", lambda: home / "installation.key")
        words = ["train", "--data", bars, "--model", f"{home / 'net.py'}:Net", "--epochs", "2"]
        said = CliRunner().invoke(app, [str(word) for word in (*words, "--out", home / "run")])
        assert said.exit_code == 0, said.output
        yield home / "run"


def compared(*words: object) -> tuple[int, Any]:
    done = CliRunner().invoke(app, ["compare", *map(str, words), "--json"])
    assert done.exit_code in (0, 3), done.output
    return done.exit_code, json.loads(done.stdout)


def test_a_run_is_the_same_eagerly_and_statically(run: Path) -> None:
    code, found = compared(run, "--eager-static")
    assert code == 0
    assert found["verdict"].startswith("Bitwise identical: 15 operators forward, "), found["verdict"]
    assert found["verdict"].endswith(", 6 parameters updated")
    assert found["notes"][0].startswith("After the passes: Bitwise identical: ")
    assert {row["layer"] for row in found["rows"]} > {"features.0", "features.2", "drop", "fc", "(loss)"}
    places = {
        (Path(row["file"]).name, row["line"]) for row in found["rows"] if row["layer"] == "fc" and row["file"]
    }
    assert places == {("net.py", 16)}
    assert list(run.parent.glob("run/**/*.tmp")) == []


def test_batches_count_as_the_training_does(run: Path) -> None:
    first, *_, last = steps = sorted(
        int(p.stem.rpartition("-")[2]) for p in (run / "checkpoints").glob("step-*.h5")
    )
    assert len(steps) > 1
    own = [RunStep(run, steps[1]).tensors, RunStep(run, first, steps[1] + 1).tensors]
    for a, b in zip(*own, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    code, found = compared(f"{run}@{first}", "--passes", "--batch", last)
    assert (code, found["bitwise"]) == (0, True)
    code, found = compared(f"{run}@{first}", run, "--batch", steps[1])  # the newest has had that batch
    assert (code, found["cause"]["kind"]) == (3, "weights")
    with pytest.raises(ArgumentError, match=rf"batch {last} is before the checkpoint, .* of step {last}"):
        RunStep(run, last, last)


def test_two_checkpoints_differ_by_their_weights(run: Path) -> None:
    steps = sorted(int(p.stem.rpartition("-")[2]) for p in (run / "checkpoints").glob("step-*.h5"))
    code, found = compared(f"{run}@{steps[0]}", run)
    assert code == 3
    assert found["verdict"].startswith(
        "`conv2d` of `features.0`, net.py:13: inputs equal, results differ by "
    )
    assert found["verdict"].endswith("; the weights differ (`features.0.weight`)")
    assert found["cause"]["kind"] == "weights"
    assert found["rows"][found["first"]]["type"] == "conv2d"
    done = CliRunner().invoke(app, ["compare", f"{run}@{steps[0]}", str(run)])
    assert done.stdout.startswith(f"run@{steps[0]} and run@{steps[-1]}: `conv2d` of `features.0`")


def test_no_name_or_number_is_cut_in_a_narrow_terminal(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = CliRunner().invoke(app, ["compare", f"{run}@0", str(run)])
    assert done.exit_code == 3, done.output
    assert "\u2026" not in done.stdout
    assert "softmax" in done.stdout


def test_one_checkpoint_is_equal_to_itself(run: Path) -> None:
    assert compared(run, run)[1]["bitwise"]


def test_a_damaged_checkpoint_is_skipped_and_named(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    newest = max((copy / "checkpoints").glob("step-*.h5"))
    newest.write_bytes(newest.read_bytes()[:1000])
    code, found = compared(run, copy)
    assert code == 3
    assert [note for note in found["notes"] if note.startswith("A damaged checkpoint was skipped: ")]
    assert newest.name in found["notes"][-1]
    done = CliRunner().invoke(app, ["debug", str(copy), "--json"])
    assert done.exit_code == 0, done.output
    notes = json.loads(done.stdout)["notes"]
    assert notes[0].startswith("a damaged checkpoint was skipped: ")
    assert f"{newest.name}: the file is truncated" in notes[0]
    for path in (copy / "checkpoints").glob("step-*.h5"):
        path.write_bytes(path.read_bytes()[:1000])
    done = CliRunner().invoke(app, ["debug", str(copy)])
    assert done.exit_code == 1
    assert "there is no sound checkpoint: " in done.output
    assert "the file is truncated" in done.output


def saved(path: Path, seed: int) -> Path:
    paddle.seed(seed)
    spec = paddle.static.InputSpec([None, 3], "float32", "x")
    paddle.jit.save(nn.Sequential(nn.Linear(3, 2), nn.ReLU()), str(path), [spec])
    return path


def test_saved_models_are_compared_on_one_input(tmp_path: Path) -> None:
    a, b = saved(tmp_path / "a", 1), saved(tmp_path / "b", 2)
    code, found = compared(a, b)
    assert (code, found["cause"]["kind"]) == (3, "weights")
    assert compared(a, a) == (0, {**compared(a, a)[1]})
    assert compared(a, "--passes")[0] == 0


def test_a_tolerance_makes_small_differences_equal(tmp_path: Path) -> None:
    a, b = saved(tmp_path / "a", 1), saved(tmp_path / "b", 1)
    net = paddle.jit.load(str(b))
    with paddle.no_grad():
        net.parameters()[0][0, 0] += 1e-3
    paddle.jit.save(net, str(b))
    assert compared(a, b)[0] == 3
    code, found = compared(a, b, "--tolerance", "0.1")
    assert code == 0
    assert found["verdict"].startswith("Equal within 0.1: ")


@pytest.mark.parametrize("words", [["--eager-static", "--passes"], [], ["--devices", "cpu"]])
def test_exactly_one_pair_is_asked_for(words: list[str], tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["compare", str(tmp_path), *words])
    assert done.exit_code == 2


def test_a_run_that_predicts_numbers_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "key_path", lambda: tmp_path / "installation.key")
    values = np.random.default_rng(0).normal(size=(60, 3))
    rows = [",".join(f"{x:.3f}" for x in (*row, row.sum())) for row in values]
    (tmp_path / "table.csv").write_text("\n".join(["a,b,c,price", *rows]) + "\n")
    words = [
        "train",
        "--data",
        tmp_path / "table.csv",
        "--target",
        "price",
        "--model",
        "mlp",
        "--epochs",
        "1",
    ]
    said = CliRunner().invoke(app, [str(word) for word in (*words, "--out", tmp_path / "run")])
    assert said.exit_code == 0, said.output
    code, found = compared(tmp_path / "run", "--eager-static", "--batch-size", "8")
    assert (code, found["cause"]) == (0, None)
    assert found["rows"][0]["shape"][0] == 8
    assert [note.partition(":")[0] for note in found["notes"][:2]] == [
        "After the passes",
        "As one plan with NumPy's kernels",
    ]
