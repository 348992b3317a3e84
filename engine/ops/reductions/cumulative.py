"""Running sums, products and extremes along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.core.operators import traits
from engine.core.operators.bounds import Count
from engine.core.operators.infer import normal_axis, require_floating
from engine.core.operators.opdef import op
from engine.core.place import Array, ArrayModule
from engine.core.values.dtype import as_dtype
from engine.core.values.spec import Spec
from engine.ops.arrays import along_axis, shape
from engine.ops.elementwise import arithmetic


def _infer_running(where: str, floating: bool = False) -> Any:
    def infer(x: Spec, *, axis: int = -1, flatten: bool = False, **_: Any) -> Spec:
        if floating:
            require_floating(where, x=x)
        if flatten:
            return x.with_shape((x.size,))
        normal_axis(where, axis, x.ndim)
        return x

    return infer


def _laid_out(x: Any, axis: int, flatten: bool) -> tuple[Any, int]:
    """x with at least one dimension, and the axis to run along."""
    if flatten:
        return x.reshape(-1), 0
    along = normal_axis("cumsum", axis, x.ndim)
    return (x, along) if x.ndim else (x.reshape(-1), 0)


def _backwards(xp: Any, x: Any, axis: int, reverse: bool) -> Any:
    return xp.flip(x, axis) if reverse else x


def _delayed(xp: Any, x: Any, axis: int, first: float) -> Any:
    """x shifted by one position along the axis, starting with ``first``."""
    result = xp.empty_like(x)
    front, rest = [slice(None)] * x.ndim, [slice(None)] * x.ndim
    front[axis], rest[axis] = slice(0, 1), slice(1, None)
    earlier = list(rest)
    earlier[axis] = slice(0, -1)
    result[tuple(front)] = first
    result[tuple(rest)] = x[tuple(earlier)]
    return result


def scan(combine: Callable[[Any, Any], Any], x: Array, axis: int) -> Any:
    """Running results of an associative ``combine``, in log2(n) steps over whole arrays.

    CuPy's functions have no ``accumulate`` but for sums and products.
    """
    total, step, size = x.copy(), 1, x.shape[axis]
    while step < size:
        later, earlier = [slice(None)] * x.ndim, [slice(None)] * x.ndim
        later[axis], earlier[axis] = slice(step, None), slice(None, -step)
        combined = combine(total[tuple(earlier)], total[tuple(later)])
        total = total.copy()
        total[tuple(later)] = combined
        step *= 2
    return total


def accumulate(xp: ArrayModule, combine: np.ufunc | Callable[[Any, Any], Any], x: Array, axis: int) -> Any:
    """Running results of an elementwise function of two arrays."""
    return combine.accumulate(x, axis=axis) if isinstance(combine, np.ufunc) else scan(combine, x, axis)


@traits.complex_gradient
@op("cumsum", infer=_infer_running("cumsum"))
def cumsum(xp, x, *, axis=-1, flatten=False, exclusive=False, reverse=False):
    """Running sum; ``exclusive`` without the element itself, ``reverse`` from the end."""
    given = x.shape
    x, axis = _laid_out(x, axis, flatten)
    x = _backwards(xp, x, axis, reverse)
    total = xp.cumsum(x, axis=axis, dtype=x.dtype)
    if exclusive:
        total = _delayed(xp, total, axis, 0)
    total = _backwards(xp, total, axis, reverse)
    return total if flatten else total.reshape(given)


def _cumsum_grad(g: Any, x_spec: Any, axis: int, flatten: bool, exclusive: bool, reverse: bool) -> Any:
    run = cumsum(g, axis=0 if flatten else axis, exclusive=exclusive, reverse=not reverse)
    return shape.reshape_to(run, x_spec) if flatten else run


cumsum.grad(x=_cumsum_grad)


def _infer_cumprod(x: Spec, *, dim: int) -> Spec:
    normal_axis("cumprod", dim, x.ndim)
    return x


@traits.holomorphic
@op("cumprod", infer=_infer_cumprod)
def cumprod(xp, x, *, dim: Count):
    """Running product; its second derivative is not finite where x is 0."""
    given = x.shape
    x, axis = _laid_out(x, dim, False)
    return xp.cumprod(x, axis=axis, dtype=x.dtype).reshape(given)


@op("cumprod_grad", infer=lambda g_in, x, *, dim: x, slots={"g_in": "Out@GRAD", "x": "X", "out": "X@GRAD"})
def _cumprod_grad(xp, g_in, x, *, dim: Count):
    """Sum over later positions of g times the product of the other elements, without division by a 0 in x."""
    given = x.shape
    x, axis = _laid_out(x, dim, False)
    g = g_in.reshape(x.shape)
    zero = x == 0
    first = zero & (xp.cumsum(zero, axis=axis) == 1)  # after the first 0 only this element has a gradient
    filled = xp.where(first, x.dtype.type(1), x)
    product = xp.cumprod(x, axis=axis, dtype=x.dtype)
    others = xp.cumprod(filled, axis=axis, dtype=x.dtype)
    plain = xp.flip(xp.cumsum(xp.flip(g * product, axis), axis=axis, dtype=x.dtype), axis)
    at_zero = xp.flip(xp.cumsum(xp.flip(g * others, axis), axis=axis, dtype=x.dtype), axis)
    result = xp.where(first, at_zero, xp.where(zero, 0, plain / xp.where(zero, x.dtype.type(1), x)))
    return result.astype(x.dtype, copy=False).reshape(given)


cumprod.grad(x=lambda g, x, dim: _cumprod_grad(g, x, dim=dim))


@_cumprod_grad.grad_all("g_in", "x")
def _cumprod_second(g: Any, g_in: Any, x: Any, out: Any, dim: int) -> Any:
    shares = cumsum(g / x, axis=dim)
    return cumprod(x, dim=dim) * shares, _cumprod_grad(g_in * shares, x, dim=dim) - g * out / x


def _infer_extreme(where: str) -> Any:
    def infer(x: Spec, *, axis: int, dtype: Any) -> tuple[Spec, Spec]:
        normal_axis(where, axis, x.ndim)
        return x, x.with_dtype(as_dtype(dtype))

    return infer


def _running_extreme(xp: Any, x: Any, axis: int, dtype: Any, combine: Any) -> tuple[Any, Any]:
    given = x.shape
    x, axis = _laid_out(x, axis, False)
    values = accumulate(xp, combine, x, axis)
    sizes = [1] * x.ndim
    sizes[axis] = x.shape[axis]
    places = xp.arange(x.shape[axis]).reshape(sizes)
    reached = (x == values) | (xp.isnan(x) & ~xp.isnan(_delayed(xp, values, axis, 0)))
    indices = accumulate(xp, xp.maximum, xp.where(reached, places, 0), axis)
    return values.reshape(given), indices.astype(as_dtype(dtype).np).reshape(given)


@op("cummax", infer=_infer_extreme("cummax"), outputs=("out", "indices"))
def cummax(xp, x, *, axis=-1, dtype="int64"):
    """Running maximum and its position, the last of several; NaN from the first NaN on."""
    return _running_extreme(xp, x, axis, dtype, xp.maximum)


@op("cummin", infer=_infer_extreme("cummin"), outputs=("out", "indices"))
def cummin(xp, x, *, axis=-1, dtype="int64"):
    """Running minimum and its position, the last of several; NaN from the first NaN on."""
    return _running_extreme(xp, x, axis, dtype, xp.minimum)


cummax.grad(x=lambda g, x_like, indices, axis: along_axis.put_along_zeros(g, x_like, indices, axis=axis))
cummin.grad(x=lambda g, x_like, indices, axis: along_axis.put_along_zeros(g, x_like, indices, axis=axis))


@op("logcumsumexp", infer=_infer_running("logcumsumexp", floating=True))
def logcumsumexp(xp, x, *, axis=-1, flatten=False):
    """Logarithm of the running sum of exp(x), without overflow."""
    given = x.shape
    x, axis = _laid_out(x, axis, flatten)
    total = accumulate(xp, xp.logaddexp, x, axis)
    return total if flatten else total.reshape(given)


def _signed_sums(xp: Any, factor: Any, exponent: Any, outside: Any, axis: int, reverse: bool) -> Any:
    """Running sum of factor * exp(exponent), times exp(outside), all in logarithms."""
    given = factor.shape
    factor, axis = _laid_out(factor, axis, False)
    logs = xp.log(xp.abs(factor)) + exponent.reshape(factor.shape)
    outside = outside.reshape(factor.shape)
    parts = []
    for sign in (factor > 0, factor < 0):
        part = _backwards(xp, xp.where(sign, logs, -xp.inf), axis, reverse)
        run = _backwards(xp, accumulate(xp, xp.logaddexp, part, axis), axis, reverse)
        parts.append(xp.where(xp.isneginf(run), 0, xp.exp(run + outside)))
    return (parts[0] - parts[1]).astype(factor.dtype, copy=False).reshape(given)


@op(
    "logcumsumexp_grad",
    infer=lambda g_in, x, y, **_: x,
    slots={"g_in": "Out@GRAD", "x": "X", "y": "Out", "out": "X@GRAD"},
)
def _logcumsumexp_grad(xp, g_in, x, y, *, axis=-1):
    """exp(x[k]) times the sum of g[i] exp(-y[i]) over the positions i from k on."""
    return _signed_sums(xp, g_in, -y, x, axis, True)


@op("logcumsumexp_jvp", infer=lambda step, x, y, **_: x)
def _logcumsumexp_jvp(xp, step, x, y, *, axis=-1):
    """exp(-y[i]) times the sum of step[k] exp(x[k]) over the positions k up to i."""
    return _signed_sums(xp, step, x, -y, axis, False)


def _logcumsumexp_rule(g: Any, x: Any, out: Any, axis: int, flatten: bool) -> Any:
    if not flatten:
        return _logcumsumexp_grad(g, x, out, axis=axis)
    return shape.reshape_to(_logcumsumexp_grad(g, shape.reshape(x, shape=[-1]), out, axis=0), x)


logcumsumexp.grad(x=_logcumsumexp_rule)
_logcumsumexp_grad.grad(
    g_in=lambda g, x, y, axis: _logcumsumexp_jvp(g, x, y, axis=axis),
    x=lambda g, out: g * out,
    y=lambda g, g_in, x, y, axis: arithmetic.scale(g_in * _logcumsumexp_jvp(g, x, y, axis=axis), scale=-1.0),
)
_logcumsumexp_jvp.grad(
    step=lambda g, x, y, axis: _logcumsumexp_grad(g, x, y, axis=axis),
    x=lambda g, step, x, y, axis: step * _logcumsumexp_grad(g, x, y, axis=axis),
    y=lambda g, out: arithmetic.scale(g * out, scale=-1.0),
)
