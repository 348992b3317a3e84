"""Pairs and integer weights as text, before and after; which operators are found, and along which axis."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from engine.program.graph.check import check
from engine.program.passes.quantization.freeze import IntegerWeight, freeze_weights, to_integers, to_values
from engine.program.passes.quantization.freeze import weight_key as key
from engine.program.passes.quantization.insert import insert_pairs
from engine.program.passes.quantization.selection import Layer, select
from tests.engine.program.passes import text

BEFORE = """
        x: float32[3, 3]
        w: weight float32[3, 3]
        a = matmul_v2(x, w)
        b = relu(x)
        c = matmul_v2(b, w, trans_y=True)
        d = elementwise_add(a, c)
        e = matmul_v2(d, d)
        return e
"""

AFTER = """
        x.quantized = quantize_linear(x, x@scale, quant_axis=-1)
        x.quantized.dequantized = dequantize_linear(x.quantized, x@scale, quant_axis=-1)
        w.quantized.dequantized = dequantize_linear(w, w@scale, quant_axis=1)
        a = matmul_v2(x.quantized.dequantized, w.quantized.dequantized)
        b = relu(x)
        b.quantized = quantize_linear(b, b@scale, quant_axis=-1)
        b.quantized.dequantized = dequantize_linear(b.quantized, b@scale, quant_axis=-1)
        w.quantized.dequantized.1 = dequantize_linear(w.quantized.1, w@scale.1)
        c = matmul_v2(b.quantized.dequantized, w.quantized.dequantized.1, trans_y=True)
        d = elementwise_add(a, c)
        d.quantized = quantize_linear(d, d@scale, quant_axis=-1)
        d.quantized.dequantized = dequantize_linear(d.quantized, d@scale, quant_axis=-1)
        e = matmul_v2(d.quantized.dequantized, d.quantized.dequantized)
        return e
"""


def test_pairs_and_integers_precede_their_readers() -> None:
    program = text.program_of(BEFORE)
    layers = select(program, ("matmul_v2",))
    assert [(e.name, e.weight, e.axis, e.activations) for e in layers] == [
        ("w", "w", 1, ("x",)),
        ("w:2", "w", 0, ("b",)),
        ("e", "", None, ("d", "d")),
    ]
    weight = program.global_block().var("w").tensor.numpy()
    integers = {}
    for layer in layers[:2]:
        limits = np.abs(weight).max(axis=1 - (layer.axis or 0))
        integers[key(layer)] = IntegerWeight(to_integers(weight, limits, layer.axis), limits, layer.axis, 8)
        np.testing.assert_allclose(to_values(integers[key(layer)]), weight, atol=limits.max() / 250)
    operators = list(program.global_block().ops)
    insert_pairs(program, operators, layers, {"x": 1.0, "b": 1.0, "d": 9.0})
    freeze_weights(program, operators, layers, integers)
    check(program)
    assert text.text_of(program) == textwrap.dedent(AFTER).strip()
    plain = text.program_of(BEFORE)
    x = {"x": np.random.default_rng(1).uniform(0.1, 1.0, (3, 3)).astype("float32")}
    (exact,), (found,) = text.values_of(plain, x), text.values_of(program, x)
    np.testing.assert_allclose(found, exact, rtol=0.1, atol=0.1)


@pytest.mark.parametrize(
    ("line", "weight", "axis"),
    [
        ("conv2d(x, w)", "4, 3, 2, 2", 0),
        ("depthwise_conv2d(x, w, groups=3)", "6, 1, 2, 2", 0),
        ("conv2d_transpose(x, w)", "3, 4, 2, 2", 1),
        ("matmul_v2(x, w)", "5, 2", 1),
        ("matmul_v2(x, w, trans_y=True)", "2, 5", 0),
        ("matmul_v2(w, x)", "2, 5", 0),
        ("matmul_v2(w, x, trans_x=True)", "5, 2", 1),
        ("matmul_v2(x, w)", "3, 5, 2", None),
        ("mul(x, w, x_num_col_dims=3)", "5, 2", 1),
        ("mul(x, w, x_num_col_dims=2)", "5, 5, 2", None),
    ],
)
def test_the_channels_of_a_weight_are_channels_of_the_result(
    line: str, weight: str, axis: int | None
) -> None:
    more = ", y_num_col_dims=2" if weight == "5, 5, 2" else ""
    line = line.replace(")", f"{more})")
    program = text.program_of(f"""
        x: float32[2, 3, 5, 5]
        w: weight float32[{weight}]
        y = {line}
        return y
    """)
    (layer,) = select(program, ("conv2d", "depthwise_conv2d", "conv2d_transpose", "mul", "matmul"))
    assert (layer.axis, layer.weight, layer.activations, layer.why) == (axis, "w", ("x",), "")
    (whole,) = select(program, (layer.op,), channel_wise=False)
    assert whole.axis is None


def test_values_that_are_no_floats_and_weights_that_change_stay() -> None:
    program = text.program_of(
        """
        x: int64[2, 3]
        z: float32[2, 3]
        w: weight float32[3, 3]
        i = cast(x, out_dtype='float64')
        j = cast(i, out_dtype='int64')
        k = mul(j, j, x_num_col_dims=1, y_num_col_dims=1)
        v = assign_into(w, w)
        a = matmul_v2(z, w)
        return k, a
    """.replace("x: int64[2, 3]", "x: int64[3, 3]")
    )
    layers = select(program, ("mul", "matmul_v2"), names={"w": "head.weight"})
    assert [(e.name, e.why) for e in layers] == [
        ("k", "j is int64; float32 and float64 are quantized"),
        ("head", "w changes while the model runs"),
    ]


def test_a_pattern_matches_a_layer_and_its_sublayers() -> None:
    program = text.program_of(BEFORE)
    names = {"w": "block.0.fc.weight"}
    for pattern, skipped in (
        ("block", 2),
        ("block.0", 2),
        ("*.fc", 2),
        ("w", 2),
        ("block.0.fc:2", 1),
        ("e", 1),
    ):
        layers = select(program, ("matmul_v2",), (pattern,), names=names)
        assert sum(not e.quantized for e in layers) == skipped, pattern
    assert isinstance(layers[0], Layer)
