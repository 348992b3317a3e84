"""Networks that PyTorch exported: its outputs, further training, and another export.

``make_recorded.py`` wrote the files with the PyTorch that they name as their producer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.jit.export import layer_of
from engine.onnx.read_file import parse, read_content
from tests.engine.onnx.runs import apart

FOLDER = Path(__file__).with_name("recorded")


def recorded(name: str) -> tuple[Any, Any, np.ndarray]:
    path = FOLDER / f"{name}.onnx"
    with np.load(FOLDER / f"{name}.npz") as arrays:
        return layer_of(parse(read_content(path), path)), paddle.to_tensor(arrays["x"]), arrays["scores"]


@pytest.mark.parametrize(("name", "parameters"), [("residual", 23), ("residual_folded", 16), ("words", 19)])
def test_network_of_pytorch_has_its_outputs_and_trains(name: str, parameters: int, tmp_path: Path) -> None:
    net, x, scores = recorded(name)
    assert net.program().outputs == ["scores"]
    assert apart([net(x).numpy()], [scores]) < 1e-5
    trained = net.parameters()
    assert len(trained) == parameters
    paddle.onnx.export(net, str(tmp_path / "again"))
    again = layer_of(parse(read_content(tmp_path / "again.onnx"), tmp_path / "again.onnx"))
    assert apart([again(x).numpy()], [scores]) < 1e-5
    net.train()
    optimizer = paddle.optimizer.SGD(learning_rate=0.05, parameters=trained)
    losses = []
    for _ in range(3):
        loss = paddle.nn.functional.cross_entropy(net(x), paddle.to_tensor([1] * len(scores)))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    assert losses[-1] < losses[0]


def test_sizes_may_vary_where_the_network_lets_them() -> None:
    net, _, _ = recorded("residual")
    assert net(paddle.rand([1, 3, 45, 64])).shape == [1, 5]
