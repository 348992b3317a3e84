"""Making tensors of awkward NumPy arrays and lists, and random ones in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, DTypeError, EngineError, OutOfRangeError, ShapeError
from engine.core.strictness import LeniencyWarning, strict

BASE = np.arange(12, dtype="float32").reshape(3, 4)


def _read_only() -> Any:
    array = BASE.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "array",
    [
        BASE.T,
        BASE[:, ::2],
        BASE[::-1],
        np.broadcast_to(BASE[:1], (3, 4)),
        _read_only(),
        BASE.astype(">f4"),
        np.asfortranarray(BASE),
        BASE[:0],
        np.float32(2.5),
        np.array([np.nan, np.inf], "float32"),
    ],
)
def test_arrays_of_every_layout_are_copied(array: Any) -> None:
    before = np.array(array)
    x = paddle.to_tensor(array)
    assert x.dtype is paddle.float32
    assert x.numpy().dtype.isnative
    np.testing.assert_array_equal(x.numpy(), before)
    x.set_value(np.zeros(x.shape, "float32"))  # its own storage: the array stays as it was
    np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (np.array([1, "a"], dtype=object), "object"),
        (np.array(["a"]), "<U1"),
        (np.array([b"a"]), r"\|S1"),
        (np.array(["2020-01-01"], "datetime64[D]"), "datetime64"),
        (np.array([1], "uint32"), "uint32"),
        (np.array([1], "float128" if hasattr(np, "float128") else "uint64"), "no tensor type"),
        ("text", "<U4"),
        (None, "None"),
        ({"a": 1}, "dict"),
        (2**70, "64 bits"),
        ([[1, 2], [3]], "not of equal length"),
        ([[1.0], "a"], "to_tensor"),
    ],
)
def test_values_that_are_not_numbers_are_refused(data: Any, words: str) -> None:
    with pytest.raises((DTypeError, ArgumentError), match=words):
        paddle.to_tensor(data)


def test_dtypes_of_python_and_numpy() -> None:
    assert paddle.to_tensor([1, 2.5]).dtype is paddle.float32
    assert paddle.to_tensor(np.array([1.0])).dtype is paddle.float64
    assert paddle.to_tensor([np.array([1.0])]).dtype is paddle.float32
    double = paddle.ones([2], "float64")
    assert paddle.to_tensor([double, double]).dtype is paddle.float64
    assert paddle.to_tensor([1e300], dtype="float64").item() == 1e300
    assert paddle.to_tensor([2**53 + 1], dtype="int64").item() == 2**53 + 1
    assert paddle.to_tensor([True, False]).dtype is paddle.bool


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: paddle.zeros([2, -1]), ArgumentError, r"\[2, -1\] has a negative"),
        (lambda: paddle.zeros([2.5]), DTypeError, "2.5"),
        (lambda: paddle.ones(paddle.to_tensor([1.5])), DTypeError, "integer"),
        (lambda: paddle.arange(0, 3, 0), ArgumentError, "step is 0"),
        (lambda: paddle.eye(-1), DTypeError, "non-negative"),
        (lambda: paddle.linspace(0, 1, 0), ArgumentError, "at least 1"),
        (lambda: paddle.randint(5, 5), ArgumentError, "below high"),
        (lambda: paddle.randperm(-1), ArgumentError, "negative"),
        (lambda: paddle.rand([2], "int32"), DTypeError, "int32; use randint"),
        (lambda: paddle.bernoulli(paddle.to_tensor([1.5])), OutOfRangeError, "1.5"),
        (lambda: paddle.poisson(paddle.to_tensor([-1.0])), OutOfRangeError, "-1"),
        (lambda: paddle.multinomial(paddle.to_tensor([0.0, 0.0])), ArgumentError, "above 0"),
        (lambda: paddle.multinomial(paddle.to_tensor([0.5, 0.0]), 2), ArgumentError, "1 weights above 0"),
        (lambda: paddle.multinomial(paddle.to_tensor([0.5, np.nan])), ArgumentError, "finite"),
        (lambda: paddle.multinomial(paddle.ones([2, 2, 2])), ShapeError, "one row"),
        (lambda: paddle.zeros([2]).exponential_(0.0), ArgumentError, "above 0"),
        (lambda: paddle.zeros([2], "int32").normal_(), DTypeError, "int32"),
        (lambda: paddle.zeros([2]).geometric_(1.5), ArgumentError, "1.5"),
    ],
)
def test_refused(call: Any, error: type[EngineError], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def test_filling_in_place_keeps_the_tensor() -> None:
    paddle.seed(4)
    weight = paddle.create_parameter([200, 10], "float32")
    view = weight.detach()
    for fill in ("normal_", "uniform_", "exponential_", "cauchy_"):
        before = weight.numpy()
        assert getattr(weight, fill)() is weight
        assert (weight.numpy() != before).all()
        assert np.shares_memory(view._array, weight._array)
        assert weight.trainable
    paddle.seed(4)
    assert (paddle.zeros([3]).uniform_(seed=7).numpy() == paddle.ones([3]).uniform_(seed=7).numpy()).all()
    drawn = paddle.zeros([4000]).geometric_(0.25)
    assert np.ceil(drawn.numpy()).mean() == pytest.approx(4.0, rel=0.1)
    y = paddle.ones([2])
    y.stop_gradient = False
    z = (y * 2).normal_()
    assert not z.stop_gradient
    (z * 3).sum().backward()
    assert y.grad.tolist() == [0, 0]  # recorded with Paddle 2.6.2


def test_normal_of_tensors() -> None:
    paddle.seed(1)
    mean = paddle.to_tensor([0.0, 100.0])
    drawn = paddle.normal(paddle.tile(mean, [2000, 1]), paddle.to_tensor([1.0, 5.0]))
    np.testing.assert_allclose(drawn.numpy().mean(axis=0), [0.0, 100.0], atol=0.5)
    np.testing.assert_allclose(drawn.numpy().std(axis=0), [1.0, 5.0], rtol=0.1)


def test_arrays_of_tensors() -> None:
    array = paddle.tensor.create_array("float32", [paddle.ones([1])])
    array = paddle.tensor.array_write(paddle.zeros([2]), paddle.to_tensor([1]), array)
    assert paddle.tensor.array_length(array) == 2
    assert paddle.tensor.array_read(array, 1).shape == [2]
    with pytest.raises(OutOfRangeError, match="position 5 of an array of 2"):
        paddle.tensor.array_write(paddle.zeros([2]), 5, array)
    with pytest.raises(OutOfRangeError, match="position 2 of an array of 2"):
        paddle.tensor.array_read(array, 2)
    with pytest.raises(DTypeError, match="create_array"):
        paddle.tensor.array_length(3)


INT8 = np.zeros(2, "int8")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: paddle.to_tensor(1e10, dtype="int32"), "got 10000000000.0"),
        (lambda: paddle.to_tensor(2.0**63, dtype="int64"), "int64"),
        (lambda: paddle.to_tensor(float("nan"), dtype="int64"), "got nan to nan"),
        (lambda: paddle.to_tensor([1.0, float("inf")], dtype="int32"), "inf"),
        (lambda: paddle.full([2], 300, "int8"), "full: int8"),
        (lambda: paddle.full([2], 300.7, "int8"), "full: int8"),
        (lambda: paddle.full([2], float("nan"), "int64"), "full: int64"),
        (lambda: paddle.full_like(paddle.to_tensor(INT8), 300), "full_like: int8"),
        (lambda: paddle.arange(300, dtype="int8"), "arange: int8 .*got 0 to 299"),
        (lambda: paddle.arange(5, -5, -1, dtype="uint8"), "got -4 to 5"),
        (lambda: paddle.linspace(0, 1000, 3, dtype="int8"), "int8"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(call: Any, words: str) -> None:
    with pytest.raises(OutOfRangeError, match=words):
        call()


@pytest.mark.parametrize(
    ("data", "dtype", "want"),
    [
        # recorded with Paddle 2.6.2
        ([-1.5, 0.5], "uint8", [255, 0]),
        ([300, -1, 256], "uint8", [44, 255, 0]),
        ([300.7, -1, 256], "int8", [44, -1, 0]),
        (np.array([2**40 + 3]), "int32", [3]),
        (300, "int8", 44),
    ],
)
def test_numbers_that_do_not_fit_wrap_around_in_to_tensor_with_a_warning(
    data: Any, dtype: str, want: Any
) -> None:
    with pytest.warns(LeniencyWarning, match=f"to_tensor: {dtype} holds integers from"):
        assert paddle.to_tensor(data, dtype=dtype).tolist() == want
    with strict(), pytest.raises(OutOfRangeError, match=f"{dtype} holds integers"):
        paddle.to_tensor(data, dtype=dtype)


@pytest.mark.parametrize("value", [300, 300.7, -129.0, float("nan"), float("inf")])
def test_no_element_wraps_around(value: float) -> None:
    x = paddle.to_tensor(INT8)
    with pytest.raises(OutOfRangeError, match="int8 holds integers from -128 to 127"):
        x[0] = value
    assert x.tolist() == [0, 0]


def test_numbers_that_just_fit() -> None:
    assert paddle.to_tensor([127, -128], dtype="int8").tolist() == [127, -128]
    assert paddle.to_tensor([127.9, -128.9], dtype="int8").tolist() == [127, -128]
    assert paddle.to_tensor(-(2.0**63), dtype="int64").item() == -(2**63)
    assert paddle.to_tensor([float("nan"), 2.0], dtype="bool").tolist() == [True, True]
    assert paddle.to_tensor(np.zeros((0, 2)), dtype="int8").shape == [0, 2]
    assert paddle.arange(0, dtype="int8").shape == [0]
    assert paddle.arange(128, dtype="int8")[-1].item() == 127


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: x > 300, "greater_than: 300 does not fit the other operand's int8"),
        (lambda x: x // 300, "floor_divide: 300 does not fit"),
        (lambda x: paddle.maximum(x, -129), "maximum: -129 does not fit"),
        (lambda x: x < 2**70, "less_than: 1180591620717411303424 does not fit"),
        (lambda x: paddle.nn.functional.pad(x, [1, 1], value=300), "pad: int8"),
        (lambda x: paddle.put_along_axis(x, paddle.to_tensor([0]), 300, 0), "int8"),
    ],
)
def test_python_numbers_with_a_narrow_tensor(call: Any, words: str) -> None:
    with pytest.raises(OutOfRangeError, match=words):
        call(paddle.to_tensor(INT8))


def test_where_widens_for_a_number_that_does_not_fit() -> None:
    x = paddle.to_tensor(INT8)
    assert paddle.where(x > 0, x, 300).tolist() == [300, 300]
    assert paddle.where(x > 0, x, 100).dtype is paddle.int8
