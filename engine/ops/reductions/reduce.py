"""Reductions over axes. An empty ``axis`` or ``reduce_all`` means all dimensions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.core import mode as modes
from engine.core.attached import Attached
from engine.core.errors import ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Count, Size
from engine.core.operators.infer import normal_axis, reduced_axes, reduced_shape, require_floating
from engine.core.operators.opdef import op
from engine.core.place import Array, ArrayModule
from engine.core.values.dtype import as_dtype, bool_
from engine.core.values.spec import Spec
from engine.kernels.cpu.sums import summed
from engine.ops.elementwise import arithmetic, exponential


def _axes(axis: Any, ndim: int, reduce_all: bool) -> tuple[int, ...] | None:
    return None if reduce_all or not axis else reduced_axes("reduce", axis, ndim)


def _infer(where: str, floating: bool = False, result: Any = None) -> Any:
    def infer(x: Spec, *, axis: Any = (), keepdim: bool = False, reduce_all: bool = False, **_: Any) -> Spec:
        if floating:
            require_floating(where, x=x)
        shape = reduced_shape(where, x.shape, axis, keepdim, reduce_all)
        axes = _axes(axis, x.ndim, reduce_all) or range(x.ndim)
        if where in ("max", "min", "amax", "amin") and 0 in [x.shape[n] for n in axes]:
            raise ShapeError(f"{where}: x is empty, shape {list(x.shape)}; {where} needs an element")
        return Spec(shape, result or x.dtype)

    return infer


@traits.complex_gradient
@op("reduce_sum", infer=_infer("sum"))
def sum(xp, x, *, axis: Count = (), keepdim=False, reduce_all=False):
    """Sum; small integers and bool are cast by the public function first."""
    return summed(xp, x, _axes(axis, x.ndim, reduce_all), keepdim)


def _infer_spread(x: Spec, x_like: Spec | None = None, *, shape: Any = None, **_: Any) -> Spec:
    return Spec(shape if x_like is None else x_like.shape, x.dtype)


@traits.complex_gradient
@op("reduce_expand", infer=_infer_spread, slots={"x_like": "Y"})
def _expand(xp, x, x_like=None, *, shape: Size = None, axis: Count = (), keepdim=False, reduce_all=False):
    """The gradient of a sum: x repeated over the reduced axes, to ``shape`` (or that of x_like)."""
    shape = tuple(shape) if x_like is None else x_like.shape
    axes = _axes(axis, len(shape), reduce_all)
    if not keepdim:
        x = xp.expand_dims(x, tuple(range(len(shape))) if axes is None else axes)
    return xp.broadcast_to(x, shape).copy()


_expand.grad(x=lambda g, axis, keepdim, reduce_all: sum(g, axis=axis, keepdim=keepdim, reduce_all=reduce_all))


def spread(x: Attached, like: Attached | Spec, **where: Any) -> Any:
    """x repeated to the shape of ``like``, whose values are needed only where a dimension is unknown."""
    shape = tuple(like.shape)
    return _expand(x, like, **where) if -1 in shape else _expand(x, None, shape=shape, **where)


def _sum_grad(g: Any, x_spec: Any, **attrs: Any) -> Any:
    return spread(g, x_spec, **attrs)


sum.grad(x=_sum_grad)


@traits.complex_gradient
@op("reduce_mean", infer=_infer("mean", floating=True))
def mean(xp, x, *, axis: Count = (), keepdim=False, reduce_all=False):
    """Arithmetic mean."""
    if x.dtype.kind not in "fc":
        raise TypeError("not floating")  # inference explains the error
    axes = _axes(axis, x.ndim, reduce_all)
    total = summed(xp, x, axes, keepdim)
    # Not xp.mean: it warns about the mean of an empty array, which is NaN.
    return xp.divide(total, x.dtype.type(x.size // (total.size or 1) if total.size else 1))


def _mean_grad(g: Any, x_spec: Any, axis: Any, keepdim: Any, reduce_all: Any) -> Any:
    shape = tuple(x_spec.shape)
    later = True in map(modes.is_symbolic, axis)  # only the running Program knows the axes
    axes = None if later else _axes(axis, len(shape), reduce_all)
    sizes = [shape[n] for n in (range(len(shape)) if axes is None else axes)]
    if later or -1 in sizes:
        g = g / count(g, x_spec, axis=axis, reduce_all=reduce_all)
    else:
        g = arithmetic.scale(g, scale=1.0 / prod_of(sizes))
    return spread(g, x_spec, axis=axis, keepdim=keepdim, reduce_all=reduce_all)


mean.grad(x=_mean_grad)


def prod_of(sizes: Iterable[int]) -> int:
    """The product of dimensions; 1 rather than 0 for an empty tensor, whose mean has no gradient to scale."""
    total = 1
    for size in sizes:
        total *= size
    return total or 1


@op("reduce_count", infer=lambda like, x, **_: Spec((), like.dtype))
def count(xp, like, x, *, axis: Count = (), reduce_all=False):
    """The number of elements of x in one element of a reduction, in the dtype of like."""
    axes = _axes(axis, x.ndim, reduce_all)
    return xp.asarray(prod_of(x.shape[n] for n in (range(x.ndim) if axes is None else axes)), like.dtype)


@op("reduce_max", infer=_infer("max"))
def max(xp, x, *, axis: Count = (), keepdim=False, reduce_all=False):
    """Largest element; the gradient is shared equally among ties, as in Paddle's amax, and whole for max."""
    return xp.max(x, axis=_axes(axis, x.ndim, reduce_all), keepdims=keepdim)


@op("reduce_min", infer=_infer("min"))
def min(xp, x, *, axis: Count = (), keepdim=False, reduce_all=False):
    """Smallest element."""
    return xp.min(x, axis=_axes(axis, x.ndim, reduce_all), keepdims=keepdim)


def _extreme_grad(g: Any, x: Any, out: Any, axis: Any, keepdim: Any, reduce_all: Any) -> Any:
    where = {"axis": axis, "keepdim": keepdim, "reduce_all": reduce_all}
    return spread(g, x, **where) * arithmetic.cast(x == spread(out, x, **where), out_dtype=g.dtype)


max.grad(x=_extreme_grad)
min.grad(x=_extreme_grad)


@op("reduce_amax", infer=_infer("amax"))
def amax(xp, x, *, axis: Count = (), keepdim=False, reduce_all=False):
    """Largest element; the gradient is shared equally among ties."""
    return xp.max(x, axis=_axes(axis, x.ndim, reduce_all), keepdims=keepdim)


@op("reduce_amin", infer=_infer("amin"))
def amin(xp, x, *, axis: Count = (), keepdim=False, reduce_all=False):
    """Smallest element; the gradient is shared equally among ties."""
    return xp.min(x, axis=_axes(axis, x.ndim, reduce_all), keepdims=keepdim)


def _shared_extreme_grad(g: Any, x: Any, out: Any, axis: Any, keepdim: Any, reduce_all: Any) -> Any:
    where = {"axis": axis, "keepdim": keepdim, "reduce_all": reduce_all}
    reached = arithmetic.cast(x == spread(out, x, **where), out_dtype=g.dtype)
    return spread(g / sum(reached, **where), x, **where) * reached


amax.grad(x=_shared_extreme_grad)
amin.grad(x=_shared_extreme_grad)


def largest_of(xp: ArrayModule, x: Array, axes: tuple[int, ...] | None, nothing: float) -> Any:
    """The largest along axes, by default all, which stay with length 1; ``nothing`` where there is none.

    CuPy's max has no ``initial``.
    """
    reduced = {axis % x.ndim for axis in axes} if axes is not None else set(range(x.ndim))
    if 0 not in [x.shape[axis] for axis in reduced]:
        return xp.max(x, axis=axes, keepdims=True)
    return xp.full([1 if n in reduced else length for n, length in enumerate(x.shape)], nothing, x.dtype)


@op("logsumexp", infer=_infer("logsumexp", floating=True))
def logsumexp(xp, x, *, axis: Count = (), keepdim=False, reduce_all=False):
    """log(sum(exp(x))), without overflow; -inf for an empty sum."""
    if x.dtype.kind != "f":
        raise TypeError("not floating")  # inference explains the error
    axes = _axes(axis, x.ndim, reduce_all)
    largest = largest_of(xp, x, axes, -xp.inf)
    largest = xp.where(xp.isfinite(largest), largest, x.dtype.type(0))
    total = xp.log(xp.sum(xp.exp(x - largest), axis=axes, keepdims=True)) + largest
    return total if keepdim else xp.squeeze(total, axis=axes)


def _logsumexp_grad(g: Any, x: Any, out: Any, axis: Any, keepdim: Any, reduce_all: Any) -> Any:
    where = {"axis": axis, "keepdim": keepdim, "reduce_all": reduce_all}
    return spread(g, x, **where) * exponential.exp(x - spread(out, x, **where))


logsumexp.grad(x=_logsumexp_grad)


@traits.holomorphic
@op("reduce_prod", infer=_infer("prod"))
def prod(xp, x, *, axis: Count = (), keepdim=False, reduce_all=False):
    """Product; its second derivative is not finite where x is 0."""
    return xp.prod(x, axis=_axes(axis, x.ndim, reduce_all), keepdims=keepdim, dtype=x.dtype)


def _infer_prod_grad(g_in: Spec, x: Spec, **_: Any) -> Spec:
    return x


@op("reduce_prod_grad", infer=_infer_prod_grad, slots={"g_in": "Out@GRAD", "x": "X", "out": "X@GRAD"})
def _prod_grad(xp, g_in, x, *, axis: Count = (), keepdim=False, reduce_all=False):
    """g times the product of the other elements, which needs no division where x is 0."""
    axes = _axes(axis, x.ndim, reduce_all)
    if not keepdim:
        g_in = xp.expand_dims(g_in, tuple(range(x.ndim)) if axes is None else axes)
    zero = x == 0
    zeros = xp.sum(zero, axis=axes, keepdims=True)
    nonzero = xp.where(zero, x.dtype.type(1), x)
    rest = xp.prod(nonzero, axis=axes, keepdims=True, dtype=x.dtype)
    others = xp.where(zero, xp.where(zeros == 1, rest, 0), xp.where(zeros == 0, rest / nonzero, 0))
    return (g_in * others).astype(x.dtype, copy=False)


prod.grad(x=lambda g, x, **attrs: _prod_grad(g, x, **attrs))


@_prod_grad.grad_all("g_in", "x")
def _prod_second(g: Any, g_in: Any, x: Any, out: Any, axis: Any, keepdim: Any, reduce_all: Any) -> Any:
    where = {"axis": axis, "keepdim": keepdim, "reduce_all": reduce_all}
    one = arithmetic.scale(g_in, scale=0.0, bias=1.0)
    back = sum(g * _prod_grad(one, x, **where), **where)
    ratios = sum(g / x, **where)
    return back, _prod_grad(g_in * ratios, x, **where) - g * out / x


@op("reduce_all", infer=_infer("all", result=bool_))
def all(xp, x, *, axis: Count = (), keepdim=False, reduce_all=False):
    """True where all elements are true."""
    return xp.all(x, axis=_axes(axis, x.ndim, reduce_all), keepdims=keepdim)


@op("reduce_any", infer=_infer("any", result=bool_))
def any(xp, x, *, axis: Count = (), keepdim=False, reduce_all=False):
    """True where any element is true."""
    return xp.any(x, axis=_axes(axis, x.ndim, reduce_all), keepdims=keepdim)


def _infer_arg(x: Spec, *, axis: Any, keepdims: bool, flatten: bool, dtype: Any) -> Spec:
    if flatten:
        return Spec((1,) * x.ndim if keepdims else (), dtype)
    axis = normal_axis("argmax", axis, x.ndim)
    if x.shape[axis] == 0:
        raise ShapeError(f"argmax: axis {axis} of {list(x.shape)} is empty; there is no position in nothing")
    return Spec(reduced_shape("argmax", x.shape, [axis], keepdims, False), dtype)


@op("arg_max", infer=_infer_arg)
def argmax(xp, x, *, axis=0, keepdims=False, flatten=False, dtype="int64"):
    """Position of the first largest element along an axis."""
    return xp.argmax(x, axis=None if flatten else axis, keepdims=keepdims).astype(as_dtype(dtype).np)


@op("arg_min", infer=_infer_arg)
def argmin(xp, x, *, axis=0, keepdims=False, flatten=False, dtype="int64"):
    """Position of the first smallest element along an axis."""
    return xp.argmin(x, axis=None if flatten else axis, keepdims=keepdims).astype(as_dtype(dtype).np)
