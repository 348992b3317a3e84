"""What a step costs by operator and by call of a Layer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine.profiler.costs import Cost, by_layer, table_of
from engine.profiler.training import Profiled, profile
from engine.training.config import TrainingConfig
from resources.operator_keys import BACKWARD, FORWARD, LOSS, OPTIMIZER, UPDATE
from studio.cli import app
from tests.studio.conftest import bars  # noqa: F401  (the fixture)

MODEL = """
from engine import nn
from engine.nn import functional as F


class Twice(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 4, 3, padding=1)
        self.act = nn.ReLU()
        self.fc = nn.Linear(4 * 28 * 28, 10)

    def forward(self, x):
        x = self.act(self.conv(x))
        x = self.act(x * 2.0 + 1.0)
        return self.fc(x.flatten(1))
"""


def profiled(bars: Path, folder: Path, **changed: object) -> Profiled:  # noqa: F811
    file = folder / "twice.py"
    file.write_text(MODEL)
    config = {"data": str(bars), "model": f"{file}:Twice", "batch_size": 4} | changed
    return profile(TrainingConfig.from_dict(config), steps=2)


def keys(costs: tuple[Cost, ...], phase: str = FORWARD) -> set[tuple[str, str]]:
    return {(key.layer, key.type) for cost in costs for key in cost.parts if key.phase == phase}


@pytest.mark.parametrize("kernels", ["numpy", "fast"])
@pytest.mark.parametrize("static", [True, False], ids=["static", "eager"])
def test_each_operator_has_its_phase_and_its_call(
    bars: Path,  # noqa: F811
    tmp_path: Path,
    static: bool,
    kernels: str,
) -> None:
    if kernels == "fast":
        pytest.importorskip("llvmlite", reason="needs llvmlite")
    found = profiled(bars, tmp_path, static=static, kernels=kernels)
    assert {cost.phase for cost in found.costs} == {FORWARD, BACKWARD, UPDATE}
    for layer, type_ in (("act", "relu"), ("act#2", "relu"), ("fc", "matmul_v2"), ("conv", "conv2d")):
        assert (layer, type_) in keys(found.costs), (layer, type_)
    layers = {cost.layer for cost in found.costs if cost.phase == BACKWARD}
    assert {"conv", "fc", LOSS} <= layers, layers
    assert layers <= {"", "conv", "act", "act#2", "fc", LOSS}
    assert {cost.layer for cost in found.costs if cost.phase == UPDATE} == {OPTIMIZER}
    assert sum(cost.seconds for cost in found.costs) < found.seconds / found.steps
    assert all(cost.calls == 1 for cost in found.costs if cost.parts)
    backward = [key for cost in found.costs for key in cost.planned if key.phase == BACKWARD]
    assert bool(backward) == static
    assert len(set(backward)) == len(backward)
    product = next(cost for cost in found.costs if cost.layer == "fc" and cost.name == "matmul_v2")
    assert product.flops == 2 * 4 * (4 * 28 * 28) * 10
    assert found.peak > 0


def test_a_fused_operator_counts_for_the_call_that_has_all_of_it(bars: Path, tmp_path: Path) -> None:  # noqa: F811
    found = profiled(bars, tmp_path)
    fused = next(cost for cost in found.costs if cost.name == "conv2d_fusion")
    assert (fused.layer, fused.fused) == ("", 3)
    assert {(key.layer, key.type) for key in fused.parts} >= {
        ("conv", "conv2d"),
        ("conv", "elementwise_add"),
        ("act", "relu"),
    }
    rows = by_layer(found.costs)
    assert rows[0].fused == 3
    assert "conv" in [row.layer for row in rows]  # of its gradient
    shown = table_of(rows, found.seconds / found.steps, found.peak)
    assert "network  (fused: 3 operators)" in shown


def test_times_are_summed_up_into_the_calls_around() -> None:
    costs = [
        Cost(
            FORWARD,
            "a.b",
            "conv2d",
            (),
            (),
            1,
            "",
            0,
            1,
            2.0,
            8,
            4e9,
        ),
        Cost(FORWARD, "a.c", "relu", (), (), 1, "", 0, 1, 1.0, 4, -1),
        Cost(BACKWARD, "a.b", "conv2d_grad", (), (), 1, "", 0, 2, 3.0, 2, 4e9),
        Cost(FORWARD, "d", "relu", (), (), 1, "", 0, 1, 0.5, 1, -1),
        Cost(UPDATE, OPTIMIZER, "sgd", (), (), 1, "", 0, 1, 0.25, 1, -1),
    ]
    rows = {row.layer: row for row in by_layer(costs)}
    assert list(rows) == ["", "a", "a.b", "a.c", "d", OPTIMIZER]
    assert rows["a"].seconds == {FORWARD: 3.0, BACKWARD: 3.0, UPDATE: 0.0}
    assert rows["a"].gflops == pytest.approx(8 / 5)  # of the operators that are counted
    assert (rows[""].total, rows[OPTIMIZER].total) == (6.5, 0.25)
    assert rows["a.b"].calls == 3


def test_the_command_has_rows_by_layer(bars: Path, tmp_path: Path) -> None:  # noqa: F811
    rows = tmp_path / "rows.json"
    words = ["--data", str(bars), "--model", "linear", "--batch-size", "4", "--steps", "1", "--by", "layer"]
    made = CliRunner().invoke(app, ["profile", *words, "--json", str(rows)])
    assert made.exit_code == 0, made.output
    assert "of peak" in made.output
    assert "(optimizer)" in made.output
    content = json.loads(rows.read_text())
    assert content["peak_gflops"] > 0
    assert content["layer"][0]["layer"] == ""
    assert {"phase", "layer", "parts", "seconds", "gflops", "fused"} <= content["costs"][0].keys()
    wrong = CliRunner().invoke(app, ["profile", *words[:-1], "file"])
    assert wrong.exit_code == 2
