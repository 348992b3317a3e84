"""Distributions in Programs and in converted functions give what they give eagerly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import distribution as D
from tests.engine.distribution.families import ALL, ONE, TWO, log_prob, parameters, value_for


def _asked(name: str, made: Any, value: Any) -> list[Any]:
    found = [log_prob(made, value)]
    if name != "TransformedDistribution":
        found.append(made.entropy())
    if name in ("Normal", "Laplace", "LogNormal", "Cauchy", "Beta", "Dirichlet", "Bernoulli", "Categorical"):
        found.append(D.kl_divergence(made, made))
    return found


@pytest.mark.parametrize("rows", [2, -1], ids=["known", "unknown"])
@pytest.mark.parametrize("name", sorted(ALL))
def test_in_a_program(name: str, rows: int) -> None:
    value = value_for(name)
    wanted = _asked(name, ALL[name](*parameters()), value)
    paddle.seed(7)
    drawn = ALL[name](*parameters()).sample([3])
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            a = paddle.static.data("a", [rows, 2])
            b = paddle.static.data("b", [rows, 2])
            v = paddle.static.data("v", [rows, 2], str(value.dtype).rpartition(".")[2])
            made = ALL[name](a, b)
            fetched = [*_asked(name, made, v), made.sample([3])]
        fed = {"a": np.float32(ONE), "b": np.float32(TWO), "v": value.numpy()}
        paddle.seed(7)
        found = paddle.static.Executor().run(program, feed=fed, fetch_list=fetched)
    finally:
        paddle.disable_static()
    for got, want in zip(found, [*wanted, drawn], strict=True):
        np.testing.assert_allclose(got, want.numpy(), rtol=1e-5, atol=1e-6)


NUMBERS: dict[str, Any] = {
    "Normal": lambda: D.Normal(0.5, 1.5),
    "Uniform": lambda: D.Uniform([0.5], [1.5, 2.5]),
    "LogNormal": lambda: D.LogNormal(0.5, [[1.0], [0.5]]),
    "Cauchy": lambda: D.Cauchy(0.5, 1.5),
    "Laplace": lambda: D.Laplace(1, 2),
    "Gumbel": lambda: D.Gumbel(0.5, 1.5),
    "Beta": lambda: D.Beta(0.5, 1.5),
    "Bernoulli": lambda: D.Bernoulli(0.3),
    "Geometric": lambda: D.Geometric(0.3),
    "Categorical": lambda: D.Categorical([0.3, 0.4]),
}


@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_of_numbers_in_a_program(name: str) -> None:
    wanted = NUMBERS[name]()
    paddle.seed(5)
    drawn = wanted.sample([2])
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            made = NUMBERS[name]()
            fetched = [made.entropy(), made.sample([2])]
        paddle.seed(5)
        entropy, sample = paddle.static.Executor().run(program, fetch_list=fetched)
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(entropy, wanted.entropy().numpy(), rtol=1e-6)
    np.testing.assert_allclose(sample, drawn.numpy(), rtol=1e-6)
    assert made.batch_shape == wanted.batch_shape


@pytest.mark.parametrize("name", sorted(ALL))
def test_in_a_converted_function(name: str) -> None:
    def function(a: Any, b: Any, v: Any) -> Any:
        made = ALL[name](a, b)
        if a.sum() > 0:
            found = log_prob(made, v)
        else:
            found = log_prob(made, v) * 2.0
        return found, made.sample([2])

    value = value_for(name)
    paddle.seed(9)
    wanted = function(*parameters(), value)
    paddle.seed(9)
    found = paddle.jit.to_static(function)(*parameters(), value)
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5, atol=1e-6)


def test_trained_in_a_converted_layer() -> None:
    class Policy(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.linear = paddle.nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            mean = self.linear(x)
            return D.kl_divergence(
                D.Normal(mean, paddle.ones_like(mean)), D.Normal(mean * 0.0, mean * 0.0 + 2.0)
            )

    x = paddle.to_tensor(np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3))
    layer = Policy()
    layer(x).sum().backward()
    wanted = layer.linear.weight.grad.numpy().copy()
    layer.linear.weight.clear_gradient()
    paddle.jit.to_static(layer)(x).sum().backward()
    np.testing.assert_allclose(layer.linear.weight.grad.numpy(), wanted, rtol=1e-5)


@pytest.mark.parametrize(
    "make",
    [
        D.ExpTransform,
        D.TanhTransform,
        D.SigmoidTransform,
        D.StickBreakingTransform,
        lambda: D.ReshapeTransform((2,), (2, 1)),
        lambda: D.IndependentTransform(D.ExpTransform(), 1),
        lambda: D.ChainTransform([D.TanhTransform(), D.StickBreakingTransform()]),
        lambda: D.StackTransform([D.ExpTransform(), D.TanhTransform()], 1),
    ],
)
def test_transforms_in_a_program(make: Any) -> None:
    def results(x: Any) -> list[Any]:
        transform = make()
        y = transform.forward(x)
        return [y, transform.inverse(y), transform.forward_log_det_jacobian(x)]

    wanted = results(paddle.to_tensor(ONE))
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            x = paddle.static.data("x", [-1, 2])
            fetched = results(x)
        found = paddle.static.Executor().run(program, feed={"x": np.float32(ONE)}, fetch_list=fetched)
    finally:
        paddle.disable_static()
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want.numpy(), rtol=1e-5, atol=1e-6)
