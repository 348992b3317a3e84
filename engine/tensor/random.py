"""Random tensors, and filling tensors with random numbers in place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError
from engine.core.values.dtype import as_dtype, default_dtype
from engine.ops.arrays import creation as creation_ops
from engine.ops.elementwise import arithmetic, exponential
from engine.ops.elementwise import trigonometry as trigonometry_ops
from engine.ops.random import draws as ops
from engine.ops.random import sampling
from engine.program.build.calls import takes_name
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.arguments.sizes import dimensions, number_of, whole, whole_sizes
from engine.tensor.members.inplace import replace
from engine.tensor.tensor_like import AnyTensor, DTypeLike, NumberLike, ShapeLike


def _floating(where: str, dtype: Any) -> str:
    found = default_dtype() if dtype is None else as_dtype(dtype)
    if not found.is_floating_point:
        raise DTypeError(f"{where}: dtype is floating: got {found.name}; use randint() for integers")
    return found.name


@takes_name
def rand(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """Evenly distributed over [0, 1)."""
    return ops.uniform(
        dtype=_floating("rand", dtype), min=0.0, max=1.0, **dimensions("rand", whole_sizes(shape))
    )


@takes_name
def randn(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """Normally distributed, mean 0, standard deviation 1."""
    return ops.gaussian(dtype=_floating("randn", dtype), **dimensions("randn", whole_sizes(shape)))


standard_normal = randn


@takes_name
def normal(
    mean: NumberLike = 0.0, std: NumberLike = 1.0, shape: ShapeLike | None = None, name: str | None = None
) -> Any:
    """Normally distributed.

    If ``mean`` or ``std`` is a tensor, each number has its own and ``shape`` is ignored.
    """
    if not is_tensor(mean) and not is_tensor(std):
        how = dimensions("normal", [1] if shape is None else whole_sizes(shape))
        return ops.gaussian(dtype=_floating("normal", None), mean=float(mean), std=float(std), **how)
    like = creation_ops.fill_like(mean + std * 0.0 if is_tensor(std) else mean, value=0.0)
    return mean + ops.gaussian_like(like) * std


@takes_name
def uniform(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    min: NumberLike = -1.0,
    max: NumberLike = 1.0,
    seed: int = 0,
    name: str | None = None,
) -> Any:
    """Evenly distributed over [min, max); ``seed``, where not 0, fixes the numbers."""
    low, high = number_of(min), number_of(max)
    if modes.is_symbolic(low) or modes.is_symbolic(high):
        drawn = uniform(shape, dtype, 0.0, 1.0, seed)
        bounds = [
            v if modes.is_symbolic(v) else creation_ops.fill(shape=[], value=float(v), dtype=drawn.dtype.name)
            for v in (low, high)
        ]
        low, high = (arithmetic.cast(v, out_dtype=drawn.dtype) for v in bounds)
        return arithmetic.add(arithmetic.multiply(drawn, arithmetic.subtract(high, low)), low)
    return ops.uniform(
        dtype=_floating("uniform", dtype),
        min=float(low),
        max=float(high),
        seed=seed,
        **dimensions("uniform", whole_sizes(shape)),
    )


def _bounds(where: str, low: Any, high: Any) -> tuple[int, int]:
    low, high = (0, low) if high is None else (low, high)
    low, high = whole(where, low), whole(where, high)
    if low >= high:
        raise ArgumentError(f"{where}: low must be below high: got {low} and {high}")
    if low < -(2**63) or high > 2**63:
        raise OutOfRangeError(f"{where}: low and high must fit int64: got {low} and {high}")
    return low, high


@takes_name
def randint(
    low: int = 0,
    high: int | None = None,
    shape: ShapeLike = (1,),
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Any:
    """Integers from low, below high (from 0, below low, without high)."""
    low, high = _bounds("randint", low, high)
    kind = "int64" if dtype is None else as_dtype(dtype).name
    return ops.randint(low=low, high=high, dtype=kind, **dimensions("randint", whole_sizes(shape)))


@takes_name
def randint_like(
    x: AnyTensor,
    low: int = 0,
    high: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Any:
    """Integers from low, below high, in the shape (and dtype, unless given) of x, floating ones too."""
    low, high = _bounds("randint_like", low, high)
    kind = (x.dtype if dtype is None else as_dtype(dtype)).name
    drawn = ops.randint(low=low, high=high, dtype="int64", **dimensions("randint_like", list(x.shape)))
    return drawn if kind == "int64" else arithmetic.cast(drawn, out_dtype=kind)


@takes_name
def randperm(n: int, dtype: DTypeLike = "int64", name: str | None = None) -> Any:
    """The numbers 0 to n-1 in random order."""
    return ops.randperm(n=whole("randperm", n), dtype=as_dtype(dtype).name)


@takes_name
def bernoulli(x: AnyTensor, name: str | None = None) -> Any:
    """1 with the probability that x gives each element, else 0, in the dtype of x."""
    return ops.bernoulli(x)


@takes_name
def multinomial(
    x: AnyTensor, num_samples: int = 1, replacement: bool = False, name: str | None = None
) -> Any:
    """Numbers of categories, int64, drawn with the weights in x or in each of its rows.

    Without ``replacement`` each is drawn at most once.
    """
    return sampling.multinomial(
        x, num_samples=whole("multinomial", num_samples), replacement=bool(replacement)
    )


@takes_name
def poisson(x: AnyTensor, name: str | None = None) -> Any:
    """Poisson distributed with the mean that x gives each element, in the dtype of x."""
    return sampling.poisson(x)


@takes_name
def top_p_sampling(
    x: AnyTensor,
    ps: AnyTensor,
    threshold: AnyTensor | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """A draw from each row of probabilities, among the largest that together reach ``ps``.

    Returns the probabilities drawn and their places, both [rows, 1]. ``threshold`` excludes elements that are
    less probable. A ``seed`` fixes the draw.
    """
    fixed = -1 if seed is None else whole("top_p_sampling", seed)
    values, ids = sampling.top_p_sampling(x, ps, threshold, seed=fixed)
    return values, ids


# -- in place ----------------------------------------------------------------------------------------------


def _filled(where: str, x: Any, value: Any) -> Any:
    """x filled with drawn numbers, whose gradient is zero; a leaf that is trained may be filled too."""
    if not modes.is_symbolic(x) and not modes.is_static():
        if modes.current().grad and not x.is_leaf:
            replace(where, x, creation_ops.fill_like(x))
        x.set_value(value)
        return x
    return replace(where, x, value)


@takes_name
def uniform_(
    x: AnyTensor, min: float = -1.0, max: float = 1.0, seed: int = 0, name: str | None = None
) -> Any:
    """In place: numbers evenly distributed over [min, max)."""
    return _filled("uniform_", x, ops.uniform_like(x, min=float(min), max=float(max), seed=seed))


@takes_name
def normal_(x: AnyTensor, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> Any:
    """In place: normally distributed numbers."""
    return _filled("normal_", x, ops.gaussian_like(x, mean=float(mean), std=float(std)))


@takes_name
def exponential_(x: AnyTensor, lam: float = 1.0, name: str | None = None) -> Any:
    """In place: exponentially distributed numbers of rate ``lam``."""
    return _filled("exponential_", x, ops.exponential_like(x, lam=float(lam)))


@takes_name
def cauchy_(x: AnyTensor, loc: float = 0, scale: float = 1, name: str | None = None) -> Any:
    """In place: loc + scale tan(pi (z - 1/2)) for normally distributed z.

    For evenly distributed z these would be Cauchy distributed around ``loc``; the numbers are Paddle 2.6.2's.
    """
    angle = arithmetic.scale(ops.gaussian_like(x), scale=1.0, bias=-0.5)
    tangent = trigonometry_ops.tan(arithmetic.scale(angle, scale=math.pi))
    drawn = arithmetic.scale(tangent, scale=float(scale), bias=float(np.float32(loc)))
    return _filled("cauchy_", x, drawn)


@takes_name
def geometric_(x: AnyTensor, probs: NumberLike, name: str | None = None) -> Any:
    """In place: log(u) / log(1 - probs) for even u, which rounded up is geometrically distributed.

    As in Paddle the numbers are not rounded.
    """
    tiny = float(np.finfo(x.dtype.np).tiny)
    drawn = exponential.log(ops.uniform_like(x, min=tiny, max=1.0))
    if not is_tensor(probs):
        if not 0 < probs < 1:
            raise ArgumentError(f"geometric_: probs must be between 0 and 1: got {probs}")
        probs = creation_ops.fill_like(x, value=float(np.float32(probs)))
    odds = exponential.log1p(arithmetic.scale(arithmetic.cast(probs, out_dtype=x.dtype.name), scale=-1.0))
    return _filled("geometric_", x, arithmetic.divide(drawn, odds))
