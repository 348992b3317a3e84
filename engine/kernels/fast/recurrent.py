"""The loops of LSTM and GRU through time: BLAS products of each step with what is pointwise around them.

A shard is a block of samples that walks through all steps. Arrays are contiguous, and as in
engine/ops/sequences/rnn_steps.py: gates [gates, T, N, H], states [T, N, H], weights [gates, H, H].
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir

from engine.kernels.cpu import pool
from engine.kernels.fast import blas
from engine.kernels.fast.compiler import Handle, function, lanes
from engine.kernels.fast.functions import tanh
from engine.kernels.fast.vectors import (
    F32,
    F64,
    I64,
    Builder,
    Frame,
    Value,
    constant,
    first,
    load,
    loop,
    masked_load,
    masked_store,
    offset,
    size,
    store,
)

# The arguments that all have; those of one kernel follow.
_GEMM, _STEPS, _BATCH, _SIZE, _SHARD, _REVERSE, _OWN = range(7)
_ROWS = 8  # samples of a shard, at least


class Pointwise:
    """Arithmetic on vectors of a step; with a mask on the last ones of a block, which are not full."""

    def __init__(self, builder: Builder, kind: ir.VectorType, mask: Value | None) -> None:
        self.builder, self.kind, self.mask = builder, kind, mask

    def load(self, pointer: Value) -> Value:
        if self.mask is None:
            return load(self.builder, pointer, self.kind)
        return masked_load(self.builder, pointer, self.kind, self.mask)

    def store(self, value: Value, pointer: Value) -> None:
        if self.mask is None:
            store(self.builder, value, pointer)
        else:
            masked_store(self.builder, value, pointer, self.mask)

    def mul(self, *values: Value) -> Value:
        made = values[0]
        for value in values[1:]:
            made = self.builder.fmul(made, value)
        return made

    def add(self, a: Value, b: Value) -> Value:
        return self.builder.fadd(a, b)

    def sub(self, a: Value, b: Value) -> Value:
        return self.builder.fsub(a, b)

    def rest(self, x: Value) -> Value:
        """1 - x."""
        return self.builder.fsub(constant(self.kind, 1.0), x)

    def sigmoid_of_half(self, x: Value) -> Value:
        """sigmoid(2 x): the halves are in the weights, as for NumPy's loops."""
        half = constant(self.kind, 0.5)
        return self.builder.fadd(self.builder.fmul(tanh(self.builder, x), half), half)


class Walk:
    """A generated loop through time while it is written: places in the arrays, the products of a step."""

    def __init__(self, module: ir.Module, name: str, scalar: ir.Type, bits: int) -> None:
        self.frame = Frame(module, name)
        self.builder = b = self.frame.builder
        self.scalar, self.bits = scalar, bits
        self.kind = ir.VectorType(scalar, lanes() * 4 // size(scalar))
        self.steps, self.batch, self.size, shard, self.reverse = (
            self.frame.integer(n) for n in (_STEPS, _BATCH, _SIZE, _SHARD, _REVERSE)
        )
        self.gemm = self.frame.integer(_GEMM)
        self.begin = b.mul(self.frame.begin, shard)
        end = b.mul(self.frame.end, shard)
        end = b.select(b.icmp_signed("<", end, self.batch), end, self.batch)
        self.rows = b.sub(end, self.begin)
        self.here = b.mul(self.begin, self.size)  # elements before the block in a state
        self.state = b.mul(self.batch, self.size)  # elements of a state
        self.block = b.mul(self.rows, self.size)
        self.all = b.mul(self.steps, self.state)

    def pointer(self, number: int) -> Value:
        """The kernel's own argument ``number``."""
        return self.frame.pointer(_OWN + number)

    @contextmanager
    def time(self, backwards: bool) -> Iterator[tuple[Value, Value, Value]]:
        """Through time, or ``backwards``: the step, the one before it in the forward order, whether it is the
        first in that order."""
        b = self.builder
        with loop(b, I64(0), self.steps) as n:
            other = b.sub(b.sub(self.steps, I64(1)), n)
            late = b.icmp_signed("!=", self.reverse, I64(0))
            t = b.select(late, n, other) if backwards else b.select(late, other, n)
            is_first = b.icmp_signed("==", other if backwards else n, I64(0))
            yield t, b.add(t, b.select(late, I64(1), I64(-1))), is_first

    def at(self, array: Value, t: Value, gate: int = 0) -> Value:
        """The block of a step in an array of states or, for a gate, in one of gates."""
        b = self.builder
        place = b.add(b.mul(t, self.state), self.here)
        return offset(b, array, b.add(place, b.mul(I64(gate), self.all)), self.scalar)

    def only(self, array: Value) -> Value:
        """The block in an array [N, H]."""
        return offset(self.builder, array, self.here, self.scalar)

    def weight(self, array: Value, gate: int) -> Value:
        place = self.builder.mul(I64(gate), self.builder.mul(self.size, self.size))
        return offset(self.builder, array, place, self.scalar)

    def product(self, a: Value, b: Value, c: Value, add: bool) -> None:
        """c = a @ b, or c += a @ b: a and c are blocks of a step, b the weight of a gate."""
        sizes = (self.rows, self.size, self.size)
        blas.product(self.builder, self.gemm, self.bits, self.scalar, sizes, a, b, c, add)

    def each(self, body: Callable[[Pointwise, Value], None]) -> None:
        """``body(pointwise, place)`` for every vector of a block, ``place`` in elements."""
        b, width, count = self.builder, self.kind.count, self.block
        whole = b.sub(count, b.srem(count, I64(width)))
        with loop(b, I64(0), whole, width) as place:
            body(Pointwise(b, self.kind, None), place)
        with b.if_then(b.icmp_signed("<", whole, count)):
            body(Pointwise(b, self.kind, first(b, b.sub(count, whole), width)), whole)

    def move(self, pointer: Value, place: Value) -> Value:
        return offset(self.builder, pointer, place, self.scalar)

    def close(self) -> ir.Function:
        return self.frame.close()


def _lstm(module: ir.Module, name: str, scalar: ir.Type, bits: int) -> ir.Function:
    w = Walk(module, name, scalar, bits)
    b = w.builder
    gates, recurrent, h0, c0, y, cells = (w.pointer(n) for n in range(6))
    with w.time(False) as (t, earlier, is_first):
        h = b.select(is_first, w.only(h0), w.at(y, earlier))
        c = b.select(is_first, w.only(c0), w.at(cells, earlier))
        parts = [w.at(gates, t, gate) for gate in range(4)]
        for gate in range(4):
            w.product(h, w.weight(recurrent, gate), parts[gate], True)
        new_h, new_c = w.at(y, t), w.at(cells, t)

        def body(p: Pointwise, place: Value) -> None:
            values = [p.load(w.move(part, place)) for part in parts]
            i, f, o = (p.sigmoid_of_half(values[n]) for n in (0, 1, 3))
            g = tanh(b, values[2])
            for value, part in zip((i, f, g, o), parts, strict=True):
                p.store(value, w.move(part, place))
            cell = p.add(p.mul(f, p.load(w.move(c, place))), p.mul(i, g))
            p.store(cell, w.move(new_c, place))
            p.store(p.mul(o, tanh(b, cell)), w.move(new_h, place))

        w.each(body)
    return w.close()


def _lstm_back(module: ir.Module, name: str, scalar: ir.Type, bits: int) -> ir.Function:
    w = Walk(module, name, scalar, bits)
    b = w.builder
    gates, weight, c0, cells, g_y, dh, dc, result = (w.pointer(n) for n in range(8))
    dh, dc = w.only(dh), w.only(dc)
    with w.time(True) as (t, earlier, is_first):
        before = b.select(is_first, w.only(c0), w.at(cells, earlier))
        parts = [w.at(gates, t, gate) for gate in range(4)]
        made = [w.at(result, t, gate) for gate in range(4)]
        cell, flow = w.at(cells, t), w.at(g_y, t)

        def body(p: Pointwise, place: Value) -> None:
            i, f, g, o = (p.load(w.move(part, place)) for part in parts)
            bent = tanh(b, p.load(w.move(cell, place)))
            new_h = p.add(p.load(w.move(dh, place)), p.load(w.move(flow, place)))
            new_c = p.add(p.load(w.move(dc, place)), p.mul(new_h, o, p.rest(p.mul(bent, bent))))
            slopes = (
                p.mul(new_c, p.mul(p.rest(i), i, g)),
                p.mul(new_c, p.mul(p.rest(f), f, p.load(w.move(before, place)))),
                p.mul(new_c, p.mul(p.rest(p.mul(g, g)), i)),
                p.mul(new_h, p.mul(p.rest(o), o, bent)),
            )
            for slope, part in zip(slopes, made, strict=True):
                p.store(slope, w.move(part, place))
            p.store(p.mul(new_c, f), w.move(dc, place))

        w.each(body)
        for gate in range(4):
            w.product(made[gate], w.weight(weight, gate), dh, gate > 0)
    return w.close()


def _gru(module: ir.Module, name: str, scalar: ir.Type, bits: int) -> ir.Function:
    w = Walk(module, name, scalar, bits)
    b = w.builder
    gates, recurrent, h0, y = (w.pointer(n) for n in range(4))
    with w.time(False) as (t, earlier, is_first):
        h = b.select(is_first, w.only(h0), w.at(y, earlier))
        parts = [w.at(gates, t, gate) for gate in range(4)]
        for gate, into in enumerate((0, 1, 3)):
            w.product(h, w.weight(recurrent, gate), parts[into], True)
        new_h = w.at(y, t)

        def body(p: Pointwise, place: Value) -> None:
            r, u = (p.sigmoid_of_half(p.load(w.move(parts[n], place))) for n in (0, 1))
            from_h = p.load(w.move(parts[3], place))
            candidate = tanh(b, p.add(p.load(w.move(parts[2], place)), p.mul(r, from_h)))
            for value, part in zip((r, u, candidate), parts[:3], strict=True):
                p.store(value, w.move(part, place))
            old = p.load(w.move(h, place))
            p.store(p.add(p.mul(p.sub(old, candidate), u), candidate), w.move(new_h, place))

        w.each(body)
    return w.close()


def _gru_back(module: ir.Module, name: str, scalar: ir.Type, bits: int) -> ir.Function:
    w = Walk(module, name, scalar, bits)
    gates, weight, before, g_y, dh, to_x, to_h = (w.pointer(n) for n in range(7))
    dh = w.only(dh)
    with w.time(True) as (t, _, _):
        parts = [w.at(gates, t, gate) for gate in range(4)]
        for_x = [w.at(to_x, t, gate) for gate in range(3)]
        for_h = [w.at(to_h, t, gate) for gate in range(3)]
        old, flow = w.at(before, t), w.at(g_y, t)

        def body(p: Pointwise, place: Value) -> None:
            r, u, c, from_h = (p.load(w.move(part, place)) for part in parts)
            new_h = p.add(p.load(w.move(dh, place)), p.load(w.move(flow, place)))
            to_c = p.mul(new_h, p.mul(p.rest(p.mul(c, c)), p.rest(u)))
            to_r = p.mul(p.mul(p.rest(r), r, from_h), to_c)
            to_u = p.mul(new_h, p.mul(p.rest(u), u, p.sub(p.load(w.move(old, place)), c)))
            for value, part in zip((to_r, to_u, to_c), for_x, strict=True):
                p.store(value, w.move(part, place))
            for value, part in zip((to_r, to_u, p.mul(to_c, r)), for_h, strict=True):
                p.store(value, w.move(part, place))
            p.store(p.mul(new_h, u), w.move(dh, place))

        w.each(body)
        for gate in range(3):
            w.product(for_h[gate], w.weight(weight, gate), dh, True)
    return w.close()


_BUILDERS = {"lstm": _lstm, "lstm_back": _lstm_back, "gru": _gru, "gru_back": _gru_back}


def kernel(which: str, dtype: Any) -> Compiled | None:
    """The loop ``which`` for float32 or float64; None for others, or where BLAS has no address to call."""
    scalar = {"float32": F32, "float64": F64}.get(np.dtype(dtype).name)
    gemm = None if scalar is None else blas.gemm(blas.letter(scalar))
    if gemm is None:
        return None
    handle = function(
        f"recurrent {which} {scalar} {lanes()} {gemm.bits}",
        lambda module, name: _BUILDERS[which](module, name, scalar, gemm.bits),
    )
    return Compiled(handle, gemm.address)


class Compiled:
    """A compiled loop; its arrays are given in the order of its builder."""

    __slots__ = ("gemm", "handle")

    def __init__(self, handle: Handle, gemm: int) -> None:
        self.handle, self.gemm = handle, gemm

    def __call__(self, states: Any, arrays: Sequence[Any], reverse: bool) -> None:
        """``states`` [T, N, H] says the sizes. All arrays are contiguous and of its dtype."""
        steps, batch, width = states.shape
        blocks = max(1, min(pool.threads(), batch // _ROWS))
        shard = -(-batch // blocks)
        values = [self.gemm, steps, batch, width, shard, reverse, *(a.ctypes.data for a in arrays)]
        args = (ctypes.c_int64 * len(values))(*values)
        address = self.handle.address
        assert address is not None
        pool.parallel(address, args, -(-batch // shard) if batch else 0)
