"""Products of matrices in shards over the pool: each shard is one call of BLAS on one thread.

How a product is split follows from its sizes and the number of threads alone, never from a measurement while
it runs, so with as many threads it gives the same bits each time. The split axis: leading dimensions where
they divide well, else the rows or the columns of the result, whichever are more, since each shard packs the
other operand anew. Where llvmlite is installed the shards are handed over in compiled code
(engine/kernels/fast/linalg/products.py), with bitwise identical results.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from engine.kernels import choice
from engine.kernels.cpu import pool
from engine.kernels.cpu import threads as threads_

# Multiplications that a shard must have at least. One thread does them in about 50 us at 80 GFLOP/s; waking
# another one through the interpreter takes about as long (python -m bench.pool).
SHARD = 1 << 21
# Multiplications of a product from which on the interpreter hands shards to other threads; those of smaller
# ones are computed in turn, with the same bits, until compiled code hands them over. 784x128x512 (51 M) takes
# 1.29 ms on two threads of an AVX2 machine, 1.22 on one, and 0.57 handed over in compiled code.
APART = 1 << 26
# Rows and columns come in whole blocks of the kernels of BLAS.
_BLOCK = 16
# More work for the slowest thread than an even split gives it, up to which leading dimensions are split.
_UNEVEN = 1.25


def product(xp: Any, a: Any, b: Any, out: Any = None) -> Any:
    """matmul(a, b): over the threads of this process where it is large, on a GPU as
    engine/kernels/cupy/linalg/products.py has it.

    Args:
        a, b: arrays as matmul takes them: vectors, matrices, or matrices with leading dimensions.
        out: the array of the result; must not overlap a or b.

    Raises:
        ValueError: shapes that do not fit, as matmul raises it.
    """
    if xp is not np:
        from engine.kernels.cupy.linalg import products  # where there is a GPU, not with the engine

        return products.product(a, b, out)
    if not threads_.blas_is_ours:
        threads_.claim_blas()
    if b.ndim > 1 and a.ndim > 1 and a.size * b.shape[-1] >= 2 * SHARD:
        count = threads_.get_num_threads()
        if count > 1:
            found = _known(a, b, count) if out is None else None
            if found is None:
                found = _in_shards(a, b, out, count)
            if found is not None:
                return found
    return np.matmul(a, b, out=out)


def dots(xp: Any, a: Any, b: Any) -> Any:
    """The sum of products of each row of a [rows, k] with that of b: [rows]."""
    if xp is not np:
        from engine.kernels.cupy.linalg import products

        return products.dot(xp, a, b)
    return np.einsum("ki,ki->k", a, b)


def cut(a: Any, b: Any, count: int, least: int) -> tuple[int, tuple[int, ...]] | None:
    """The cuts of a product for ``count`` threads, with at least ``least`` multiplications in a shard.

    The axis of the result (-2 and -1: rows and columns) and where its shards end; None where one call is as
    good, or matmul has to explain the error.
    """
    if a.dtype != b.dtype or a.dtype.kind not in "fc" or a.shape[-1] != b.shape[-2]:
        return None
    try:
        lead = _leading(a, b)
    except ValueError:
        return None
    rows, inner, columns = a.shape[-2], a.shape[-1], b.shape[-1]
    work = rows * inner * columns
    for length in lead:
        work *= length
    parts = min(count, work // least)
    if parts < 2:
        return None
    axis, ends = _split(lead, rows, columns, parts)
    return None if len(ends) < 3 else (axis, tuple(ends))


class _Way:
    """How a product of such operands was computed: by calls in compiled code, whose results need an array of
    this shape and dtype. ``squares``: it may be x @ x.T."""

    __slots__ = ("dtype", "shape", "squares", "table")

    def __init__(self, table: Any, shape: tuple[int, ...], dtype: Any, squares: bool) -> None:
        self.table, self.shape, self.dtype, self.squares = table, shape, dtype, squares


_ways: dict[Any, _Way] = {}  # by layouts, dtypes and threads
_MOST_WAYS = 512


def _known(a: Any, b: Any, count: int) -> Any:
    """The product as one of such operands was computed before; None where there was none."""
    way = _ways.get((a.shape, a.strides, a.dtype, b.shape, b.strides, b.dtype, count))
    if way is None or not (a.flags.aligned and b.flags.aligned) or not _may_be_compiled():
        return None
    if way.squares and is_squared(a, b):
        return None
    out = np.empty(way.shape, way.dtype)
    way.table.run(a, b, out)
    return out


def _remember(a: Any, b: Any, out: Any, count: int, table: Any) -> None:
    if len(_ways) >= _MOST_WAYS:
        _ways.clear()
    squares = (*a.shape[:-2], *a.shape[:-3:-1]) == b.shape and a.ndim == 2
    key = a.shape, a.strides, a.dtype, b.shape, b.strides, b.dtype, count
    _ways[key] = _Way(table, out.shape, out.dtype, squares)


def _in_shards(a: Any, b: Any, out: Any, count: int) -> Any:
    """The product over ``count`` threads, or None where one call is as good."""
    found = cut(a, b, count, SHARD)
    if found is None or (a.ndim == 2 and is_squared(a, b)):  # matmul sees it in each of several matrices
        return None
    axis, ends = found
    is_new = out is None
    if is_new:
        out = empty(a, b)
    compiled = _compiled(a, b, out, axis, ends)
    if compiled is not None:
        if is_new and out.flags.c_contiguous:
            _remember(a, b, out, count, compiled)
        compiled.run(a, b, out)
        return out
    tasks, lead = [], out.shape[:-2]
    for begin, end in itertools.pairwise(ends):
        part = slice(begin, end)
        if axis == -2:
            shard = (a[..., part, :], b, out[..., part, :])
        elif axis == -1:
            shard = (a, b[..., part], out[..., part])
        else:
            shard = (_led(a, axis, part, lead), _led(b, axis, part, lead), _led(out, axis, part, lead))
        tasks.append(functools.partial(np.matmul, *shard))
    if out.size * a.shape[-1] >= APART:
        pool.run(tasks)
    else:
        for task in tasks:
            task()
    return out


# Large products before the compiled hand-over is requested: importing llvmlite for it would delay a first
# step.
_PLAIN = 32

_IGNORED = {"ignore"}

_fast: Any = None  # engine.kernels.fast.linalg.products, once it is imported
_requested: Any = None  # the compiler that was called to import it
_counted = itertools.count(1)


def _compiled(a: Any, b: Any, out: Any, axis: int, ends: tuple[int, ...]) -> Any:
    """The shards as calls in compiled code; None if it is not available, or NumPy has to check for errors."""
    if not _may_be_compiled():
        return None
    if _fast is None:
        _ask_for_code()
        return None
    if out.dtype != a.dtype or not (a.dtype.isnative and all(x.flags.aligned for x in (a, b, out))):
        return None
    layouts = [_fast.Layout(x.shape, x.strides) for x in (a, b, out)]
    found = _fast.table(a.dtype.char, *layouts, axis, ends)
    return None if found is None or found.handle.address is None else found


def _may_be_compiled() -> bool:
    """Whether compiled code is wanted, and NumPy does not have to check for errors."""
    return choice.kernels.get() != "numpy" and set(np.geterr().values()) == _IGNORED


def _ask_for_code() -> None:
    """Let the compiler's thread import the code generator: it takes longer than many products."""
    global _requested
    if next(_counted) <= _PLAIN and choice.kernels.get() != "fast":
        return
    from engine.kernels.fast.compiler import available, compiler

    if available() and _requested is not compiler():  # another one in a forked child
        _requested = compiler()
        _requested.submit(_import)


def _import() -> None:
    global _fast
    from engine.kernels.fast.compiler import load

    if load():
        return
    from engine.kernels.fast.linalg import products

    _fast = products


def _split(lead: tuple[int, ...], rows: int, columns: int, parts: int) -> tuple[int, list[int]]:
    """The axis of the result that is split (-2 and -1: rows and columns), and where its shards end."""
    if lead:
        axis = max(range(len(lead)), key=lambda n: lead[n])
        length = lead[axis]
        if length >= parts and -(-length // parts) * parts <= _UNEVEN * length:
            return axis, [length * n // parts for n in range(parts + 1)]
    axis, length = (-2, rows) if rows >= columns else (-1, columns)
    blocks = -(-length // _BLOCK)
    parts = min(parts, blocks)
    return axis, [min(blocks * n // parts * _BLOCK, length) for n in range(parts + 1)]


def _leading(a: Any, b: Any) -> tuple[int, ...]:
    """The result's dimensions before rows and columns. Raises ValueError for operands that do not fit."""
    lead: tuple[int, ...] = a.shape[:-2]
    return lead if lead == b.shape[:-2] else np.broadcast_shapes(lead, b.shape[:-2])


def _led(x: Any, axis: int, part: slice, lead: tuple[int, ...]) -> Any:
    """The part of x along a leading axis of the result; x itself where it is the same for all of them."""
    own = axis - (len(lead) - (x.ndim - 2))  # x may have fewer leading dimensions
    if own < 0 or x.shape[own] == 1:
        return x
    return x[(slice(None),) * own + (part,)]


def is_squared(a: Any, b: Any) -> bool:
    """Whether this is x @ x.T, also of each of several matrices, which NumPy computes as exactly symmetric,
    with half the work and another routine of BLAS."""
    return bool(
        a.ndim == b.ndim > 1
        and (*a.shape[:-2], *a.shape[:-3:-1]) == b.shape
        and (*a.strides[:-2], *a.strides[:-3:-1]) == b.strides
        and a.__array_interface__["data"] == b.__array_interface__["data"]
    )


def empty(a: Any, b: Any) -> Any:
    """An array for the product, laid out in memory as matmul lays it out."""
    lead = _leading(a, b)
    if sum(length > 1 for length in lead) > 1:
        for x in (a, b):
            steps = [
                abs(step) for step, length in zip(x.strides[:-2], x.shape[:-2], strict=True) if length > 1
            ]
            if steps != sorted(steps, reverse=True):
                # In the order of the operands' dimensions in memory, which an empty product shows.
                return np.matmul(a[..., :0], b[..., :0, :])
    return np.empty((*lead, a.shape[-2], b.shape[-1]), a.dtype)
