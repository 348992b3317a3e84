"""Distributions of 1.6 to 1.8, in a guard and in Programs."""

from __future__ import annotations

import math as python_math
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import DTypeError
from engine.fluid.layers.adapting import layer_function
from engine.fluid.values.variable import result
from engine.tensor import creation, manipulation, math
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.elementwise import exponential
from engine.tensor.reductions import reduction

_HALF_LOG = 0.5 * python_math.log(2 * python_math.pi)


class Distribution:
    """What the distributions share."""

    def sample(self, shape: Sequence[int], seed: int = 0) -> Any:
        """Drawn values, ``shape`` of them for each element of the parameters."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """The entropy."""
        raise NotImplementedError

    def kl_divergence(self, other: Any) -> Any:
        """The Kullback-Leibler divergence from ``other``."""
        raise NotImplementedError

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at ``value``."""
        raise NotImplementedError


def _value(value: Any) -> Any:
    """A parameter as float32 of one dimension at least. Raises DTypeError for other values."""
    if is_tensor(value):
        return value
    if not isinstance(value, (int, float, list, tuple, np.ndarray)):
        raise DTypeError(f"a distribution has numbers, lists, arrays or Variables: got {value!r}")
    return creation.assign(np.atleast_1d(np.asarray(value, np.float32)))


class _Pair(Distribution):
    """A distribution of two parameters, which are spread over one another."""

    def __init__(self, one: Any, other: Any) -> None:
        self._plain = isinstance(one, (int, float)) and isinstance(other, (int, float))
        self.one, self.other = _value(one), _value(other)

    def _drawn(self, kind: str, shape: Sequence[int], seed: int, **bounds: float) -> Any:
        whole = self.one + self.other
        sizes = [d if d >= 0 else manipulation.shape(whole)[n] for n, d in enumerate(whole.shape)]
        drawn = layer_function(kind)([*shape, *sizes], seed=seed, dtype=whole.dtype, **bounds)
        return drawn * self._width() + self.one, list(shape)

    def _width(self) -> Any:
        raise NotImplementedError

    def _shaped(self, made: Any) -> Any:
        values, shape = made
        return result(manipulation.reshape(values, shape) if self._plain else values)


class Uniform(_Pair):
    """Equally likely values from ``low`` to ``high``."""

    def __init__(self, low: Any, high: Any) -> None:
        super().__init__(low, high)
        self.low, self.high = self.one, self.other

    def _width(self) -> Any:
        return self.high - self.low

    def sample(self, shape: Sequence[int], seed: int = 0) -> Any:
        """Drawn values: ``shape`` and the shape of the parameters; of two numbers only ``shape``."""
        return self._shaped(self._drawn("uniform_random", shape, seed, min=0.0, max=1.0))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at ``value``, -inf outside."""
        inside = math.cast(self.low < value, value.dtype) * math.cast(value < self.high, value.dtype)
        return result(exponential.log(inside) - exponential.log(self._width()))

    def entropy(self) -> Any:
        """``log(high - low)``."""
        return result(exponential.log(self._width()))


class Normal(_Pair):
    """Normal distributions of mean ``loc`` and standard deviation ``scale``."""

    def __init__(self, loc: Any, scale: Any) -> None:
        super().__init__(loc, scale)
        self.loc, self.scale = self.one, self.other

    def _width(self) -> Any:
        return self.scale

    def sample(self, shape: Sequence[int], seed: int = 0) -> Any:
        """Drawn values: ``shape`` and the shape of the parameters; of two numbers only ``shape``."""
        return self._shaped(self._drawn("gaussian_random", shape, seed, mean=0.0, std=1.0))

    def entropy(self) -> Any:
        """``0.5 + 0.5 * log(2 * pi) + log(scale)``."""
        zeros = (self.loc + self.scale) * 0.0
        return result(exponential.log(zeros + self.scale) + (0.5 + _HALF_LOG))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at ``value``."""
        apart = (value - self.loc) / self.scale
        return result(apart * apart * -0.5 - exponential.log(self.scale) - _HALF_LOG)

    def kl_divergence(self, other: Any) -> Any:
        """The divergence from another Normal."""
        ratio, apart = self.scale / other.scale, (self.loc - other.loc) / other.scale
        return result((ratio * ratio + apart * apart - 1.0 - exponential.log(ratio * ratio)) * 0.5)


class Categorical(Distribution):
    """Classes with the probabilities ``softmax(logits)``, along the last dimension."""

    def __init__(self, logits: Any) -> None:
        self.logits = _value(logits)

    def _logarithms(self) -> Any:
        scores = self.logits - reduction.max(self.logits, -1, keepdim=True)
        return scores - exponential.log(reduction.sum(exponential.exp(scores), -1, keepdim=True))

    def entropy(self) -> Any:
        """The entropy of each row, [..., 1]."""
        own = self._logarithms()
        return result(reduction.sum(exponential.exp(own) * own, -1, keepdim=True) * -1.0)

    def kl_divergence(self, other: Any) -> Any:
        """The divergence of each row from that of another Categorical, [..., 1]."""
        own = self._logarithms()
        apart = own - other._logarithms()
        return result(reduction.sum(exponential.exp(own) * apart, -1, keepdim=True))


class MultivariateNormalDiag(Distribution):
    """A normal distribution in several dimensions: mean ``loc`` [k], covariance ``scale`` [k, k], a diagonal
    matrix."""

    def __init__(self, loc: Any, scale: Any) -> None:
        self.loc, self.scale = _value(loc), _value(scale)

    def _variances(self) -> Any:
        return reduction.sum(self.scale, -1)

    def entropy(self) -> Any:
        """``0.5 * (k * (1 + log(2 * pi)) + log(det(scale)))``."""
        size = int(self.scale.shape[0])
        logarithm = reduction.sum(exponential.log(self._variances()), keepdim=True)
        return result((logarithm + size * (1.0 + 2 * _HALF_LOG)) * 0.5)

    def kl_divergence(self, other: Any) -> Any:
        """The divergence from another distribution of this kind."""
        own, theirs, apart = self._variances(), other._variances(), other.loc - self.loc
        parts = own / theirs + apart * apart / theirs - 1.0 + exponential.log(theirs) - exponential.log(own)
        return result(reduction.sum(parts, keepdim=True) * 0.5)
