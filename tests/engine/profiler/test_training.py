"""A few recorded steps of a training, of settings and of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine.core.errors import ArgumentError, DataError
from engine.profiler import load_profiler_result
from engine.profiler.planned import planned
from engine.profiler.report import rows_of
from engine.profiler.training import config_of_run, profile
from engine.training.config import TrainingConfig
from engine.training.network.given_inputs import build_given
from engine.training.randomness import random_state
from studio.cli import app
from tests.studio.conftest import bars  # noqa: F401  (the fixture)


def _config(bars: Path, **changed: object) -> TrainingConfig:  # noqa: F811
    return TrainingConfig.from_dict({"data": str(bars), "model": "linear", "batch_size": 4} | changed)


@pytest.mark.parametrize("static", [True, False], ids=["static", "eager"])
def test_steps_are_recorded_and_nothing_else_changes(bars: Path, static: bool) -> None:  # noqa: F811
    before = json.dumps(random_state(), default=repr)
    found = profile(_config(bars, static=static), steps=2)
    assert json.dumps(random_state(), default=repr) == before
    assert found.steps == 2
    assert found.unrecorded > 0
    product = next(row for row in rows_of(found.result) if row.name == "matmul_v2")
    assert product.calls % 2 == 0
    assert product.flops > 0
    assert sum(row.seconds for row in rows_of(found.result)) < found.seconds


def test_compiled_kernels_do_the_same_work(bars: Path) -> None:  # noqa: F811
    pytest.importorskip("llvmlite", reason="needs llvmlite")
    plain, fast = (profile(_config(bars, kernels=kernels), steps=2) for kernels in ("numpy", "fast"))
    assert "matmul_v2" in fast.compiled
    flops = [sum(r.flops for r in rows_of(p.result) if r.name == "matmul_v2") for p in (plain, fast)]
    assert flops[0] == flops[1] > 0


def test_invalid_steps_and_folders_without_checkpoints_are_refused(bars: Path, tmp_path: Path) -> None:  # noqa: F811
    with pytest.raises(ArgumentError, match="steps must be a positive number: got 0"):
        profile(_config(bars), steps=0)
    with pytest.raises(DataError, match="there is no sound checkpoint"):
        config_of_run(tmp_path)


def test_the_command_for_settings_and_for_a_run(bars: Path, tmp_path: Path) -> None:  # noqa: F811
    words = ["--data", str(bars), "--model", "linear", "--batch-size", "4"]
    run, rows, trace = tmp_path / "run", tmp_path / "rows.json", tmp_path / "trace.json"
    made = CliRunner().invoke(app, ["train", *words, "--epochs", "1", "--out", str(run)])
    assert made.exit_code == 0, made.output
    of_settings = CliRunner().invoke(
        app, ["profile", *words, "--steps", "2", "--by", "line", "--json", str(rows), "--trace", str(trace)]
    )
    assert of_settings.exit_code == 0, of_settings.output
    assert "linear.py:" in of_settings.output
    content = json.loads(rows.read_text())
    assert (content["steps"], content["batch_size"], content["static"]) == (2, 4, True)
    assert {"name", "calls", "seconds", "bytes", "flops", "gflops"} <= content["operator"][0].keys()
    kinds = [sum(row["seconds"] for row in content[by]) for by in ("operator", "line")]
    assert kinds[0] == pytest.approx(kinds[1])
    recorded = [row.name for row in rows_of(load_profiler_result(str(trace)))]
    assert recorded == [row["name"] for row in content["operator"]]
    of_run = CliRunner().invoke(app, ["profile", str(run), "--steps", "1", "--eager"])
    assert of_run.exit_code == 0, of_run.output
    assert "batch 4, eager" in of_run.output
    assert "matmul_v2" in of_run.output


def test_the_passes_and_the_plan_of_a_step(bars: Path) -> None:  # noqa: F811
    before = json.dumps(random_state(), default=repr)
    found = planned(_config(bars, static=False))
    assert json.dumps(random_state(), default=repr) == before
    assert found.passes[0].name == "as built"
    (part,) = found.parts
    assert part.title == "forward and backward"
    assert part.report.peak > 0
    assert {"matmul_v2", "softmax_with_cross_entropy_grad"} <= {row.name for row in part.rows}
    (update,) = found.updates
    assert (update.parameters, update.numbers, found.alone) == (2, 7850, 0)
    assert update.text().startswith("adam_flat over 2 parameters, 7,850 numbers: ")


def test_inputs_are_planned_and_profiled_without_data(tmp_path: Path) -> None:
    config = _config(tmp_path / "none", batch_size=3)
    inputs = [((None, 1, 28, 28), "float32")]
    assert planned(config, inputs=inputs).parts[0].rows
    with pytest.raises(ArgumentError, match="there is no input"):
        build_given(config, [])


def test_the_command_prints_passes_and_plan(bars: Path, tmp_path: Path) -> None:  # noqa: F811
    words = ["profile", "--data", str(bars), "--model", "linear", "--batch-size", "4", "--steps", "1"]
    rows = tmp_path / "rows.json"
    shown = CliRunner().invoke(app, [*words, "--passes", "--plan", "--json", str(rows)])
    assert shown.exit_code == 0, shown.output
    assert "as built: no pass has run (" in shown.output
    assert "forward and backward: " in shown.output
    assert "= matmul_v2(" in shown.output
    assert "peak " in shown.output
    assert "update: adam_flat over 2 parameters" in shown.output
    written = json.loads(rows.read_text())
    assert written["passes"][1]["name"] == "remove_dead_code"
    assert {row["how"] for row in written["plans"][0]["rows"]} >= {"kernel", "view"}
    assert written["updates"][0]["numbers"] == 7850
