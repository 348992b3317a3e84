"""The command diff: its output, its JSON and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

import engine as paddle
from engine import nn
from studio.cli import app


def saved(path: Path, seed: int, **configs: object) -> str:
    paddle.seed(seed)
    spec = paddle.static.InputSpec([None, 3], "float32", "x")
    paddle.jit.save(nn.Linear(3, 2), str(path), [spec], **configs)
    return str(path)


def test_two_models_that_differ(tmp_path: Path) -> None:
    a = saved(tmp_path / "a", 1, info={"classes": ["no", "yes"]})
    b = saved(tmp_path / "b", 2, info={"classes": ["no", "[bold]yes"]}, format="packed")
    done = CliRunner().invoke(app, ["diff", a, b])
    assert done.exit_code == 3, done.output
    assert "float32 [3, 2]" in done.stdout
    assert "[bold]yes" in done.stdout
    found = json.loads(CliRunner().invoke(app, ["diff", a, b, "--json"]).stdout)
    assert (found["a"], found["equal"]) == (a, False)
    assert found["information"][0]["name"] == "classes"
    assert found["weights"][0]["shape"] == [[3, 2], [3, 2]]


def test_two_models_that_do_not(tmp_path: Path) -> None:
    a, b = saved(tmp_path / "a", 1), saved(tmp_path / "b", 1)
    done = CliRunner().invoke(app, ["diff", a, a])
    assert (done.exit_code, done.stdout) == (0, "no difference: 2 operators and 2 weights are equal\n")
    assert CliRunner().invoke(app, ["diff", a, b]).exit_code == 0, "layers of other names, the same numbers"
