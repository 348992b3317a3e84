"""Quantiles and counts of elements."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from engine.core.operators.bounds import Number, Size
from engine.core.operators.infer import require_floating
from engine.core.operators.opdef import op
from engine.core.values.dtype import float32, float64, from_numpy, int64
from engine.core.values.spec import Spec
from engine.ops.arrays import along_axis, index, sort


def _infer_quantile(x: Spec, *, q: Any, ignore_nan: bool = False) -> tuple[Spec, ...]:
    require_floating("quantile", x=x)
    if x.ndim == 0 or x.shape[-1] == 0:
        raise ShapeError(f"quantile: x is empty, {x}; a quantile needs an element")
    if any(not 0.0 <= value <= 1.0 for value in q):
        raise ArgumentError(f"quantile: q must be between 0 and 1: got {list(q)}")
    made = x.with_shape((*x.shape[:-1], len(q)))
    return made, made.with_dtype(int64), made.with_dtype(int64), made


@op("quantile", infer=_infer_quantile, outputs=("out", "low", "high", "weight"))
def quantile(xp, x, *, q, ignore_nan=False):
    """Quantiles ``q`` over the last dimension, interpolated linearly; they are stacked along a new last
    dimension.

    ``low`` and ``high`` are the positions of the two elements around each, ``weight`` is the
    weight of the upper one. NaN where an element is NaN, unless ``ignore_nan``: then NaN are ignored.
    """
    _infer_quantile(Spec.of(x), q=q)
    order = sort.sorting_order(xp, x, -1, descending=False)
    missing = xp.sum(xp.isnan(x), axis=-1, keepdims=True)
    last = x.shape[-1] - 1
    top = xp.maximum(last - missing, 0) if ignore_nan else xp.full_like(missing, last)
    position = xp.asarray(q, xp.float64) * top
    below = xp.floor(position)
    weight = (position - below).astype(x.dtype)
    below = below.astype(xp.int64)
    above = xp.minimum(below + 1, top)
    if not ignore_nan:  # NaN is sorted to the end
        below, above = (xp.where(missing > 0, last, place) for place in (below, above))
    low, high = xp.take_along_axis(order, below, -1), xp.take_along_axis(order, above, -1)
    start, end = xp.take_along_axis(x, low, -1), xp.take_along_axis(x, high, -1)
    out = xp.where(weight == 0, start, start + weight * (end - start))
    return out, low.astype(xp.int64), high.astype(xp.int64), weight


def _quantile_grad(g: Any, x_like: Any, low: Any, high: Any, weight: Any) -> Any:
    upper = g * weight
    return along_axis.put_along_zeros(g - upper, x_like, low, axis=-1) + along_axis.put_along_zeros(
        upper, x_like, high, axis=-1
    )


quantile.grad(x=_quantile_grad)


def _infer_histogram(x: Spec, *, bins: int, min: float, max: float) -> Spec:
    if x.dtype.is_complex or x.dtype.name == "bool":
        raise DTypeError(f"histogram: x must hold integers or floating numbers: got {x}; cast it")
    if bins < 1:
        raise ArgumentError(f"histogram: bins must be at least 1: got {bins}")
    if min > max:
        raise ArgumentError(f"histogram: min is {min}, max {max}; max must not be below min")
    return Spec((bins,), int64)


@op("histogram", infer=_infer_histogram)
def histogram(xp, x, *, bins: Size = 100, min: Number = 0, max: Number = 0):
    """The number of elements in each of ``bins`` equal parts of [min, max]; others are not counted.

    Where min equals max the range is that of the elements, extended by 1 to both sides if it is empty.
    """
    _infer_histogram(Spec((), from_numpy(x.dtype)), bins=bins, min=min, max=max)
    number = x.dtype.type
    low, high = number(min), number(max)
    x = x.reshape(-1)
    if x.size and low == high:
        low, high = x.min(), x.max()
    if not (xp.isfinite(low) and xp.isfinite(high)):
        raise ArgumentError(f"histogram: the range [{low}, {high}] is not finite; give min and max")
    if low == high:
        low, high = low - number(1), high + number(1)
    x = x[(x >= low) & (x <= high)]
    scaled = (x - low) * number(bins)
    place = scaled // (high - low) if x.dtype.kind in "iu" else scaled / (high - low)
    place = xp.minimum(place.astype(xp.int64), bins - 1)
    return xp.bincount(place, minlength=bins).astype(xp.int64)


def _infer_bincount(x: Spec, weights: Spec | None = None, *, minlength: int = 0) -> Spec:
    if not x.dtype.is_integer:
        raise DTypeError(f"bincount: x must hold integers: got {x}; cast it")
    if x.ndim != 1:
        raise ShapeError(f"bincount: x must have 1 dimension: got {x}; flatten it")
    if minlength < 0:
        raise ArgumentError(f"bincount: minlength must be at least 0: got {minlength}")
    if weights is None:
        return Spec((-1,), int64)
    if weights.shape != x.shape and -1 not in (*weights.shape, *x.shape):
        raise ShapeError(f"bincount: weights are {weights}: x is {x}; give one weight an element")
    return Spec((-1,), weights.dtype if weights.dtype is float32 else float64)


@op("bincount", infer=_infer_bincount)
def bincount(xp, x, weights=None, *, minlength: Size = 0):
    """The count of each number from 0 on in x, or the sum of the weights of its occurrences."""
    if x.dtype.kind not in "iu" or x.ndim != 1 or (weights is not None and weights.shape != x.shape):
        raise TypeError("wrong inputs")  # inference explains the error
    if x.size and int(x.min()) < 0:
        raise OutOfRangeError(f"bincount: x holds {int(x.min())}; numbers below 0 can't be counted")
    counted = xp.bincount(x.astype(xp.int64), weights, minlength=minlength)
    if weights is None:
        return counted.astype(xp.int64)
    return counted.astype(xp.float32 if weights.dtype == xp.float32 else xp.float64)


bincount.grad(weights=lambda g, x: index.gather(g, x, axis=0))
