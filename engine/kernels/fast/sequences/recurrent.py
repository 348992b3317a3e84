"""Tools to write and call loops of recurrent layers through time.

A shard is a block of samples that walks through all steps alone: BLAS products of each step with pointwise
operations around them. How many samples it has follows from sizes alone. Arrays are contiguous, and as in
engine/kernels/cpu/recurrent.py: gates [gates, T, N, H], states [T, N, H], weights [gates, K, H]; only x
and the gradient of y may have steps and samples with gaps, as views of [N, T, K] have them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from llvmlite import ir

from engine.kernels.cpu import pool
from engine.kernels.fast.arguments import address
from engine.kernels.fast.compiler import Handle
from engine.kernels.fast.functions import tanh
from engine.kernels.fast.linalg import blas, few_rows
from engine.kernels.fast.target import lanes
from engine.kernels.fast.vectors import (
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
    maximum,
    offset,
    size,
    store,
)

# The arguments that all have; those of one kernel follow. A view is the steps and the rows of x or of the
# gradient of y: the number of elements between two of them.
_GEMM, _STEPS, _BATCH, _SIZE, _SHARD, _REVERSE, _FEATURES, _STEP, _ROW, _OWN = range(10)
# Bytes of weights that stay in a core's cache from step to step. Up to here the product of x belongs to the
# step, whose gates are in the cache, too; beyond, it is one product over all steps.
NEAR = 1 << 19
_ROWS, _FAR_ROWS = 16, 64  # samples of a shard whose weights stay in the cache, and of others
_LEAST_ROWS = 8


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

    def tanh(self, x: Value) -> Value:
        return tanh(self.builder, x)

    def relu(self, x: Value) -> Value:
        return maximum(self.builder, x, constant(self.kind, 0.0))

    def positive(self, x: Value) -> Value:
        """1 where x is above 0, else 0."""
        above = self.builder.fcmp_ordered(">", x, constant(self.kind, 0.0))
        return self.builder.select(above, constant(self.kind, 1.0), constant(self.kind, 0.0))

    def sigmoid_of_half(self, x: Value) -> Value:
        """sigmoid(2 x): the halves are in the weights, as for NumPy's loops."""
        half = constant(self.kind, 0.5)
        return self.builder.fadd(self.builder.fmul(tanh(self.builder, x), half), half)


class Walk:
    """A generated loop through time while it is written: places in the arrays, the products of a step.

    The products of a ``few`` samples, if it is not 0, are generated too, with weights that are ``packed`` for
    them or as for BLAS.
    """

    def __init__(
        self, module: ir.Module, name: str, scalar: ir.Type, bits: int, few: int, packed: bool
    ) -> None:
        self.few, self.packed = few, packed
        self.frame = Frame(module, name)
        self.builder = b = self.frame.builder
        self.scalar, self.bits = scalar, bits
        self.kind = ir.VectorType(scalar, lanes() * 4 // size(scalar))
        numbers = (_STEPS, _BATCH, _SIZE, _SHARD, _REVERSE, _FEATURES, _STEP, _ROW)
        self.steps, self.batch, self.size, shard, self.reverse, self.features, self.step, self.row = (
            self.frame.integer(n) for n in numbers
        )
        self.gemm = self.frame.integer(_GEMM)
        self.state = b.mul(self.batch, self.size)  # elements of a state
        self.all = b.mul(self.steps, self.state)
        # One shard after the other: with one thread, too, a product has as many rows as with several.
        self._shards = ExitStack()
        number = self._shards.enter_context(loop(b, self.frame.begin, self.frame.end))
        self.begin = b.mul(number, shard)
        end = b.add(self.begin, shard)
        end = b.select(b.icmp_signed("<", end, self.batch), end, self.batch)
        self.rows = b.sub(end, self.begin)
        self.here = b.mul(self.begin, self.size)  # elements before the block in a state
        self.block = b.mul(self.rows, self.size)

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

    def viewed(self, array: Value, t: Value) -> Value:
        """The block of a step in x or in the gradient of y."""
        b = self.builder
        return offset(b, array, b.add(b.mul(t, self.step), b.mul(self.begin, self.row)), self.scalar)

    def only(self, array: Value) -> Value:
        """The block in an array [N, H]."""
        return offset(self.builder, array, self.here, self.scalar)

    def weight(self, array: Value, gate: int, inner: Value | None = None) -> Value:
        """A gate's weight [inner, H], or [H, inner]; ``inner`` is H by default."""
        size = self.size
        if self.packed:
            size = few_rows.packed_size(size, self.kind.count, self.builder)
        place = self.builder.mul(I64(gate), self.builder.mul(inner or self.size, size))
        return offset(self.builder, array, place, self.scalar)

    def product(self, a: Value, b: Value, c: Value, add: bool) -> None:
        """c = a @ b, or c += a @ b: a and c are blocks of a step, b the weight of a gate."""
        self._product((self.rows, self.size, self.size), a, b, c, add)

    def _product(
        self, sizes: Sequence[Value], a: Value, b: Value, c: Value, add: bool, apart: Value | None = None
    ) -> None:
        if self.few:
            places = a, b, c
            few_rows.product(self.builder, self.kind, self.few, sizes[1:], places, add, apart, self.packed)
        else:
            blas.product(self.builder, self.gemm, self.bits, self.scalar, sizes, a, b, c, add, apart)

    def inputs(
        self, x: Value, weight: Value, bias: Value, t: Value, parts: Sequence[Value], gates: int
    ) -> None:
        """Fill the gates of a step with their biases and, ``gates`` of them, with the products of x, where
        both are left to the step. ``weight`` is [gates, features, H]."""
        b = self.builder
        with b.if_then(b.icmp_signed(">", self.features, I64(0))):
            for gate, part in enumerate(parts):
                source = offset(b, bias, b.mul(I64(gate), self.size), self.scalar)
                with loop(b, I64(0), self.rows) as row:
                    target = self.move(part, b.mul(row, self.size))

                    def copy(p: Pointwise, place: Value, source: Value = source, to: Value = target) -> None:
                        p.store(p.load(self.move(source, place)), self.move(to, place))

                    self.each(copy, self.size)
            rows = self.viewed(x, t)
            sizes = (self.rows, self.size, self.features)
            for gate in range(gates):
                own = self.weight(weight, gate, self.features)
                self._product(sizes, rows, own, parts[gate], True, self.row)

    def flow(self, g_y: Value, t: Value, dh: Value) -> None:
        """Add the gradient of y, where there is one, to that of the state after the step."""
        b = self.builder
        with b.if_then(b.icmp_signed("!=", b.ptrtoint(g_y, I64), I64(0))):
            block = self.viewed(g_y, t)
            with loop(b, I64(0), self.rows) as row:
                source, target = self.move(block, b.mul(row, self.row)), self.move(dh, b.mul(row, self.size))

                def add(p: Pointwise, place: Value) -> None:
                    to = self.move(target, place)
                    p.store(p.add(p.load(to), p.load(self.move(source, place))), to)

                self.each(add, self.size)

    def to_x(self, made: Sequence[Value], weight: Value, g_x: Value, t: Value) -> None:
        """The gradient of x [T, N, features] from those of the gates, where it is left to the step."""
        b = self.builder
        with b.if_then(b.icmp_signed(">", self.features, I64(0))):
            place = b.mul(b.add(b.mul(t, self.batch), self.begin), self.features)
            block = self.move(g_x, place)
            sizes = (self.rows, self.features, self.size)
            for gate, part in enumerate(made):
                own = self.weight(weight, gate, self.features)
                self._product(sizes, part, own, block, gate > 0)

    def each(self, body: Callable[[Pointwise, Value], None], count: Value | None = None) -> None:
        """``body(pointwise, place)`` for every vector of a block, or of so many elements; ``place`` in
        elements."""
        b, width = self.builder, self.kind.count
        count = self.block if count is None else count
        whole = b.sub(count, b.srem(count, I64(width)))
        with loop(b, I64(0), whole, width) as place:
            body(Pointwise(b, self.kind, None), place)
        with b.if_then(b.icmp_signed("<", whole, count)):
            body(Pointwise(b, self.kind, first(b, b.sub(count, whole), width)), whole)

    def move(self, pointer: Value, place: Value) -> Value:
        return offset(self.builder, pointer, place, self.scalar)

    def close(self) -> ir.Function:
        self._shards.close()
        return self.frame.close()


class Sizes(NamedTuple):
    """Arguments of a loop: [steps, batch, size] of its states, whether weights are ``near``, and of how many
    samples a shard is where they are ``few``, else 0."""

    steps: int
    batch: int
    size: int
    near: bool
    few: int = 0

    def shard(self) -> int:
        """Samples of a shard: a small batch is two shards; they are larger where weights are read anew."""
        if self.few:
            return self.few
        return max(_LEAST_ROWS, min(_ROWS if self.near else _FAR_ROWS, self.batch // 2))


class Compiled:
    """A compiled loop; its arrays are given in the order of its builder."""

    __slots__ = ("gemm", "handle")

    def __init__(self, handle: Handle, gemm: int) -> None:
        self.handle, self.gemm = handle, gemm

    def __call__(
        self, sizes: Sizes, arrays: Sequence[Any], reverse: bool, features: int, view: Any = None
    ) -> None:
        """Walk. All arrays are contiguous but ``view``, which is x or the gradient of y; None: is missing.

        ``features`` is 0 where the products of x, or the gradient of x, are not left to the steps.
        """
        shard = sizes.shard()
        step, row = (0, 0) if view is None else (n // view.itemsize for n in view.strides[:2])
        places = [0 if a is None else address(a) for a in arrays]
        values = [self.gemm, *sizes[:3], shard, reverse, features, step, row, *places]
        args = (ctypes.c_int64 * len(values))(*values)
        code = self.handle.address
        assert code is not None
        pool.parallel(code, args, -(-sizes.batch // shard))
