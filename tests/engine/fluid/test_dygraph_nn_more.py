"""Further layers of fluid.dygraph.nn: values of Paddle's kernels, names, both forms, both modes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import ArgumentError, UnsupportedError
from engine.core.strictness import LeniencyWarning
from engine.fluid.dygraph import nn
from engine.nn import functional
from tests.engine.fluid.record_kernels import SHAPES, drawn

RECORDED = json.loads(Path(__file__).with_name("recorded_kernels.json").read_text(encoding="utf-8"))


def attr(value: Any) -> fluid.ParamAttr:
    return fluid.ParamAttr(initializer=fluid.initializer.NumpyArrayInitializer(value))


def variables(*arrays: Any) -> list[Any]:
    made = [fluid.dygraph.to_variable(each) for each in arrays]
    for each in made:
        each.stop_gradient = False
    return made


def agrees(name: str, outputs: Any, *gradients: Any) -> None:
    for found, expected in zip(outputs, RECORDED[name]["outputs"], strict=True):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6)
    for found, expected in zip(gradients, RECORDED[name]["gradients"], strict=True):
        np.testing.assert_allclose(found.gradient(), expected, rtol=1e-4, atol=1e-5)


def test_gru_unit_is_that_of_paddle() -> None:
    x, h, w, b = drawn(*SHAPES["gru_unit"])
    with fluid.dygraph.guard():
        for scope in (("g",), ()):
            unit = nn.GRUUnit(*scope, size=9, param_attr=attr(w), bias_attr=attr(b))
            inputs = variables(x, h)
            hidden, kept, gate = unit(*inputs)
            loss = fluid.layers.reduce_sum(hidden * hidden)
            loss.backward()
            agrees("gru_unit", (gate, kept, hidden), *inputs, unit.weight, unit.bias)
        assert [p.name for p in nn.GRUUnit("s", 9).parameters()] == ["s/GRUUnit_0.w_0", "s/GRUUnit_0.b_0"]
        with pytest.raises(ArgumentError, match="three times"):
            nn.GRUUnit("g", 4)
        with pytest.warns(LeniencyWarning, match="origin_mode"):
            nn.GRUUnit("g", 9, origin_mode=True)


def test_products_row_convolutions_and_slopes_are_those_of_paddle() -> None:
    with fluid.dygraph.guard():
        x, y, w, b = drawn(*SHAPES["bilinear_tensor_product"])
        for layer in (
            nn.BilinearTensorProduct("b", 5, param_attr=attr(w), bias_attr=attr(b)),
            nn.BilinearTensorProduct(3, 4, 5, param_attr=attr(w), bias_attr=attr(b)),
        ):
            inputs = variables(x, y)
            out = layer(*inputs)
            fluid.layers.reduce_sum(out * out).backward()
            agrees("bilinear_tensor_product", [out], *inputs, layer.weight, layer.bias)
        rows, w = drawn(*SHAPES["row_conv"])
        conv, inputs = nn.RowConv("r", 2, param_attr=attr(w)), variables(rows)
        out = conv(*inputs)
        fluid.layers.reduce_sum(out * out).backward()
        agrees("row_conv", [out], *inputs, conv.weight)
        x, alpha = drawn(*SHAPES["prelu"])
        for slopes in (
            nn.PRelu("p", "channel", attr(alpha)),
            nn.PRelu("channel", 3, param_attr=attr(alpha)),
        ):
            inputs = variables(x)
            out = slopes(*inputs)
            fluid.layers.reduce_sum(out * out).backward()
            agrees("prelu", [out], *inputs, slopes.weight)


def test_slopes_by_mode() -> None:
    with fluid.dygraph.guard():
        (x,) = variables(*drawn((2, 3, 2, 2)))
        for mode, shape in (("all", [1]), ("channel", [1, 3, 1, 1]), ("element", [1, 3, 2, 2])):
            early, late = nn.PRelu("p", mode), nn.PRelu(mode, channel=3, input_shape=[2, 3, 2, 2])
            for layer in (early, late):
                np.testing.assert_array_equal(layer(x).numpy(), x.numpy())  # slopes are 1 at first
                assert layer.weight.shape == shape
        assert nn.PRelu("all").given["mode"] == "all"
        with pytest.raises(ArgumentError, match="'none'"):
            nn.PRelu("p", "none")


CONVOLUTIONS: list[tuple[Callable[..., Any], Callable[..., Any], tuple[int, ...], dict[str, Any]]] = [
    (nn.Conv3D, functional.conv3d, (1, 2, 3, 4, 4), {"padding": 1, "stride": 2}),
    (nn.Conv2DTranspose, functional.conv2d_transpose, (2, 2, 4, 4), {"padding": 1, "stride": 2, "groups": 2}),
    (nn.Conv3DTranspose, functional.conv3d_transpose, (1, 2, 3, 4, 4), {"stride": 2, "dilation": 2}),
]


@pytest.mark.parametrize(("layer", "function", "shape", "options"), CONVOLUTIONS)
def test_convolutions_are_the_functions(layer: Any, function: Any, shape: Any, options: Any) -> None:
    with fluid.dygraph.guard():
        (x,) = variables(*drawn(shape))
        for given in (("c",), (2,)):
            conv = layer(*given, num_filters=4, filter_size=3, act="relu", **options)
            out = conv(x)
            expected = functional.relu(function(x, conv.weight, conv.bias, **options))
            np.testing.assert_array_equal(out.numpy(), expected.numpy())
            assert np.any(out.numpy() > 0)
        early = layer("c", 4, filter_size=3)
        early(x)
        assert [p.name.split(".")[-1] for p in early.parameters()] == ["w_0", "b_0"]
        assert early.weight is (early._img_filter if "Transpose" in layer.__name__ else early._filter_param)


def test_a_window_follows_from_the_output_size() -> None:
    with fluid.dygraph.guard():
        conv = nn.Conv2DTranspose("c", 3, output_size=[9, 8], stride=2)
        assert conv(variables(*drawn((1, 2, 4, 3)))[0]).shape == [1, 3, 9, 8]
        assert conv.weight.shape == [2, 3, 3, 4]
        with pytest.raises(ArgumentError, match="output_size must be set"):
            nn.Conv2DTranspose("c", 3)(variables(*drawn((1, 2, 4, 3)))[0])


def normalized(x: Any, axes: tuple[int, ...]) -> Any:
    x = x.astype(np.float64)
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


def test_norms_of_samples() -> None:
    with fluid.dygraph.guard():
        (array,) = drawn((2, 4, 3, 3))
        (x,) = variables(array)
        each = [
            (nn.LayerNorm("l", begin_norm_axis=1), normalized(array, (1, 2, 3)), 2),
            (nn.LayerNorm([3, 3], shift=False), normalized(array, (2, 3)), 1),
            (nn.GroupNorm("g", 2), None, 0),
            (nn.GroupNorm(4, 2, param_attr=fluid.ParamAttr(), bias_attr=fluid.ParamAttr()), None, 2),
            (nn.InstanceNorm("i"), normalized(array, (2, 3)), 2),
            (nn.InstanceNorm(4), normalized(array, (2, 3)), 2),
        ]
        grouped = normalized(array.reshape(2, 2, 18), (2,)).reshape(array.shape)
        for layer, expected, count in each:
            out = layer(x)
            wanted = grouped if expected is None else expected
            np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-4, atol=1e-5)
            assert len(layer.parameters()) == count
        assert nn.LayerNorm([3, 3]).weight.shape == [9]


def test_spectral_norm_divides_by_the_largest_singular_value() -> None:
    with fluid.dygraph.guard():
        (array,) = drawn((4, 3, 2))
        (w,) = variables(array)
        expected = array / np.linalg.norm(array.transpose(1, 0, 2).reshape(3, 8), 2)
        for layer in (nn.SpectralNorm("s", 1, 50), nn.SpectralNorm([4, 3, 2], 1, 50)):
            np.testing.assert_allclose(layer(w).numpy(), expected, rtol=1e-4)
            assert (layer.u.shape, layer.v.shape, layer.u.stop_gradient) == ([3], [8], True)


def test_dropout_follows_the_guard_and_flatten_joins() -> None:
    with fluid.dygraph.guard():
        (x,) = variables(np.ones((4, 50, 2), np.float32))
        drop = nn.Dropout(0.5)
        assert set(np.unique(drop(x).numpy())) == {0.0, 1.0}
        drop.eval()
        np.testing.assert_array_equal(drop(x).numpy(), np.full((4, 50, 2), 0.5))
        assert nn.Flatten()(x).shape == [4, 100]


def test_layers_build_programs() -> None:
    engine.enable_static()
    try:
        with (
            engine.static.program_guard(engine.static.Program(), engine.static.Program()),
            engine.utils.unique_name.guard(),
        ):
            x = engine.static.data("x", [-1, 4, 6, 6])
            rows = engine.static.data("rows", [-1, 9])
            state = engine.static.data("state", [-1, 3])
            outputs = [
                nn.Conv2DTranspose("c", 2, filter_size=3)(x),
                nn.GroupNorm("g", 2)(x),
                nn.PRelu("p", "all")(x),
                nn.LayerNorm("l")(x),
                nn.InstanceNorm("i")(x),
                *nn.GRUUnit("u", 9)(rows, state),
                nn.BilinearTensorProduct("b", 5)(rows, state),
                nn.RowConv("r", 1)(engine.static.data("sequence", [-1, 5, 2])),
            ]
            assert [tuple(out.shape) for out in outputs] == [
                (-1, 2, 8, 8),
                *[(-1, 4, 6, 6)] * 4,
                (-1, 3),
                (-1, 3),
                (-1, 9),
                (-1, 5),
                (-1, 5, 2),
            ]
    finally:
        engine.disable_static()


def test_layers_that_are_left_out_name_another_way() -> None:
    for name in ("SequenceConv", "TreeConv"):
        with pytest.raises(UnsupportedError, match=f"{name}: .*; use"):
            getattr(nn, name)("scope")
    with pytest.raises(UnsupportedError, match="MomentumOptimizer"):
        fluid.optimizer.DGCMomentumOptimizer(0.1, 0.9, 1)
