"""Tools to write and call loops of recurrent layers through time.

A shard is a block of samples that walks through all steps alone: products of each step with pointwise
operations around them. How many samples it has follows from sizes alone. Arrays are contiguous, and as in
engine/kernels/cpu/recurrent.py: gates [gates, T, N, H], states [T, N, H], weights [gates, K, H], packed; only
x and the gradient of y may have steps and samples with gaps, as views of [N, T, K] have them.
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
from engine.kernels.fast.linalg import packed
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
_STEPS, _BATCH, _SIZE, _SHARD, _REVERSE, _FEATURES, _STEP, _ROW, _OWN = range(9)
# Bytes of weights that stay in a core's cache from step to step. Up to here the product of x belongs to the
# step, whose gates are in the cache, too; beyond, it is one product over all steps.
NEAR = 1 << 19
_FEW = 4  # samples: an odd number of them is one shard
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


class How(NamedTuple):
    """How the products of a loop are computed: tiles for those with the state's columns, and for
    the gradient of x.

    ``near``: the step computes products of x.
    """

    of_state: packed.Tiles
    of_x: packed.Tiles | None
    near: bool


class Walk:
    """A generated loop through time while it is written: places in the arrays, the products of a step."""

    def __init__(self, module: ir.Module, name: str, scalar: ir.Type, how: How) -> None:
        self.how = how
        self.frame = Frame(module, name)
        self.builder = b = self.frame.builder
        self.scalar = scalar
        self.kind = ir.VectorType(scalar, lanes() * 4 // size(scalar))
        numbers = (_STEPS, _BATCH, _SIZE, _SHARD, _REVERSE, _FEATURES, _STEP, _ROW)
        self.steps, self.batch, self.size, shard, self.reverse, self.features, self.step, self.row = (
            self.frame.integer(n) for n in numbers
        )
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

    def at(self, array: Value, t: Value, gate: int | Value = 0) -> Value:
        """The block of a step in an array of states or, for a gate, in one of gates."""
        b = self.builder
        place = b.add(b.mul(t, self.state), self.here)
        gate = I64(gate) if isinstance(gate, int) else gate
        return offset(b, array, b.add(place, b.mul(gate, self.all)), self.scalar)

    def viewed(self, array: Value, t: Value) -> Value:
        """The block of a step in x or in the gradient of y."""
        b = self.builder
        return offset(b, array, b.add(b.mul(t, self.step), b.mul(self.begin, self.row)), self.scalar)

    def only(self, array: Value) -> Value:
        """The block in an array [N, H]."""
        return offset(self.builder, array, self.here, self.scalar)

    def weight_step(self, inner: Value, columns: Value) -> Value:
        """Elements of a gate's weight."""
        return self.builder.mul(inner, packed.packed_size(columns, self.kind.count, self.builder))

    def fill(
        self,
        into: Value,
        t: Value,
        gates: int,
        x: tuple[Value, Value, Value],
        h: tuple[Value, Value],
        apart: bool = False,
    ) -> None:
        """Make the gates of a step: the products of h and its weight, and those of x, its weight and bias
        where they are left to the step.

        ``apart``: the last gate is the share of h in the one before it.
        """
        b = self.builder
        of_h = self.weight_step(self.size, self.size)
        of_x = self.weight_step(self.features, self.size)
        with loop(b, I64(0), I64(gates)) as gate:
            inner_x, inner_h, number = self.features, self.size, gate
            if apart:
                is_last = b.icmp_signed("==", gate, I64(gates - 1))
                inner_x = b.select(is_last, I64(0), inner_x)
                inner_h = b.select(b.icmp_signed("==", gate, I64(gates - 2)), I64(0), inner_h)
                number = b.select(is_last, I64(gates - 2), gate)
            terms = [packed.Term(h[0], self.size, inner_h, self.move(h[1], b.mul(number, of_h)))]
            start: Value = "made"
            if self.how.near:
                x_rows, w_in, bias = x
                own = self.move(w_in, b.mul(gate, of_x))
                terms.insert(0, packed.Term(self.viewed(x_rows, t), self.row, inner_x, own))
                start = self.move(bias, b.mul(gate, self.size))
            self._generate(self.how.of_state, self.size, terms, self.at(into, t, gate), start)

    def back(self, array: Value, t: Value, gates: int, weight: Value, dh: Value, add: bool = False) -> None:
        """The gradient of the state before a step from those of the gates in ``array``."""
        self._back(self.how.of_state, array, t, gates, weight, dh, self.size, add)

    def to_x(self, array: Value, t: Value, gates: int, weight: Value, g_x: Value) -> None:
        """The gradient of x [T, N, features], where it is left to the step."""
        b = self.builder
        if self.how.of_x:
            place = b.mul(b.add(b.mul(t, self.batch), self.begin), self.features)
            made = self.move(g_x, place)
            self._back(self.how.of_x, array, t, gates, weight, made, self.features, False)

    def _back(
        self,
        tiles: packed.Tiles,
        array: Value,
        t: Value,
        gates: int,
        weight: Value,
        made: Value,
        columns: Value,
        add: bool,
    ) -> None:
        step = self.weight_step(self.size, columns)
        term = packed.Term(self.at(array, t), self.size, self.size, weight, gates, self.all, step)
        self._generate(tiles, columns, [term], made, "made" if add else "zero")

    def _generate(
        self, tiles: packed.Tiles, columns: Value, terms: Sequence[packed.Term], made: Value, start: Value
    ) -> None:
        packed.product(self.builder, self.kind, tiles, self.rows, columns, terms, made, start)

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
    """Arguments of a loop: [steps, batch, size] of its states, and whether weights are ``near``."""

    steps: int
    batch: int
    size: int
    near: bool

    def shard(self) -> int:
        """Samples of a shard: a small batch is two shards; they are larger where weights are read anew."""
        if self.batch <= _FEW:
            return self.batch if self.batch % 2 else self.batch // 2
        if self.near:
            return -(-self.batch // (2 * -(-self.batch // (2 * _ROWS))))
        return max(_LEAST_ROWS, min(_FAR_ROWS, self.batch // 2))

    def tiles(self, columns: int, lanes: int) -> packed.Tiles:
        """Tiles of products with so many columns, and numbers in a vector."""
        shard = self.shard()
        return packed.tiles(shard, self.batch % shard or shard, columns, lanes)


class Compiled:
    """A compiled loop; its arrays are given in the order of its builder."""

    __slots__ = ("handle",)

    def __init__(self, handle: Handle) -> None:
        self.handle = handle

    def __call__(
        self, sizes: Sizes, arrays: Sequence[Any], reverse: bool, features: int, view: Any = None
    ) -> None:
        """Walk. All arrays are contiguous but ``view``, which is x or the gradient of y; None: is missing.

        ``features`` is 0 where the products of x, or the gradient of x, are not left to the steps.
        """
        shard = sizes.shard()
        step, row = (0, 0) if view is None else (n // view.itemsize for n in view.strides[:2])
        places = [0 if a is None else address(a) for a in arrays]
        values = [*sizes[:3], shard, reverse, features, step, row, *places]
        args = (ctypes.c_int64 * len(values))(*values)
        code = self.handle.address
        assert code is not None
        pool.parallel(code, args, -(-sizes.batch // shard))
