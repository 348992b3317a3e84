"""Initializers that draw: normal and uniform distributions, and Xavier's and Kaiming's choice of their width.

Each is a random operator's application: eagerly at once, in a static graph as an operator of the startup
Program. So a seed and an order of creation fix all values on every machine, and they are Paddle's.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.core.operators.opdef import OPS
from engine.core.random.generator import default_generator
from engine.core.values.bfloat import narrow
from engine.core.values.dtype import as_dtype, bfloat16
from engine.nn.initializer.base import Initializer, calculate_gain, compute_fans
from engine.program.graph.program import Block
from engine.program.run.executor import default_main_program
from engine.tensor.tensor_like import AnyTensor


def _require(where: str, **values: Any) -> None:
    for name, value in values.items():
        if value is None:
            raise ArgumentError(f"{where}: {name} must be a number: got None; leave it out for the default")


def drawn_by(type_name: str, shape: tuple[int, ...], dtype: str, **attrs: Any) -> np.ndarray[Any, Any]:
    """The numbers that a random operator draws now, for bfloat16 in float32 and rounded. A ``seed`` among
    ``attrs`` fixes them; else that of the default main Program, where it has one, in eager mode too."""
    opdef, kind = OPS[type_name], as_dtype(dtype)
    made: np.ndarray[Any, Any] = opdef.kernel(
        np,
        *(None for _ in opdef.inputs),
        shape=list(shape),
        dtype="float32" if kind is bfloat16 else dtype,
        **{"seed": default_main_program().random_seed, **attrs},
        key=default_generator().reserve(),
    )
    return narrow(np, made) if kind is bfloat16 else made


class Drawn(Initializer):
    """An initializer whose values one random operator draws."""

    @abstractmethod
    def operator(self, shape: tuple[int, ...]) -> tuple[str, dict[str, float]]:
        """The name of the operator and the attributes of its distribution."""

    def forward(self, param: AnyTensor, block: Block | None = None) -> None:
        type_name, attrs = self.operator(tuple(param.shape))
        param.set_value(drawn_by(type_name, tuple(param.shape), param.dtype.name, **attrs))


class Normal(Drawn):
    """Normally distributed."""

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        _require("Normal", mean=mean, std=std)
        self._mean, self._std = mean, std

    def operator(self, shape: tuple[int, ...]) -> tuple[str, dict[str, float]]:
        return "gaussian_random", {"mean": self._mean, "std": self._std}


class TruncatedNormal(Drawn):
    """Normally distributed, within two standard deviations of the mean."""

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        _require("TruncatedNormal", mean=mean, std=std)
        self._mean, self._std = mean, std

    def operator(self, shape: tuple[int, ...]) -> tuple[str, dict[str, float]]:
        return "truncated_gaussian_random", {"mean": self._mean, "std": self._std}


class Uniform(Drawn):
    """Evenly distributed over [low, high)."""

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        _require("Uniform", low=low, high=high)
        if high < low:
            raise ArgumentError(f"Uniform: high must not be below low: got low={low}, high={high}; swap them")
        self._low, self._high = low, high

    def operator(self, shape: tuple[int, ...]) -> tuple[str, dict[str, float]]:
        return "uniform_random", {"min": self._low, "max": self._high}


class _Xavier(Drawn):
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

    def operator(self, shape: tuple[int, ...]) -> tuple[str, dict[str, float]]:
        return "gaussian_random", {"mean": 0.0, "std": self.std(shape)}


class XavierUniform(_Xavier):
    """Uniform within plus or minus sqrt(6 / (fan_in + fan_out))."""

    def limit(self, shape: tuple[int, ...]) -> float:
        return math.sqrt(6.0 / self._sum(shape))

    def operator(self, shape: tuple[int, ...]) -> tuple[str, dict[str, float]]:
        limit = self.limit(shape)
        return "uniform_random", {"min": -limit, "max": limit}


class _Kaiming(Drawn):
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

    def operator(self, shape: tuple[int, ...]) -> tuple[str, dict[str, float]]:
        return "gaussian_random", {"mean": 0.0, "std": self.std(shape)}


class KaimingUniform(_Kaiming):
    """Uniform within plus or minus gain * sqrt(3 / fan_in)."""

    def limit(self, shape: tuple[int, ...]) -> float:
        return self._gain * math.sqrt(3.0 / self._fan(shape))

    def operator(self, shape: tuple[int, ...]) -> tuple[str, dict[str, float]]:
        limit = self.limit(shape)
        return "uniform_random", {"min": -limit, "max": limit}
