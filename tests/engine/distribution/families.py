"""The distributions that the tests run through, each from two tensors of the same shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import engine as paddle
from engine import distribution as D

ONE = [[0.2, 0.5], [0.6, 0.8]]
TWO = [[1.5, 0.7], [1.0, 2.0]]

Make = Callable[[Any, Any], Any]

CONTINUOUS: dict[str, Make] = {
    "Normal": D.Normal,
    "Uniform": lambda a, b: D.Uniform(a, a + b),
    "Laplace": D.Laplace,
    "Gumbel": D.Gumbel,
    "Cauchy": D.Cauchy,
    "LogNormal": lambda a, b: D.LogNormal(a, b * 0.5),
    "Beta": D.Beta,
    "Dirichlet": lambda a, b: D.Dirichlet(a + b),
    "Independent": lambda a, b: D.Independent(D.Normal(a, b), 1),
    "TransformedDistribution": lambda a, b: D.TransformedDistribution(
        D.Normal(a, b), [D.AffineTransform(a, b), D.TanhTransform()]
    ),
}
DISCRETE: dict[str, Make] = {
    "Bernoulli": lambda a, b: D.Bernoulli(a),
    "Geometric": lambda a, b: D.Geometric(a),
    "Categorical": lambda a, b: D.Categorical(a),
    "Multinomial": lambda a, b: D.Multinomial(5, b),
}
ALL = {**CONTINUOUS, **DISCRETE}
# Values that each can take, of the shape of the parameters.
VALUES: dict[str, Any] = {
    "Uniform": [[0.3, 0.6], [0.9, 1.5]],
    "Beta": [[0.1, 0.5], [0.7, 0.9]],
    "Dirichlet": [[0.1, 0.9], [0.4, 0.6]],
    "TransformedDistribution": [[-0.5, 0.2], [0.3, 0.9]],
    "LogNormal": [[0.1, 0.5], [0.7, 2.0]],
    "Bernoulli": [[0.0, 1.0], [1.0, 0.0]],
    "Geometric": [[0.0, 1.0], [4.0, 2.0]],
    "Categorical": [[0, 1], [1, 1]],
    "Multinomial": [[1.0, 4.0], [3.0, 2.0]],
}
ELSEWHERE = [[-0.4, 0.5], [0.9, 1.3]]


def parameters(dtype: str = "float32") -> tuple[Any, Any]:
    """The two tensors that the distributions are made of."""
    return paddle.to_tensor(ONE, dtype=dtype), paddle.to_tensor(TWO, dtype=dtype)


def value_for(name: str) -> Any:
    """A value that the distribution can take."""
    return paddle.to_tensor(VALUES.get(name, ELSEWHERE))


def log_prob(distribution: Any, value: Any) -> Any:
    """log_prob, under the name that a geometric distribution has it."""
    if isinstance(distribution, D.Geometric):
        return distribution.log_pmf(value)
    return distribution.log_prob(value)
