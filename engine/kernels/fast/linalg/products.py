"""Products of matrices as a table of calls of BLAS, whose shards are handed over in compiled code.

Each call is the one that NumPy's ``matmul`` makes for the same matrices, so results are bitwise identical to
NumPy's. A kernel that need not have NumPy's bits gives the table a faster product (``tiled.py``).
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Sequence
from functools import lru_cache, partial
from math import prod
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from engine.kernels.cpu import pool
from engine.kernels.fast import vectors as v
from engine.kernels.fast.arguments import address
from engine.kernels.fast.compiler import Handle, function
from engine.kernels.fast.linalg import blas

Array = Any
_ENTRY = 6  # number of the product, offsets of a, b and c in bytes, rows and columns of c
# Calls in a table; with more, another way is as fast.
_MOST = 1 << 14
# The arguments: gemm, the address of the table; and for each product layouts of a and b, steps of all three,
# the common dimension, addresses of all three.
_HEAD, _LAYOUT, _PRODUCT = 2, 6, 9


class Layout(NamedTuple):
    """Shape, and strides in bytes, of an array."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]


class BlasLayout(NamedTuple):
    """How BLAS reads a matrix: plain or transposed, and elements from one row or column to the next."""

    flag: int
    step: int


def blas_layout(rows: int, columns: int, strides: Sequence[int], itemsize: int) -> BlasLayout | None:
    """How BLAS reads matrices [rows, columns] with such strides, as NumPy finds it; None where it can't."""
    for flag, (outer, inner), length in (
        (blas.AS_IT_IS, strides, columns),
        (blas.TRANSPOSED, (strides[1], strides[0]), rows),
    ):
        step, rest = divmod(outer, itemsize)
        if inner == itemsize and not rest and length <= step < 1 << 31:
            return BlasLayout(flag, step)
    return None


class Table:
    """The calls of BLAS for products of arrays of some layouts, which do not depend on each other.

    ``layouts`` has for each product how BLAS reads it: the numbers before the addresses of its arrays.
    """

    __slots__ = ("_kept", "_make", "_template", "count", "entries", "gemm", "handle", "layouts")

    def __init__(
        self, handle: Handle, gemm: int, layouts: Sequence[Sequence[int]], entries: Sequence[Sequence[int]]
    ) -> None:
        self.handle, self.gemm, self.layouts, self.entries = handle, gemm, layouts, entries
        self.count = len(entries)
        flat = [number for entry in entries for number in entry]
        self._kept = (ctypes.c_int64 * len(flat))(*flat)
        numbers = [gemm, ctypes.addressof(self._kept)]
        for layout in layouts:
            numbers += [*layout, 0, 0, 0]
        kind = ctypes.c_int64 * len(numbers)
        self._template, self._make = kind(*numbers), kind.from_buffer_copy

    @property
    def numbers(self) -> list[int]:
        """The arguments of a single product before the addresses of a, b and c."""
        return list(self._template[: _HEAD + _LAYOUT])

    def run(self, *arrays: Array) -> None:
        """c = a @ b over the threads of this process, for a, b and c of each product; the code must be
        compiled."""
        args = self._make(self._template)
        for n, x in enumerate(arrays):
            args[_HEAD + _LAYOUT + n // 3 * _PRODUCT + n % 3] = address(x)
        pool.parallel(self.handle.address, args, self.count)  # type: ignore[arg-type]


def joined(tables: Sequence[Table]) -> Table:
    """The calls of several tables as one, whose shards are handed over together."""
    first = tables[0]
    layouts = [layout for each in tables for layout in each.layouts]
    entries, before = [], 0
    for each in tables:
        entries += [(number + before, *rest) for number, *rest in each.entries]
        before += len(each.layouts)
    return Table(first.handle, first.gemm, layouts, entries)


def handle(kind: Any, gemm: blas.Gemm) -> Handle:
    """The code that walks through a table of calls of ``gemm`` for floats or doubles."""
    return function(f"product {kind} {gemm.bits}", partial(_build, kind, gemm.bits))


@lru_cache(maxsize=512)
def table(
    letter: str,
    a: Layout,
    b: Layout,
    c: Layout,
    axis: int,
    ends: tuple[int, ...],
    gemm: blas.Gemm | None = None,
) -> Table | None:
    """The calls that compute ``c = a @ b``, arrays of the dtype ``letter`` and these layouts.

    Matrices are cut at ``ends`` of their rows where ``axis`` is -2, of the columns of b where it is -1; with
    another axis each matrix is one call. They are calls of ``gemm``, by default NumPy's BLAS. None for other
    dtypes than floats, for strides that BLAS can't take, and for vectors where a call would not be NumPy's.
    """
    if letter not in "fd":
        return None
    kind, itemsize = (v.F32, 4) if letter == "f" else (v.F64, 8)
    (rows, inner), columns = a.shape[-2:], b.shape[-1]
    own, gemm = gemm is not None, gemm or blas.gemm(blas.letter(kind))
    if gemm is None or (inner < 2 and not own):
        return None
    first, second, third = (blas_layout(*x.shape[-2:], x.strides[-2:], itemsize) for x in (a, b, c))
    if first is None or second is None or third is None or third.flag != blas.AS_IT_IS:
        return None
    cuts = list(itertools.pairwise(ends)) if axis < 0 else [(0, 0)]
    lead = c.shape[:-2]
    if prod(lead) * len(cuts) > _MOST:
        return None
    entries = []
    for index in np.ndindex(*lead):
        at_a, at_b, at_c = (_place(x, index) for x in (a, b, c))
        for begin, end in cuts:
            if axis == -2:
                steps = begin * a.strides[-2], 0, begin * c.strides[-2]
                size = end - begin, columns
            elif axis == -1:
                steps = 0, begin * b.strides[-1], begin * c.strides[-1]
                size = rows, end - begin
            else:
                steps, size = (0, 0, 0), (rows, columns)
            if min(size) < 2 and not own:
                return None  # NumPy calls another function for vectors
            entries.append((0, at_a + steps[0], at_b + steps[1], at_c + steps[2], *size))
    layout = first.flag, second.flag, first.step, second.step, third.step, inner
    return Table(handle(kind, gemm), gemm.address, [layout], entries)


def _place(x: Layout, index: Sequence[int]) -> int:
    """The offset of the matrix of the result's leading ``index``, in bytes; x may broadcast."""
    own = len(x.shape) - 2
    return sum(
        n * step
        for n, step, length in zip(index[len(index) - own :], x.strides, x.shape, strict=False)
        if length > 1
    )


def _build(kind: Any, bits: int, module: ir.Module, name: str) -> ir.Function:
    frame = v.Frame(module, name)
    b = frame.builder
    gemm, entries = frame.integer(0), frame.pointer(1)
    with v.loop(b, frame.begin, frame.end) as n:
        entry = v.offset(b, entries, b.mul(n, v.I64(_ENTRY)), v.I64)
        number, at_x, at_y, at_z, rows, columns = (
            v.load(b, v.offset(b, entry, v.I64(k), v.I64), v.I64) for k in range(_ENTRY)
        )
        product = v.offset(b, frame.args, b.add(b.mul(number, v.I64(_PRODUCT)), v.I64(_HEAD)), v.I64)
        numbers = [v.load(b, v.offset(b, product, v.I64(k), v.I64), v.I64) for k in range(_PRODUCT)]
        flags, steps, inner = [b.trunc(f, v.I32) for f in numbers[:2]], numbers[2:5], numbers[5]
        places = [
            v.offset(b, b.inttoptr(place, v.POINTER), at)
            for place, at in zip(numbers[_LAYOUT:], (at_x, at_y, at_z), strict=True)
        ]
        blas.call(b, gemm, bits, kind, flags, (rows, columns, inner), places, steps, False)
    return frame.close()
