"""The Program of a whole training step as plain data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.profiler.training import parts_of
from engine.training.config import TrainingConfig
from engine.training.network.training_step import step_event
from resources.operator_keys import BACKWARD, FORWARD, LOSS, UPDATE, numbered
from studio.session.graph.program_check import checked_program
from tests.studio.conftest import bars  # noqa: F401  (the fixture)

MODEL = """
from engine import nn, zeros


class Looping(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc, self.cell = nn.Linear(784, 10), nn.Linear(10, 10)

    def forward(self, x):
        h = self.fc(x.flatten(1))
        i = zeros([1], "int32")
        while i < 3:
            if h.mean() > 0:
                h = self.cell(h)
            else:
                h = self.cell(h) * 2
            i = i + 1
        return h
"""


def event(bars: Path, model: str, **changed: object) -> dict[str, Any]:  # noqa: F811
    config = TrainingConfig.from_dict({"data": str(bars), "model": model, "batch_size": 4} | changed)
    return dict(step_event(parts_of(config, None, ()).stepper, config))


@pytest.mark.parametrize(("optimizer", "kind"), [("adam", "adam"), ("sgd", "sgd"), ("lbfgs", "lbfgs")])
def test_it_has_forward_backward_and_an_update_of_each_parameter(
    bars: Path,  # noqa: F811
    optimizer: str,
    kind: str,
) -> None:
    found = event(bars, "lenet", optimizer=optimizer)
    rows = [(key.phase, key.layer, key.type) for _, _, key, _ in numbered(found["program"])]
    assert [phase for phase, _, _ in rows] == sorted((phase for phase, _, _ in rows), key=_order)
    assert (FORWARD, "conv1", "conv2d_fusion") in rows
    assert (BACKWARD, "conv1", "conv2d_grad") in rows
    assert (FORWARD, LOSS, "softmax_with_cross_entropy") in rows
    updates = [row for row in rows if row[0] == UPDATE]
    assert len(updates) == 10
    layers = ("conv1", "conv2", "linear1", "linear2", "linear3")
    assert set(updates) == {(UPDATE, name, kind) for name in layers}
    assert checked_program(found["program"], "test") is found["program"]
    assert f" = {kind}(" in found["text"]
    assert "_jst.call(self.conv1)" in found["converted"]
    assert found["source_file"].endswith("lenet.py")


def _order(phase: str) -> int:
    return (FORWARD, BACKWARD, UPDATE).index(phase)


def test_the_gradient_of_a_loop_is_in_the_network(bars: Path, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "looping.py"
    file.write_text(MODEL)
    found = event(bars, f"{file}:Looping")
    losses = {key.type for _, _, key, _ in numbered(found["program"]) if key.layer == LOSS}
    assert "while_grad" in {key.type for _, _, key, _ in numbered(found["program"])}
    assert not losses & {"while_grad", "assign", "conditional_block"}
    assert {"cell", "cell#2"} <= {key.layer for _, _, key, _ in numbered(found["program"])}
