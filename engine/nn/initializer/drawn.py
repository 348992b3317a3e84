"""Initializers that draw: normal and uniform distributions, and Xavier's and Kaiming's choice of their width.

Each parameter takes one key of the process's generator, so a seed and an order of creation fix all values on
every machine. Drawn in float64, rounded once to the parameter's dtype.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.core.random import default_generator, numpy_generator
from engine.nn.initializer.base import Initializer, calculate_gain, compute_fans


def _uniform(shape: tuple[int, ...], low: float, high: float) -> np.ndarray[Any, Any]:
    return numpy_generator(default_generator().reserve()).random(shape) * (high - low) + low


def _normal(shape: tuple[int, ...], mean: float, std: float) -> np.ndarray[Any, Any]:
    return numpy_generator(default_generator().reserve()).standard_normal(shape) * std + mean


def _require(where: str, **values: Any) -> None:
    for name, value in values.items():
        if value is None:
            raise ArgumentError(f"{where}: {name} must be a number: got None; leave it out for the default")


class Normal(Initializer):
    """Normally distributed."""

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        _require("Normal", mean=mean, std=std)
        self._mean, self._std = mean, std

    def sample(self, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        return _normal(shape, self._mean, self._std)


class TruncatedNormal(Initializer):
    """Normally distributed, drawn again where farther than two standard deviations from the mean."""

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        _require("TruncatedNormal", mean=mean, std=std)
        self._mean, self._std = mean, std

    def sample(self, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        generator = numpy_generator(default_generator().reserve())
        values = generator.standard_normal(shape)
        outside = np.abs(values) > 2.0
        while count := int(np.count_nonzero(outside)):
            values[outside] = generator.standard_normal(count)
            outside = np.abs(values) > 2.0
        return values * self._std + self._mean


class Uniform(Initializer):
    """Evenly distributed over [low, high)."""

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        _require("Uniform", low=low, high=high)
        if high < low:
            raise ArgumentError(f"Uniform: high must not be below low: got low={low}, high={high}; swap them")
        self._low, self._high = low, high

    def sample(self, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        return _uniform(shape, self._low, self._high)


class _Xavier(Initializer):
    """Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks (2010)."""

    def __init__(
        self, fan_in: float | None = None, fan_out: float | None = None, name: str | None = None
    ) -> None:
        self._fan_in, self._fan_out = fan_in, fan_out

    def _sum(self, shape: tuple[int, ...]) -> float:
        fan_in, fan_out = compute_fans(shape)
        first = fan_in if self._fan_in is None else self._fan_in
        return float(first + (fan_out if self._fan_out is None else self._fan_out))


class XavierNormal(_Xavier):
    """Normal with standard deviation sqrt(2 / (fan_in + fan_out))."""

    def std(self, shape: tuple[int, ...]) -> float:
        return math.sqrt(2.0 / self._sum(shape))

    def sample(self, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        return _normal(shape, 0.0, self.std(shape))


class XavierUniform(_Xavier):
    """Uniform within plus or minus sqrt(6 / (fan_in + fan_out))."""

    def limit(self, shape: tuple[int, ...]) -> float:
        return math.sqrt(6.0 / self._sum(shape))

    def sample(self, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        limit = self.limit(shape)
        return _uniform(shape, -limit, limit)


class _Kaiming(Initializer):
    """He et al., Delving deep into rectifiers (2015)."""

    def __init__(
        self, fan_in: float | None = None, negative_slope: float = 0.0, nonlinearity: str = "relu"
    ) -> None:
        self._fan_in = fan_in
        self._gain = calculate_gain(nonlinearity, negative_slope)

    def _fan(self, shape: tuple[int, ...]) -> float:
        return float(compute_fans(shape)[0] if self._fan_in is None else self._fan_in)


class KaimingNormal(_Kaiming):
    """Normal with standard deviation gain / sqrt(fan_in)."""

    def std(self, shape: tuple[int, ...]) -> float:
        return self._gain / math.sqrt(self._fan(shape))

    def sample(self, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        return _normal(shape, 0.0, self.std(shape))


class KaimingUniform(_Kaiming):
    """Uniform within plus or minus gain * sqrt(3 / fan_in)."""

    def limit(self, shape: tuple[int, ...]) -> float:
        return self._gain * math.sqrt(3.0 / self._fan(shape))

    def sample(self, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        limit = self.limit(shape)
        return _uniform(shape, -limit, limit)
