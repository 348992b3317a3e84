"""Sides of a branch that have different ranks; results are those of Paddle 2.6.2."""

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ConversionError
from engine.core.strictness import LeniencyWarning
from engine.jit import load, save, to_static
from engine.static import InputSpec

X = np.array([1.0, 2.0, 3.0], "float32")


def one(x):
    if x.sum() > 3:
        y = x.reshape([1, 3])
    else:
        y = x
    return y


def in_a_list(x):
    if x.sum() > 3:
        y = [x.reshape([1, 3]), x]
    else:
        y = [x, x * 2]
    return y


def by_element(x):
    if x.sum() > 3:
        y = x.reshape([3, 1, 1])
    else:
        y = x
    return paddle.nn.functional.relu(y * 2 - 3)


def nested(x):
    if x.sum() > 3:
        y = x.reshape([1, 3])
    elif x.sum() > 0:
        y = x.reshape([3, 1])
    else:
        y = x
    return y


def expression(x):
    return x if x.sum() > 3 else x.reshape([1, 3])


@pytest.mark.parametrize("function", [one, in_a_list, by_element, nested, expression])
@pytest.mark.parametrize("scale", [1.0, 0.1, -1.0])
def test_results_and_gradients_are_those_of_eager_code(function, scale):
    found, gradients = [], []
    for call in (function, to_static(function, full_graph=True)):
        x = paddle.to_tensor(scale * X, stop_gradient=False)
        results = paddle.utils.flatten(call(x))
        sum((r * r).sum() for r in results).backward()
        found.append([r.numpy() for r in results])
        gradients.append(x.grad.numpy())
    for a, b in zip(*found, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-6)
    np.testing.assert_allclose(*gradients, rtol=1e-6)


@pytest.mark.parametrize(
    "use",
    [
        lambda y: y.sum(axis=-1),
        lambda y: y + paddle.ones([3]),
        lambda y: paddle.ones([1]) * y.shape[0],
        lambda y: paddle.ones([1]) * y.ndim,
        lambda y: y.reshape([-1]),
        lambda y: paddle.concat([y, y]),
    ],
)
def test_other_uses_run_eagerly_or_are_errors(use):
    def function(x):
        return use(one(x))

    with pytest.raises(ConversionError, match="a Tensor decides whether the value is"):
        to_static(function, full_graph=True)(paddle.to_tensor(X))
    for x in (X, 0.1 * X):
        with pytest.warns(LeniencyWarning, match="a Tensor decides whether"):
            found = to_static(function)(paddle.to_tensor(x))
        np.testing.assert_array_equal(found.numpy(), function(paddle.to_tensor(x)).numpy())


def test_a_loop_does_not_carry_such_a_value():
    def function(x):
        y = one(x)
        while x.sum() < 100:
            y = y * 2
            x = x * 2
        return y

    with pytest.raises(ConversionError, match="a Tensor decides whether"):
        to_static(function, full_graph=True)(paddle.to_tensor(X))


def test_such_a_model_is_saved(tmp_path):
    class Net(nn.Layer):
        def forward(self, x):
            return one(x)

    save(Net(), str(tmp_path / "m"), input_spec=[InputSpec([3])])
    loaded = load(str(tmp_path / "m"))
    for scale in (1.0, 0.1):
        x = paddle.to_tensor(scale * X)
        np.testing.assert_array_equal(loaded(x).numpy(), one(x).numpy())


def test_sizes_that_a_branch_on_a_size_chooses():
    def function(x):
        n = x.shape[0]
        if n < 10:
            n = x.shape[-1]
        return x.reshape([n])

    for spec in (None, [InputSpec([None])], [InputSpec([3])]):
        static = to_static(function, input_spec=spec, full_graph=True)
        np.testing.assert_array_equal(static(paddle.to_tensor(X)).numpy(), X)
