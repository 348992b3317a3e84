"""Statistics: variance, median, quantiles, histograms, covariance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from engine.core.mode import is_symbolic
from engine.core.operators.infer import reduced_axes
from engine.ops.arrays import creation
from engine.ops.arrays import shape as shape_ops
from engine.ops.elementwise import arithmetic, extremes, power
from engine.ops.linalg import diagonal as diagonal_ops
from engine.ops.linalg import products as linalg_ops
from engine.ops.reductions import reduce as reduce_ops
from engine.ops.reductions import statistics as statistics_ops
from engine.program.build.calls import takes_name
from engine.tensor.arguments.factories import floating, require_tensor
from engine.tensor.arguments.sizes import is_later, number_of
from engine.tensor.creation import zeros
from engine.tensor.math import divide, multiply, subtract
from engine.tensor.reductions.reduction import axes_of
from engine.tensor.tensor_like import AnyTensor, IntegersLike


@takes_name
def var(
    x: AnyTensor,
    axis: IntegersLike | None = None,
    unbiased: bool = True,
    keepdim: bool = False,
    name: str | None = None,
) -> Any:
    """Variance over ``axis``; divided by n - 1 if unbiased (by 1 for one element, whose variance is 0)."""
    where = axes_of(axis)
    centred = subtract(x, reduce_ops.mean(x, keepdim=True, **where))
    total = reduce_ops.mean(power.square(centred), keepdim=keepdim, **where)
    if not unbiased:
        return total
    later = any(map(is_later, where["axis"]))
    sizes = (
        []
        if later
        else [x.shape[a] for a in (range(x.ndim) if where["reduce_all"] or not x.ndim else where["axis"])]
    )
    if later or -1 in sizes:
        count = reduce_ops.count(total, x, **where)
        return multiply(total, divide(count, extremes.clip(subtract(count, 1.0), min=1.0)))
    number = reduce_ops.prod_of(sizes)
    return multiply(total, number / (number - 1 or 1))


@takes_name
def std(
    x: AnyTensor,
    axis: IntegersLike | None = None,
    unbiased: bool = True,
    keepdim: bool = False,
    name: str | None = None,
) -> Any:
    """Standard deviation over ``axis``."""
    return power.sqrt(var(x, axis, unbiased, keepdim))


def _quantiles(where: str, x: Any, q: list[float], axis: Any, keepdim: bool, ignore_nan: bool) -> list[Any]:
    """The quantiles of x over ``axis`` (all by default), one tensor each."""
    if 0 in x.shape:
        raise ShapeError(f"{where}: x is empty, shape {list(x.shape)}; {where} needs an element")
    ndim = x.ndim
    axes = axes_of(axis)["axis"]
    gone = list(reduced_axes(where, axes, ndim)) if axes else list(range(ndim))
    rest = [n for n in range(ndim) if n not in gone]
    moved = x if rest + gone == list(range(ndim)) else shape_ops.transpose(x, axis=rest + gone)
    if len(gone) != 1:
        moved = shape_ops.reshape(moved, shape=[*[0] * len(rest), -1])
    found = statistics_ops.quantile(moved, q=q, ignore_nan=ignore_nan)[0]
    parts = shape_ops.unstack(found, axis=len(rest), num=len(q))
    return [shape_ops.unsqueeze(part, axes=gone) for part in parts] if keepdim else list(parts)


@takes_name
def median(x: AnyTensor, axis: int | None = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The middle element over ``axis`` (all by default), or the mean of the two middle ones.

    NaN where an element is. Integers become float32 first. Raises ShapeError for an empty x.
    """
    x = floating("median", x)
    if axis is not None and not isinstance(axis, int):
        raise ArgumentError(f"median: axis must be an integer or None: got {axis!r}")
    return _quantiles("median", x, [0.5], axis, keepdim, False)[0]


@takes_name
def nanmedian(
    x: AnyTensor, axis: IntegersLike | None = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """The median over ``axis`` (one or several, all by default) of elements that are not NaN; NaN if all are.

    Differs from Paddle: integers become float32 first, so that the mean of two middle ones keeps its half.
    """
    x = floating("nanmedian", x)
    if isinstance(axis, (list, tuple)) and not axis:
        raise ArgumentError("nanmedian: axis is empty; name a dimension, or None for all")
    return _quantiles("nanmedian", x, [0.5], axis, keepdim, True)[0]


def _quantile(where: str, x: Any, q: Any, axis: Any, keepdim: bool, ignore_nan: bool) -> Any:
    require_tensor(where, x=x)
    if not isinstance(q, (int, float, list, tuple)):
        raise DTypeError(f"{where}: q must be a number or a list of numbers: got {type(q).__name__}")
    wanted = [float(value) for value in (q if isinstance(q, (list, tuple)) else [q])]
    if not wanted:
        raise ArgumentError(f"{where}: q is empty; give at least one number between 0 and 1")
    if not x.ndim and axis is not None:
        raise OutOfRangeError(
            f"{where}: axis {axis} is out of range for 0 dimensions; leave axis out"
        ).set_kind("InvalidArgument")
    if x.dtype.name != "float64":
        x = arithmetic.cast(floating(where, x), out_dtype="float64")
    found = _quantiles(where, x, wanted, axis, keepdim, ignore_nan)
    return found[0] if len(found) == 1 else shape_ops.stack(found, axis=0)


def quantile(
    x: AnyTensor, q: float | Sequence[float], axis: IntegersLike | None = None, keepdim: bool = False
) -> Any:
    """Quantiles over ``axis`` (one or several, all by default), interpolated linearly, as float64.

    Several ``q`` (numbers between 0 and 1) are stacked along a new first dimension. NaN where an element is.
    """
    return _quantile("quantile", x, q, axis, keepdim, False)


def nanquantile(
    x: AnyTensor, q: float | Sequence[float], axis: IntegersLike | None = None, keepdim: bool = False
) -> Any:
    """Quantiles like those of ``quantile``, of the elements that are not NaN."""
    return _quantile("nanquantile", x, q, axis, keepdim, True)


@takes_name
def histogram(
    input: AnyTensor, bins: int = 100, min: float = 0, max: float = 0, name: str | None = None
) -> Any:
    """The number of elements in each of ``bins`` equal parts of [min, max], as int64; others are not counted.

    If min equals max, the range is that of the elements, or one to either side of their one value.
    """
    require_tensor("histogram", input=input)
    return statistics_ops.histogram(input, bins=int(bins), min=min, max=max)


@takes_name
def bincount(
    x: AnyTensor, weights: AnyTensor | None = None, minlength: int = 0, name: str | None = None
) -> Any:
    """How often each integer from 0 on occurs in the 1-D x, or the sum of the weights of where it does.

    The result has at least ``minlength`` elements: int64, or float32 or float64 with weights. Raises
    OutOfRangeError for a number below 0. Differs from Paddle: an empty x has ``minlength`` zeros, not none.
    """
    require_tensor("bincount", x=x)
    if minlength.__class__ is int:
        return statistics_ops.bincount(x, weights, minlength=minlength)
    least = number_of(minlength)
    if not is_symbolic(least):
        return statistics_ops.bincount(x, weights, minlength=int(least))
    counts = statistics_ops.bincount(x, weights, minlength=0)
    wanted = shape_ops.reshape(arithmetic.cast(least, out_dtype="int32"), shape=[1])
    missing = arithmetic.subtract(wanted, shape_ops.shape(counts))
    missing = extremes.maximum(missing, arithmetic.scale(missing, scale=0.0))
    return shape_ops.concat([counts, zeros([missing], counts.dtype)], axis=0)


@takes_name
def cov(
    x: AnyTensor,
    rowvar: bool = True,
    ddof: bool = True,
    fweights: AnyTensor | None = None,
    aweights: AnyTensor | None = None,
    name: str | None = None,
) -> Any:
    """The covariance matrix of the rows of x (with ``rowvar=False`` of its columns, unless it has one row).

    ``ddof`` divides by n - 1, else by n. ``fweights`` is the count of each observation (integers),
    ``aweights`` how important each is. Raises ShapeError for more than 2 dimensions.
    """
    x = floating("cov", x)
    if x.ndim > 2 or x.ndim < 1:
        raise ShapeError(f"cov: x must have 1 or 2 dimensions: got shape {list(x.shape)}")
    rows = shape_ops.unsqueeze(x, axes=[0]) if x.ndim == 1 else x
    if not rowvar and x.ndim == 2 and x.shape[0] != 1:  # one row is one variable, as in NumPy
        rows = shape_ops.transpose(rows, axis=[1, 0])
    weights = _observation_weights(rows, fweights, aweights)
    lost = 1.0 if ddof else 0.0
    if weights is None:
        centred = subtract(rows, reduce_ops.mean(rows, axis=[1], keepdim=True))
        ones = creation.fill_like(rows, value=1.0)
        number = reduce_ops.sum(ones, axis=[1], keepdim=True)
        product = linalg_ops.matmul(centred, centred, trans_y=True)
        freedom = extremes.clip(arithmetic.scale(number, bias=-lost), min=0.0)
    else:
        total = reduce_ops.sum(weights, reduce_all=True)
        mean = divide(reduce_ops.sum(multiply(rows, weights), axis=[1], keepdim=True), total)
        centred = subtract(rows, mean)
        product = linalg_ops.matmul(multiply(centred, weights), centred, trans_y=True)
        freedom = total
        if ddof:
            spent = total
            if aweights is not None:
                spent = reduce_ops.sum(
                    multiply(weights, arithmetic.cast(aweights, out_dtype=rows.dtype.name)), reduce_all=True
                )
                freedom = subtract(total, divide(spent, total))
            else:
                freedom = arithmetic.scale(total, bias=-1.0)
        freedom = extremes.clip(freedom, min=0.0)
    found = divide(product, freedom)
    single = rows.shape[0] == 1  # one variable: its variance
    return shape_ops.reshape(found, shape=[]) if single else found


def _observation_weights(rows: Any, fweights: Any, aweights: Any) -> Any:
    """The product of both kinds of weights, checked; None without any."""
    product = None
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is None:
            continue
        require_tensor("cov", **{name: weights})
        if name == "fweights" and not weights.dtype.is_integer:
            raise DTypeError(
                f"cov: fweights count observations: got {weights.dtype.name}; cast them to int64"
            )
        sizes = (weights.shape[0], rows.shape[1]) if weights.ndim == 1 else (0, 1)
        if sizes[0] != sizes[1] and -1 not in sizes:
            raise ShapeError(
                f"cov: {name} have shape {list(weights.shape)}: there are {rows.shape[1]} observations; "
                "give one each"
            )
        cast = arithmetic.cast(weights, out_dtype=rows.dtype.name)
        product = cast if product is None else multiply(product, cast)
    return product


@takes_name
def corrcoef(x: AnyTensor, rowvar: bool = True, name: str | None = None) -> Any:
    """The matrix of correlation coefficients of the rows of x (of its columns with ``rowvar=False``)."""
    matrix = cov(x, rowvar)
    if matrix.ndim == 0:
        return divide(matrix, matrix)
    spread = power.sqrt(diagonal_ops.diagonal(matrix, offset=0, axis1=0, axis2=1))
    scaled = divide(
        divide(matrix, shape_ops.unsqueeze(spread, axes=[1])), shape_ops.unsqueeze(spread, axes=[0])
    )
    return extremes.clip(scaled, min=-1.0, max=1.0)
