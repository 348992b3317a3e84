"""Linear layers with weights of 8 and 4 bits: against the same products in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, ConditionError, ShapeError
from engine.nn.quant import llm_int8_linear, weight_dequantize, weight_only_linear, weight_quantize


def _drawn(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def _integers(weight: Any, most: int) -> tuple[Any, Any]:
    level = np.abs(weight).max(0) / np.float32(most)
    scaled = weight / level
    return np.copysign(np.floor(np.abs(scaled) + 0.5), scaled), level


def test_weights_of_8_bits() -> None:
    weight = _drawn(6, 4)
    whole, level = weight_quantize(paddle.to_tensor(weight))
    want, steps = _integers(weight, 127)
    assert (whole.shape, str(whole.dtype), str(level.dtype)) == ([4, 6], "paddle.int8", "paddle.float32")
    np.testing.assert_array_equal(whole.numpy(), want.T)
    np.testing.assert_allclose(level.numpy(), steps, rtol=1e-6)
    back = weight_dequantize(whole, level, out_dtype="float32")
    np.testing.assert_allclose(back.numpy(), want * steps, rtol=1e-6)
    assert str(weight_dequantize(whole, level).dtype) == "paddle.float16"


def test_weights_of_4_bits_lie_two_in_a_byte() -> None:
    weight = _drawn(5, 6)
    whole, level = weight_quantize(paddle.to_tensor(weight), "weight_only_int4")
    want, steps = _integers(weight, 7)
    assert whole.shape == [3, 5]
    packed = want.T.astype(int)
    np.testing.assert_array_equal(
        whole.numpy().astype(int) % 256, packed[0::2] % 16 + 16 * (packed[1::2] % 16)
    )
    back = weight_dequantize(whole, level, "weight_only_int4", "float32")
    np.testing.assert_allclose(back.numpy(), want * steps, rtol=1e-6)


@pytest.mark.parametrize(("algo", "kind"), [("weight_only_int8", "int8"), ("weight_only_int4", "int4")])
def test_products(algo: str, kind: str) -> None:
    x, bias = _drawn(2, 3, 6), _drawn(4, seed=2)
    whole, level = weight_quantize(paddle.to_tensor(_drawn(6, 4, seed=1)), algo)
    weight = weight_dequantize(whole, level, algo, "float32").numpy()
    got = weight_only_linear(paddle.to_tensor(x), whole, paddle.to_tensor(bias), level, kind)
    np.testing.assert_allclose(got.numpy(), x @ weight + bias, rtol=1e-5, atol=1e-5)
    half = weight_only_linear(paddle.to_tensor(x).astype("float16"), whole, None, level, kind)
    assert str(half.dtype) == "paddle.float16"


def test_large_inputs_stay_as_they_are() -> None:
    x = _drawn(3, 6) * 0.5
    x[1, 2] = 9.0
    whole, level = weight_quantize(paddle.to_tensor(_drawn(6, 4, seed=1)), "llm.int8")
    weight = weight_dequantize(whole, level, out_dtype="float32").numpy()
    got = llm_int8_linear(paddle.to_tensor(x), whole, None, level, 6.0).numpy()
    plain = np.where(np.arange(6) == 2, 0, x)
    step = np.abs(plain).max(1, keepdims=True) / 127
    rounded = np.copysign(np.floor(np.abs(plain / step) + 0.5), plain) * step
    want = (rounded + np.where(np.arange(6) == 2, x, 0)) @ weight
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    assert np.abs(got - x @ weight).max() < 0.05


def test_zero_weights_stay_zero() -> None:
    whole, level = weight_quantize(paddle.zeros([3, 2]))
    assert whole.numpy().tolist() == [[0, 0, 0], [0, 0, 0]]
    assert weight_dequantize(whole, level, out_dtype="float32").numpy().any() == np.False_


def test_invalid_weights_and_scales_are_refused() -> None:
    x, whole, level = paddle.ones([2, 3]), paddle.ones([4, 3], "int8"), paddle.ones([4])
    with pytest.raises(ArgumentError, match=r"algo is one of .*: got 'int2'"):
        weight_quantize(x, "int2")
    with pytest.raises(ConditionError, match="arch is one of 70, 75, 80, 86: got 90"):
        weight_quantize(x, arch=90)
    with pytest.raises(ShapeError, match="even number of outputs"):
        weight_quantize(x, "weight_only_int4")
    with pytest.raises(ShapeError, match="x has 2 dimensions"):
        weight_quantize(paddle.ones([2]))
    with pytest.raises(ArgumentError, match="weight_scale is missing"):
        weight_only_linear(x, whole)
    with pytest.raises(ShapeError, match="x has 2 inputs and the weight 3"):
        weight_only_linear(paddle.ones([1, 2]), whole, None, level)
    with pytest.raises(ArgumentError, match="out_dtype is a floating one"):
        weight_dequantize(whole, level, out_dtype="int32")
