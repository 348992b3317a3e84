"""Values made from nothing, joined, cast and compared, with fluid's arguments."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from engine.core.alias.absent import refusing
from engine.core.errors import ModeError
from engine.core.values.dtype import as_dtype
from engine.fluid.layers.adapting import adapter, listed, sized_like
from engine.fluid.layers.lod.rows_array import RowsArray
from engine.fluid.renamed.functions import Converted, functions, row
from engine.fluid.values.variable import Variable, result
from engine.static import create_global_var as modern_global_var
from engine.static import create_parameter as modern_parameter
from engine.tensor import creation, logic, manipulation, math, search
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.elements import arranging, diagonals, scattering
from engine.tensor.reductions import reduction

SIZED = Converted(sized_like, "input shape input_dim_idx output_dim_idx")
# fmt: off
ROWS = (
    row("create_tensor", creation.create_tensor, "dtype, name: str | None = None, persistable: bool = False",
        "A tensor without elements, to be given a value by ``assign(x, output)``.", as_is=True),
    row("create_parameter", modern_parameter,
        "shape, dtype, name: str | None = None, attr=None, is_bias: bool = False, default_initializer=None",
        "A parameter of the Program that is being built, or an eager one that belongs to no Layer.",
        as_is=True),
    row("cast", math.cast, "x, dtype",
        "x in another dtype."),
    row("assign", creation.assign, "input, output=None",
        "A copy of ``input``, a Variable or an array, written into ``output`` where given.", {"x": "input"}),
    row("fill_constant", creation.fill_constant,
        "shape, dtype, value, force_cpu: bool = False, out=None, name: str | None = None",
        "A tensor of one value, written into ``out`` where given."),
    row("ones", creation.ones, "shape, dtype, force_cpu: bool = False",
        "Ones.", unused="force_cpu"),
    row("zeros", creation.zeros, "shape, dtype, force_cpu: bool = False",
        "Zeros.", unused="force_cpu"),
    row("argmin", reduction.argmin, "x, axis: int = 0",
        "Positions of the smallest elements along ``axis``."),
    row("argmax", reduction.argmax, "x, axis: int = 0",
        "Positions of the largest elements along ``axis``."),
    row("range", creation.arange, "start, end, step, dtype",
        "Numbers from ``start`` to before ``end`` by ``step``."),
    row("linspace", creation.linspace, "start, stop, num, dtype='float32'",
        "``num`` evenly spaced numbers from ``start`` to ``stop``."),
    row("triu", arranging.triu, "input, diagonal: int = 0, name: str | None = None",
        "The upper triangle from ``diagonal`` on, zeros below.", {"x": "input"}, unused="name"),
    row("concat", manipulation.concat, "input, axis=0, name: str | None = None",
        "The tensors of the list one after another along ``axis``.", {"x": Converted(listed, "input")}),
    row("fill_constant_batch_size_like", creation.full,
        "input, shape, dtype, value, input_dim_idx: int = 0, output_dim_idx: int = 0, "
        "force_cpu: bool = False",
        "A tensor of one value whose dimension ``output_dim_idx`` is ``input_dim_idx`` of ``input``.",
        {"shape": SIZED, "fill_value": "value"}, unused="force_cpu"),
)
# fmt: on


def _constant(function: Any) -> Any:
    """``function``, whose result has no gradient in a guard either."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        if made.__class__ is Variable and kwargs.get("out") is None:
            made.stop_gradient = True
        return made

    return call


_FILLED = {"fill_constant", "ones", "zeros", "range", "linspace", "fill_constant_batch_size_like"}
globals().update(
    {
        name: _constant(function) if name in _FILLED else function
        for name, function in functions(ROWS, __name__).items()
    }
)


def create_global_var(
    shape: Any,
    value: float,
    dtype: Any,
    persistable: bool = False,
    force_cpu: bool = False,
    name: str | None = None,
) -> Any:
    """A Variable that the startup Program sets to ``value``; in a guard a Variable of that value."""
    try:
        return modern_global_var(shape, value, dtype, persistable, force_cpu, name)
    except ModeError:
        made = result(creation.fill_constant(shape, dtype, value))
        made.persistable = persistable
        return made


@adapter
def sums(input: Any, out: Any = None) -> Any:
    """The sum of the tensors of the list, written into ``out`` where given."""
    total = math.add_n(input)
    return total if out is None else creation.assign(total, out)


@_constant
@adapter
def zeros_like(x: Any, out: Any = None) -> Any:
    """Zeros of the shape of x, written into ``out`` where given."""
    made = creation.zeros_like(x)
    return made if out is None else creation.assign(made, out)


@_constant
@adapter
def ones_like(x: Any, out: Any = None) -> Any:
    """Ones of the shape of x, written into ``out`` where given."""
    made = creation.ones_like(x)
    return made if out is None else creation.assign(made, out)


@adapter
def argsort(input: Any, axis: int = -1, descending: bool = False, name: str | None = None) -> Any:
    """The elements in order along ``axis``, and their positions."""
    return search.sort(input, axis, descending), search.argsort(input, axis, descending)


@adapter
def reverse(x: Any, axis: Any) -> Any:
    """The elements in the other order along the dimensions ``axis``."""
    return arranging.flip(x, [axis] if isinstance(axis, int) else list(axis))


@adapter
def has_inf(x: Any) -> Any:
    """Whether an element is infinite: bool [1]."""
    return reduction.any(logic.isinf(x))


@adapter
def has_nan(x: Any) -> Any:
    """Whether an element is not a number: bool [1]."""
    return reduction.any(logic.isnan(x))


@adapter
def isfinite(x: Any) -> Any:
    """Whether all elements are finite: bool [1]."""
    return reduction.all(logic.isfinite(x))


@adapter
def diag(diagonal: Any) -> Any:
    """The matrix with ``diagonal``, a Variable or an array, on its diagonal."""
    return diagonals.diag(diagonal if is_tensor(diagonal) else creation.assign(np.asarray(diagonal)))


@adapter
def eye(
    num_rows: int, num_columns: int | None = None, batch_shape: Any = None, dtype: Any = "float32"
) -> Any:
    """The identity matrix, repeated over leading dimensions ``batch_shape``."""
    made = creation.eye(num_rows, num_columns, as_dtype(dtype))
    if batch_shape is None:
        return made
    lead = [n for n, _ in enumerate(batch_shape)]
    return manipulation.tile(manipulation.unsqueeze(made, lead), [*batch_shape, 1, 1])


@adapter
def unique(x: Any, dtype: Any = "int32") -> Any:
    """The values of ``x`` [N] in the order of their first places, and for each element which one it is."""
    return unique_with_counts(x, dtype)[:2]


@adapter
def unique_with_counts(x: Any, dtype: Any = "int32") -> Any:
    """``unique``, and how often each value is there."""
    values, places, which, counts = search.unique(x, True, True, True, dtype="int64")
    order = search.argsort(places)
    rank = search.argsort(order)
    found = scattering.gather(rank, which), scattering.gather(counts, order)
    return scattering.gather(values, order), *(math.cast(v, dtype) for v in found)


@adapter
def tensor_array_to_tensor(
    input: Any, axis: int = 1, name: str | None = None, use_stack: bool = False
) -> Any:
    """The elements of an array one after another along ``axis``, or stacked; and the size of each: int32."""
    if isinstance(input, (list, tuple)):
        out = manipulation.stack(input, axis) if use_stack else manipulation.concat(list(input), axis)
        sizes = [1 if use_stack else int(v.shape[axis]) for v in input]
        return out, creation.assign(np.asarray(sizes, np.int32))
    if isinstance(input, RowsArray) and input.is_uneven and axis == 0 and not use_stack:
        (rows, counts), *_ = input.columns()
        return rows, math.cast(counts, "int32")
    (element,) = input.element_specs()
    size = 1 if use_stack else element.shape[axis]
    out = input.stacked(axis) if use_stack else input.concatenated(axis)
    return out, creation.full([input.length()], size, "int32")


__getattr__ = refusing("engine.fluid.layers")
