"""Whole networks as ONNX files: both runtimes give their results, for two sizes of the batch.

Batch norms have real statistics: outputs near zero would hide faults.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.jit.export import traced
from engine.onnx.checking import check_file
from engine.onnx.write_file import write
from engine.onnx.write_model import write_model
from engine.static import InputSpec
from engine.vision import models
from tests.engine.onnx.runs import read

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))


class Encoder(nn.Layer):
    """A Transformer's encoder and decoder over steps of features."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Transformer(16, 2, 1, 1, 32, dropout=0.0)

    def forward(self, source: Any, target: Any) -> Any:
        return self.net(source, target)


class Recurrent(nn.Layer):
    def __init__(self, kind: type[nn.Layer]) -> None:
        super().__init__()
        self.net = kind(5, 7, num_layers=2, direction="bidirect")
        self.head = nn.Linear(14, 3)

    def forward(self, x: Any) -> Any:
        steps, _ = self.net(x)
        return self.head(steps[:, -1])


def image(side: int) -> list[InputSpec]:
    return [InputSpec([None, 3, side, side], "float32", "x")]


def steps(features: int, *names: str) -> list[InputSpec]:
    return [InputSpec([None, 6, features], "float32", name) for name in names or ("x",)]


NETWORKS: dict[str, tuple[Callable[[], nn.Layer], list[InputSpec]]] = {
    "lenet": (models.LeNet, [InputSpec([None, 1, 28, 28], "float32", "x")]),
    "resnet18": (lambda: models.resnet18(num_classes=10), image(64)),
    "mobilenet_v1": (lambda: models.mobilenet_v1(scale=0.25, num_classes=10), image(64)),
    "mobilenet_v2": (lambda: models.mobilenet_v2(scale=0.25, num_classes=10), image(64)),
    "mobilenet_v3": (lambda: models.mobilenet_v3_small(scale=0.35, num_classes=10), image(64)),
    "lstm": (lambda: Recurrent(nn.LSTM), steps(5)),
    "gru": (lambda: Recurrent(nn.GRU), steps(5)),
    "simple rnn": (lambda: Recurrent(nn.SimpleRNN), steps(5)),
    "transformer": (Encoder, steps(16, "source", "target")),
}
if LONG:
    NETWORKS |= {
        "resnet50": (models.resnet50, image(64)),
        "vgg11": (lambda: models.vgg11(num_classes=10), image(224)),
    }


def with_statistics(net: nn.Layer, specs: list[InputSpec]) -> nn.Layer:
    """The network with the statistics of some batches, in the mode for prediction."""
    random = np.random.default_rng(0)
    net.train()
    with paddle.no_grad():
        for _ in range(3):
            shapes = ([4 if d in (None, -1) else d for d in spec.shape] for spec in specs)
            net(*(paddle.to_tensor(random.standard_normal(s).astype(np.float32)) for s in shapes))
    net.eval()
    return net


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "optimize"),
    [*((name, False) for name in NETWORKS), *((name, True) for name in ("resnet18", "mobilenet_v3"))],
)
def test_both_runtimes_give_the_results(name: str, optimize: bool, tmp_path: Path) -> None:
    make, specs = NETWORKS[name]
    net = with_statistics(make(), specs)
    program = traced(net, specs)[0]
    model = write_model(program, {}, optimize)
    path = tmp_path / "model.onnx"
    write(model, str(path))
    kinds = {node.op_type for node in model.graph.node}
    assert ("BatchNormalization" in kinds) == (not optimize and ("net_v" in name or "resnet" in name))
    assert read(path).ir_version == 8
    found = check_file(path, program)
    assert set(found.differences) == {"onnxruntime", "reference"}
    weights = sum(p.numpy().nbytes for p in net.state_dict().values())
    assert path.stat().st_size < weights + 64_000
