"""Rows of the operator table, and their sample values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_serial = itertools.count()


@dataclass
class Sample:
    """Inputs and attributes of one application."""

    inputs: tuple[Any, ...]
    attrs: dict[str, Any]


def s(*inputs: Any, **attrs: Any) -> Sample:
    return Sample(inputs, attrs)


@dataclass
class Case:
    """One sample of one operator, with expectations."""

    op: str
    sample: Sample
    want: (
        Callable[..., Any] | None
    )  # NumPy in float64, independent of the kernel: (*inputs, **attrs) -> result(s)
    grads: tuple[str, ...] = ()  # inputs to check the gradient of
    through: tuple[int, ...] | None = (
        None  # outputs that the gradient comes from (all floating ones by default)
    )
    check: Callable[..., None] | None = None  # instead of ``want``: (results, *inputs, **attrs)
    unknown: bool = True  # shapes follow from the attributes and the number of dimensions alone
    data: bool = False  # shapes depend on the values of the inputs: inference can't know them
    straight: bool = False  # the gradient is passed straight through, whatever the slope of the values
    number: int = field(default_factory=lambda: next(_serial))

    @property
    def id(self) -> str:
        def text(value: Any) -> str:
            if isinstance(value, list):
                return "[" + ",".join(text(v) for v in value) + "]"
            return "none" if value is None else "x".join(map(str, np.shape(value))) or "0d"

        attrs = ",".join(f"{k}={v}" for k, v in self.sample.attrs.items())
        return f"{self.op}({','.join(text(i) for i in self.sample.inputs)}{';' + attrs if attrs else ''})"


def row(
    op: str, want: Callable[..., Any] | None, *samples: Sample, grads: str = "", **options: Any
) -> list[Case]:
    """Cases of ``op``; ``grads`` names differentiable inputs, separated by spaces."""
    return [Case(op, sample, want, tuple(grads.split()), **options) for sample in samples]


def v(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Distinct values of both signs in random order, none near 0: away from kinks and ties."""
    size = int(np.prod(shape))
    order = np.random.default_rng([seed, size]).permutation(size)
    return np.asarray(((order - size // 2 + 0.35) * min(0.37, 3.0 / max(size, 1))).reshape(shape))


def pos(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Distinct positive values between 0.2 and 3.4."""
    return np.asarray(np.abs(v(*shape, seed=seed)) + 0.2)


def ints(*shape: int, low: int = 0, high: int = 4, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.asarray(np.random.default_rng([seed, 1]).integers(low, high, shape))


def bools(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.asarray(np.random.default_rng([seed, 2]).random(shape) < 0.5)


def unary_shapes(make: Callable[..., Any] = v) -> Iterator[Sample]:
    """0-d, empty, one and several dimensions."""
    for shape in ((), (0, 3), (4,), (2, 3)):
        yield s(make(*shape))


def binary_shapes(make: Callable[..., Any] = v, other: Callable[..., Any] | None = None) -> Iterator[Sample]:
    """Equal shapes, and every kind of broadcasting."""
    pairs = [
        ((), ()),
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (2, 3)),
        ((2, 1), (1, 3)),
        ((), (2,)),
        ((0, 3), (3,)),
        ((2, 1, 2), (3, 1)),
    ]
    for x, y in pairs:
        second = (other or make)(*y, seed=7)
        # Scaled, so that no two floating values are equal: there a maximum has no derivative.
        yield s(make(*x), second * 1.07 + 0.003 if second.dtype.kind == "f" else second)
