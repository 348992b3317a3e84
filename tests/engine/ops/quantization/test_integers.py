"""Products of integers: to the last digit those of int64, whatever the bits and however long the sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.core.errors import EngineError
from engine.core.values.spec import Spec
from engine.ops.quantization import integers
from tests.engine.ops.quantization import integer_references as want

BITS = [(8, 8), (8, 4), (2, 2), (3, 8), (12, 4), (9, 9), (8, 16), (16, 16)]


def drawn(rng: Any, bits: int, *shape: int, extreme: bool = False) -> Any:
    """Integers of these bits; with ``extreme`` all as large as they may be, so that sums are the largest."""
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return np.full(shape, low) if extreme else rng.integers(low, high + 1, shape)


def kernel(function: Any, *inputs: Any, **attrs: Any) -> Any:
    opdef = function.opdef
    return opdef.kernel(np, *inputs, **opdef.with_defaults(attrs))


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("extreme", [False, True])
def test_products_of_matrices_are_those_of_int64(bits: tuple[int, int], extreme: bool) -> None:
    rng = np.random.default_rng([3, *bits])
    for along in (1, 7, 1024, 1025, 5000):
        x = drawn(rng, bits[0], 3, along, extreme=extreme)
        y = drawn(rng, bits[1], along, 4, extreme=extreme)
        by = want.factor(np.float32(rng.random()), rng.random(4).astype(np.float32), bits)
        expected = want.rescaled(x @ y, by)
        stored = y.astype(np.int8 if bits[1] <= 8 else np.int16)
        for given in (stored, y.astype(np.float32)):
            found = kernel(integers.mul_integer, x.astype(np.float32), given, by, bits=bits)
            assert found.dtype == np.float32
            np.testing.assert_array_equal(found, expected)
        turned = kernel(
            integers.matmul_integer,
            x.T.astype(np.float32),
            stored.T,
            by,
            bits=bits,
            trans_x=True,
            trans_y=True,
        )
        np.testing.assert_array_equal(turned, expected)


def conv_case(rng: Any) -> dict[str, Any]:
    groups = int(rng.choice([1, 1, 2, 3]))
    return {
        "groups": groups,
        "taken": int(rng.choice([1, 3, 9, 130])),
        "each": int(rng.integers(1, 4)),
        "kernel": rng.integers(1, 4, 2).tolist(),
        "size": rng.integers(4, 7, 2).tolist(),
        "attrs": {
            "strides": rng.integers(1, 3, 2).tolist(),
            "paddings": rng.integers(0, 2, rng.choice([2, 4])).tolist(),
            "dilations": rng.integers(1, 3, 2).tolist() if rng.random() < 0.3 else [1, 1],
            "groups": groups,
            "data_format": "NHWC" if rng.random() < 0.3 else "NCHW",
        },
    }


@pytest.mark.parametrize("seed", range(24))
def test_convolutions_are_those_of_int64(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bits = BITS[seed % len(BITS)]
    case = conv_case(rng)
    attrs, groups = case["attrs"], case["groups"]
    if max(case["kernel"]) > 2:  # such a filter does not fit into the image
        attrs["dilations"] = [1, 1]
    last = attrs["data_format"] == "NHWC"
    channels, extreme = groups * case["taken"], seed % 3 == 0
    shape = (2, *case["size"], channels) if last else (2, channels, *case["size"])
    x = drawn(rng, bits[0], *shape, extreme=extreme)
    weight = drawn(rng, bits[1], groups * case["each"], case["taken"], *case["kernel"], extreme=extreme)
    stored = weight.astype(np.int8 if bits[1] <= 8 else np.int16)
    scales = rng.random(len(weight) if seed % 2 else 1).astype(np.float32)
    by = want.factor(np.float32(rng.random()), scales, bits)
    bias = rng.standard_normal(len(weight)).astype(np.float32) if seed % 4 < 2 else None
    axis = -1 if last else 1
    attrs["activation"] = "relu" if seed % 5 < 2 else ""
    found = kernel(integers.conv2d_integer, x.astype(np.float32), stored, by, bias, bits=bits, **attrs)
    relu = attrs.pop("activation") == "relu"
    expected = want.rescaled(want.conv_sums(x, weight, **attrs), by, bias, relu, axis)
    np.testing.assert_array_equal(found, expected)

    # Transposed: from the channels of the filters' numbers back to those that they take.
    del attrs["dilations"]
    shape = (2, *case["size"], len(weight)) if last else (2, len(weight), *case["size"])
    x = drawn(rng, bits[0], *shape, extreme=extreme)
    scales = rng.random(case["taken"] if seed % 2 else 1).astype(np.float32)
    by = want.factor(np.float32(rng.random()), scales, bits, groups if seed % 2 else 1)
    attrs["output_padding"] = [t - 1 for t in attrs["strides"]]
    found = kernel(integers.conv2d_transpose_integer, x.astype(np.float32), stored, by, bits=bits, **attrs)
    expected = want.rescaled(want.transposed_sums(x, weight, **attrs), by, axis=axis)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("seed", "groups"), [(0, 1), (1, 2)])
def test_long_sums_of_convolutions_are_exact(seed: int, groups: int) -> None:
    """As large as they may be and longer than 1,024: in one product they would leave float32's integers."""
    rng = np.random.default_rng(seed)
    taken = 1500
    x = drawn(rng, 8, 1, groups * taken, 3, 3, extreme=True)
    x[0, -1, 1, 1] = 127  # a sum that float32 does not hold
    weight = drawn(rng, 8, 2 * groups, taken, 2, 2, extreme=True)
    by = np.ones(1, np.float32)
    sums = want.conv_sums(x, weight, groups=groups)
    assert sums.max() > 1 << 24
    inputs = (x.astype(np.float32), weight.astype(np.int8), by)
    np.testing.assert_array_equal(
        kernel(integers.conv2d_integer, *inputs, bits=(8, 8), groups=groups), want.rescaled(sums, by)
    )
    x = drawn(rng, 8, 1, 2 * taken * groups, 2, 2, extreme=True)
    weight = drawn(rng, 8, 2 * taken * groups, 1, 2, 2, extreme=True)
    sums = want.transposed_sums(x, weight, groups=groups)
    found = kernel(
        integers.conv2d_transpose_integer,
        x.astype(np.float32),
        weight.astype(np.int8),
        by,
        bits=(8, 8),
        groups=groups,
    )
    np.testing.assert_array_equal(found, want.rescaled(sums, by))


def test_how_many_products_a_sum_may_have() -> None:
    assert integers.exact((8, 8)) == ("float32", 1024)
    assert integers.exact((8, 4)) == ("float32", 1 << 14)
    assert integers.exact((9, 8)) == ("float64", 1 << 38)
    assert integers.exact((16, 16)) == ("float64", 1 << 23)


def infer(function: Any, *inputs: Any, **attrs: Any) -> Any:
    return function.opdef.infer_specs(list(inputs), function.opdef.with_defaults(attrs))


@pytest.mark.parametrize(
    ("attrs", "shapes", "dtype", "message"),
    [
        ({"bits": (8, 1)}, ((3, 4), (4, 2), (2,)), "int8", "bits are two numbers from 2 to 16"),
        ({"bits": (8,)}, ((3, 4), (4, 2), (2,)), "int8", "bits are two numbers from 2 to 16"),
        ({"bits": (17, 8)}, ((3, 4), (4, 2), (2,)), "int8", "bits are two numbers from 2 to 16"),
        ({}, ((3, 4), (4, 2), (3,)), "int8", "factor is float32"),
        ({}, ((3, 4), (4, 2), (4, 1)), "int8", "factor is float32"),
        ({}, ((3, 4), (4, 2), (1, 2)), "int8", "factor is float32"),
        ({}, ((3, 4), (4, 2), (1,)), "int64", "y must be floating"),
        ({"bits": (16, 16)}, ((3, 1 << 24), (1 << 24, 2), (1,)), "int16", "sums of 16777216 products"),
    ],
)
def test_errors_name_what_does_not_fit(attrs: Any, shapes: Any, dtype: str, message: str) -> None:
    specs = [Spec(shape, d) for shape, d in zip(shapes, ("float32", dtype, "float32"), strict=True)]
    for function in (integers.mul_integer, integers.matmul_integer):
        with pytest.raises(EngineError, match=message):
            infer(function, *specs, **attrs)
