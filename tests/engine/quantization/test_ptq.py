"""PTQ: observers in a network, what they say, and the converted network that is saved and loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import jit, nn
from engine.core.errors import ArgumentError, NotFiniteError
from engine.quantization import PTQ, QuantConfig
from engine.quantization.observers import AbsmaxObserver, GroupWiseWeightObserver


class Net(nn.Layer):
    """The first parameter of forward is not called self: Paddle can't save a copy of such a network."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(1, 3, 3)
        self.stub = nn.quant.Stub()
        self.fc = nn.Linear(12, 4)

    def forward(net, x: Any) -> Any:
        hidden = nn.functional.relu(net.conv(x))
        return net.fc(paddle.flatten(net.stub(hidden), 1))


def images(seed: int = 0, count: int = 5) -> Any:
    rng = np.random.default_rng(seed)
    return paddle.to_tensor(rng.standard_normal((count, 1, 4, 4)).astype("float32"))


def observed(**options: Any) -> tuple[PTQ, Any]:
    net = Net()
    net.eval()
    ptq = PTQ(QuantConfig(AbsmaxObserver(**options), AbsmaxObserver(**options)))
    quantized = ptq.quantize(net)
    for seed in range(3):
        quantized(images(seed))
    return ptq, quantized


def test_converted_weights_are_integers_and_the_result_is_near() -> None:
    ptq, quantized = observed()
    converted = ptq.convert(quantized)
    for weight, before in (
        (converted.conv.weight, quantized.conv.weight),
        (converted.fc.weight, quantized.fc.weight),
    ):
        integers = weight.numpy()
        assert integers.dtype == np.float32
        assert np.array_equal(integers, np.rint(integers))
        scale = np.abs(before.numpy()).max()
        assert np.abs(integers).max() == 127
        assert np.array_equal(integers, np.rint(np.float32(127) * (np.float32(1) / scale) * before.numpy()))
    x = images(7)
    wanted = quantized(x).numpy()
    assert np.abs(converted(x).numpy() - wanted).max() < 0.05 * np.abs(wanted).max()


def test_a_converted_network_is_saved_and_loaded_to_the_last_bit(tmp_path: Path) -> None:
    ptq, quantized = observed()
    converted = ptq.convert(quantized)
    x = images(7)
    wanted = converted(x).numpy()
    spec = [paddle.static.InputSpec([None, 1, 4, 4], "float32", "x")]
    jit.save(converted, str(tmp_path / "model"), input_spec=spec)
    loaded = jit.load(str(tmp_path / "model"))
    assert np.array_equal(loaded(x).numpy(), wanted)
    types = [op.type for op in loaded.program().global_block().ops]
    # Three inputs are quantized; two weights are dequantized only.
    assert (types.count("quantize_linear"), types.count("dequantize_linear")) == (3, 5)


@pytest.mark.parametrize("bits", [2, 4, 12, 16])
def test_more_bits_come_nearer(bits: int) -> None:
    ptq, quantized = observed(quant_bits=bits)
    x = images(1)
    wanted = quantized(x).numpy()
    error = np.abs(ptq.convert(quantized)(x).numpy() - wanted).max() / np.abs(wanted).max()
    assert 0 < error < 4.0 * 2.0 ** (1 - bits)


def test_a_quantized_network_is_refused() -> None:
    ptq, quantized = observed()
    with pytest.raises(
        ArgumentError, match="is quantized already: 'weight_quanter' of QuantedConv2D is a Absmax"
    ):
        ptq.quantize(quantized)


def test_calibration_data_with_nan_is_reported_when_converting() -> None:
    ptq, quantized = observed()
    quantized(images() * float("nan"))
    with pytest.raises(NotFiniteError, match=r"convert: a scale is nan .*without such"):
        ptq.convert(quantized)


def test_groups_keep_their_size() -> None:
    net = nn.Sequential(nn.Linear(128, 2))
    net.eval()
    ptq = PTQ(QuantConfig(None, GroupWiseWeightObserver(group_size=64)))
    quantized = ptq.quantize(net)
    x = paddle.to_tensor(np.linspace(-1, 1, 256, dtype="float32").reshape(2, 128))
    wanted = quantized(x).numpy()
    converted = ptq.convert(quantized)
    assert converted[0].weight_quanter._dequanter._scales.shape == [2, 2]
    assert np.abs(converted(x).numpy() - wanted).max() < 0.02


def test_configurations_say_what_they_do_not_take() -> None:
    config = QuantConfig(None, None)
    for wrong, words in (
        (lambda: config.add_layer_config(3), "takes a Layer or a list of them: got 3"),
        (lambda: config.add_name_config([3]), "takes a layer's full name or a list of names: got 3"),
        (lambda: config.add_type_config("Linear"), "takes a class of layers or a list of them: got 'Linear'"),
        (lambda: config.add_type_config(int), "takes a class of layers"),
        (
            lambda: config.add_qat_layer_mapping(nn.Linear, 3),
            "target layer to be placed should be a subclass",
        ),
    ):
        with pytest.raises(ArgumentError, match=words):
            wrong()
