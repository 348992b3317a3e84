"""Variables that operators of quantization write, and attributes that stop them from writing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import static
from engine.core.errors import ArgumentError, ProgramError, ShapeError
from engine.ops.quantization import abs_max, linear, moving
from engine.program.graph.check import check
from engine.program.passes.pipeline import optimize


def _twice(**attrs: Any) -> list[str]:
    """The operators left of two equal ones, the second unread, after the passes."""
    paddle.enable_static()
    try:
        main = static.Program()
        with static.program_guard(main, static.Program()):
            x = static.data("x", [2, 3])
            state = [static.create_global_var([1], 1.0, "float32", persistable=True) for _ in range(3)]
            scale, accum, count = state
            first = linear.quantize_linear(x, scale, None, accum, count, quant_axis=-1, **attrs)[0]
            linear.quantize_linear(x, scale, None, accum, count, quant_axis=-1, **attrs)
            main.outputs = [first.name]
            main.inputs = [x.name]
        made = optimize(main, 1)
        check(made)
        return [o.type for o in made.global_block().ops]
    finally:
        paddle.disable_static()


def test_without_training_it_is_pure() -> None:
    assert _twice(is_test=True) == ["quantize_linear"]


def test_in_training_its_state_is_an_effect() -> None:
    assert _twice(is_test=False) == ["quantize_linear", "quantize_linear"]


def test_state_is_written_in_place_and_only_in_training() -> None:
    x = paddle.to_tensor([[1.0, -3.0]])
    scale, accum, state = (paddle.to_tensor([1.0]) for _ in range(3))
    apply = moving.fake_quantize_dequantize_moving_average_abs_max
    out, *written = apply(x, scale, accum, state, is_test=True)
    assert written == [None, None, None]
    assert float(scale) == 1.0
    assert out.tolist() == [[1.0, -1.0]]
    out, *written = apply(x, scale, accum, state)
    np.testing.assert_allclose([float(t) for t in (scale, state, accum)], [3.9 / 1.9, 1.9, 3.9], rtol=1e-6)
    assert [t.tolist() for t in written] == [t.tolist() for t in (scale, state, accum)]


def test_a_given_threshold_is_updated_in_place() -> None:
    x, threshold = paddle.to_tensor([1.0, -3.0]), paddle.to_tensor([7.0])
    assert abs_max.fake_quantize_abs_max(x)[1].tolist() == [3.0]
    abs_max.fake_quantize_abs_max(x, threshold)
    assert threshold.tolist() == [3.0]


def test_half_precision_is_rounded_in_single_precision() -> None:
    x = paddle.to_tensor(np.linspace(-1, 1, 9), dtype="float16")
    out, threshold = abs_max.fake_quantize_dequantize_abs_max(x)
    want = abs_max.fake_quantize_dequantize_abs_max(x.astype("float32"))[0]
    assert out.dtype == threshold.dtype == x.dtype
    np.testing.assert_array_equal(out.numpy(), want.numpy().astype("float16"))


def test_gradients_pass_straight_through_also_in_static_graphs() -> None:
    x = paddle.to_tensor([0.3, -5.0, 2.0], stop_gradient=False)
    abs_max.fake_quantize_dequantize_abs_max(x)[0].sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]
    assert linear.quantize_linear(x, paddle.to_tensor([1.0]), quant_axis=-1)[0].stop_gradient


def test_errors_name_what_does_not_fit() -> None:
    x, scale = paddle.ones([2, 3]), paddle.ones([2])
    with pytest.raises(ShapeError, match=r"quant_axis 1 of x float32\[2, 3\] needs 3 thresholds"):
        linear.dequantize_linear(x, scale, quant_axis=1)
    with pytest.raises(ArgumentError, match=r"in_accum \[1\] is missing"):
        linear.quantize_linear(x, paddle.ones([1]), quant_axis=-1, is_test=False)
    with pytest.raises(ArgumentError, match="bit_length is between 1 and 16: got 17"):
        abs_max.fake_quantize_abs_max(x, bit_length=17)


def test_append_op_replaces_the_variable_that_is_read() -> None:
    paddle.enable_static()
    try:
        main = static.Program()
        with static.program_guard(main, static.Program()):
            x = static.data("x", [2, 3])
            scale, other = (static.create_global_var([1], 1.0, "float32", persistable=True) for _ in range(2))
            block = main.global_block()
            y = block.create_var(shape=[2, 3])
            type = "fake_quantize_moving_average_abs_max"
            inputs = {"X": x, "InScale": scale, "InAccum": other, "InState": other}
            with pytest.raises(ProgramError, match="OutScale replaces InScale in place"):
                block.append_op(type, inputs, {"Out": y, "OutScale": other})
    finally:
        paddle.disable_static()
