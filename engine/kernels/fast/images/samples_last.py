"""Arrays laid out with their samples side by side in memory, as compiled kernels of images want them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from engine.kernels.cpu.pool import parallel
from engine.kernels.fast.arguments import address
from engine.kernels.fast.compiler import function
from engine.kernels.fast.images.sample_blocks import array
from engine.kernels.fast.target import lanes
from engine.kernels.fast.vectors import (
    F32,
    I1,
    I32,
    I64,
    Builder,
    Frame,
    Value,
    first,
    loop,
    masked_load,
    masked_store,
    offset,
)


def transpose(b: Builder, rows: Sequence[Value]) -> list[Value]:
    """The columns of as many vectors as each has lanes, a power of two."""
    found, count = list(rows), len(rows)
    step = 1
    while step < count:
        near = [n if not n & step else count + (n ^ step) for n in range(count)]
        far = [n | step if not n & step else count + n for n in range(count)]
        low, high = (ir.Constant(ir.VectorType(I32, count), places) for places in (near, far))
        for n in range(count):
            if not n & step:
                one, other = found[n], found[n | step]
                found[n] = b.shuffle_vector(one, other, low)
                found[n | step] = b.shuffle_vector(one, other, high)
        step *= 2
    return found


def _emit(module: ir.Module, name: str, across: int) -> ir.Function:
    """[sample][number] as [number][sample]; shards are ``across`` numbers.

    Arguments: source and bytes between its samples; target; samples; numbers of a sample.
    """
    frame = Frame(module, name)
    b, kind = frame.builder, ir.VectorType(F32, across)
    source, per_sample, target, samples, numbers = (
        frame.pointer(0),
        frame.integer(1),
        frame.pointer(2),
        frame.integer(3),
        frame.integer(4),
    )
    nothing = ir.Constant(ir.VectorType(I1, across), None)

    def at(base: Value, line: Value, stride: Value, place: Value) -> Value:
        return offset(b, offset(b, base, b.mul(line, stride)), place, F32)

    with loop(b, frame.begin, frame.end) as shard, loop(b, I64(0), samples, across) as sample:
        number = b.mul(shard, I64(across))
        there, have = first(b, b.sub(numbers, number), across), first(b, b.sub(samples, sample), across)
        rows = []
        for n in range(across):
            line = b.add(sample, I64(n))
            mask = b.select(b.icmp_signed("<", line, samples), there, nothing)
            rows.append(masked_load(b, at(source, line, per_sample, number), kind, mask))
        for n, value in enumerate(transpose(b, rows)):
            line = b.add(number, I64(n))
            mask = b.select(b.icmp_signed("<", line, numbers), have, nothing)
            masked_store(b, value, at(target, line, b.mul(samples, I64(4)), sample), mask)
    return frame.close()


class SamplesLast:
    """Lays float32 arrays out; ``handle`` is its code, which has to be there before the first call."""

    def __init__(self) -> None:
        self.across = across = lanes()
        self.handle = function(f"samples last {across}", lambda m, n: _emit(m, n, across))

    def __call__(self, x: Any) -> Any:
        """x [N, ...] with its samples side by side in memory, copied where they are not.

        A sample keeps the order of its axes in memory; samples with gaps are copied by NumPy.
        """
        if x.strides[0] == x.itemsize:
            return x
        order = sorted(range(1, x.ndim), key=lambda axis: -x.strides[axis])
        size = x.itemsize
        for axis in reversed(order):
            if x.shape[axis] != 1 and x.strides[axis] != size:
                return np.ascontiguousarray(x.transpose(*range(1, x.ndim), 0)).transpose(
                    x.ndim - 1, *range(x.ndim - 1)
                )
            size *= x.shape[axis]
        made = np.empty((*[x.shape[axis] for axis in order], x.shape[0]), np.float32)
        numbers = size // x.itemsize
        arguments = array(address(x), x.strides[0], address(made), x.shape[0], numbers)
        parallel(self.handle.address, arguments, -(-numbers // self.across))
        return made.transpose(x.ndim - 1, *[order.index(axis) for axis in range(1, x.ndim)])
