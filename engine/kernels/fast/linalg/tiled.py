"""A product of matrices as generated code, with the arguments of ``cblas_sgemm`` and ``cblas_dgemm``.

Columns of b are copied, a panel of a few vectors at a time, into a buffer that fits in the first cache;
tiles of sums in registers (rows times vectors of a panel) then read a where it is. The common dimension is
summed in blocks that follow from its length alone, and each element in the same order wherever its row and
column are: a product has the same bits whole and in shards.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from llvmlite import ir

from engine.kernels.fast.compiler import compiler
from engine.kernels.fast.linalg import blas
from engine.kernels.fast.linalg.blas import Gemm
from engine.kernels.fast.target import MANY, registers, target
from engine.kernels.fast.vectors import (
    I32,
    I64,
    POINTER,
    Builder,
    Local,
    Value,
    broadcast,
    constant,
    first,
    fma,
    least,
    load,
    loop,
    masked_load,
    masked_store,
    offset,
    size,
    store,
)

_PANEL = 24 << 10  # bytes of a panel: half of the first cache
_LONGEST = 256  # of the common dimension in a panel


def gemm(kind: Any) -> Gemm | None:
    """The product of matrices of floats or doubles, None where the CPU has no vectors of 512 bits.

    OpenBLAS is as fast without such vectors, and slower with them: see decision 0133.
    """
    if not target().has("avx512f"):
        return None
    code = compiler().at_once(f"tiled product {kind}", partial(build, kind))
    return None if code.address is None else Gemm(code.address, 64)


def build(kind: Any, module: ir.Module, name: str) -> ir.Function:
    """Write the function into ``module``."""
    return _Writer(kind, module, name).written()


def tiles() -> tuple[tuple[int, ...], int]:
    """Rows of tiles, of which the next ones take what the ones before leave over, and the most vectors of a
    row: the sums stay in registers, with the vectors of b and a factor of a."""
    return ((8, 2, 1), 3) if registers() >= MANY else ((6, 2, 1), 2)


class _Writer:
    """The function while it is written."""

    def __init__(self, kind: Any, module: ir.Module, name: str) -> None:
        whole = [I32, I32, I32, I64, I64, I64, kind, POINTER, I64, POINTER, I64, kind, POINTER, I64]
        self.function = ir.Function(module, ir.FunctionType(ir.VoidType(), whole), name)
        self.function.attributes.add("nounwind")
        _, turn_a, turn_b, *rest = self.function.args
        self.rows, self.columns, self.inner, self.factor, self.a, lda, self.b, self.ldb, beta, *rest = rest
        self.c, self.ldc = rest
        b = self.builder = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.kind = kind
        self.lanes = target().lanes * 4 // size(kind)
        self.vector = ir.VectorType(kind, self.lanes)
        (*self.heights,), self.wide = tiles()
        self.longest = min(_LONGEST, _PANEL // (self.wide * self.lanes * size(kind)))
        room = ir.ArrayType(kind, (self.longest + self.lanes) * self.wide * self.lanes)
        place = b.alloca(room)
        place.align = 64
        self.panel = b.inttoptr(b.ptrtoint(place, I64), POINTER)
        turned = b.icmp_signed("==", turn_a, I32(blas.TRANSPOSED))
        self.of_row, self.of_inner = b.select(turned, I64(1), lda), b.select(turned, lda, I64(1))
        self.turned = b.icmp_signed("==", turn_b, I32(blas.TRANSPOSED))
        self.adds = b.fcmp_ordered("!=", beta, constant(kind, 0.0))

    def written(self) -> ir.Function:
        b, lanes = self.builder, I64(self.lanes)
        blocks = b.sdiv(b.add(self.inner, I64(self.longest - 1)), I64(self.longest))
        vectors = b.sdiv(b.add(self.columns, b.sub(lanes, I64(1))), lanes)
        panels = b.sdiv(b.add(vectors, I64(self.wide - 1)), I64(self.wide))
        with loop(b, I64(0), blocks) as block:
            begin = b.sdiv(b.mul(self.inner, block), blocks)
            length = b.sub(b.sdiv(b.mul(self.inner, b.add(block, I64(1))), blocks), begin)
            adds = b.or_(self.adds, b.icmp_signed(">", block, I64(0)))
            with loop(b, I64(0), panels) as panel:
                low = b.sdiv(b.mul(vectors, panel), panels)
                wide = b.sub(b.sdiv(b.mul(vectors, b.add(panel, I64(1))), panels), low)
                column = b.mul(low, lanes)
                with b.if_else(self.turned) as (turned, plain):
                    with turned:
                        self._pack_turned(begin, length, column, wide)
                    with plain:
                        self._pack(begin, length, column, wide)
                for width in range(1, self.wide + 1):
                    with b.if_then(b.icmp_signed("==", wide, I64(width))):
                        self._panel(width, begin, length, column, adds)
        b.ret_void()
        return self.function

    def _panel(self, width: int, begin: Value, length: Value, column: Value, adds: Value) -> None:
        """The columns of c from ``column`` on, as many as are in ``width`` vectors of the panel."""
        b = self.builder
        left = b.sub(b.sub(self.columns, column), I64((width - 1) * self.lanes))
        mask = first(b, left, self.lanes)  # of the last vector
        row: Value = I64(0)
        a = offset(b, self.a, b.mul(begin, self.of_inner), self.kind)
        for high in self.heights:
            end = b.sub(self.rows, b.srem(b.sub(self.rows, row), I64(high)))
            with loop(b, row, end, high) as each:
                self._tile(high, width, a, each, column, length, mask, adds)
            row = end

    def _pack(self, begin: Value, length: Value, column: Value, wide: Value) -> None:
        """Copy rows of b from ``column`` on into ``wide`` vectors each, which end with zeros."""
        b, kind = self.builder, self.kind
        start = offset(b, self.b, b.add(b.mul(begin, self.ldb), column), kind)
        last = b.mul(b.sub(wide, I64(1)), I64(self.lanes))
        mask = first(b, b.sub(b.sub(self.columns, column), last), self.lanes)
        with loop(b, I64(0), length) as k:
            line = offset(b, start, b.mul(k, self.ldb), kind)
            goal = offset(b, self.panel, b.mul(k, b.mul(wide, I64(self.lanes))), kind)
            with loop(b, I64(0), last, self.lanes) as n:
                store(b, load(b, offset(b, line, n, kind), self.vector), offset(b, goal, n, kind))
            store(
                b, masked_load(b, offset(b, line, last, kind), self.vector, mask), offset(b, goal, last, kind)
            )

    def _pack_turned(self, begin: Value, length: Value, column: Value, wide: Value) -> None:
        """Squares of b are transposed; lanes behind the last column repeat it, and are never stored."""
        b, lanes, kind = self.builder, self.lanes, self.kind
        last, step = b.sub(self.columns, I64(1)), b.mul(wide, I64(lanes))
        with loop(b, I64(0), step, lanes) as n, loop(b, I64(0), length, lanes) as k:
            mask = first(b, b.sub(length, k), lanes)
            square = []
            for lane in range(lanes):
                line = least(b, b.add(b.add(column, n), I64(lane)), last)
                place = offset(b, self.b, b.add(b.mul(line, self.ldb), b.add(begin, k)), kind)
                square.append(masked_load(b, place, self.vector, mask))
            for lane, value in enumerate(_transposed(b, square)):
                at = b.add(b.mul(b.add(k, I64(lane)), step), n)
                store(b, value, offset(b, self.panel, at, kind))

    def _tile(
        self,
        high: int,
        width: int,
        a: Value,
        row: Value,
        column: Value,
        length: Value,
        mask: Value,
        adds: Value,
    ) -> None:
        b, kind, lanes = self.builder, self.kind, self.lanes
        zero = ir.Constant(self.vector, None)
        sums = [[Local(b, zero) for _ in range(width)] for _ in range(high)]
        left = [offset(b, a, b.mul(b.add(row, I64(r)), self.of_row), kind) for r in range(high)]
        with loop(b, I64(0), length) as k:
            line = offset(b, self.panel, b.mul(k, I64(width * lanes)), kind)
            of_b = [load(b, offset(b, line, I64(n * lanes), kind), self.vector) for n in range(width)]
            step = b.mul(k, self.of_inner)
            for r in range(high):
                value = broadcast(b, load(b, offset(b, left[r], step, kind), kind), lanes)
                for n in range(width):
                    one = sums[r][n]
                    one.set(fma(b, value, of_b[n], one.get()))
        factor = broadcast(b, self.factor, lanes)
        goals = []
        for r in range(high):
            line = offset(b, self.c, b.add(b.mul(b.add(row, I64(r)), self.ldc), column), kind)
            goals.append([offset(b, line, I64(n * lanes), kind) for n in range(width)])
        with b.if_else(adds) as (then, otherwise):
            with then:
                self._store(sums, goals, factor, mask, True)
            with otherwise:
                self._store(sums, goals, factor, mask, False)

    def _store(
        self,
        sums: Sequence[Sequence[Local]],
        goals: Sequence[Sequence[Value]],
        factor: Value,
        mask: Value,
        adds: bool,
    ) -> None:
        b = self.builder
        for of_row, places in zip(sums, goals, strict=True):
            for n, (one, place) in enumerate(zip(of_row, places, strict=True)):
                last = n == len(of_row) - 1
                value = b.fmul(one.get(), factor)
                if adds:
                    former = masked_load(b, place, self.vector, mask) if last else load(b, place, self.vector)
                    value = b.fadd(former, value)
                if last:
                    masked_store(b, value, place, mask)
                else:
                    store(b, value, place)


def _transposed(builder: Builder, square: list[Value]) -> list[Value]:
    """The columns of a square of vectors."""
    rows, count = list(square), len(square)
    step = count // 2
    while step:
        low = [c if not c & step else count + (c & ~step) for c in range(count)]
        high = [c | step if not c & step else count + c for c in range(count)]
        for n in range(count):
            if not n & step:
                pair = rows[n], rows[n | step]
                rows[n], rows[n | step] = (
                    builder.shuffle_vector(*pair, ir.Constant(ir.VectorType(I32, count), places))
                    for places in (low, high)
                )
        step //= 2
    return rows
