"""What differs between two saved models, as plain values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import DataError
from engine.jit.saved.compare_models import ModelComparison, compare_models
from engine.jit.saved.structure import Detail


def net(*between: nn.Layer, out: int = 2, seed: int = 1) -> nn.Layer:
    paddle.seed(seed)
    return nn.Sequential(nn.Linear(3, 4), *between, nn.Linear(4, out))


def saved(layer: Any, path: Path, **configs: Any) -> str:
    spec = paddle.static.InputSpec([None, 3], "float32", "x")
    paddle.jit.save(layer, str(path), [spec], **configs)
    return str(path)


def compared(tmp_path: Path, a: nn.Layer, b: nn.Layer, **configs: Any) -> ModelComparison:
    return compare_models(saved(a, tmp_path / "a"), saved(b, tmp_path / "b", **configs))


def test_two_saves_of_one_network_are_equal_in_all_formats(tmp_path: Path) -> None:
    layer = net(nn.ReLU())
    found = compared(tmp_path, layer, layer, format="packed")
    assert found.equal
    assert (found.weights_compared, found.operators_compared) == (4, 5)
    assert found.as_dict()["equal"] is True


def test_a_changed_weight_is_measured(tmp_path: Path) -> None:
    layer = net()
    a = saved(layer, tmp_path / "a")
    with paddle.no_grad():
        layer[0].weight[1, 2] = layer[0].weight[1, 2] + 0.25
    values = layer[0].weight.numpy()
    found = compare_models(a, saved(layer, tmp_path / "b"))
    (change,) = found.weights
    assert change.a == change.b == layer[0].weight.name
    assert change.largest == pytest.approx(0.25)
    before = values.copy()
    before[1, 2] -= 0.25
    assert change.relative == pytest.approx(0.25 / np.abs(before).max(), rel=1e-6)
    assert not found.operators
    assert not found.inputs


def test_operators_are_aligned_and_weights_of_other_names_matched(tmp_path: Path) -> None:
    found = compared(tmp_path, net(nn.ReLU()), net(nn.LeakyReLU(0.2)))
    assert {(x.kind, x.type) for x in found.operators} >= {("removed", "relu"), ("added", "leaky_relu")}
    assert not found.weights, "the same numbers under other names"
    assert found.weights_compared == 4


def test_attributes_inputs_and_information_are_named(tmp_path: Path) -> None:
    a, b = net(nn.LeakyReLU(0.1)), net(nn.LeakyReLU(0.2), out=3)
    one = saved(a, tmp_path / "a", info={"classes": list("abcde"), "lr": 0.1})
    found = compare_models(one, saved(b, tmp_path / "b", info={"classes": list("abXde")}))
    details = [(x.kind, x.type, x.details) for x in found.operators]
    assert details[0] == ("changed", "leaky_relu", (Detail("attribute", "alpha", 0.1, 0.2),))
    assert [x[:2] for x in details[1:]] == [("changed", "matmul_v2"), ("changed", "elementwise_add")]
    assert details[1][2] == (Detail("parameter", "Y", "float32 [4, 2]", "float32 [4, 3]"),)
    assert [(x.name, x.a, x.b) for x in found.information] == [("classes[2]", "c", "X"), ("lr", 0.1, None)]
    assert found.outputs[0].name == "output 0"
    assert {(tuple(x.shape[0] or ()), tuple(x.shape[1] or ())) for x in found.weights} == {
        ((4, 2), (4, 3)),
        ((2,), (3,)),
    }


def test_an_operator_that_reads_another_value_is_found(tmp_path: Path) -> None:
    class Sums(nn.Layer):
        def __init__(self, twice: bool) -> None:
            super().__init__()
            self.twice = twice

        def forward(self, x: Any) -> Any:
            y = paddle.tanh(x)
            z = paddle.exp(y)
            return (y if self.twice else x) + z

    found = compared(tmp_path, Sums(True), Sums(False))
    (change,) = found.operators
    assert (change.kind, change.type, change.details[0].what) == ("changed", "elementwise_add", "input")


def test_an_absent_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.pdmodel"):
        compare_models(str(tmp_path / "none"), str(tmp_path / "none"))
