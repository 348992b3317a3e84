"""Values made from nothing, joined, cast and compared, with fluid's arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.alias.absent import refusing
from engine.core.dtype import as_dtype
from engine.core.errors import ModeError
from engine.fluid.layers.adapting import adapter, sized_like
from engine.static import create_global_var as modern_global_var
from engine.static import create_parameter as modern_parameter
from engine.tensor import (
    arranging,
    creation,
    diagonals,
    logic,
    manipulation,
    math,
    reduction,
    scattering,
    search,
)
from engine.tensor.promote import is_tensor


def create_tensor(dtype: Any, name: str | None = None, persistable: bool = False) -> Any:
    """A tensor without elements, to be given a value by ``assign(x, output)``."""
    return creation.create_tensor(dtype, name, persistable)


def create_parameter(
    shape: Any,
    dtype: Any,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Any = None,
) -> Any:
    """A parameter of the Program that is being built, or an eager one that belongs to no Layer."""
    return modern_parameter(shape, dtype, name, attr, is_bias, default_initializer)


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
        made = fill_constant(shape, dtype, value)
        made.persistable = persistable
        return made


@adapter
def cast(x: Any, dtype: Any) -> Any:
    """x in another dtype."""
    return math.cast(x, dtype)


@adapter
def concat(input: Any, axis: Any = 0, name: str | None = None) -> Any:
    """The tensors of the list one after another along ``axis``."""
    return manipulation.concat(list(input) if isinstance(input, (list, tuple)) else [input], axis, name)


@adapter
def sums(input: Any, out: Any = None) -> Any:
    """The sum of the tensors of the list, written into ``out`` where given."""
    total = math.add_n(input)
    return total if out is None else creation.assign(total, out)


@adapter
def assign(input: Any, output: Any = None) -> Any:
    """A copy of ``input``, a Variable or an array, written into ``output`` where given."""
    return creation.assign(input, output)


@adapter
def fill_constant(
    shape: Any, dtype: Any, value: Any, force_cpu: bool = False, out: Any = None, name: str | None = None
) -> Any:
    """A tensor of one value, written into ``out`` where given."""
    return creation.fill_constant(shape, dtype, value, force_cpu, out, name)


@adapter
def fill_constant_batch_size_like(
    input: Any,
    shape: Any,
    dtype: Any,
    value: Any,
    input_dim_idx: int = 0,
    output_dim_idx: int = 0,
    force_cpu: bool = False,
) -> Any:
    """A tensor of one value whose dimension ``output_dim_idx`` is ``input_dim_idx`` of ``input``."""
    return creation.full(sized_like(input, shape, input_dim_idx, output_dim_idx), value, dtype)


@adapter
def ones(shape: Any, dtype: Any, force_cpu: bool = False) -> Any:
    """Ones."""
    return creation.ones(shape, dtype)


@adapter
def zeros(shape: Any, dtype: Any, force_cpu: bool = False) -> Any:
    """Zeros."""
    return creation.zeros(shape, dtype)


@adapter
def zeros_like(x: Any, out: Any = None) -> Any:
    """Zeros of the shape of x, written into ``out`` where given."""
    made = creation.zeros_like(x)
    return made if out is None else creation.assign(made, out)


@adapter
def ones_like(x: Any, out: Any = None) -> Any:
    """Ones of the shape of x, written into ``out`` where given."""
    made = creation.ones_like(x)
    return made if out is None else creation.assign(made, out)


@adapter
def argmin(x: Any, axis: int = 0) -> Any:
    """Positions of the smallest elements along ``axis``."""
    return reduction.argmin(x, axis)


@adapter
def argmax(x: Any, axis: int = 0) -> Any:
    """Positions of the largest elements along ``axis``."""
    return reduction.argmax(x, axis)


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
def range(start: Any, end: Any, step: Any, dtype: Any) -> Any:
    """Numbers from ``start`` to before ``end`` by ``step``."""
    return creation.arange(start, end, step, dtype)


@adapter
def linspace(start: Any, stop: Any, num: Any, dtype: Any = "float32") -> Any:
    """``num`` evenly spaced numbers from ``start`` to ``stop``."""
    return creation.linspace(start, stop, num, dtype)


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
def triu(input: Any, diagonal: int = 0, name: str | None = None) -> Any:
    """The upper triangle from ``diagonal`` on, zeros below."""
    return arranging.triu(input, diagonal)


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
    (element,) = input.element_specs()
    size = 1 if use_stack else element.shape[axis]
    out = input.stacked(axis) if use_stack else input.concatenated(axis)
    return out, creation.full([input.length()], size, "int32")


__getattr__ = refusing("engine.fluid.layers")
