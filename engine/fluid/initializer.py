"""``fluid.initializer``: first values of parameters under their names and arguments before 2.0."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from engine.core.errors import DTypeError
from engine.nn import initializer as modern
from engine.nn.initializer import Bilinear, Initializer, set_global_initializer
from engine.nn.initializer.drawn import Drawn

__all__ = [
    "MSRA",
    "Bilinear",
    "BilinearInitializer",
    "Constant",
    "ConstantInitializer",
    "Initializer",
    "MSRAInitializer",
    "Normal",
    "NormalInitializer",
    "NumpyArrayInitializer",
    "TruncatedNormal",
    "TruncatedNormalInitializer",
    "Uniform",
    "UniformInitializer",
    "Xavier",
    "XavierInitializer",
    "force_init_on_cpu",
    "init_on_cpu",
    "set_global_initializer",
]


class _Seeded(Drawn):
    """Draws as ``_drawn`` does; a ``seed`` other than 0 fixes the values, 0 is the Program's seed."""

    _drawn: Drawn
    _seed: int = 0

    def operator(self, shape: tuple[int, ...]) -> tuple[str, dict[str, Any]]:
        name, attrs = self._drawn.operator(shape)
        return name, {**attrs, "seed": int(self._seed)} if self._seed else attrs


class ConstantInitializer(modern.Constant):
    """One value everywhere. ``force_cpu`` is not used."""

    def __init__(self, value: float = 0.0, force_cpu: bool = False) -> None:
        super().__init__(value)


class UniformInitializer(_Seeded):
    """Evenly distributed over [low, high). The diagonal arguments of 1.6 are refused."""

    def __init__(
        self,
        low: float = -1.0,
        high: float = 1.0,
        seed: int = 0,
        diag_num: int = 0,
        diag_step: int = 0,
        diag_val: float = 1.0,
    ) -> None:
        if diag_num:
            raise DTypeError(
                f"UniformInitializer: a diagonal is not supported: got diag_num={diag_num}; use "
                "NumpyArrayInitializer"
            )
        self._drawn, self._seed = modern.Uniform(low, high), seed


class NormalInitializer(_Seeded):
    """Normally distributed, with mean ``loc`` and standard deviation ``scale``."""

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0) -> None:
        self._drawn, self._seed = modern.Normal(loc, scale), seed


class TruncatedNormalInitializer(_Seeded):
    """Normally distributed, within two standard deviations (``scale``) of the mean ``loc``."""

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0) -> None:
        self._drawn, self._seed = modern.TruncatedNormal(loc, scale), seed


class XavierInitializer(_Seeded):
    """Glorot and Bengio's: uniform, or normal with ``uniform=False``; fans from the shape where omitted."""

    def __init__(
        self,
        uniform: bool = True,
        fan_in: float | None = None,
        fan_out: float | None = None,
        seed: int = 0,
    ) -> None:
        kind = modern.XavierUniform if uniform else modern.XavierNormal
        self._drawn, self._seed = kind(fan_in, fan_out), seed


class MSRAInitializer(_Seeded):
    """He et al.'s for relu: uniform, or normal with ``uniform=False``; ``fan_in`` as in Xavier's."""

    def __init__(self, uniform: bool = True, fan_in: float | None = None, seed: int = 0) -> None:
        kind = modern.KaimingUniform if uniform else modern.KaimingNormal
        self._drawn, self._seed = kind(fan_in), seed


class NumpyArrayInitializer(modern.Assign):
    """The values of an array."""

    def __init__(self, value: Any) -> None:
        if not isinstance(value, np.ndarray):
            raise DTypeError(
                f"NumpyArrayInitializer: value is a NumPy array: got {type(value).__name__}; use np.array()"
            )
        super().__init__(value)


Constant = ConstantInitializer
Uniform = UniformInitializer
Normal = NormalInitializer
TruncatedNormal = TruncatedNormalInitializer
Xavier = XavierInitializer
MSRA = MSRAInitializer
BilinearInitializer = Bilinear


def force_init_on_cpu() -> bool:
    """Whether first values are made on the CPU: always False, they are made where the parameter is."""
    return False


@contextmanager
def init_on_cpu() -> Iterator[None]:
    """Changes nothing: first values are made where the parameter is."""
    yield
