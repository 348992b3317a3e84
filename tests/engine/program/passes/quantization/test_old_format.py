"""Paddle's old format: the same results as pairs, but for ties, from products of integers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine import static
from engine.program.graph.check import check
from engine.program.passes.clone import clone
from engine.program.passes.quantization.old_format import to_old_format
from engine.quantization.options import QuantizeOptions
from engine.quantization.post_training import quantize_program, quantize_weights


@pytest.fixture(autouse=True)
def _scope() -> Iterator[None]:
    engine.enable_static()
    with (
        engine.utils.unique_name.guard(),
        static.scope_guard(static.Scope()),
        static.program_guard(static.Program(), static.Program()),
    ):
        yield
    engine.disable_static()


def quantized(net: Any, shape: list[int], weights_only: bool = False, **options: Any) -> tuple[Any, Any]:
    """The quantized Program of ``net`` and data for it."""
    engine.seed(4)
    x = static.data("x", [None, *shape])
    out = net(x)
    executor = static.Executor()
    executor.run(static.default_startup_program())
    data = np.random.default_rng(0).normal(size=(4, *shape)).astype("float32")
    chosen = QuantizeOptions(algo="abs_max", **options)
    given = {"inputs": [x], "outputs": [out]}
    program = static.default_main_program()
    if weights_only:
        return quantize_weights(program, chosen, **given).program, data
    return quantize_program(program, [{"x": data}], chosen, **given).program, data


def compared(program: Any, data: Any, **options: Any) -> tuple[list[str], Any]:
    """The operators of the old form; its results are checked against those of the pairs."""
    executor = static.Executor()
    (expected,) = executor.run(program, feed={"x": data}, fetch_list=program.outputs)
    old = clone(program)
    to_old_format(old, **options)
    check(old)
    assert old.outputs == program.outputs
    (seen,) = executor.run(old, feed={"x": data}, fetch_list=old.outputs)
    # A tie goes one step elsewhere.
    np.testing.assert_allclose(seen, expected, atol=0.02 * np.abs(expected).max())
    assert np.abs(seen - expected).mean() < 2e-3 * np.abs(expected).max()
    assert not any(v.dtype.name == "int8" for v in old.global_block().vars.values())
    return [op.type for op in old.global_block().ops], old


NETS = {
    "conv2d": (lambda x: static.nn.conv2d(x, 4, 3, bias_attr=False), [2, 5, 5]),
    "depthwise_conv2d": (
        lambda x: static.nn.conv2d(x, 2, 3, groups=2, bias_attr=False, use_cudnn=False),
        [2, 5, 5],
    ),
    "conv2d_transpose": (
        lambda x: static.nn.conv2d_transpose(x, 3, filter_size=2, bias_attr=False),
        [2, 4, 4],
    ),
    "mul": (lambda x: static.nn.fc(x, 3, num_flatten_dims=2, bias_attr=False), [5, 6]),
    "matmul_v2": (
        lambda x: engine.matmul(x, static.create_parameter([3, 6], "float32"), transpose_y=True),
        [5, 6],
    ),
}


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("kind", ["channel_wise_abs_max", "abs_max"])
def test_products_of_integers_are_rescaled_behind(name: str, kind: str) -> None:
    net, shape = NETS[name]
    program, data = quantized(net, shape, weight_type=kind, weight_bits=6)
    rescaled = "fake_channel_wise_dequantize_max_abs" if "channel" in kind else "fake_dequantize_max_abs"
    types, old = compared(program, data)
    assert types == ["fake_quantize_range_abs_max", name, rescaled]
    block = old.global_block()
    (weight,) = [v for v in block.vars.values() if v.persistable and v.spec.ndim > 1]
    array = weight.tensor.numpy()
    assert (np.abs(array).max(), array.dtype) == (31, "float32")
    np.testing.assert_array_equal(array, np.round(array))
    types, _ = compared(program, data, activations="moving_average_abs_max")
    assert types[0] == "fake_quantize_moving_average_abs_max"


def test_operators_that_cannot_be_rescaled_read_floats() -> None:
    program, data = quantized(
        lambda x: static.nn.conv2d_transpose(x, 4, filter_size=2, groups=2, bias_attr=False), [2, 4, 4]
    )
    types, _ = compared(program, data)
    assert types == [
        "fake_quantize_dequantize_moving_average_abs_max",
        "fake_channel_wise_dequantize_max_abs",
        "conv2d_transpose",
    ]


def test_values_without_weights_pass_through_integers_and_back() -> None:
    def net(x: Any) -> Any:
        value = static.nn.fc(x, 6, bias_attr=False)
        return engine.add(engine.nn.functional.relu(value), x)

    program, data = quantized(net, [6], op_types=("mul", "relu", "elementwise_add"))
    types, old = compared(program, data)
    assert types == [
        "fake_quantize_range_abs_max",
        "mul",
        "fake_channel_wise_dequantize_max_abs",
        *["fake_quantize_dequantize_moving_average_abs_max", "relu"],
        *["fake_quantize_dequantize_moving_average_abs_max"] * 2,
        "elementwise_add",
    ]
    assert {"x.quantized", "x.quant_dequant", "fc_0.tmp_0", "fc_0.tmp_0.dequantized"} <= set(
        old.global_block().vars
    )


def test_a_weight_of_values_in_float_has_floats_in_front() -> None:
    program, data = quantized(NETS["mul"][0], [5, 6], weights_only=True)
    types, _ = compared(program, data)
    assert types == ["fake_channel_wise_dequantize_max_abs", "mul"]


def test_a_weight_and_a_value_shared_by_two_products_are_stored_once() -> None:
    def net(x: Any) -> Any:
        weight = static.create_parameter([6, 6], "float32", name="shared")
        return engine.matmul(engine.matmul(x, weight), weight) + engine.matmul(x, weight)

    program, data = quantized(net, [6])
    types, old = compared(program, data)
    assert types.count("fake_quantize_range_abs_max") == 2
    assert "shared" in old.global_block().vars
