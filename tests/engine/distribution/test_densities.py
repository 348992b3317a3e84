"""Densities integrate to one, entropies and divergences are the means that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import distribution as D
from engine.core.strictness import LeniencyWarning
from tests.engine.distribution.families import ALL, log_prob, parameters, value_for

ON_A_LINE = ["Normal", "Uniform", "Laplace", "Gumbel", "LogNormal", "TransformedDistribution"]


def _points(name: str) -> Any:
    """Values that carry all but a negligible part of the density, close where it is steep."""
    even = np.linspace(-6.0, 6.0, 20001) if name == "Uniform" else np.linspace(-60.0, 60.0, 40001)
    if name == "LogNormal":
        return np.exp(even * 0.2)
    return np.tanh(even * 0.15) if name == "TransformedDistribution" else even


@pytest.mark.parametrize("name", ON_A_LINE)
def test_density_integrates_to_one(name: str) -> None:
    a, b = parameters("float64")
    made = ALL[name](a, b * 0.5)
    points = _points(name)
    density = np.exp(made.log_prob(paddle.to_tensor(points.reshape(-1, 1, 1))).numpy())
    assert np.trapezoid(density, points, axis=0) == pytest.approx(np.ones((2, 2)), rel=1e-3)


@pytest.mark.parametrize("name", ["Normal", "Uniform", "Laplace", "Gumbel", "LogNormal"])
def test_entropy_is_the_mean_of_minus_log_prob(name: str) -> None:
    made = ALL[name](*parameters("float64"))
    points = _points(name)
    logs = made.log_prob(paddle.to_tensor(points.reshape(-1, 1, 1))).numpy()
    density = np.exp(logs)
    integrand = np.where(density > 0, -density * np.where(density > 0, logs, 0.0), 0.0)
    found = np.trapezoid(integrand, points, axis=0)
    assert made.entropy().numpy() == pytest.approx(found, rel=2e-3, abs=2e-3)


@pytest.mark.parametrize("name", ["Normal", "Laplace", "LogNormal"])
def test_divergence_is_the_mean_of_the_difference(name: str) -> None:
    a, b = parameters("float64")
    p, q = ALL[name](a, b), ALL[name](a * 0.5, b + 0.3)
    points = _points(name)
    grid = paddle.to_tensor(points.reshape(-1, 1, 1))
    ours, theirs = p.log_prob(grid).numpy(), q.log_prob(grid).numpy()
    found = np.trapezoid(np.exp(ours) * (ours - theirs), points, axis=0)
    assert D.kl_divergence(p, q).numpy() == pytest.approx(found, rel=2e-3, abs=1e-4)


def test_gumbel_is_the_uniform_distribution_transformed() -> None:
    made = D.Gumbel(*parameters("float64"))
    value = value_for("Gumbel").astype("float64")
    of_transforms = D.TransformedDistribution(made.base_dist, made.transforms).log_prob(value)
    np.testing.assert_allclose(made.log_prob(value).numpy(), of_transforms.numpy(), rtol=1e-12)
    assert isinstance(made, D.TransformedDistribution)


def test_counts_are_all_there_is() -> None:
    made = D.Multinomial(3, paddle.to_tensor([0.2, 0.3, 0.5], dtype="float64"))
    counts = [[i, j, 3 - i - j] for i in range(4) for j in range(4 - i)]
    logs = made.log_prob(paddle.to_tensor(counts, dtype="float64")).numpy()
    assert np.exp(logs).sum() == pytest.approx(1.0)
    assert float(made.entropy()) == pytest.approx(-(np.exp(logs) * logs).sum())


def test_counts_of_an_impossible_category_have_an_entropy() -> None:
    both = D.Multinomial(4, paddle.to_tensor([0.3, 0.7])).entropy()
    with_a_third = D.Multinomial(4, paddle.to_tensor([0.3, 0.0, 0.7])).entropy()
    assert float(with_a_third) == pytest.approx(float(both), rel=1e-5)


def test_failures_are_all_there_is() -> None:
    made = D.Geometric(paddle.to_tensor([0.3, 1.0], dtype="float64"))
    k = paddle.arange(400, dtype="float64").reshape([-1, 1])
    pmf = made.pmf(k).numpy()
    np.testing.assert_allclose(pmf.sum(axis=0), 1.0)
    np.testing.assert_allclose(made.cdf(k).numpy(), pmf.cumsum(axis=0), atol=1e-12)
    logs = np.log(np.where(pmf > 0, pmf, 1.0))
    np.testing.assert_allclose(made.entropy().numpy(), -(pmf * logs).sum(axis=0), atol=1e-9)


@pytest.mark.parametrize("name", sorted(set(ALL) - {"Categorical"}))
def test_gradients_of_log_prob(name: str) -> None:
    a, b = parameters("float64")
    value = value_for(name).astype("float64")
    inputs = [a, b] if name != "Multinomial" else [b]
    if name in ("Bernoulli", "Geometric"):
        inputs = [a]
    for each in inputs:
        each.stop_gradient = False

    def total() -> Any:
        return log_prob(ALL[name](a, b), value).sum()

    for leaf, gradient in zip(inputs, paddle.grad(total(), inputs), strict=True):
        before = leaf.numpy().copy()
        for place in np.ndindex(2, 2):
            sides = []
            for sign in (1, -1):
                changed = before.copy()
                changed[place] += sign * 1e-6
                with paddle.no_grad():
                    leaf.set_value(changed)
                    sides.append(float(total()))
            wanted = (sides[0] - sides[1]) / 2e-6
            assert gradient.numpy()[place] == pytest.approx(wanted, rel=1e-4, abs=1e-5)
        with paddle.no_grad():
            leaf.set_value(before)


def test_gradient_of_an_entropy_by_the_log_normalizer() -> None:
    class Exponential(D.ExponentialFamily):
        def __init__(self, rate: Any) -> None:
            self.rate = rate
            super().__init__(rate.shape)

        @property
        def _natural_parameters(self) -> Any:
            return (-self.rate,)

        def _log_normalizer(self, x: Any) -> Any:
            return -paddle.log(-x)

        @property
        def _mean_carrier_measure(self) -> Any:
            return 0.0

    rate = paddle.to_tensor([2.0, 3.0])
    rate.stop_gradient = False
    entropy = Exponential(rate).entropy()
    np.testing.assert_allclose(entropy.numpy(), 1.0 - np.log([2.0, 3.0]), rtol=1e-5)
    (gradient,) = paddle.grad(entropy.sum(), [rate])
    np.testing.assert_allclose(gradient.numpy(), [-0.5, -1 / 3], rtol=1e-5)
    with pytest.raises(NotImplementedError, match="register one with register_kl"):
        D.kl_divergence(Exponential(rate), D.Bernoulli(0.3))


def test_the_nearest_formula_is_taken() -> None:
    class First(D.Normal):
        pass

    class Second(First):
        pass

    @D.register_kl(First, D.Normal)
    def of_first(p: Any, q: Any) -> str:
        return "first"

    assert D.kl_divergence(First(0.0, 1.0), D.Normal(0.0, 1.0)) == "first"
    assert D.kl_divergence(Second(0.0, 1.0), Second(0.0, 1.0)) == "first"
    assert float(D.kl_divergence(D.Normal(0.0, 1.0), First(0.0, 1.0))) == 0.0

    @D.register_kl(D.Normal, First)
    def by_first(p: Any, q: Any) -> str:
        return "second"

    with pytest.warns(UserWarning, match="fit equally well"):
        assert D.kl_divergence(First(0.0, 1.0), First(0.0, 1.0)) == "first"


def test_a_volume_that_lacks_terms_is_reported() -> None:
    base = D.Independent(D.Normal(paddle.zeros([3]), paddle.ones([3])), 1)
    value = paddle.to_tensor([0.1, 0.2, 0.3])
    one = D.AffineTransform(paddle.to_tensor(0.0), paddle.to_tensor(2.0))
    with pytest.warns(LeniencyWarning, match="counts once"):
        lacking = float(D.TransformedDistribution(base, [one]).log_prob(value))
    with paddle.strict(), pytest.raises(ValueError, match="counts once"):
        D.TransformedDistribution(base, [one]).log_prob(value)
    each = D.AffineTransform(paddle.zeros([3]), paddle.full([3], 2.0))
    full = float(D.TransformedDistribution(base, [each]).log_prob(value))
    assert lacking - full == pytest.approx(2 * np.log(2.0), rel=1e-5)
