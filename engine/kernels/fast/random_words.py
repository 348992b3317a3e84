"""The Mersenne Twister's words (engine/core/random/mersenne.py) from compiled code: the same, much faster."""

from __future__ import annotations

import ctypes
from typing import Any

from llvmlite import ir

from engine.core.random import mersenne
from engine.kernels.fast.compiler import Handle, compiler, function
from engine.kernels.fast.target import lanes
from engine.kernels.fast.vectors import I64, Builder, Frame, Value, constant, load, loop, offset, store


def _build(module: ir.Module, name: str) -> ir.Function:
    """Words ``begin`` to ``end`` after the 312 at args[0], which follow them there; as numbers to args[1]."""
    frame = Frame(module, name)
    b = frame.builder
    raw, numbers = frame.pointer(0), frame.pointer(1)
    width = max(2, lanes() // 2)
    whole = b.sub(b.sub(frame.end, frame.begin), b.srem(b.sub(frame.end, frame.begin), I64(width)))
    stop = b.add(frame.begin, whole)
    # No word of a vector depends on another one of it: the nearest is 156 words before.
    with loop(b, frame.begin, stop, width) as n:
        _some(b, raw, numbers, n, ir.VectorType(I64, width))
    with loop(b, stop, frame.end) as n:
        _some(b, raw, numbers, n, I64)
    return frame.close()


def _some(b: Builder, raw: Value, numbers: Value, n: Value, kind: Any) -> None:
    def at(more: int) -> Value:
        return offset(b, raw, b.add(n, I64(more)), I64)

    def number(value: int) -> Value:
        return constant(kind, value - (1 << 64) if value >> 63 else value)

    def tempered(x: Value, shifted: Value, mask: int) -> Value:
        return b.xor(x, b.and_(shifted, number(mask)))

    x, following, middle = (load(b, at(more), kind) for more in (0, 1, 156))
    joined = b.or_(b.and_(x, number(mersenne.UPPER)), b.and_(following, number(mersenne.LOWER)))
    odd = b.icmp_signed("!=", b.and_(following, number(1)), number(0))
    matrix = b.select(odd, number(mersenne.MATRIX), number(0))
    y = b.xor(b.xor(b.lshr(joined, number(1)), matrix), middle)
    store(b, y, at(mersenne.WORDS))
    (s29, m29), (s17, m17), (s37, m37), s43 = mersenne.TEMPERING
    y = tempered(y, b.lshr(y, number(s29)), m29)
    y = tempered(y, b.shl(y, number(s17)), m17)
    y = tempered(y, b.shl(y, number(s37)), m37)
    y = b.xor(y, b.lshr(y, number(s43)))
    store(b, y, offset(b, numbers, n, I64))


def handle() -> Handle:
    """The kernel, requested from the compiler."""
    return function(f"mt19937_64 {lanes()}", _build)


def install() -> None:
    """Let the generator use the kernel as soon as it is compiled."""
    kernel = handle()

    def filled(raw: mersenne.Words, numbers: mersenne.Words) -> None:
        kernel.call((ctypes.c_int64 * 2)(raw.ctypes.data, numbers.ctypes.data), 0, len(numbers))

    def arrived() -> None:
        if kernel.address is not None:
            mersenne.compiled = filled

    compiler().submit(arrived)
