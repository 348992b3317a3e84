"""Calls that can't be converted: they run eagerly, with one warning, unless full_graph=True.

Results of the eager calls are those of Paddle 2.6.2 with full_graph=False, its default.
"""

import warnings

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ConversionError
from engine.core.strictness import LeniencyWarning
from engine.jit import save, to_static
from engine.static import InputSpec

X = np.array([1.0, 2.0, 3.0], "float32")


def numpy_call(x):
    return x + np.mean(x.numpy())


def numpy_where(x):
    return paddle.to_tensor(np.where(x.numpy() > 1)[0])


def other_rank(x):
    if x.sum() > 3:
        y = [x.reshape([1, 3]), x]
    else:
        y = [x, x * 2]
    return y[0].sum(axis=0)


def other_dtype(x):
    if x.sum() > 3:
        x = x.astype("int32")
    return x + 1


def none_on_one_side(x):
    y = None
    if x.sum() > 3:
        y = x
    return y


def other_dtype_after_the_loop(x):
    i = paddle.zeros([1], "int32")
    while i < 3:
        i = i + 1.5
    return i * 2


def number_after_the_loop(x):
    y = x.sum()
    while y:
        y = y - 1
        x = 2
    return paddle.to_tensor(x)


def other_shape_in_a_list(x):
    a = [x, x]
    i = paddle.zeros([1], "int64")
    while i < 2:
        a[i] = x.reshape([3, 1])
        i = i + 1
    return a[1]


CASES = [
    (numpy_call, [3.0, 4.0, 5.0], "float32", "numpy.mean"),
    (numpy_where, [1, 2], "int64", "numpy.where"),
    (other_rank, [1.0, 2.0, 3.0], "float32", "a Tensor decides whether"),
    (other_dtype, [2, 3, 4], "int32", "a Tensor decides whether"),
    (none_on_one_side, [1.0, 2.0, 3.0], "float32", "of a different kind"),
    (other_dtype_after_the_loop, [6.0], "float32", "a Tensor decides whether"),
    (number_after_the_loop, 2, "int64", "a Tensor decides whether"),
    (other_shape_in_a_list, [[1.0], [2.0], [3.0]], "float32", "a Tensor decides whether"),
]


@pytest.mark.parametrize(("function", "expected", "dtype", "reason"), CASES)
def test_a_call_that_cannot_be_converted_runs_eagerly_with_one_warning(function, expected, dtype, reason):
    static = to_static(function)
    with pytest.warns(LeniencyWarning, match=rf"test_full_graph\.py:\d+: .*{reason}.*eagerly") as warned:
        found = static(paddle.to_tensor(X))
    assert len(warned) == 1
    assert found.dtype.name == dtype
    np.testing.assert_array_equal(found.numpy(), expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(static(paddle.to_tensor(X)).numpy(), expected)


@pytest.mark.parametrize(("function", "expected", "dtype", "reason"), CASES)
def test_with_full_graph_it_is_an_error(function, expected, dtype, reason):
    with pytest.raises(ConversionError, match=reason):
        to_static(function, full_graph=True)(paddle.to_tensor(X))
    with paddle.strict(), pytest.raises(ConversionError, match=reason):
        to_static(function)(paddle.to_tensor(X))


class Counting(nn.Layer):
    """Changes itself in a forward whose last line can't be converted."""

    def __init__(self):
        super().__init__()
        self.inner = nn.BatchNorm1D(3)
        self.calls = 0
        self.last = None
        self.register_buffer("total", paddle.zeros([1]))

    def forward(self, x):
        self.calls += 1
        self.last = x * 2
        self.total = self.total + x.sum()
        y = self.inner(x)
        return y + float(np.mean(y.numpy()))


def test_a_failed_conversion_restores_the_layer():
    results = []
    for convert in (lambda net: net, to_static):
        paddle.seed(1)
        net = convert(Counting())
        for _ in range(2):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LeniencyWarning)
                y = net(paddle.to_tensor([X, 2 * X]))
        y.sum().backward()
        results.append(
            [y, net.last, net.total, net.inner._mean, net.inner.weight.grad, paddle.to_tensor(net.calls)]
        )
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_a_function_that_calls_such_a_layer_leaves_it_as_it_was():
    net = Counting()
    with pytest.raises(ConversionError):
        to_static(lambda x: net(x), full_graph=True)(paddle.to_tensor([X, X]))
    assert (net.calls, net.last) == (0, None)
    assert net.total.item() == 0.0


def test_other_kinds_of_calls_are_converted():
    @to_static
    def function(x, how):
        return x * float(np.mean(x.numpy())) if how == "numpy" else x * 2

    x = paddle.to_tensor(X)
    with pytest.warns(LeniencyWarning, match="eagerly"):
        np.testing.assert_array_equal(function(x, "numpy").numpy(), 2 * X)
    np.testing.assert_array_equal(function(x, "other").numpy(), 2 * X)
    assert len(function.program_cache) == 1


def test_an_error_of_the_user_stays_an_error():
    def function(x):
        if len(x.shape) > 0:
            raise KeyError("mine")
        return x

    for full_graph in (True, False):
        with pytest.raises(KeyError, match="mine"):
            to_static(function, full_graph=full_graph)(paddle.to_tensor(X))


def test_an_error_on_a_path_that_a_tensor_decides_counts_where_it_is_taken():
    def function(x):
        if x.sum() > 100:
            raise ValueError("too large")
        return x * 2

    static = to_static(function)
    with pytest.warns(LeniencyWarning, match=r"a Tensor decides.*raised ValueError: too large"):
        found = static(paddle.to_tensor(X))
    np.testing.assert_array_equal(found.numpy(), 2 * X)
    with pytest.raises(ValueError, match="too large"):
        static(paddle.to_tensor(100 * X))
    with pytest.raises(ValueError, match="too large"):  # as in Paddle 2.6.2
        to_static(function, full_graph=True)(paddle.to_tensor(X))


def test_saving_needs_the_full_graph(tmp_path):
    class Net(nn.Layer):
        def forward(self, x):
            return numpy_call(x)

    net = to_static(Net(), input_spec=[InputSpec([3])])
    with pytest.warns(LeniencyWarning, match="eagerly"):
        net(paddle.to_tensor(X))
    with pytest.raises(ConversionError, match=r"numpy\.mean"):
        save(net, str(tmp_path / "m"))
    with pytest.raises(ConversionError, match=r"numpy\.mean"):
        net.forward.get_concrete_program(paddle.to_tensor(X))
