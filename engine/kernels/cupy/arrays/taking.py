"""Elements taken by position on a GPU, without a wait: gather, embedding, along an axis; one launch each.

A position that does not exist gives 0, and is raised when results are fetched (``faults.py``).
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from engine.kernels.cupy import faults
from engine.kernels.cupy.defaults import handed_over
from engine.kernels.cupy.reductions.rows import packed
from engine.kernels.cupy.source import TYPES, blocks, kernel

_WIDTHS = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}
DEEPEST = 5  # dimensions that a position names at most
_NONE = np.int64(-1)


def are_positions(index: Any) -> bool:
    """Whether they are integers that the kernels read."""
    return index.dtype.kind in "iu" and index.dtype.name in TYPES


def numbers(index: Any) -> tuple[Any, dict[str, str]]:
    """Positions of a type that kernels are compiled for, contiguous, and the macro that names it."""
    if index.dtype.name not in ("int32", "int64"):
        index = index.astype(np.int64)
    return packed(index)[0], {"I": TYPES[index.dtype.name][0]}


def around(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    """The number of elements outside of an axis, along it, and within it."""
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])


def taken(
    xp: Any,
    name: str,
    x: Any,
    index: Any,
    shape: tuple[int, ...],
    sizes: tuple[int, int, int],
    count: int,
    along: bool = False,
    wraps: bool = False,
    left_out: Any = _NONE,
) -> Any:
    """An array of ``shape`` from x as [outer][size][inner] = ``sizes``; no ``name``: wrong ones are known.

    ``wraps``: negative positions count from the end.
    """
    (x,) = packed(x)
    index, macros = numbers(index)
    bits = np.dtype(f"u{x.itemsize}")
    made = xp.empty(shape, bits)
    _, size, inner = sizes
    code = faults.code(name) if name else np.int32(0)
    kernel("taking", "take", T=_WIDTHS[x.itemsize], **macros)(
        (blocks(made.size),),
        (256,),
        (
            x.view(bits),
            index,
            made,
            np.int64(made.size),
            np.int64(count),
            np.int64(size),
            np.int64(inner),
            np.uint32(along),
            np.uint32(wraps),
            np.int64(left_out),
            code,
            faults.record(),
        ),
    )
    return made.view(x.dtype)


def _serves(x: Any, index: Any, axis: int) -> bool:
    return x.itemsize in _WIDTHS and are_positions(index) and -x.ndim <= axis < x.ndim


def gather(xp: Any, x: Any, index: Any, *, axis: int = 0) -> Any:
    """Slices of x along an axis at the positions in index."""
    if not _serves(x, index, axis):
        return handed_over("gather", xp, x, index, axis=axis)
    return _slices(xp, "gather", x, index, axis % x.ndim)


def index_select(xp: Any, x: Any, index: Any, *, dim: int = 0) -> Any:
    """Slices of x along a dimension at the positions in the 1-D index."""
    if not _serves(x, index, dim) or index.ndim != 1:
        return handed_over("index_select", xp, x, index, dim=dim)
    return _slices(xp, "index_select", x, index, dim % x.ndim)


def lookup_table_v2(xp: Any, ids: Any, weight: Any, *, is_sparse: bool = False, padding_idx: int = -1) -> Any:
    """The row of weight at each number in ids, zeros where it is padding_idx (-1: none)."""
    known = weight.dtype.kind in "fc" or weight.dtype.name in ("int8", "int16", "uint16")
    if weight.ndim != 2 or not _serves(weight, ids, 0) or not known:
        return handed_over("lookup_table_v2", xp, ids, weight, padding_idx=padding_idx)
    return _slices(xp, "embedding", weight, ids, 0, max(padding_idx, -1))


def _slices(xp: Any, name: str, x: Any, index: Any, axis: int, left_out: int = -1) -> Any:
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
    return taken(xp, name, x, index, shape, around(x.shape, axis), index.size, left_out=np.int64(left_out))


def take_along_axis(xp: Any, x: Any, indices: Any, *, axis: int = -1, broadcast: bool = False) -> Any:
    """Elements at the indices along an axis."""
    fitted = along(x.shape, indices, axis, broadcast) if _serves(x, indices, axis) else None
    if fitted is None:
        return handed_over("take_along_axis", xp, x, indices, axis=axis, broadcast=broadcast)
    return _along(xp, "take_along_axis", x, indices, fitted, axis % x.ndim)


def index_sample(xp: Any, x: Any, index: Any) -> Any:
    """For each row of x the elements at the positions in the same row of index."""
    if not _serves(x, index, 0) or x.ndim != 2 or index.ndim != 2 or x.shape[0] != index.shape[0]:
        return handed_over("index_sample", xp, x, index)
    return _along(xp, "index_sample", x, index, index.shape, 1)


def along(shape: tuple[int, ...], indices: Any, axis: int, broadcast: bool) -> tuple[int, ...] | None:
    """The shape of the result of positions along an axis of an array; None if they do not fit it."""
    if indices.ndim != len(shape):
        return None
    axis %= len(shape)
    made = list(indices.shape)
    for n, (have, want) in enumerate(zip(indices.shape, shape, strict=True)):
        if n == axis:
            continue
        if broadcast and have == 1:
            made[n] = want
        elif have > want or (broadcast and have != want):
            return None
    return tuple(made)


def spread(xp: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """x in a shape that it broadcasts to."""
    return x if x.shape == shape else xp.broadcast_to(x, shape)


def _along(xp: Any, name: str, x: Any, indices: Any, shape: tuple[int, ...], axis: int) -> Any:
    # Positions may be of fewer rows than x has: the first ones.
    x = x[tuple(slice(None) if n == axis else slice(d) for n, d in enumerate(shape))]
    indices = spread(xp, indices, shape)
    return taken(xp, name, x, indices, shape, around(x.shape, axis), shape[axis], True)


def gather_nd(xp: Any, x: Any, index: Any) -> Any:
    """The parts of x at the positions in the last dimension of index."""
    depth = index.shape[-1] if index.ndim else 0
    if not 0 < depth <= min(DEEPEST, x.ndim) or not _serves(x, index, 0):
        return handed_over("gather_nd", xp, x, index)
    rows = keys(xp, "gather_nd", index, x.shape[:depth])
    sizes = (1, prod(x.shape[:depth]), prod(x.shape[depth:]))
    return taken(xp, "", x, rows, (*index.shape[:-1], *x.shape[depth:]), sizes, rows.size)


def keys(
    xp: Any, name: str, index: Any, sizes: tuple[int, ...], left_out: int = -1, wraps: bool = False
) -> Any:
    """Numbers of rows of the positions in the last dimension of index, in an array of ``sizes``, flat.

    -1 for those that do not exist, which are noted under ``name``, and for ``left_out``.
    """
    index, macros = numbers(index)
    count = index.size // len(sizes)
    made = xp.empty(count, np.int64)
    dimensions = [np.int64(n) for n in (*sizes, *[1] * (DEEPEST - len(sizes)))]
    kernel("adding", "keys", T="float", A="float", **macros)(
        (blocks(count),),
        (256,),
        (
            index,
            made,
            np.int64(count),
            np.uint32(len(sizes)),
            *dimensions,
            np.uint32(wraps),
            np.int64(left_out),
            faults.code(name),
            faults.record(),
        ),
    )
    return made


def one_hot_v2(xp: Any, x: Any, *, depth: int) -> Any:
    """A row of zeros with a one at the class, for each class number in x."""
    if not are_positions(x) or depth < 1:
        return handed_over("one_hot_v2", xp, x, depth=depth)
    index, macros = numbers(x)
    made = xp.empty((*x.shape, depth), np.float32)
    kernel("taking", "one_hot", T="float", **macros)(
        (blocks(made.size),),
        (256,),
        (index, made, np.int64(made.size), np.int64(depth), faults.code("one_hot"), faults.record()),
    )
    return made
