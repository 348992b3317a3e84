"""Products of quantized values as products of integers: text before and after, and random networks,
bitwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.core import mode as modes
from engine.core.values.spec import Spec
from engine.eager.tensor import Tensor
from engine.jit.run_program import ProgramRunner
from engine.ops.arrays.shape import reshape
from engine.ops.elementwise import arithmetic
from engine.ops.images import conv, conv_transpose
from engine.ops.linalg import products
from engine.ops.quantization.linear import dequantize_linear, quantize_linear
from engine.program.build.builder import Builder, variable
from engine.program.graph.check import check
from engine.program.graph.program import Program
from engine.program.passes.pipeline import PREDICTION, optimize
from engine.program.passes.quantization.drop_observers import drop_observers
from engine.program.passes.quantization.integer_products import integer_products
from tests.engine.ops.quantization import integer_references as reference
from tests.engine.program.passes.test_passes import after, same, text

# -- text --------------------------------------------------------------------------------------------------
PRODUCT = """
        x: float32[3, 4]
        y: float32[4, 5]
        s: weight float32[1]
        t: weight float32[{channels}]
        q = quantize_linear(x, s, quant_axis=-1{first})
        a = dequantize_linear(q, s, quant_axis=-1{first})
        r = quantize_linear(y, t, {second})
        b = dequantize_linear(r, t, {second})
        z = {product}
        return z
"""


def product(
    call: str = "mul(a, b)", channels: int = 1, first: str = "", second: str = "quant_axis=-1"
) -> str:
    return PRODUCT.format(product=call, channels=channels, first=first, second=second)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (product(), "mul_integer(q, r, integer_factor_0.tmp_0)"),
        (product("matmul_v2(a, b)"), "matmul_v2_integer(q, r, integer_factor_0.tmp_0)"),
        (product(channels=5, second="quant_axis=1"), "mul_integer(q, r, integer_factor_0.tmp_0)"),
        (product(first=", bit_length=4"), "mul_integer(q, r, integer_factor_0.tmp_0, bits=[4, 8])"),
        # The sum runs over the axis of the scale.
        (product(channels=4, second="quant_axis=0"), "mul(a, b)"),
        (product("matmul_v2(a, b)", channels=4, second="quant_axis=0"), "matmul_v2(a, b)"),
        # Nothing was rounded to integers, or not to so few bits.
        (product("mul(x, b)"), "mul(x, b)"),
        (product("mul(a, r)"), "mul(a, r)"),
        (product(first=", only_observer=True"), "mul(a, b)"),
        (product(first=", bit_length=1"), "mul(a, b)"),
    ],
)
def test_a_product_of_quantized_values_is_one_of_integers(before: str, expected: str) -> None:
    assert f"= {expected}" in after(integer_products, before)


def test_rows_of_a_matrix_have_scales_of_their_own() -> None:
    before = """
        x: float32[3, 4]
        y: float32[2, 4, 5]
        s: weight float32[3]
        t: weight float32[1]
        q = quantize_linear(x, s)
        a = dequantize_linear(q, s)
        r = quantize_linear(y, t, quant_axis=-1)
        b = dequantize_linear(r, t, quant_axis=-1)
        z = matmul_v2(a, b)
        return z
    """
    assert "z = matmul_v2(a, b)" not in after(integer_products, before)


@pytest.mark.parametrize(
    ("bits", "values", "whole"),
    [
        (8, [127, -128], True),
        (4, [7, -8], True),
        (8, [128.5, 3], False),
        (4, [9, 0], False),
        (8, [np.nan, 3], False),
    ],
)
def test_weights_are_integers_only_if_they_are(bits: int, values: list[float], whole: bool) -> None:
    program = text.program_of(f"""
        x: float32[3, 2]
        s: weight float32[1]
        w: weight float32[2, 1]
        q = quantize_linear(x, s, quant_axis=-1)
        a = dequantize_linear(q, s, quant_axis=-1)
        b = dequantize_linear(w, s, quant_axis=-1, bit_length={bits})
        z = mul(a, b)
        return z
    """)
    program.global_block().var("w").tensor._array[:, 0] = values
    integer_products(program)
    check(program)
    assert ("mul_integer" in text.text_of(program)) is whole


def test_observers_are_removed() -> None:
    found = after(
        drop_observers,
        """
        x: float32[3, 4]
        s: weight float32[1]
        q = quantize_linear(x, s, quant_axis=-1, only_observer=True)
        a = dequantize_linear(q, s, quant_axis=-1, only_observer=True)
        z = tanh(a)
        return z
    """,
    )
    same(
        found,
        """
        q = quantize_linear(x, s, quant_axis=-1, only_observer=True)
        a = dequantize_linear(x, s, quant_axis=-1, only_observer=True)
        z = tanh(x)
        return z
    """,
    )


# -- random nets -------------------------------------------------------------------------------------------
class Net:
    """A Program of quantized products, built together with its results in int64."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.program = Program()
        self.program.reserve_names()
        self.count = 0

    def scale(self, values: Any, size: int = 1) -> Any:
        """Thresholds around the largest value, so that some are cut off."""
        top = max(float(np.abs(values).max()), 0.1)
        return (top * self.rng.uniform(0.6, 1.2, size)).astype(np.float32)

    def weight(self, array: Any) -> Any:
        tensor = Tensor(array, stop_gradient=True)
        tensor.name, tensor.persistable = f"weight_{self.count}", True
        self.count += 1
        return self.program.capture(tensor)

    def quantized(self, x: Any, known: Any, bits: int) -> tuple[Any, Any, Any]:
        """A pair around x; its integers and their scale."""
        scale = self.scale(known)
        attrs = {"quant_axis": -1, "bit_length": bits}
        stored = self.weight(scale)
        back = dequantize_linear(quantize_linear(x, stored, **attrs)[0], stored, **attrs)
        most = np.float32(2 ** (bits - 1) - 1)
        q = np.clip(np.rint(most * (np.float32(1) / scale[0]) * known), -most - 1, most)
        return back, q.astype(np.int64), scale

    def filters(self, shape: tuple[int, ...], axis: int, bits: int) -> tuple[Any, Any, Any]:
        """Weights that are integers, as they are stored, turned back; with the integers and their scales."""
        most = 2 ** (bits - 1) - 1
        q = self.rng.integers(-most - 1, most + 1, shape)
        per_channel = bool(self.rng.integers(2))
        scale = self.scale(1.0, shape[axis] if per_channel else 1)
        dtype = str(self.rng.choice(["float32", "int8" if bits <= 8 else "int16"]))
        attrs = {"quant_axis": axis if per_channel else -1, "bit_length": bits}
        return dequantize_linear(self.weight(q.astype(dtype)), self.weight(scale), **attrs), q, scale

    def convolution(self, x: Any, known: Any) -> tuple[Any, Any]:
        rng, bits = self.rng, (int(self.rng.integers(2, 17)), int(self.rng.integers(2, 17)))
        transposed, depthwise = bool(rng.integers(2)), bool(rng.integers(2))
        channels = known.shape[1]
        groups = channels if depthwise else int(rng.choice([g for g in (1, 1, 2, 3) if channels % g == 0]))
        each = int(rng.integers(1, 4))
        attrs: dict[str, Any] = {"groups": groups, "strides": rng.integers(1, 3, 2).tolist()}
        kernel = tuple(
            min(int(n), k) for n, k in zip(known.shape[2:], rng.integers(1, 4, 2).tolist(), strict=True)
        )
        attrs["paddings"] = [min(k - 1, int(rng.integers(0, 2))) for k in kernel]
        value, q, s = self.quantized(x, known, bits[0])
        if transposed:
            weight, w, t = self.filters((channels, each, *kernel), 1, bits[1])
            made = conv_transpose.conv2d_transpose(value, weight, **attrs)
            sums = reference.transposed_sums(q, w, **attrs)
            by = reference.factor(s, t, bits, groups if len(t) > 1 else 1)
        else:
            weight, w, t = self.filters((groups * each, channels // groups, *kernel), 0, bits[1])
            made = (conv.depthwise_conv2d if depthwise else conv.conv2d)(value, weight, **attrs)
            sums = reference.conv_sums(q, w, **attrs)
            by = reference.factor(s, t, bits)
        known = reference.rescaled(sums, by, axis=1)
        if rng.integers(2):
            bias = rng.standard_normal(groups * each).astype(np.float32)
            made = arithmetic.add(made, reshape(self.weight(bias), shape=[1, -1, 1, 1]))
            known = known + bias.reshape(1, -1, 1, 1)
        return made, known

    def matrix(self, x: Any, known: Any) -> tuple[Any, Any]:
        bits = (int(self.rng.integers(2, 17)), int(self.rng.integers(2, 17)))
        x = reshape(x, shape=[known.shape[0], -1])
        known = known.reshape(known.shape[0], -1)
        columns, turned = int(self.rng.integers(1, 5)), bool(self.rng.integers(2))
        value, q, s = self.quantized(x, known, bits[0])
        shape = (columns, known.shape[1]) if turned else (known.shape[1], columns)
        weight, w, t = self.filters(shape, 0 if turned else 1, bits[1])
        made = products.matmul(value, weight, trans_y=True) if turned else products.mul(value, weight)
        return made, reference.rescaled(q @ (w.T if turned else w), reference.factor(s, t, bits))


@pytest.mark.parametrize("seed", range(30))
def test_a_random_network_agrees_with_integer_arithmetic(seed: int) -> None:
    net = Net(seed)
    rng = net.rng
    shape = (2, int(rng.choice([1, 3, 6])), *rng.integers(4, 9, 2).tolist())
    fed = known = rng.standard_normal(shape).astype(np.float32)
    with modes.use(Builder(net.program)):
        made = x = variable(net.program, "x", Spec(shape, "float32"))
        for _ in range(int(rng.integers(1, 4))):
            made, known = net.convolution(made, known)
        made, known = net.matrix(made, known)
    program = net.program
    program.inputs, program.outputs = ["x"], [made.name]
    exact = optimize(program, PREDICTION, after_each=lambda changed, _: check(changed))
    names = {o.opdef.name for o in exact.global_block().ops}
    assert not names & {"dequantize_linear", "conv2d", "conv2d_transpose", "mul", "matmul_v2"}
    (found,) = ProgramRunner(program, [x], [made], passes=PREDICTION)([Tensor(fed)])
    np.testing.assert_array_equal(found.numpy(), known)
    (pairs,) = ProgramRunner(program, [x], [made])([Tensor(fed)])
    scale = np.abs(known).max() + 1e-3
    # The pairs round differently, and a value between two integers may become the other one.
    assert np.median(np.abs(pairs.numpy() - known)) < 0.05 * scale


def test_longer_sums_than_float32_holds_are_exact() -> None:
    rng = np.random.default_rng(1)
    net = Net(1)
    fed = np.abs(rng.standard_normal((3, 3000))).astype(np.float32) + 1
    with modes.use(Builder(net.program)):
        x = variable(net.program, "x", Spec((-1, 3000), "float32"))
        value, q, s = net.quantized(x, fed, 8)
        weight = np.full((3000, 2), 127)
        weight[7, 1] = 126
        stored = net.weight(weight.astype(np.int8))
        by = net.weight(np.ones(1, np.float32))
        made = products.mul(value, dequantize_linear(stored, by, quant_axis=-1))
    expected = reference.rescaled(q @ weight, reference.factor(s, np.ones(1), (8, 8)))
    assert (q @ weight).max() > 1 << 24
    (found,) = ProgramRunner(net.program, [x], [made], passes=PREDICTION)([Tensor(fed)])
    np.testing.assert_array_equal(found.numpy(), expected)
