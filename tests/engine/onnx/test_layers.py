"""Recurrent layers, attention and quantized networks as ONNX models, for several sizes of their inputs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ArgumentError
from engine.jit.export import traced
from engine.onnx.write_model import write_model
from engine.program.passes.pipeline import PREDICTION, optimize
from engine.quantization.options import QuantizeOptions
from engine.quantization.quantize_model import Quantized, quantize_layer
from engine.static import InputSpec
from engine.vision.models import LeNet
from tests.engine.onnx.runs import apart, by_reference, by_runtime, checked
from tests.engine.quantization import test_qat

BOTH = (by_runtime, by_reference)
RECURRENT = (nn.LSTM, nn.GRU, nn.SimpleRNN)


def values(*shape: int) -> np.ndarray:
    """Numbers of which no quantizer takes one to a half, which a last digit decides."""
    return np.random.default_rng((1, *shape)).standard_normal(shape).astype(np.float32)


def flat(result: Any) -> list[np.ndarray]:
    if isinstance(result, tuple | list):
        return [array for each in result for array in flat(each)]
    return [] if result is None else [result.numpy()]


def differences(
    layer: Any, model: Any, *inputs: np.ndarray, runtimes: Any = (by_runtime, by_reference)
) -> Any:
    """The largest difference of each runtime, as a share of the largest result."""
    wanted = flat(layer(*map(paddle.to_tensor, inputs)))
    feed = dict(zip((each.name for each in model.graph.input), inputs, strict=True))
    return [apart(run(model, feed), wanted) for run in runtimes]


class Padded(nn.Layer):
    def __init__(self, net: nn.Layer) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Any, lengths: Any) -> Any:
        return self.net(x, None, lengths)


class Attention(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.MultiHeadAttention(8, 2)

    def forward(self, query: Any, key: Any, mask: Any) -> Any:
        return self.net(query, key, key, mask)


@pytest.mark.parametrize("kind", RECURRENT)
@pytest.mark.parametrize(
    ("layers", "direction", "time_major"), [(1, "forward", True), (2, "bidirect", False)]
)
def test_recurrent_layers(kind: Any, layers: int, direction: str, time_major: bool) -> None:
    net = kind(3, 4, num_layers=layers, direction=direction, time_major=time_major)
    net.eval()
    model = write_model(traced(net, [InputSpec([None, None, 3], name="x")])[0], {})
    assert len(checked(model).graph.output) == (3 if kind is nn.LSTM else 2)
    for shape in ((2, 5, 3), (4, 1, 3)):
        assert max(differences(net, model, values(*shape))) < 1e-5


class Twice(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.GRU(3, 4)

    def forward(self, x: Any) -> Any:
        return self.net(x)[0], self.net(-x)[0]


def test_weights_that_are_used_twice_are_held_once() -> None:
    net = Twice()
    net.eval()
    model = checked(write_model(traced(net, [InputSpec([None, None, 3], name="x")])[0], {}))
    assert sum(len(each.dims) == 3 for each in model.graph.initializer) == 2
    assert max(differences(net, model, values(2, 5, 3))) < 1e-5


@pytest.mark.parametrize("kind", RECURRENT)
def test_sequences_of_several_lengths(kind: Any) -> None:
    net = Padded(kind(3, 4, direction="bidirect"))
    net.eval()
    specs = [InputSpec([None, None, 3], name="x"), InputSpec([None], "int64", name="lengths")]
    model = checked(write_model(traced(net, specs)[0], {}))
    for shape, lengths in (((3, 5, 3), [5, 0, 2]), ((2, 4, 3), [1, 3])):
        found = differences(net, model, values(*shape), np.array(lengths), runtimes=(by_runtime,))
        assert max(found) < 1e-5


def test_attention_between_sequences_of_any_length() -> None:
    net = Attention()
    net.eval()
    specs = [InputSpec([None, None, 8], name=name) for name in ("query", "key")]
    specs.append(InputSpec([None, 1, None, None], name="mask"))
    model = checked(write_model(traced(net, specs)[0], {}))
    for batch, rows, columns in ((2, 3, 5), (1, 4, 2)):
        inputs = values(batch, rows, 8), values(batch, columns, 8), values(batch, 1, rows, columns)
        assert max(differences(net, model, *inputs)) < 1e-5


# -- quantized networks --------------------------------------------------------------------------------------
def quantized(**options: Any) -> Quantized:
    paddle.seed(5)
    net = LeNet()
    net.eval()
    spec = [InputSpec([None, 1, 28, 28], name="x")]
    return quantize_layer(net, spec, [values(4, 1, 28, 28)], QuantizeOptions(algo="abs_max", **options))


@pytest.mark.parametrize(
    ("options", "stored", "pairs"),
    [
        ({}, "int8", 5),
        ({"round_type": 1}, "int8", 5),
        ({"weight_bits": 4, "activation_bits": 6}, "int8", 0),
        ({"weight_bits": 4}, "int8", 5),
        ({"weight_bits": 12}, "int16", 5),  # ONNX Runtime would quantize floating weights by 8 bits
        ({"weight_bits": 12, "activation_bits": 12}, "int16", 0),
    ],
)
def test_quantized_networks(options: Any, stored: str, pairs: int) -> None:
    """Each value is quantized, and dequantized, once, and weights remain integers."""
    made = quantized(**options)
    model = checked(write_model(made.program, {}))
    kinds = Counter(node.op_type for node in model.graph.node)
    assert (kinds["QuantizeLinear"], kinds["DequantizeLinear"]) == (pairs, pairs + 5)
    matrices = [each.data_type for each in model.graph.initializer if len(each.dims) > 1]
    assert matrices == [{"int8": 3, "int16": 5}[stored]] * 5
    layer = made.layer()
    for batch in (1, 3):
        assert max(differences(layer, model, values(batch, 1, 28, 28))) < 1e-5


@pytest.mark.parametrize("bits", [2, 8])
def test_networks_quantized_while_they_learn(bits: int) -> None:
    """Their integer weights are in float32, which ONNX Runtime would quantize anew."""
    qat, net = test_qat.quantized(bits)
    test_qat.train(net, net)
    net.eval()
    converted = qat.convert(net)
    converted.eval()
    program = traced(converted, [InputSpec([None, 1, 4, 4], name="x")])[0]
    model = checked(write_model(program, {}))
    kinds = Counter(node.op_type for node in model.graph.node)
    assert (kinds["QuantizeLinear"], kinds["DequantizeLinear"]) == ((5, 8) if bits == 8 else (0, 3))
    assert max(differences(converted, model, test_qat.images(7).numpy())) < 1e-5


def test_products_of_integers() -> None:
    made = quantized()
    program = optimize(made.program, PREDICTION)
    program.inputs = list(made.program.inputs)
    model = checked(write_model(program, {}))
    assert "MatMulInteger" in {node.op_type for node in model.graph.node}
    assert max(differences(made.layer(), model, values(2, 1, 28, 28))) < 1e-5


# -- graphs --------------------------------------------------------------------------------------------------
class Same(nn.Layer):
    def forward(self, x: Any) -> Any:
        return x, nn.functional.relu(x)


def test_an_input_as_result_and_results_that_are_not_computed() -> None:
    net = Same()
    model = checked(write_model(traced(net, [InputSpec([None, 3], name="x")])[0], {}))
    names = [each.name for each in (*model.graph.input, *model.graph.output)]
    assert len({*names}) == 3
    assert differences(net, model, values(2, 3)) == [0, 0]
    program = traced(nn.LSTM(3, 4), [InputSpec([2, 5, 3], name="x")])[0]
    recurrent = next(o for o in program.global_block().ops if o.opdef.name == "rnn")
    program.outputs = [recurrent.outputs[3].name]
    with pytest.raises(ArgumentError, match="is a result that only training reads"):
        write_model(program, {})


class Counting(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", paddle.zeros([1]))

    def forward(self, x: Any) -> Any:
        self.count = self.count + 1
        return x * self.count


def test_weights_of_hooks_are_computed_and_nothing_is_stored_between_runs() -> None:
    hooked = nn.utils.spectral_norm(nn.Linear(4, 3)), nn.utils.weight_norm(nn.Linear(3, 2))
    net = nn.Sequential(*hooked)
    net.eval()
    specs = [InputSpec([None, 4], name="x")]
    assert max(differences(net, checked(write_model(traced(net, specs)[0], {})), values(2, 4))) < 1e-5
    program = traced(Counting(), specs)[0]
    with pytest.raises(ArgumentError, match="is stored from one run to the next"):
        write_model(program, {})
