"""Products of matrices by the engine's own kernel, ``cuda/gemm.cu``: how one is laid out and launched.

The arguments of a launch follow from shapes, strides and dtype alone; they are computed once and cached.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import cupy
import numpy as np

from engine.kernels.cupy import source

Array = Any
Shape = tuple[int, ...]

# Memory type, computing type, and type of alpha and beta, by dtype.
_TYPES = {
    "float32": ("float", "float", np.float32),
    "float64": ("double", "double", np.float64),
    "float16": ("half_t", "float", np.float32),
    "uint16": ("bfloat_t", "float", np.float32),  # bfloat16
    "complex64": ("cfloat_t", "cfloat_t", np.float32),
    "complex128": ("cdouble_t", "cdouble_t", np.float64),
}
_COMPUTED = {  # the dtype of sums, by computing type
    "float": np.float32,
    "double": np.float64,
    "cfloat_t": np.complex64,
    "cdouble_t": np.complex128,
}
_LARGE = {"TM": 64, "TN": 64, "TK": 16, "RM": 4, "RN": 4}
_SMALL = {"TM": 32, "TN": 32, "TK": 32, "RM": 2, "RN": 2}
# Tiles that keep the multiprocessors of a GPU busy; with fewer, tiles are smaller and k is split. Not timed.
_BUSY = 128
_PART = 256  # terms of a part of k, at least
_PARTS = 16
_DOTS_PART = 1 << 14
_DOTS_PARTS = 64
_GRID_Y = 65535
_LIMIT = 1 << 31


class _Launch(NamedTuple):
    """A product as the kernels take it, without the arrays; ``shape`` is that of the result."""

    shape: Shape
    run: source.Kernel
    fold: source.Kernel
    grid: tuple[int, int, int]
    threads: int
    parts: int
    partial: tuple[Shape, Any]
    sizes: tuple[Any, ...]
    fold_sizes: tuple[Any, ...]
    number: Any  # the type of alpha and beta


def serves(dtype: Any) -> bool:
    """Whether the kernel multiplies matrices of this dtype (uint16 is bfloat16)."""
    return np.dtype(dtype).name in _TYPES


def product(
    a: Array, b: Array, out: Array = None, alpha: float = 1.0, beta: float = 0.0, other: Array = None
) -> Array:
    """alpha * a @ b + beta * other, in ``out`` where it is given.

    Args:
        a, b: [..., m, k] and [..., k, n] of one dtype, with any strides; leading dimensions broadcast.
        out: [..., m, n] with any strides; must not overlap a or b.
        other: broadcast to the last two dimensions of the result.

    Raises:
        ValueError: shapes that do not fit.
    """
    made = _launch(
        a.dtype.name,
        a.shape,
        a.strides,
        b.shape,
        b.strides,
        None if out is None else out.strides,
        None if other is None else (other.shape, other.strides),
    )
    if made is None:  # leading dimensions with too irregular strides
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a = cupy.ascontiguousarray(cupy.broadcast_to(a, (*lead, *a.shape[-2:])))
        b = cupy.ascontiguousarray(cupy.broadcast_to(b, (*lead, *b.shape[-2:])))
        found = product(a, b, None, alpha, beta, other)
        if out is None:
            return found
        out[...] = found
        return out
    if out is None:
        out = cupy.empty(made.shape, a.dtype)
    elif out.shape != made.shape or out.dtype != a.dtype:
        raise ValueError(f"product: out is {out.dtype} {list(out.shape)}; it must be {list(made.shape)}")
    if out.size == 0:
        return out
    scale = (made.number(alpha), made.number(beta))
    if made.parts == 1:
        made.run(made.grid, (made.threads,), (a, b, other, out, None, *made.sizes, *scale))
        return out
    partial = cupy.empty(*made.partial)
    made.run(made.grid, (made.threads,), (a, b, other, out, partial, *made.sizes, *scale))
    count = min(source.blocks(out.size), _GRID_Y)
    made.fold((count,), (256,), (partial, other, out, *made.fold_sizes, *scale))
    return out


@lru_cache(maxsize=2048)
def _launch(
    dtype: str,
    a_shape: Shape,
    a_strides: Shape,
    b_shape: Shape,
    b_strides: Shape,
    out_strides: Shape | None,
    other: tuple[Shape, Shape] | None,
) -> _Launch | None:
    """The launch of a product; None if its leading dimensions are more than three walks."""
    (m, k), (inner, n) = a_shape[-2:], b_shape[-2:]
    lead = np.broadcast_shapes(a_shape[:-2], b_shape[:-2])
    if k != inner:
        raise ValueError(f"product: {list(a_shape)} @ {list(b_shape)}: inner dimensions are {k} and {inner}")
    stored, computed, number = _TYPES[dtype]
    size = np.dtype(dtype).itemsize
    shape = (*lead, m, n)
    if out_strides is None:
        out_strides = _contiguous(shape, size)
    outer = walks(
        lead, leading(a_shape, a_strides, lead), leading(b_shape, b_strides, lead), out_strides[:-2]
    )
    if len(outer) > 3:
        return None
    outer = [(1, 0, 0, 0)] * (3 - len(outer)) + outer
    batches = prod(lead)
    if max(m, n, k, batches) >= _LIMIT - 256:
        raise ValueError(f"product: {list(a_shape)} @ {list(b_shape)}: a dimension is over 2147483391")
    tile = _LARGE
    if min(m, n) <= 32 or _tiles(m, n, _LARGE) * batches < _BUSY:
        tile = _SMALL
    tiles = _tiles(m, n, tile)
    parts, span = _split(tiles * batches, k, tile["TK"])
    macros = {
        "T": stored,
        "A": computed,
        "R": "double" if number is np.float64 else "float",
        "OTHER": other is not None,
    }
    other_steps = leading((*other[0], 1, 1), (*other[1], 0, 0), (m, n)) if other is not None else (0, 0)
    rows_and_columns = [np.int64(s // size) for s in (*other_steps, *out_strides[-2:])]
    steps = [[np.int64(walk[which] // size) for walk in outer] for which in (1, 2, 3)]
    batch = (np.int32(batches), np.int32(outer[2][0]), np.int32(outer[1][0]))
    return _Launch(
        shape,
        source.kernel("gemm", "gemm", **macros, **tile),
        source.kernel("gemm", "gemm_fold", **macros, **tile),
        (tiles, min(batches, _GRID_Y), parts),
        tile["TM"] * tile["TN"] // tile["RM"] // tile["RN"],
        parts,
        ((parts, batches, m, n), _COMPUTED[computed]),
        (
            *map(np.int32, (m, n, k, span)),
            *[np.int64(s // size) for s in (*a_strides[-2:], *b_strides[-2:])],
            *rows_and_columns,
            *batch,
            *steps[0],
            *steps[1],
            *steps[2],
        ),
        (*map(np.int32, (parts, m, n)), *rows_and_columns, *batch, *steps[2]),
        number,
    )


def _tiles(m: int, n: int, tile: dict[str, int]) -> int:
    return -(-m // tile["TM"]) * -(-n // tile["TN"])


def _split(tiles: int, k: int, step: int) -> tuple[int, int]:
    """How many parts k is cut into, and how much of k each has."""
    parts = max(1, min(_PARTS, k // _PART, -(-_BUSY // max(1, tiles))))
    span = max(1, -(-k // parts))
    span = -(-span // step) * step
    return max(1, -(-k // span)), span


def _contiguous(shape: Shape, size: int) -> Shape:
    made = []
    for length in reversed(shape):
        made.append(size)
        size *= max(1, length)
    return tuple(reversed(made))


def leading(shape: Shape, strides: Shape, lead: Shape) -> Shape:
    """The strides of an operand along the leading dimensions of the result: 0 where it is repeated."""
    own, steps = shape[:-2], strides[:-2]
    if len(own) > len(lead) or any(
        a not in (1, b) for a, b in zip(reversed(own), reversed(lead), strict=False)
    ):
        raise ValueError(f"product: {list(own)} can't be broadcast to {list(lead)}")
    used = [0 if n == 1 else step for n, step in zip(own, steps, strict=True)]
    return (*[0] * (len(lead) - len(own)), *used)


def walks(lead: Shape, *strides: Shape) -> list[tuple[int, ...]]:
    """Leading dimensions, as few as possible: (length, the stride of each operand)."""
    made: list[tuple[int, ...]] = []
    for length, *steps in zip(lead, *strides, strict=True):
        if length == 1:
            continue
        if made and all(s == length * t for s, t in zip(made[-1][1:], steps, strict=True)):
            made[-1] = (made[-1][0] * length, *steps)
        else:
            made.append((length, *steps))
    return made


def dots(a: Array, b: Array, out: Array) -> Array:
    """Sums of products of rows: out[i] = sum of a[i] * b[i].

    Args:
        a, b: [rows, k] of one dtype, with any strides; one of 0 repeats a vector.
        out: [rows].
    """
    (rows, k), size = a.shape, a.dtype.itemsize
    if a.shape != b.shape or out.shape != (rows,) or rows >= _LIMIT:
        raise ValueError(f"dots: {list(a.shape)} and {list(b.shape)} into {list(out.shape)}: wrong shapes")
    if rows == 0:
        return out
    stored, computed, number = _TYPES[a.dtype.name]
    real = "double" if number is np.float64 else "float"
    macros = {"T": stored, "A": computed, "R": real, "OTHER": False, **_SMALL}
    parts = max(1, min(_DOTS_PARTS, k // _DOTS_PART, _BUSY // rows))
    span = max(1, -(-k // parts))
    parts = max(1, -(-k // span))
    steps = [np.int64(s // size) for s in (*a.strides, *b.strides, *out.strides)]
    partial = None if parts == 1 else cupy.empty((parts, rows), _COMPUTED[computed])
    sizes: Sequence[Any] = (np.int32(rows), np.int64(k), np.int64(span), *steps)
    source.kernel("gemm", "dots", **macros)((rows, parts), (128,), (a, b, out, partial, *sizes))
    if parts > 1:
        one, none = np.int32(1), np.int64(0)
        fold = source.kernel("gemm", "gemm_fold", **macros)
        given = (
            np.int32(parts),
            np.int32(rows),
            one,
            none,
            none,
            steps[4],
            none,
            one,
            one,
            one,
            none,
            none,
            none,
        )
        fold((min(source.blocks(rows), _GRID_Y),), (256,), (partial, out, out, *given, number(1), number(0)))
    return out
