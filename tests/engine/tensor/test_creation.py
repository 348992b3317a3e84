"""Making tensors of awkward NumPy arrays and lists, and random ones in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, DTypeError, EngineError, OutOfRangeError, ShapeError

BASE = np.arange(12, dtype="float32").reshape(3, 4)


def _read_only() -> Any:
    array = BASE.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "array",
    [BASE.T, BASE[:, ::2], BASE[::-1], np.broadcast_to(BASE[:1], (3, 4)), _read_only(), BASE.astype(">f4"),
     np.asfortranarray(BASE), BASE[:0], np.float32(2.5), np.array([np.nan, np.inf], "float32")],
)  # fmt: skip
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
def test_what_is_no_numbers_is_refused(data: Any, words: str) -> None:
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
        (lambda: paddle.ones(paddle.to_tensor([1.5])), DTypeError, "whole number"),
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
    assert z.stop_gradient  # what was drawn has no gradient


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
