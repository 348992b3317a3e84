"""Functions of two tensors, aligned as fluid aligns them; reductions; logic."""

from __future__ import annotations

import functools
from typing import Any

from engine.core.errors import ShapeError
from engine.fluid.layers.adapting import adapter
from engine.fluid.renamed.functions import Argument, Converted, functions, row
from engine.tensor import creation, logic, manipulation, math
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.reductions import reduction


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


def _divide(x: Any, y: Any) -> Any:
    """x / y; integers are divided towards zero."""
    if not x.dtype.is_integer:
        return math.divide(x, y)
    return math.cast(math.trunc(math.divide(math.cast(x, "float64"), math.cast(y, "float64"))), x.dtype)


def _aligning(name: str) -> dict[str, Argument]:
    """The arguments of the function ``name``, the second one aligned with the first."""
    return {"x": "x", "y": Converted(functools.partial(_aligned, name), "x y axis")}


def _axes(dim: Any) -> Any:
    """Dimensions of today's reductions: None, for all, where fluid has an empty list."""
    axis = list(dim) if isinstance(dim, (list, tuple)) else dim
    return None if axis == [] else axis


@adapter
def logical_not(x: Any, out: Any = None, name: str | None = None) -> Any:
    """Whether each element is false; written into ``out`` where given."""
    found = logic.logical_not(x, name=name)
    return found if out is None else creation.assign(found, out)


ALIGNED = "x, y, axis: int = -1, act=None, name: str | None = None"
REDUCED = "input, dim=None, keep_dim: bool = False, name: str | None = None"
ALONG: dict[str, Argument] = {"x": "input", "axis": Converted(_axes, "dim"), "keepdim": "keep_dim"}
LOGICAL = "x, y, out=None, name: str | None = None"
# fmt: off
ROWS = (
    row("elementwise_add", math.add, ALIGNED, None, _aligning("elementwise_add"), unused="name"),
    row("elementwise_sub", math.subtract, ALIGNED, None, _aligning("elementwise_sub"), unused="name"),
    row("elementwise_mul", math.multiply, ALIGNED, None, _aligning("elementwise_mul"), unused="name"),
    row("elementwise_div", _divide, ALIGNED, None, _aligning("elementwise_div"), unused="name"),
    row("elementwise_max", math.maximum, ALIGNED, None, _aligning("elementwise_max"), unused="name"),
    row("elementwise_min", math.minimum, ALIGNED, None, _aligning("elementwise_min"), unused="name"),
    row("elementwise_pow", math.pow, ALIGNED, None, _aligning("elementwise_pow"), unused="name"),
    row("elementwise_mod", math.remainder, ALIGNED, None, _aligning("elementwise_mod"), unused="name"),
    row("elementwise_floordiv", math.floor_divide, ALIGNED, None,
        _aligning("elementwise_floordiv"), unused="name"),
    row("mean", reduction.mean, "x, name: str | None = None",
        "The mean of all elements, of shape [1]."),
    row("sum", math.add_n, "x",
        "The sum of a list of tensors of one shape; of one tensor, itself.", {"inputs": "x"}),
    row("reduce_sum", reduction.sum, REDUCED, None, ALONG),
    row("reduce_mean", reduction.mean, REDUCED, None, ALONG),
    row("reduce_max", reduction.max, REDUCED, None, ALONG),
    row("reduce_min", reduction.min, REDUCED, None, ALONG),
    row("reduce_prod", reduction.prod, REDUCED, None, ALONG),
    row("reduce_all", reduction.all, REDUCED, None, ALONG),
    row("reduce_any", reduction.any, REDUCED, None, ALONG),
    row("logical_and", logic.logical_and, LOGICAL, into="out"),
    row("logical_or", logic.logical_or, LOGICAL, into="out"),
    row("logical_xor", logic.logical_xor, LOGICAL, into="out"),
)
# fmt: on
globals().update(functions(ROWS, __name__))
