"""Numbers of Python that are Variables in converted functions: in arithmetic the dtype of the Tensor counts.

The eager results, which the converted functions must give, are those of Paddle 2.6.2.
"""

import numpy as np
import pytest

import engine as paddle
from engine.jit import to_static

X = np.array([1.0, 2.0, 3.0], "float32")


def counter(x):
    z = paddle.tensor.fill_constant([1], "int32", 0)
    for i in range(int(x.sum())):
        z = z + i
    return z


def product_of_the_counter(x):
    z = paddle.full([1], 0, "int32")
    for i in range(int(x.sum())):
        z = z + i * 2 - 1
    return z


def own_counter(x):
    i, step, z = 0, 0.5, paddle.ones([1], "int32")
    while x.sum() > i:
        i = i + 1
        z = z + i
        step = step * 2
    return z, paddle.ones([1], "float64") * step


def index_of_enumerate(x):
    z = paddle.ones([1], "int32")
    for i, _ in enumerate(x[x > 1]):
        z += i
    return z


def casts(x):
    ones = {
        name: paddle.ones([2], name) for name in ("int32", "uint8", "int16", "float64", "float16", "bool")
    }
    return (
        ones["int32"] * int(x[1]),
        ones["int32"] * float(x[1]),
        3 - ones["uint8"] * int(x[1]),
        ones["int16"] // int(x[1]),
        ones["float64"] + float(x[1]),
        ones["float16"] + float(x[1]),
        ones["bool"] * int(x[1]),
    )


def lengths(x):
    y, z = x[x > 1], paddle.ones([1], "int32")
    return z * y.shape[0], z + len(y)


@pytest.mark.parametrize(
    "function", [counter, product_of_the_counter, own_counter, index_of_enumerate, casts, lengths]
)
def test_a_number_takes_the_dtype_of_the_tensor(function):
    expected = paddle.utils.flatten(function(paddle.to_tensor(X)))
    found = paddle.utils.flatten(to_static(function, full_graph=True)(paddle.to_tensor(X)))
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_a_sum_of_counters_is_what_paddle_gives():
    found = to_static(counter, full_graph=True)(paddle.to_tensor(X))
    assert found.dtype == paddle.int32
    assert found.numpy().tolist() == [15]
