"""Paddle's ``distribution``: probability distributions, their divergence, transforms of random variables."""

from engine.distribution import constraint, transform, variable
from engine.distribution.bernoulli import Bernoulli
from engine.distribution.beta import Beta
from engine.distribution.categorical import Categorical
from engine.distribution.cauchy import Cauchy
from engine.distribution.dirichlet import Dirichlet
from engine.distribution.distribution import Distribution
from engine.distribution.exponential_family import ExponentialFamily
from engine.distribution.geometric import Geometric
from engine.distribution.gumbel import Gumbel
from engine.distribution.independent import Independent
from engine.distribution.kl import kl_divergence, register_kl
from engine.distribution.laplace import Laplace
from engine.distribution.lognormal import LogNormal
from engine.distribution.multinomial import Multinomial
from engine.distribution.normal import Normal
from engine.distribution.transform import (
    AbsTransform,
    AffineTransform,
    ChainTransform,
    ExpTransform,
    IndependentTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
)
from engine.distribution.transformed_distribution import TransformedDistribution
from engine.distribution.uniform import Uniform

__all__ = [
    "Bernoulli",
    "Beta",
    "Categorical",
    "Cauchy",
    "Dirichlet",
    "Distribution",
    "ExponentialFamily",
    "Multinomial",
    "Normal",
    "Uniform",
    "kl_divergence",
    "register_kl",
    "Independent",
    "TransformedDistribution",
    "Laplace",
    "LogNormal",
    "Gumbel",
    "Geometric",
    "Transform",
    "AbsTransform",
    "AffineTransform",
    "ChainTransform",
    "ExpTransform",
    "IndependentTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
]
