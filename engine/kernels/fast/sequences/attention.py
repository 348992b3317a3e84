"""Attention and its gradient: products by BLAS on scores that stay in the cache, softmax on their rows.

A shard is some of the places in the leading dimensions (samples and heads). Operands may have any strides
between rows and between places, as the views of heads in a projection do.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from engine.kernels.cpu import pool
from engine.kernels.cpu.attention import empty
from engine.kernels.fast import Fast
from engine.kernels.fast import vectors as v
from engine.kernels.fast.arguments import address
from engine.kernels.fast.compiler import Handle, function
from engine.kernels.fast.linalg import blas, tiled
from engine.kernels.fast.reductions import rows, softmax
from engine.kernels.fast.reductions.rows import Place, Row
from engine.kernels.fast.steps import KINDS

Array = Any
_LEAST = 1 << 10  # scores; fewer are as fast in NumPy
# Shards, at most: as many whatever the number of threads, each with room for the scores of one place.
_SHARDS = 16
# Arguments before the arrays: address of BLAS, sizes, places, places of a shard, factors.
_GEMM, _ROWS, _COLUMNS, _SIZE, _WIDTH, _PLACES, _SHARD, _FIRST, _SECOND = range(9)
_OWN = 9


def forward(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``fused_attention``."""
    x, y, value, masks = inputs
    made = _forward(x, y, value, masks, attrs)
    return None if made is None else Fast(made[0], [made[1]])


def scores(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``fused_scores``."""
    x, y, masks = inputs
    made = _forward(x, y, None, masks, attrs)
    if made is None:
        return None
    both, handle = made

    def kernel(x: Array, y: Array, masks: Sequence[Array]) -> Array:
        return both(x, y, None, masks)[1]

    return Fast(kernel, [handle])


def _forward(x: Any, y: Any, value: Any, masks: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """A kernel that gives result and weights, the former None without ``value``, and its handle."""
    turned = bool(attrs.get("turned"))
    width = 1 if value is None else value.shape[-1]
    sizes = (x.shape[-2], y.shape[-1 if turned else -2], x.shape[-1], width)
    found = _kind(x, sizes)
    if found is None or any(m.dtype is not x.dtype for m in masks):
        return None
    kind, gemm = found
    narrow = tuple(m.ndim == 0 or m.shape[-1] == 1 for m in masks)
    form = (turned, value is not None, narrow)
    handle = function(f"attention {kind} {gemm.bits} {form}", partial(_build_forward, kind, gemm.bits, *form))
    call = _Call(handle, gemm.address, sizes, x.shape[:-2], x.dtype.np)
    factor = _times(attrs.get("factor"), attrs.get("times"))
    lies, shape, seen = bool(attrs.get("lies")), (*x.shape[:-1], width), (*x.shape[:-1], sizes[1])

    def kernel(x: Array, y: Array, v: Array | None, masks: Sequence[Array]) -> tuple[Array | None, Array]:
        weights = np.empty(seen, x.dtype)
        out = None if v is None else empty(np, shape, x.dtype, lies)
        given = [m if m.ndim > 1 else m.reshape((1,) * (2 - m.ndim) + m.shape) for m in masks]
        call((factor, 1.0), (x, y, weights, *(() if v is None else (v, out))), given)
        return out, weights

    return kernel, handle


def backward(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``fused_attention_grad``."""
    _, weights, x, _, value, *after = inputs
    turned, wanted = bool(attrs.get("turned")), tuple(attrs["wanted"])
    sizes = (x.shape[-2], weights.shape[-1], x.shape[-1], value.shape[-1])
    found = _kind(x, sizes)
    if found is None or not any(wanted):
        return None
    kind, gemm = found
    form = (turned, wanted, tuple(s is not None for s in (*after, None, None)[:2]))
    key = f"attention grad {kind} {gemm.bits} {form}"
    handle = function(key, partial(_build_backward, kind, gemm.bits, *form))
    call = _Call(handle, gemm.address, sizes, x.shape[:-2], x.dtype.np)
    times = attrs.get("times")
    factors = _times(times, attrs.get("after")), _times(times, attrs.get("factor"))
    lies = attrs["lies"]

    def kernel(
        flow: Array,
        weights: Array,
        x: Array,
        y: Array,
        v: Array,
        dropped: Array | None = None,
        kept: Array | None = None,
    ) -> tuple[Array | None, ...]:
        made = [
            empty(np, a.shape, a.dtype, lie) if want else None
            for a, lie, want in zip((x, y, v), lies, wanted, strict=True)
        ]
        room = np.empty((call.shards, call.scores), x.dtype)
        given = [a for a in (dropped, kept, *made) if a is not None]
        call(factors, (flow, weights, x, y, v, *given), room=room)
        return tuple(made)

    return Fast(kernel, [handle])


def _kind(x: Any, sizes: Sequence[int]) -> tuple[Any, blas.Gemm] | None:
    if x.dtype.name not in ("float32", "float64") or x.size // max(1, x.shape[-1]) * sizes[1] < _LEAST:
        return None
    kind = KINDS[x.dtype.name]
    gemm = tiled.gemm(kind) or blas.gemm(blas.letter(kind))
    return None if gemm is None or 0 in sizes else (kind, gemm)


def _times(*factors: float | None) -> float:
    made = 1.0
    for factor in factors:
        made *= 1.0 if factor is None else factor
    return made


class _Call:
    """Calls a kernel for arrays whose places are walked by tables of offsets."""

    def __init__(
        self, handle: Handle, gemm: int, sizes: tuple[int, ...], lead: tuple[int, ...], dtype: Any
    ) -> None:
        self.handle, self.lead, self.dtype = handle, lead, np.dtype(dtype)
        self.places = int(np.prod(lead))
        shard = -(-self.places // _SHARDS)
        self.shards = -(-self.places // shard)
        self.numbers = (gemm, *sizes, self.places, shard)
        self.scores = sizes[0] * sizes[1]

    def __call__(
        self,
        factors: tuple[float, float],
        arrays: Sequence[Array],
        masks: Sequence[Array] = (),
        room: Array | None = None,
    ) -> None:
        """Each array is an address, a stride of rows and a table; of masks the stride may be 0. Last comes
        the ``room`` for scores."""
        given = [self._rows(x) for x in arrays] + [self._mask(x) for x in masks]
        values = [*self.numbers, *[rows.bits(f, self.dtype) for f in factors]]
        tables = []
        for x in given:
            table = _offsets(x.shape[:-2], x.strides[:-2], self.lead, x.itemsize)
            tables.append(table)  # lives until the return
            stride = 0 if x.shape[-2] == 1 else x.strides[-2] // x.itemsize
            values += [address(x), max(stride, x.shape[-1]) if len(tables) <= len(arrays) else stride]
            values.append(address(table))
        if room is not None:
            values.append(address(room))
        args = (ctypes.c_int64 * len(values))(*values)
        pool.parallel(self.handle.address, args, self.shards)

    def _rows(self, x: Array) -> Array:
        """x, or a copy where BLAS can't read its rows."""
        steps = x.strides
        size = x.itemsize
        right = steps[-1] == size or x.shape[-1] == 1
        right = right and (x.shape[-2] == 1 or steps[-2] >= size * x.shape[-1])
        return x if right and all(s % size == 0 for s in steps) else np.ascontiguousarray(x)

    def _mask(self, x: Array) -> Array:
        right = x.shape[-1] == 1 or x.strides[-1] == x.itemsize
        return x if right and all(s % x.itemsize == 0 for s in x.strides) else np.ascontiguousarray(x)


@lru_cache(maxsize=1024)
def _offsets(shape: tuple[int, ...], strides: tuple[int, ...], lead: tuple[int, ...], size: int) -> Array:
    """Offsets of each place of ``lead``, in elements, for an array that may lack its dimensions."""
    missing = len(lead) - len(shape)
    steps = [0] * missing + [0 if n == 1 else s // size for n, s in zip(shape, strides, strict=True)]
    table = [sum(i * s for i, s in zip(index, steps, strict=True)) for index in product(*map(range, lead))]
    return np.array(table, np.int64)


class Matrix(NamedTuple):
    """A matrix in memory: the address of its first element, elements from one row to the next, and whether
    its transpose is meant."""

    place: v.Value
    stride: v.Value
    turned: bool = False


class _Walk:
    """A kernel while it is written: its sizes, operands and products."""

    def __init__(self, module: ir.Module, name: str, kind: Any, bits: int) -> None:
        self.frame = v.Frame(module, name)
        self.builder = self.frame.builder
        self.kind, self.bits = kind, bits
        number = self.frame.integer
        self.gemm, self.rows, self.columns, self.size, self.width = (number(n) for n in range(5))
        self.row = Row(self.builder, kind, self.columns)

    def factor(self, slot: int) -> v.Value:
        return self.frame.scalar(slot, self.kind)

    def operand(self, number: int, place: v.Value) -> Matrix:
        """The matrix of array ``number`` at a place of the leading dimensions."""
        slot = _OWN + 3 * number
        table = v.offset(self.builder, self.frame.pointer(slot + 2), place, v.I64)
        start = v.offset(
            self.builder, self.frame.pointer(slot), v.load(self.builder, table, v.I64), self.kind
        )
        return Matrix(start, self.frame.integer(slot + 1))

    def product(
        self, a: Matrix, b: Matrix, c: Matrix, sizes: tuple[v.Value, v.Value, v.Value], factor: Any = None
    ) -> None:
        """c = factor * a @ b."""
        flags = [v.I32(blas.TRANSPOSED if m.turned else blas.AS_IT_IS) for m in (a, b)]
        places, steps = zip(*[(m.place, m.stride) for m in (a, b, c)], strict=True)
        blas.call(self.builder, self.gemm, self.bits, self.kind, flags, sizes, places, steps, factor=factor)

    def line(self, matrix: Matrix, r: v.Value) -> v.Value:
        """The address of a row."""
        return v.offset(self.builder, matrix.place, self.builder.mul(r, matrix.stride), self.kind)

    def places(self, shard: v.Value) -> tuple[v.Value, v.Value]:
        """Those of a shard: the first, and the one behind the last."""
        b, each = self.builder, self.frame.integer(_SHARD)
        low, count = b.mul(shard, each), self.frame.integer(_PLACES)
        high = b.add(low, each)
        return low, b.select(b.icmp_signed("<", high, count), high, count)


def _turn(matrix: Matrix, turned: bool = True) -> Matrix:
    return matrix._replace(turned=turned)


def _build_forward(
    kind: Any, bits: int, turned: bool, valued: bool, narrow: Sequence[bool], module: ir.Module, name: str
) -> ir.Function:
    w = _Walk(module, name, kind, bits)
    b, row = w.builder, w.row
    first, before = w.factor(_FIRST), 5 if valued else 3
    with v.loop(b, w.frame.begin, w.frame.end) as shard:
        low, high = w.places(shard)
        with v.loop(b, low, high) as place:
            x, y, weights = (w.operand(n, place) for n in range(3))
            masks = [w.operand(before + n, place) for n in range(len(narrow))]
            w.product(x, _turn(y, not turned), weights, (w.rows, w.columns, w.size), first)
            with v.loop(b, v.I64(0), w.rows) as r:
                source = w.line(weights, r)
                for mask, one in zip(masks, narrow, strict=True):
                    _add(row, source, w.line(mask, r), one)
                total, _ = softmax.exponentials(row, source, source)
                share = row.spread(b.fdiv(v.constant(kind, 1.0), total))
                row.each(lambda p, s=source, share=share: p.store(b.fmul(p.load(s), share), s))  # type: ignore[misc]
            if valued:
                value, out = w.operand(3, place), w.operand(4, place)
                w.product(weights, value, out, (w.rows, w.width, w.columns))
    return w.frame.close()


def _add(row: Row, target: v.Value, mask: v.Value, narrow: bool) -> None:
    """Add a row of a mask, or its one element."""
    b = row.builder
    every = row.spread(v.load(b, mask, row.element)) if narrow else None

    def one(p: Place) -> None:
        p.store(b.fadd(p.load(target), p.load(mask) if every is None else every), target)

    row.each(one)


def _build_backward(
    kind: Any,
    bits: int,
    turned: bool,
    wanted: Sequence[bool],
    after: Sequence[bool],
    module: ir.Module,
    name: str,
) -> ir.Function:
    w = _Walk(module, name, kind, bits)
    b = w.builder
    first, second = w.factor(_FIRST), w.factor(_SECOND)
    room = w.frame.pointer(_OWN + 3 * (5 + sum(after) + sum(wanted)))
    with v.loop(b, w.frame.begin, w.frame.end) as shard:
        low, high = w.places(shard)
        own = v.offset(b, room, b.mul(shard, b.mul(w.rows, w.columns)), kind)
        with v.loop(b, low, high) as place:
            flow, weights, x, y, value = (w.operand(n, place) for n in range(5))
            numbers = iter(range(5, 10))
            dropped, kept, of_x, of_y, of_v = (
                w.operand(next(numbers), place) if there else None for there in (*after, *wanted)
            )
            if of_v is not None:
                met = weights if dropped is None else dropped
                w.product(_turn(met), flow, of_v, (w.columns, w.width, w.rows))
            scores = Matrix(own, w.columns)
            if of_x is not None or of_y is not None:
                w.product(flow, _turn(value), scores, (w.rows, w.columns, w.width))
                with v.loop(b, v.I64(0), w.rows) as r:
                    line = w.line(scores, r)
                    if kept is not None:
                        _multiply(w.row, line, w.line(kept, r))
                    softmax.through_softmax(w.row, line, w.line(weights, r), line)
            if of_x is not None:
                w.product(scores, _turn(y, turned), of_x, (w.rows, w.size, w.columns), first)
            if of_y is not None and turned:
                w.product(_turn(x), scores, of_y, (w.size, w.columns, w.rows), second)
            elif of_y is not None:
                w.product(_turn(scores), x, of_y, (w.columns, w.size, w.rows), second)
    return w.frame.close()


def _multiply(row: Row, target: v.Value, factors: v.Value) -> None:
    row.each(lambda p: p.store(row.builder.fmul(p.load(target), p.load(factors)), target))
