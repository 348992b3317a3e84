"""Elements put or added by position on a GPU: gradients of gather and embedding, scatter, along an axis.

Elements of one place are added in their order, as NumPy does it: rows are sorted by their place, and one row
of threads adds those of each. Nothing waits, and there are no atomics on floating-point numbers.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from engine.kernels.cupy import faults
from engine.kernels.cupy.arrays.taking import DEEPEST, along, are_positions, around, keys, numbers, spread
from engine.kernels.cupy.defaults import handed_over
from engine.kernels.cupy.reductions.rows import packed
from engine.kernels.cupy.source import TYPES, blocks, kernel, of_type

_RANKED = 1 << 15  # beyond that CuPy's sort is less work than counting
_ADDED, _SUMMED, _LAST = (np.uint32(n) for n in range(3))
_HOW = {name: np.uint32(n) for n, name in enumerate(("assign", "add", "mul", "amin", "amax"))}


def _serves(x: Any, index: Any, *others: Any) -> bool:
    """Whether the kernels support the types: all the same, and not bool, whose sums differ."""
    known = x.dtype.name in TYPES and x.dtype != bool
    return known and are_positions(index) and all(other.dtype == x.dtype for other in others)


def add_rows(
    xp: Any,
    name: str,
    made: Any,
    index: Any,
    values: Any,
    sizes: tuple[int, int, int],
    how: Any = _ADDED,
    *,
    within: tuple[int, ...] | None = None,
    left_out: int = -1,
    wraps: bool = False,
) -> Any:
    """``values`` [outer][count][inner] added to ``made`` [outer][size][inner] = ``sizes`` at positions of the
    middle one, which are in the last dimension of index where they are ``within`` several. Returns made.

    ``wraps``: negative positions count from the end.
    """
    outer, size, inner = sizes
    if not made.size or not values.size:
        return made
    rows = keys(xp, name, index, within or (size,), left_out, wraps)
    count = rows.size
    if count <= _RANKED:
        order = xp.empty(count, np.int64)
        kernel("adding", "ranks", T="float", A="float", I="i64")(
            (blocks(count),), (256,), (rows, order, np.int64(count))
        )
    else:
        order = xp.argsort(rows, kind="stable")
    (values,) = packed(values)
    wide = 1
    while wide < 32 and wide < outer * inner:
        wide *= 2
    tall = 256 // wide
    kernel("adding", "add_runs", I="i64", **of_type(made.dtype))(
        (blocks(count, tall), min(blocks(outer * inner, 4 * wide), 65535)),
        (wide, tall),
        (rows, order, values, made, np.int64(count), np.int64(size), np.int64(outer), np.int64(inner), how),
    )
    return made


def gather_grad(xp: Any, g_in: Any, like: Any, index: Any, *, axis: int = 0) -> Any:
    """Zeros like ``like`` with the slices of g_in added at index."""
    if not _serves(g_in, index):
        return handed_over("gather_grad", xp, g_in, like, index, axis=axis)
    made = xp.zeros(like.shape, g_in.dtype)
    return add_rows(xp, "gather", made, index, g_in, around(like.shape, axis % like.ndim))


def lookup_table_v2_grad(
    xp: Any, g_in: Any, ids: Any, like: Any, *, is_sparse: bool = False, padding_idx: int = -1
) -> Any:
    """Zeros like the table with each row of g_in added at its number."""
    if not _serves(g_in, ids):
        return handed_over("lookup_table_v2_grad", xp, g_in, ids, like, padding_idx=padding_idx)
    made = xp.zeros(like.shape, g_in.dtype)
    return add_rows(xp, "embedding", made, ids, g_in, around(like.shape, 0), left_out=max(padding_idx, -1))


def index_add(xp: Any, x: Any, index: Any, value: Any, *, axis: int = 0) -> Any:
    """x with the slices of value added at the positions in index along an axis."""
    fits = _serves(x, index, value) and -x.ndim <= axis < x.ndim and index.ndim == 1
    at = axis % x.ndim if fits else 0
    if not fits or value.shape != (*x.shape[:at], index.size, *x.shape[at + 1 :]):
        return handed_over("index_add", xp, x, index, value, axis=axis)
    return add_rows(xp, "index_add", x.copy("C"), index, value, around(x.shape, at))


def scatter(xp: Any, x: Any, index: Any, updates: Any, *, overwrite: bool = True) -> Any:
    """x with the rows at index replaced by updates, or by the sum of those with the same index."""
    fits = _serves(x, index, updates) and x.ndim > 0 and index.ndim < 2
    if not fits or updates.shape != (*index.shape, *x.shape[1:]):
        return handed_over("scatter", xp, x, index, updates, overwrite=overwrite)
    how = _LAST if overwrite else _SUMMED
    return add_rows(xp, "scatter", x.copy("C"), index, updates, around(x.shape, 0), how)


def scatter_nd_add(xp: Any, x: Any, index: Any, updates: Any) -> Any:
    """x with updates added at the positions in the last dimension of index."""
    depth = index.shape[-1] if index.ndim else 0
    fits = _serves(x, index, updates) and 0 < depth <= min(DEEPEST, x.ndim)
    if not fits or updates.shape != (*index.shape[:-1], *x.shape[depth:]):
        return handed_over("scatter_nd_add", xp, x, index, updates)
    sizes = (1, prod(x.shape[:depth]), prod(x.shape[depth:]))
    return add_rows(xp, "scatter_nd_add", x.copy("C"), index, updates, sizes, within=x.shape[:depth])


# -- along an axis -----------------------------------------------------------------------------------------


def put_along_axis_zeros(
    xp: Any, g_in: Any, like: Any, indices: Any, *, axis: int = -1, broadcast: bool = False
) -> Any:
    """Zeros like ``like`` with g_in added at the indices along an axis."""
    if like.ndim == 0 or not _serves(g_in, indices) or indices.ndim != like.ndim:
        return handed_over("put_along_axis_zeros", xp, g_in, like, indices, axis=axis, broadcast=broadcast)
    made = xp.zeros(like.shape, g_in.dtype)
    return _put(xp, "take_along_axis", made, indices, g_in, g_in.shape, axis % like.ndim, "add")


def put_along_axis(
    xp: Any,
    x: Any,
    indices: Any,
    values: Any,
    *,
    axis: int = 0,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = False,
) -> Any:
    """x with values put at the indices along an axis; ``reduce`` combines those for the same position."""
    fits = _serves(x, indices, values) and x.ndim > 0 and -x.ndim <= axis < x.ndim and reduce in _HOW
    shape = along(x.shape, indices, axis, broadcast) if fits else None
    if shape is None or not _broadcasts(values.shape, shape):
        return handed_over(
            "put_along_axis",
            xp,
            x,
            indices,
            values,
            axis=axis,
            reduce=reduce,
            include_self=include_self,
            broadcast=broadcast,
        )
    anew = not include_self and reduce != "assign"
    return _put(
        xp,
        "put_along_axis",
        x.copy("C"),
        indices,
        spread(xp, values, shape),
        shape,
        axis % x.ndim,
        reduce,
        anew,
    )


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    tail = to[len(to) - len(shape) :]
    return len(shape) <= len(to) and all(a in (1, b) for a, b in zip(shape, tail, strict=True))


def _put(
    xp: Any,
    name: str,
    made: Any,
    indices: Any,
    values: Any,
    shape: tuple[int, ...],
    axis: int,
    how: str,
    anew: bool = False,
) -> Any:
    """``values`` of ``shape`` put into ``made``, which may have more rows than they. Returns made."""
    if not values.size or not made.size:
        return made
    part = made[tuple(slice(None) if n == axis else slice(d) for n, d in enumerate(shape))]
    target = part if part.flags.c_contiguous else xp.ascontiguousarray(part)
    indices, macros = numbers(spread(xp, indices, shape))
    (values,) = packed(values)
    outer, size, inner = around(target.shape, axis)
    computed = TYPES[made.dtype.name][1]
    number: Any = {"float": np.float32, "double": np.float64}.get(computed, made.dtype.type)
    kernel("adding", "put_along", **of_type(made.dtype), **macros)(
        (blocks(outer * inner),),
        (256,),
        (
            indices,
            values,
            target,
            np.int64(outer * inner),
            np.int64(shape[axis]),
            np.int64(size),
            np.int64(inner),
            _HOW[how],
            np.uint32(anew),
            number(_neutral(made.dtype, how)),
            faults.code(name),
            faults.record(),
        ),
    )
    if target is not part:
        part[...] = target
    return made


def _neutral(dtype: Any, how: str) -> Any:
    """The neutral element of an operation."""
    if how in ("assign", "add", "mul"):
        return how == "mul"
    lowest = how == "amax"
    if dtype.kind == "f" or dtype.name == "uint16":
        return -np.inf if lowest else np.inf
    return np.iinfo(dtype).min if lowest else np.iinfo(dtype).max
