"""Samples: their moments against those that the class gives, their shapes, seeds and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import distribution as D
from tests.engine.distribution.families import ALL, CONTINUOUS, parameters

COUNT = 20000
WITH_MOMENTS = sorted(set(ALL) - {"Uniform", "Cauchy", "Categorical", "TransformedDistribution"})


@pytest.fixture(autouse=True)
def _seeded() -> None:
    paddle.seed(11)


def _drawn(name: str) -> tuple[Any, Any]:
    made = ALL[name](*parameters())
    return made, made.sample([COUNT]).numpy().astype("float64")


@pytest.mark.parametrize("name", WITH_MOMENTS)
def test_moments(name: str) -> None:
    made, drawn = _drawn(name)
    variance = made.variance.numpy().astype("float64")
    error = np.sqrt(variance / COUNT)
    assert (np.abs(drawn.mean(axis=0) - made.mean.numpy()) < 5 * error).all()
    kurtosis = ((drawn - drawn.mean(axis=0)) ** 4).mean(axis=0) / drawn.var(axis=0) ** 2
    assert (np.abs(drawn.var(axis=0) / variance - 1) < 5 * np.sqrt(kurtosis / COUNT)).all()


@pytest.mark.parametrize("name", ["Laplace", "Gumbel", "Cauchy"])
def test_shares_below_a_value_are_the_distribution_function(name: str) -> None:
    made, drawn = _drawn(name)
    for level in (-1.0, 0.0, 0.7, 3.0):
        wanted = made.cdf(paddle.full([2, 2], level)).numpy()
        assert np.abs((drawn <= level).mean(axis=0) - wanted).max() < 0.02


def test_uniform_fills_its_range_evenly() -> None:
    made, drawn = _drawn("Uniform")
    low, high = made.low.numpy(), made.high.numpy()
    share = (drawn - low) / (high - low)
    assert (share > 0).all()
    assert (share < 1).all()
    for level in (0.1, 0.5, 0.8):
        assert np.abs((share <= level).mean(axis=0) - level).max() < 0.02


def test_categories_come_as_often_as_the_softmax_says() -> None:
    logits = paddle.to_tensor([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]])
    drawn = D.Categorical(logits).sample([COUNT]).numpy()
    share = np.stack([(drawn == k).mean(axis=0) for k in range(3)], axis=-1)
    np.testing.assert_allclose(share, paddle.nn.functional.softmax(logits).numpy(), atol=0.02)


def test_transformed_samples_are_the_samples_transformed() -> None:
    made, drawn = _drawn("TransformedDistribution")
    a, b = (x.numpy().astype("float64") for x in parameters())
    normal = (np.arctanh(drawn.clip(-1 + 1e-12, 1 - 1e-12)) - a) / b  # what the base drew
    inside = np.abs(drawn) < 0.999
    quarter = (normal < a).mean(axis=0)
    assert np.abs(quarter - 0.5).max() < 0.02
    assert inside.any(axis=0).all()
    assert made.event_shape == ()


@pytest.mark.parametrize("name", sorted(ALL))
@pytest.mark.parametrize("shape", [(), [3], (2, 3), np.array([2])], ids=str)
def test_shapes(name: str, shape: Any) -> None:
    made = ALL[name](*parameters())
    sizes = list(np.asarray(shape, int).reshape(-1))
    assert made.sample(shape).shape == [*sizes, *made.batch_shape, *made.event_shape]
    tensor = paddle.to_tensor(np.asarray(sizes, "int64"))
    assert made.sample(tensor).shape == [*sizes, *made.batch_shape, *made.event_shape]


@pytest.mark.parametrize("name", sorted(ALL))
def test_a_seed_repeats_the_sample(name: str) -> None:
    made = ALL[name](*parameters())
    paddle.seed(5)
    first = made.sample([4]).numpy()
    second = made.sample([4]).numpy()
    paddle.seed(5)
    np.testing.assert_array_equal(made.sample([4]).numpy(), first)
    assert (first != second).any()


@pytest.mark.parametrize("name", sorted(CONTINUOUS))
def test_float64_samples(name: str) -> None:
    assert CONTINUOUS[name](*parameters("float64")).sample([2]).dtype == paddle.float64


THROUGH = ["Normal", "Laplace", "Gumbel", "Cauchy", "LogNormal", "Independent", "TransformedDistribution"]


@pytest.mark.parametrize("name", THROUGH)
def test_gradients_through_rsample(name: str) -> None:
    a, b = parameters("float64")
    a.stop_gradient = b.stop_gradient = False

    def drawn(x: Any, y: Any) -> Any:
        paddle.seed(3)
        return CONTINUOUS[name](x, y).rsample([5])

    found = paddle.grad(drawn(a, b).sum(), [a, b])
    for n, gradient in enumerate(found):
        for place in np.ndindex(2, 2):
            step = np.zeros((2, 2))
            step[place] = 1e-6
            both = [
                [x.numpy() + sign * step if k == n else x.numpy() for k, x in enumerate((a, b))]
                for sign in (1, -1)
            ]
            up, down = (float(drawn(*map(paddle.to_tensor, each)).sum()) for each in both)
            assert gradient.numpy()[place] == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-6)


CUT_OFF = ["Laplace", "Gumbel", "Cauchy", "Beta", "Dirichlet", "Bernoulli", "Geometric"]


@pytest.mark.parametrize("name", CUT_OFF)
def test_no_gradient_through_sample(name: str) -> None:
    a, b = parameters()
    a.stop_gradient = False
    assert ALL[name](a, b).sample([2]).stop_gradient


@pytest.mark.parametrize("name", ["Normal", "Uniform", "LogNormal", "Independent", "TransformedDistribution"])
def test_gradients_through_sample_where_paddle_has_them(name: str) -> None:
    a, b = parameters()
    a.stop_gradient = False
    assert not ALL[name](a, b).sample([2]).stop_gradient


def test_concrete_draws_near_zero_and_one_as_often_as_the_bernoulli_draws() -> None:
    probs = paddle.to_tensor([0.2, 0.7])
    drawn = paddle.nn.functional.sigmoid(D.Bernoulli(probs).rsample([COUNT], temperature=0.05)).numpy()
    assert ((drawn < 0.01) | (drawn > 0.99)).mean() > 0.9
    np.testing.assert_allclose((drawn > 0.5).mean(axis=0), probs.numpy(), atol=0.02)


def test_tiny_concentrations_give_shares() -> None:
    drawn = D.Dirichlet(paddle.full([100, 3], 1e-3)).sample().numpy()
    np.testing.assert_allclose(drawn.sum(axis=-1), 1.0, rtol=1e-5)
    assert (drawn.max(axis=-1) > 0.9).mean() > 0.9


def test_a_transform_that_broadcasts_the_base_gets_as_many_draws() -> None:
    affine = D.AffineTransform(paddle.zeros([2]), paddle.ones([2]))
    made = D.TransformedDistribution(D.Normal(paddle.to_tensor(0.0), paddle.to_tensor(1.0)), [affine])
    drawn = made.sample([3]).numpy()
    assert drawn.shape == (3, 2)
    assert len(set(drawn.reshape(-1).tolist())) == 6


def test_a_base_that_is_broadcast_inside_is_refused() -> None:
    affine = D.AffineTransform(paddle.zeros([2]), paddle.ones([2]))
    made = D.TransformedDistribution(D.Normal(paddle.zeros([1]), paddle.ones([1])), [affine])
    with pytest.raises(ValueError, match="give the base's parameters this shape"):
        made.sample([3])
