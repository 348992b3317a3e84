"""Functions of two tensors, aligned as fluid aligns them; reductions; logic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core.errors import ShapeError
from engine.fluid.layers.adapting import activated, adapter, called
from engine.fluid.variable import result
from engine.tensor import creation, logic, manipulation, math, reduction
from engine.tensor.promote import is_tensor


def _aligned(where: str, x: Any, y: Any, axis: int) -> Any:
    """``y`` with dimensions of 1 after its own, so that its first one stands at dimension ``axis`` of x.

    -1 aligns the last dimensions. Raises ShapeError for an axis at which y does not fit into x.
    """
    if axis == -1 or not is_tensor(y) or not is_tensor(x):
        return y
    rank, own = len(x.shape), len(y.shape)
    while own > 1 and axis + own > rank and y.shape[own - 1] == 1:
        own -= 1
    if not 0 <= axis <= rank - own:
        raise ShapeError(
            f"{where}: axis is {axis} for x {list(x.shape)} and y {list(y.shape)}: y's dimensions must lie "
            f"within x's; use 0 to {rank - own}, or -1 for the last ones"
        )
    after = rank - axis - own
    if after == 0 and own == len(y.shape):
        return y
    return manipulation.reshape(y, [0] * own + [1] * after)


def _elementwise(name: str, modern: Callable[..., Any]) -> Callable[..., Any]:
    """fluid's ``name(x, y, axis=-1, act=None, name=None)`` over a modern function of two tensors."""
    where = name

    def function(x: Any, y: Any, axis: int = -1, act: Any = None, name: str | None = None) -> Any:
        out = modern(x, _aligned(where, x, y, axis))
        return result(out if act is None else activated(out, act))

    return called(function, name, modern)


def _divide(x: Any, y: Any) -> Any:
    """x / y; integers are divided towards zero."""
    if not x.dtype.is_integer:
        return math.divide(x, y)
    return math.cast(math.trunc(math.divide(math.cast(x, "float64"), math.cast(y, "float64"))), x.dtype)


elementwise_add = _elementwise("elementwise_add", math.add)
elementwise_sub = _elementwise("elementwise_sub", math.subtract)
elementwise_mul = _elementwise("elementwise_mul", math.multiply)
elementwise_div = _elementwise("elementwise_div", _divide)
elementwise_max = _elementwise("elementwise_max", math.maximum)
elementwise_min = _elementwise("elementwise_min", math.minimum)
elementwise_pow = _elementwise("elementwise_pow", math.pow)
elementwise_mod = _elementwise("elementwise_mod", math.remainder)
elementwise_floordiv = _elementwise("elementwise_floordiv", math.floor_divide)


# -- reductions --------------------------------------------------------------------------------------------
def _reduction(name: str, modern: Callable[..., Any]) -> Callable[..., Any]:
    """fluid's ``name(input, dim=None, keep_dim=False, name=None)`` over a modern reduction."""

    def function(input: Any, dim: Any = None, keep_dim: bool = False, name: str | None = None) -> Any:
        axis = list(dim) if isinstance(dim, (list, tuple)) else dim
        return result(modern(input, axis=None if axis == [] else axis, keepdim=keep_dim, name=name))

    return called(function, name, modern)


reduce_sum = _reduction("reduce_sum", reduction.sum)
reduce_mean = _reduction("reduce_mean", reduction.mean)
reduce_max = _reduction("reduce_max", reduction.max)
reduce_min = _reduction("reduce_min", reduction.min)
reduce_prod = _reduction("reduce_prod", reduction.prod)
reduce_all = _reduction("reduce_all", reduction.all)
reduce_any = _reduction("reduce_any", reduction.any)


@adapter
def mean(x: Any, name: str | None = None) -> Any:
    """The mean of all elements, of shape [1]."""
    return reduction.mean(x, name=name)


@adapter
def sum(x: Any) -> Any:
    """The sum of a list of tensors of one shape; of one tensor, itself."""
    return math.add_n(x)


# -- logic -------------------------------------------------------------------------------------------------
def _logical(name: str, modern: Callable[..., Any]) -> Callable[..., Any]:
    """fluid's ``name(x, y, out=None, name=None)``; the result is written into ``out`` where given."""

    def function(x: Any, y: Any, out: Any = None, name: str | None = None) -> Any:
        found = result(modern(x, y, name=name))
        return found if out is None else creation.assign(found, out)

    return called(function, name, modern)


logical_and = _logical("logical_and", logic.logical_and)
logical_or = _logical("logical_or", logic.logical_or)
logical_xor = _logical("logical_xor", logic.logical_xor)


@adapter
def logical_not(x: Any, out: Any = None, name: str | None = None) -> Any:
    """Whether each element is false; written into ``out`` where given."""
    found = logic.logical_not(x, name=name)
    return found if out is None else creation.assign(found, out)
