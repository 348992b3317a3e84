"""Programs, Layers and files quantized after training, against the models in float that they were made of."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn, static
from engine.core.errors import ArgumentError, CancelledError, DTypeError, NotFiniteError, ShapeError
from engine.files.inference import read_inference
from engine.program.graph.check import check
from engine.program.graph.program import Program
from engine.quantization.options import QuantizeOptions
from engine.quantization.post_training import quantize_program
from engine.quantization.quantize_model import quantize_files, quantize_layer, stored_program
from engine.static import InputSpec

F = nn.functional
ABS_MAX = QuantizeOptions(algo="abs_max")


class Net(nn.Layer):
    """A convolution with batch norm, further products, and a product of two values."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(1, 4, 3, padding=1)
        self.bn = nn.BatchNorm2D(4)
        self.depthwise = nn.Conv2D(4, 4, 3, groups=4)
        self.up = nn.Conv2DTranspose(4, 3, 2)
        self.fc = nn.Linear(3 * 6 * 6, 10)
        self.fc2 = nn.Linear(10, 10)

    def forward(self, x: Any) -> Any:
        x = F.max_pool2d(F.relu(self.bn(self.conv(x))), 2, 2)
        x = self.fc(self.up(self.depthwise(x)).flatten(1))
        return paddle.matmul(x, self.fc2(x), transpose_y=True)


SPEC = [InputSpec([None, 1, 14, 14], name="x")]


def batches(count: int = 3) -> list[Any]:
    return [np.random.default_rng(n).normal(size=(4, 1, 14, 14)).astype("float32") for n in range(count)]


@pytest.fixture
def net() -> Net:
    paddle.seed(3)
    made = Net()
    for batch in batches():
        made(paddle.to_tensor(batch))  # the batch norm's statistics
    return made


def predict(layer: Any, x: Any) -> Any:
    layer.eval()
    return layer(paddle.to_tensor(x)).numpy()


def counts(program: Program) -> dict[str, int]:
    names = [o.opdef.name for o in program.global_block().ops]
    return {name: names.count(name) for name in dict.fromkeys(names)}


def dtypes(program: Program) -> dict[str, str]:
    return {v.name: v.dtype.name for v in program.bound()}


def noise(exact: Any, found: Any) -> float:
    return float(np.square(exact - found).sum() / np.square(exact).sum())


@pytest.mark.parametrize("algo", ["abs_max", "hist", "KL", "mse", "avg"])
def test_a_network_is_quantized_and_stays_as_it_is(net: Net, algo: str) -> None:
    before = {name: t.numpy() for name, t in net.state_dict().items()}
    found = quantize_layer(net, SPEC, batches(), QuantizeOptions(algo=algo))
    check(found.program)
    assert net.training
    assert net.bn.training
    assert all(np.array_equal(before[name], t.numpy()) for name, t in net.state_dict().items())
    x = batches()[0]
    assert noise(predict(net, x), predict(found.layer(), x)) < (
        0.05 if algo == "avg" else 0.01
    )  # cuts values off
    assert [(e.name, e.op) for e in found.layers[:-1]] == [
        ("conv", "conv2d"),
        ("depthwise", "depthwise_conv2d"),
        ("up", "conv2d_transpose"),
        ("fc", "matmul_v2"),
        ("fc2", "matmul_v2"),
    ]
    assert (found.layers[-1].name, found.layers[-1].weight) == (found.program.outputs[0], "")
    assert not found.skipped
    assert all(0 < (e.noise_to_signal or 0) < 0.05 for e in found.layers)
    assert all(0 < (e.weight_noise_to_signal or 0) < 1e-3 for e in found.layers if e.weight)
    assert found.samples == 12


def test_pairs_stand_once_before_what_reads_them_and_weights_are_integers(net: Net) -> None:
    program = quantize_layer(net, SPEC, batches(), ABS_MAX).program
    # x, the pooled, the depthwise result, the flat one, fc's (read by fc2 and the product), fc2's
    assert counts(program)["quantize_linear"] == 6
    assert counts(program)["dequantize_linear"] == 6 + 5
    assert "batch_norm" not in counts(program)
    weights = [e.weight.name for e in (net.conv, net.depthwise, net.up, net.fc, net.fc2)]
    assert {n for n, kind in dtypes(program).items() if kind == "int8"} == set(weights)
    block = program.global_block()
    assert [block.var(f"{n}@scale").shape for n in (weights[0], weights[2], "x")] == [(4,), (3,), (1,)]
    conv = next(o for o in block.ops if o.opdef.name == "conv2d")
    assert conv.attr("quantization_type") == "qat_with_weight"
    assert [v.name for v in conv.inputs] == ["x.quantized.dequantized", f"{weights[0]}.quantized.dequantized"]


def test_patterns_types_and_bits_choose_the_quantized_layers(net: Net) -> None:
    options = QuantizeOptions(algo="abs_max", skip=("fc*", "depthwise_conv2d"), bits_of=(("up", 12),))
    found = quantize_layer(net, SPEC, batches(), options)
    assert [(e.layer, e.why) for e in found.skipped] == [
        ("depthwise", "skipped by 'depthwise_conv2d'"),
        ("fc", "skipped by 'fc*'"),
        ("fc2", "skipped by 'fc*'"),
    ]
    kinds = dtypes(found.program)
    assert kinds[net.up.weight.name] == "int16"
    assert kinds[net.depthwise.weight.name] == kinds[net.fc.weight.name] == "float32"
    found = quantize_layer(net, SPEC, batches(), QuantizeOptions(algo="abs_max", op_types=("conv2d",)))
    assert [e.name for e in found.layers if e.quantized] == ["conv"]
    assert [e.layer for e in found.skipped] == ["depthwise", "up", "fc", "fc2"]
    with pytest.raises(ArgumentError, match="skip 'conv9' fits no layer: there are conv, depthwise"):
        quantize_layer(net, SPEC, batches(), QuantizeOptions(skip=("conv9",)))


def test_sixteen_bits_are_almost_exact(net: Net) -> None:
    options = QuantizeOptions(algo="abs_max", weight_bits=16, activation_bits=16)
    found = quantize_layer(net, SPEC, batches(), options)
    x = batches()[1]
    assert noise(predict(net, x), predict(found.layer(), x)) < 1e-7
    assert "int8" not in dtypes(found.program).values()


def test_a_bias_correction_keeps_the_means_of_channels(net: Net) -> None:
    def off(correct: bool) -> float:
        options = QuantizeOptions(algo="abs_max", weight_bits=3, bias_correction=correct)
        block = quantize_layer(net, SPEC, batches(), options).program.global_block()
        integers, scale = (block.var(f"{net.fc.weight.name}{end}").tensor.numpy() for end in ("", "@scale"))
        return float(np.abs((integers * scale / 3 - net.fc.weight.numpy()).mean(axis=0)).max())

    assert off(True) < off(False) / 3


def test_without_data_only_weights_become_integers(net: Net) -> None:
    found = quantize_layer(net, SPEC, None)
    assert "quantize_linear" not in counts(found.program)
    assert [e.name for e in found.layers if e.quantized] == ["conv", "depthwise", "up", "fc", "fc2"]
    assert all(e.threshold is None for e in found.layers)
    x = batches()[0]
    assert noise(predict(net, x), predict(found.layer(), x)) < 1e-3


# -- shared weights and values -------------------------------------------------------------------------------
class Tied(nn.Layer):
    """A table that is also the weight of the output, and a layer that is used twice; a residual sum."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(12, 8)
        self.twice = nn.Linear(8, 8)

    def forward(self, ids: Any) -> Any:
        x = self.table(ids)
        y = self.twice(F.relu(self.twice(x))) + x
        return paddle.matmul(y, self.table.weight, transpose_y=True)


IDS = [np.arange(24).reshape(4, 6) % 12, np.arange(24).reshape(4, 6) % 7]


@pytest.mark.parametrize("with_table", [False, True])
def test_a_weight_that_several_read_is_stored_once(with_table: bool) -> None:
    paddle.seed(1)
    net = Tied()
    types = ("matmul_v2", "lookup_table_v2") if with_table else ("matmul_v2",)
    found = quantize_layer(
        net, [InputSpec([None, 6], "int64", "ids")], IDS, QuantizeOptions(algo="abs_max", op_types=types)
    )
    check(found.program)
    names = ["table", "twice", "twice:2", "table:2"]
    assert [e.name for e in found.layers] == names
    assert [e.name for e in found.layers if e.quantized] == (names if with_table else names[1:])
    kinds = dtypes(found.program)
    table = net.table.weight.name
    # Rows are the channels for both readers: one copy of integers. A reader in float keeps the float one.
    assert kinds[table] == ("int8" if with_table else "float32")
    assert kinds.get(f"{table}.quantized") == (None if with_table else "int8")
    assert kinds[net.twice.weight.name] == "int8"
    assert list(kinds.values()).count("int8") == 2
    assert noise(predict(net, IDS[0]), predict(found.layer(), IDS[0])) < 1e-3


def test_a_filter_with_two_batch_norms_is_folded_twice_under_its_name() -> None:
    class Twice(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.one, self.two = nn.Conv2D(2, 2, 3), nn.BatchNorm2D(2), nn.BatchNorm2D(2)

        def forward(self, x: Any) -> Any:
            return self.two(self.conv(F.relu(self.one(self.conv(x)))))

    paddle.seed(5)
    net, data = Twice(), [np.random.default_rng(0).normal(size=(4, 2, 8, 8)).astype("float32")]
    net(paddle.to_tensor(data[0]))
    found = quantize_layer(net, [InputSpec([None, 2, 8, 8], name="x")], data, ABS_MAX)
    assert [e.name for e in found.layers] == ["conv", "conv:2"]
    assert list(dtypes(found.program).values()).count("int8") == 2
    assert noise(predict(net, data[0]), predict(found.layer(), data[0])) < 1e-3


def test_recurrent_layers_stay_in_float_with_a_reason() -> None:
    class Recurrent(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.fc = nn.LSTM(4, 5), nn.Linear(5, 2)

        def forward(self, x: Any) -> Any:
            return self.fc(self.lstm(x)[0])

    data = [np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")]
    found = quantize_layer(Recurrent(), [InputSpec([None, 3, 4], name="x")], data, ABS_MAX)
    assert [(e.name, e.quantized) for e in found.layers] == [("lstm.0.cell", False), ("fc", True)]
    assert found.skipped[0].why.startswith("recurrent layers stay in float")


def test_weights_that_are_computed_from_weights_are_folded() -> None:
    class Computed(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.fc = nn.Conv1D(2, 3, 3), nn.Linear(6, 4)

        def forward(self, x: Any) -> Any:
            y = self.conv(x)
            return paddle.matmul(y, (self.fc.weight * 2.0).t(), transpose_y=True)

    data = [np.random.default_rng(0).normal(size=(2, 2, 8)).astype("float32")]
    net = Computed()
    found = quantize_layer(net, [InputSpec([None, 2, 8], name="x")], data, ABS_MAX)
    weights = [net.conv.weight.name, net.fc.weight.name]
    assert [(e.name, e.weight) for e in found.layers] == list(zip(["conv", "fc"], weights, strict=True))
    assert [dtypes(found.program)[name] for name in weights] == ["int8", "int8"]
    assert noise(predict(net, data[0]), predict(found.layer(), data[0])) < 1e-3


def test_a_batch_norm_that_no_convolution_takes_stays() -> None:
    class Before(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.stays, self.conv, self.bn = nn.BatchNorm2D(2), nn.Conv2D(2, 3, 3), nn.BatchNorm2D(3)

        def forward(self, x: Any) -> Any:
            return self.bn(self.conv(self.stays(x)))

    data = [np.random.default_rng(0).normal(size=(2, 2, 6, 6)).astype("float32")]
    net = Before()
    found = quantize_layer(net, [InputSpec([None, 2, 6, 6], name="x")], data, ABS_MAX)
    check(found.program)
    assert counts(found.program)["batch_norm"] == 1
    assert noise(predict(net, data[0]), predict(found.layer(), data[0])) < 1e-3


def test_the_last_dimension_may_be_the_channels() -> None:
    class Last(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2D(2, 3, 3, data_format="NHWC")
            self.bn = nn.BatchNorm2D(3, data_format="NHWC")

        def forward(self, x: Any) -> Any:
            return self.bn(self.conv(x))

    data = [np.random.default_rng(0).normal(size=(2, 6, 6, 2)).astype("float32")]
    net = Last()
    found = quantize_layer(net, [InputSpec([None, 6, 6, 2], name="x")], data, ABS_MAX)
    assert "batch_norm" not in counts(found.program)
    assert found.program.global_block().var(f"{net.conv.weight.name}@scale").shape == (3,)
    assert noise(predict(net, data[0]), predict(found.layer(), data[0])) < 1e-3


# -- files and static graphs -------------------------------------------------------------------------------
def test_files_are_quantized_into_files(net: Net, tmp_path: pathlib.Path) -> None:
    net.eval()
    source, target = str(tmp_path / "float"), str(tmp_path / "int8")
    paddle.jit.save(net, source, SPEC, info={"classes": ["a"]})
    found = quantize_files(source, target, batches(), ABS_MAX)
    loaded = paddle.jit.load(target)
    x = batches()[0]
    np.testing.assert_array_equal(predict(loaded, x), predict(found.layer(), x))
    assert loaded.info == {"classes": ["a"]}
    loaded.train()  # scales are fixed: there is nothing that it would switch
    with paddle.no_grad():
        np.testing.assert_array_equal(loaded(paddle.to_tensor(x)).numpy(), predict(found.layer(), x))
    assert [e.name for e in found.layers][:3] == ["conv", "depthwise", "up"]
    assert loaded.state_dict()["conv.weight"].dtype.name == "int8"
    exe = static.Executor()
    with static.scope_guard(static.Scope()):
        program, feeds, fetches = static.load_inference_model(target, exe)
        (result,) = exe.run(program, {feeds[0]: x}, fetches)
    np.testing.assert_array_equal(result, predict(loaded, x))
    with pytest.raises(ArgumentError, match=r"quantized already .it has quantize_linear"):
        quantize_files(target, str(tmp_path / "again"), batches(), ABS_MAX)
    assert not list(tmp_path.glob("again*"))


@pytest.mark.parametrize("origin", ["optimized", "loaded", "foreign"])
def test_wherever_a_program_comes_from_it_is_quantized_alike(
    net: Net, tmp_path: pathlib.Path, origin: str
) -> None:
    net.eval()
    expected = quantize_layer(net, SPEC, batches(), ABS_MAX)
    prefix = str(tmp_path / "net")
    paddle.jit.save(net, prefix, SPEC, optimize=origin == "optimized")
    if origin == "loaded":
        found = quantize_layer(paddle.jit.load(prefix), None, batches(), ABS_MAX)
    else:
        program, names = stored_program(read_inference(prefix))
        program.foreign = origin == "foreign"  # as of an untrusted model: its runs are metered
        found = quantize_program(program, batches(), ABS_MAX, names=names)
        assert found.program.foreign is program.foreign
    assert [e.quantized for e in found.layers] == [True] * 6
    if origin != "optimized":  # which has filters under names of its own
        assert [e.name for e in found.layers[:5]] == [e.name for e in expected.layers[:5]]
    x = batches()[0]
    np.testing.assert_allclose(predict(found.layer(), x), predict(expected.layer(), x), rtol=0.02, atol=0.05)


@pytest.fixture
def _static_mode() -> Iterator[None]:
    paddle.enable_static()
    try:
        yield
    finally:
        paddle.disable_static()


@pytest.mark.usefixtures("_static_mode")
def test_a_static_program_with_training_in_it_is_quantized() -> None:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 6])
        hidden = static.nn.fc(x, 5, activation="relu")
        y = static.nn.fc(hidden, 3)
        paddle.optimizer.SGD(0.1).minimize(paddle.mean(y))
    scope, exe = static.Scope(), static.Executor()
    exe.run(startup, scope=scope)
    data = [np.random.default_rng(0).normal(size=(8, 6)).astype("float32")]
    text = str(main)
    found = quantize_program(main, data, ABS_MAX, inputs=["x"], outputs=[y], scope=scope)
    assert str(main) == text
    assert [e.op for e in found.layers] == ["mul", "mul"]
    (exact,) = exe.run(main.clone(for_test=True), {"x": data[0]}, [y], scope=scope)
    (result,) = exe.run(found.program, {"x": data[0]}, found.program.outputs)
    assert noise(exact, result) < 1e-3
    with pytest.raises(ArgumentError, match="does not say its inputs; pass inputs="):
        quantize_program(main, data, ABS_MAX, scope=scope)


# -- bad input ---------------------------------------------------------------------------------------------
NAN = [np.full((1, 1, 14, 14), np.nan, "float32")]


@pytest.mark.parametrize(
    ("data", "options", "error", "words"),
    [
        (NAN, ABS_MAX, NotFiniteError, "batch 0: 196 of 196 values of 'x' are nan or infinite"),
        ([np.zeros((1, 3, 14, 14), "float32")], ABS_MAX, ShapeError, r"'x' has shape \[1, 3, 14, 14\]"),
        ([np.zeros((1, 1, 14, 14), "int64")], ABS_MAX, DTypeError, "'x' is int64: the model takes float32"),
        (batches(), QuantizeOptions(samples=20), ArgumentError, "12 samples: 20 were asked for"),
        ([], ABS_MAX, ArgumentError, "0 samples: at least 1 is needed"),
        (iter(batches()), QuantizeOptions(), ArgumentError, "'hist' reads it 2 times.* gives it once"),
        ([[batches()[0], np.zeros(4)]], ABS_MAX, ArgumentError, "2 arrays: the model takes 1.*leave labels"),
        ([{"y": 1}], ABS_MAX, ArgumentError, r"batch 0: it has no \['x'\]"),
        (7, ABS_MAX, DTypeError, "must be batches or a function that gives them: got int"),
    ],
)
def test_bad_calibration_data(net: Net, data: Any, options: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        quantize_layer(net, SPEC, data, options)


def test_a_weight_with_nan_names_its_layer(net: Net) -> None:
    net.fc.weight.set_value(np.full((108, 10), np.nan, "float32"))
    with pytest.raises(NotFiniteError, match="1080 of 1080 values of the weight of layer 'fc' are nan"):
        quantize_layer(net, SPEC, batches(), ABS_MAX)


def test_values_that_become_infinite_name_their_layer(net: Net) -> None:
    net.fc.bias.set_value(np.full(10, np.inf, "float32"))
    with pytest.raises(
        NotFiniteError, match=r"batch 0: '.*', which layer 'fc2' reads, becomes nan or infinite"
    ):
        quantize_layer(net, SPEC, batches(), ABS_MAX)


def test_exactly_as_many_samples_as_asked_for_are_read(net: Net) -> None:
    seen: list[tuple[int, int | None]] = []

    def read(count: int, total: int | None) -> None:
        seen.append((count, total))

    found = quantize_layer(net, SPEC, batches, QuantizeOptions(algo="KL", samples=6), read)
    assert found.samples == 6
    assert seen == [(4, 12), (6, 12), (10, 12), (12, 12)]
    only = quantize_layer(net, SPEC, [batches()[0], batches()[1][:2]], QuantizeOptions(algo="KL"))
    assert list(found.thresholds.values()) == list(only.thresholds.values())


def test_a_calibration_can_be_cancelled(net: Net) -> None:
    def stop(count: int, total: int | None) -> None:
        raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        quantize_layer(net, SPEC, batches(), ABS_MAX, stop)


def test_values_that_were_always_zero_stay_in_float(net: Net) -> None:
    found = quantize_layer(net, SPEC, [np.zeros((2, 1, 14, 14), "float32")], ABS_MAX)
    assert (found.skipped[0].layer, found.skipped[0].why) == ("conv", "x was 0 in all samples")


class Branch(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        y = self.fc(x)
        if y.sum() > 0:
            y = y + 1.0
        return y


def test_control_flow_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"control flow .conditional_block at .*test_post_training\.py"):
        quantize_layer(Branch(), [InputSpec([None, 3], name="x")], [np.zeros((1, 3), "float32")], ABS_MAX)


def test_a_model_without_products_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"no layer can be quantized .the model has no products"):
        quantize_layer(nn.ReLU(), [InputSpec([None, 3], name="x")], [np.ones((1, 3), "float32")], ABS_MAX)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"weight_bits": 1}, "weight_bits must be 2 to 16: got 1"),
        ({"activation_bits": 17}, "activation_bits must be 2 to 16: got 17"),
        ({"weight_bits": True}, "weight_bits must be 2 to 16: got True"),
        ({"algo": "best"}, "algo 'best' is unknown; choose from"),
        ({"weight_type": "x"}, "weight_type 'x' is unknown"),
        ({"samples": 0}, "samples must be an integer from 1: got 0"),
        ({"hist_percent": 1.5}, "hist_percent must be above 0 and at most 1: got 1.5"),
        ({"op_types": ("while",)}, r"op_types \['while'\]: no such operator can be quantized"),
        ({"skip": "fc"}, "skip must be a list of texts: got 'fc'"),
        ({"bits_of": {"fc": 40}}, "bits_of 'fc' must be 2 to 16: got 40"),
    ],
)
def test_options_are_checked(values: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        QuantizeOptions(**values)


def test_options_are_plain_values_and_back() -> None:
    options = QuantizeOptions(algo="KL", skip=("a", "b"), bits_of=(("c", 4),))
    assert QuantizeOptions.from_plain(options.to_plain()) == options
    with pytest.raises(ArgumentError, match="quantize: options are"):
        QuantizeOptions.from_plain({"bits": 3})
