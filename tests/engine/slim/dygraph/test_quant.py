"""PaddleSlim's QAT and PTQ of networks: their options, and what they save is what they compute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import jit, nn, slim
from engine.core.errors import ArgumentError, ConditionError
from engine.slim.dygraph.quant import PTQ, QAT

SPEC = [paddle.static.InputSpec([None, 8], "float32", "x")]


def net() -> Any:
    paddle.seed(2)
    return nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 3))


def rows(seed: int = 0, size: float = 1.0) -> Any:
    return paddle.to_tensor((np.random.default_rng(seed).standard_normal((20, 8)) * size).astype("float32"))


def train(model: Any) -> None:
    optimizer = paddle.optimizer.SGD(0.001, parameters=model.parameters())
    for n in range(3):
        model(rows(n)).square().mean().backward()
        optimizer.step()
        optimizer.clear_grad()


@pytest.mark.parametrize(
    "config",
    [
        None,
        {"weight_preprocess_type": None, "quantizable_layer_type": ["Conv2D", "Linear"]},
        {"activation_preprocess_type": "PACT", "weight_preprocess_type": "PACT"},
        {"onnx_format": False, "weight_quantize_type": "abs_max", "weight_bits": 5},
    ],
    ids=["defaults", "tutorial", "PACT", "old format"],
)
def test_qat_saves_what_was_trained(config: dict[str, Any] | None, tmp_path: Path) -> None:
    qat = QAT(config)
    given = net()
    model = qat.quantize(given)
    assert model is given
    train(model)
    model.eval()
    qat.save_quantized_model(model, str(tmp_path / "model"), input_spec=SPEC)
    loaded = jit.load(str(tmp_path / "model"))
    for size in (1.0, 9.0):
        assert np.array_equal(loaded(rows(5, size)).numpy(), model(rows(5, size)).numpy())
    assert (tmp_path / "model.pdmodel").is_file()


def test_pact_learns_where_values_end() -> None:
    model = QAT({"activation_preprocess_type": "PACT"}).quantize(net())
    alpha = next(p for n, p in model.named_parameters() if n.endswith("_act_preprocess.alpha"))
    assert alpha.optimize_attr == {"learning_rate": 1000.0}
    assert float(alpha) == 100.0
    alpha.set_value(np.array([0.5], np.float32))
    x = rows()
    x.stop_gradient = False
    model(x).sum().backward()
    outside = np.abs(x.numpy()) > 0.5
    assert alpha.grad is not None
    assert outside.any()
    assert not x.grad.numpy()[outside].any()


def test_qat_of_a_copy() -> None:
    given = net()
    model = QAT().quantize(given, inplace=False)
    assert model is not given
    assert type(given[0]) is nn.Linear


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (3, "config must be dict: got 3"),
        ({"bits": 8}, "config has no 'bits'"),
        ({"weight_preprocess_type": "other"}, "Unknown weight_preprocess_type: other"),
        ({"weight_quantize_type": "other"}, "Unknown weight_quantize_type: other"),
        ({"weight_bits": 17}, "weight_bits should be 2, 3,... or 16"),
        ({"activation_bits": 2.5}, "activation_bits should be 2, 3,... or 16"),
        ({"dtype": "int4"}, "Unknown dtype: int4"),
        ({"moving_rate": 1}, "moving_rate must be float: got 1"),
        ({"quantizable_layer_type": ["ReLU"]}, "is unspported to be quantized"),
        ({"weight_quantize_type": "range_abs_max"}, "Unsupported weight_quantize_type: range_abs_max"),
    ],
)
def test_qat_refuses_unsupported_configurations(config: Any, words: str) -> None:
    with pytest.raises(ConditionError, match=words):
        QAT(config)


@pytest.mark.parametrize("name", ["KLQuantizer", "HistQuantizer", "AbsmaxQuantizer"])
@pytest.mark.parametrize("weights", ["PerChannelAbsmaxQuantizer", "AbsmaxQuantizer"])
def test_ptq_saves_what_was_calibrated(name: str, weights: str, tmp_path: Path) -> None:
    ptq = PTQ(name, weights)
    model = ptq.quantize(net())
    for n in range(3):
        model(rows(n))
    assert model.training
    ptq.save_quantized_model(model, str(tmp_path / "model"), input_spec=SPEC)
    assert model.training
    model.eval()
    loaded, x = jit.load(str(tmp_path / "model")), rows(1)
    assert np.array_equal(loaded(x).numpy(), model(x).numpy())
    wanted = net()(x).numpy()
    assert np.abs(loaded(x).numpy() - wanted).max() < 0.1 * np.abs(wanted).max()


def test_names_and_what_ptq_does_not_take() -> None:
    assert slim.QAT is QAT
    assert slim.PTQ is slim.dygraph.PTQ is PTQ
    assert PTQ(activation_quantizer="HistQuantizer", hist_percent=0.5).ptq is not None
    with pytest.raises(ArgumentError, match="activation_quantizer is one of AbsmaxQuantizer, Hist"):
        PTQ("__import__('os')")
    with pytest.raises(ArgumentError, match="weight_quantizer is one of AbsmaxQuantizer, PerChannel"):
        PTQ(weight_quantizer="KLQuantizer")
    model = nn.Sequential(nn.Conv2D(1, 1, 1), nn.BatchNorm2D(1), nn.ReLU())
    assert PTQ().find_conv_bn_names(model) == [["0", "1"]]
