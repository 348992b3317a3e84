"""Layers that round in training: converted and static as they are eagerly; where they differ from Paddle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn, static
from engine.core.errors import ArgumentTypeError
from engine.nn.quant import quant_layers as layers
from engine.nn.quant.lsq import FakeQuantActLSQPlus, FakeQuantWeightLSQPlus


def _layer() -> Any:
    paddle.seed(3)
    return layers.QuantizedLinear(
        nn.Linear(4, 3),
        weight_quantize_type="channel_wise_abs_max",
        activation_quantize_type="moving_average_abs_max",
    )


def _batch(number: int) -> Any:
    return np.random.default_rng(number).standard_normal((5, 4)).astype("float32")


def _state(layer: Any) -> Any:
    return {name: value.numpy().copy() for name, value in layer.state_dict().items()}


def _trained(layer: Any, call: Any) -> Any:
    optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
    for number in range(3):
        call(paddle.to_tensor(_batch(number))).square().mean().backward()
        optimizer.step()
        optimizer.clear_grad()
    return _state(layer)


def test_a_converted_layer_learns_as_an_eager_one() -> None:
    plain, converted = _layer(), _layer()
    want = _trained(plain, plain)
    got = _trained(converted, paddle.jit.to_static(converted))
    assert want.keys() == got.keys()
    for name, value in want.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-5, atol=1e-6, err_msg=name)
    plain.eval()
    converted.eval()
    x = paddle.to_tensor(_batch(9))
    np.testing.assert_allclose(converted(x).numpy(), plain(x).numpy(), rtol=1e-5, atol=1e-6)
    names = [name for name in got if name.startswith("_fake_quant_input")]
    assert len(names) == 3
    for name in names:
        np.testing.assert_array_equal(_state(converted)[name], got[name])


def test_a_program_follows_its_values() -> None:
    eager = layers.FakeQuantMovingAverageAbsMax()
    paddle.enable_static()
    try:
        main, start = static.Program(), static.Program()
        with static.program_guard(main, start):
            x = static.data("x", [5, 4])
            layer = layers.FakeQuantMovingAverageAbsMax()
            out = layer(x)
            exe, scope = static.Executor(), static.Scope()
            with static.scope_guard(scope):
                exe.run(start)
                found = [exe.run(main, {"x": _batch(n)}, [out, layer._scale]) for n in range(2)]
    finally:
        paddle.disable_static()
    for number, (values, scale) in enumerate(found):
        want = eager(paddle.to_tensor(_batch(number)))
        np.testing.assert_array_equal(values, want.numpy())
        np.testing.assert_array_equal(scale, eager._scale.numpy())


def test_a_clone_for_tests_and_a_file_leave_the_state_as_it_is(tmp_path: Any) -> None:
    paddle.enable_static()
    try:
        main, start = static.Program(), static.Program()
        with static.program_guard(main, start):
            x = static.data("x", [5, 4])
            layer = layers.FakeQuantMovingAverageAbsMax()
            out = layers.MovingAverageAbsMaxScale()(layer(x))
            test = main.clone(for_test=True)
            exe = static.Executor()
            with static.scope_guard(static.Scope()):
                exe.run(start)
                (scale,) = exe.run(main, {"x": _batch(0)}, [layer._scale])
                want, again = exe.run(test, {"x": _batch(1) * 9}, [out.name, layer._scale.name])
                prefix = str(tmp_path / "model")
                static.save_inference_model(prefix, [x], [out], exe, program=test)
            with static.scope_guard(static.Scope()):
                loaded, feeds, fetched = static.load_inference_model(prefix, exe)
                got = [exe.run(loaded, {feeds[0]: _batch(1) * 9}, fetched)[0] for _ in range(2)]
    finally:
        paddle.disable_static()
    np.testing.assert_array_equal(again, scale)
    assert np.abs(want).max() == scale
    for values in got:
        np.testing.assert_array_equal(values, want)


def test_each_output_of_a_linear_layer_has_its_own_step() -> None:
    """Where Paddle mixes them up."""
    weight = np.array([[1.0, 100.0], [-2.0, 50.0], [0.5, -100.0]], "float32")
    layer = FakeQuantWeightLSQPlus(8, per_channel=True, channel_num=2, quant_linear=True)
    out = layer(paddle.to_tensor(weight)).numpy()
    step = layer.s.numpy()
    want = np.clip(np.round(weight / step), -128, 127) * step
    np.testing.assert_allclose(out, want, rtol=1e-5)
    assert step[1] > 30 * step[0]


def test_a_step_for_the_whole_weight_is_learned() -> None:
    """Paddle fails at the first call."""
    layer = FakeQuantWeightLSQPlus(3, channel_num=1)
    weight = paddle.to_tensor(_batch(1), stop_gradient=False)
    layer(weight).sum().backward()
    levels = weight.numpy() / layer.s.numpy()
    inside = (levels >= -4) & (levels <= 3)
    np.testing.assert_array_equal(weight.grad.numpy(), inside)
    slope = np.where(
        inside, np.copysign(np.floor(np.abs(levels) + 0.5), levels) - levels, np.clip(levels, -4, 3)
    )
    assert float(layer.s.grad) == pytest.approx(slope.sum() / np.sqrt(levels.size * 3), rel=1e-4)


def test_the_offset_of_activations_follows_what_is_found() -> None:
    layer = FakeQuantActLSQPlus(4)
    for low in (1.0, 2.0):
        layer(paddle.to_tensor([low, low + 15.0]))
    assert float(layer.s) == pytest.approx(1.0)
    assert float(layer.beta) == pytest.approx(0.9 * (1 + 8) + 0.1 * (2 + 8))


def test_after_its_first_batches_a_step_is_only_learned() -> None:
    layer = FakeQuantActLSQPlus(4, symmetric=True, batch_init=1)
    layer(paddle.to_tensor([0.0, 15.0]))
    layer(paddle.to_tensor([0.0, 30.0]))
    assert float(layer.s) == 1.0


def test_an_observer_without_a_layer_says_so() -> None:
    with pytest.raises(ArgumentTypeError, match="layer is the Layer whose result is observed: got None"):
        layers.MAOutputScaleLayer()
