"""The dynamic-graph quantization before Paddle 2.5: it saves what the network computes, in integers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import jit, nn
from engine.core.errors import ArgumentError, ConditionError, ModeError
from engine.quantization import (
    AbsmaxQuantizer,
    HistQuantizer,
    ImperativePTQ,
    ImperativeQuantAware,
    KLQuantizer,
    PerChannelAbsmaxQuantizer,
    PTQConfig,
)
from engine.quantization.imperative import fuse_utils

SPEC = [paddle.static.InputSpec([None, 1, 6, 6], "float32", "x")]


def net() -> Any:
    paddle.seed(4)
    return nn.Sequential(
        nn.Conv2D(1, 4, 3, padding=1, bias_attr=False),
        nn.BatchNorm2D(4),
        nn.ReLU(),
        nn.Conv2DTranspose(4, 3, 2, stride=2),
        nn.AvgPool2D(4),
        nn.Flatten(),
        nn.Linear(27, 3),
    )


def images(seed: int = 0, size: float = 1.0, count: int = 6) -> Any:
    rng = np.random.default_rng(seed)
    return paddle.to_tensor((rng.standard_normal((count, 1, 6, 6)) * size).astype("float32"))


def train(model: Any, steps: int = 3) -> None:
    optimizer = paddle.optimizer.Adam(0.01, parameters=model.parameters())
    for n in range(steps):
        loss = nn.functional.cross_entropy(model(images(n)), paddle.to_tensor([0, 1, 2, 0, 1, 2]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()


class Clipped(nn.Layer):
    """A preprocess layer that changes values."""

    def forward(self, x: Any) -> Any:
        return x.clip(-0.3, 0.25)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weight_quantize_type": "channel_wise_abs_max", "onnx_format": True},
        {"weight_bits": 4, "activation_bits": 6},
        {"weight_preprocess_layer": Clipped, "act_preprocess_layer": Clipped},
        {"fuse_conv_bn": True, "onnx_format": True},
    ],
    ids=["per tensor", "channels", "few bits", "preprocess", "fused"],
)
def test_the_saved_model_is_a_copy_of_the_trained_one(options: dict[str, Any], tmp_path: Path) -> None:
    qat = ImperativeQuantAware(**options)
    model = qat.quantize(net())
    train(model)
    qat.save_quantized_model(model, str(tmp_path / "model"), input_spec=SPEC)
    assert model.training
    train(model, 1)  # what was saved is a copy
    qat.save_quantized_model(model, str(tmp_path / "model"), input_spec=SPEC)
    model.eval()
    loaded = jit.load(str(tmp_path / "model"))
    for size in (1.0, 5.0):
        x = images(9, size)
        assert np.array_equal(loaded(x).numpy(), model(x).numpy())
    types = [op.type for op in loaded.program().global_block().ops]
    assert (types.count("quantize_linear"), types.count("dequantize_linear")) == (3, 6)
    assert not [each for each in types if each.startswith(("fake_", "moving_average"))]


@pytest.mark.parametrize("static", [False, True], ids=["eager", "static"])
@pytest.mark.parametrize("kind", [AbsmaxQuantizer, HistQuantizer, KLQuantizer])
def test_a_trained_network_is_calibrated_and_saved(kind: type, static: bool, tmp_path: Path) -> None:
    model = net()
    if static:  # what is looked at is known only when the Program runs
        jit.to_static(model)
    train(model)
    model.eval()
    wanted = model(images(8, count=40)).numpy()
    ptq = ImperativePTQ(PTQConfig(kind(), PerChannelAbsmaxQuantizer()))
    observed = ptq.quantize(model, fuse=True)
    assert type(observed[1]).__name__ == "Identity"
    for seed in range(3):
        observed(images(seed, count=40))
    ptq.save_quantized_model(observed, str(tmp_path / "model"), input_spec=SPEC)
    assert type(observed[0]).__name__ == "QuantizedConv2D"
    x = images(8, count=40)
    loaded = jit.load(str(tmp_path / "model"))
    assert np.array_equal(loaded(x).numpy(), observed(x).numpy())
    error = np.sqrt(np.mean((loaded(x).numpy() - wanted) ** 2)) / np.sqrt(np.mean(wanted**2))
    assert 0 < error < 0.1
    assert np.array_equal(model(x).numpy(), wanted)
    ptq.save_quantized_model(observed, str(tmp_path / "again"), input_spec=SPEC)
    assert np.array_equal(jit.load(str(tmp_path / "again"))(x).numpy(), observed(x).numpy())


def test_nothing_is_saved_of_what_saw_no_samples(tmp_path: Path) -> None:
    ptq = ImperativePTQ()
    model = net()
    model.eval()
    observed = ptq.quantize(model)
    with pytest.raises(ModeError, match="no values have passed '0' yet"):
        ptq.save_quantized_model(observed, str(tmp_path / "model"), input_spec=SPEC)
    assert list(tmp_path.iterdir()) == []


def test_batch_norms_are_folded() -> None:
    model = net()
    train(model)
    linear = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1D(3))
    linear(paddle.to_tensor(np.random.default_rng(0).standard_normal((9, 4)).astype("float32")))
    for before, x in ((model, images(5)), (linear, images(5).reshape([-1, 4]))):
        before.eval()
        wanted = before(x).numpy()
        after = fuse_utils.fuse_layers(before, [["0", "1"]])
        np.testing.assert_allclose(after(x).numpy(), wanted, rtol=1e-4, atol=1e-6)
        assert np.array_equal(before(x).numpy(), wanted)
        assert type(after[1]).__name__ == "Identity"
    assert fuse_utils.conv_bn_names(model) == [["0", "1"]]
    with pytest.raises(ArgumentError, match=r"\['1', '2'\] are BatchNorm2D and ReLU"):
        fuse_utils.fuse_layers(model, [["1", "2"]])
    with pytest.raises(ArgumentError, match="are not layers of Sequential"):
        fuse_utils.fuse_layers(model, [["0", "nothing"]])
    wrong = nn.Sequential(nn.Conv2D(1, 4, 1), nn.BatchNorm2D(3))
    with pytest.raises(ConditionError, match="1 has 3 channels, and 0 gives 4"):
        fuse_utils.fuse_layers(wrong, [["0", "1"]])
