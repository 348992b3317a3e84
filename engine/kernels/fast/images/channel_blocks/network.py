"""A network as compiled stages that are called one after the other.

Values between stages share memory: each has its place while it is needed. One call at a time has a set of
places; another call that comes meanwhile gets its own.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from llvmlite import ir

from engine.kernels.cpu import pool
from engine.kernels.fast.arguments import address
from engine.kernels.fast.compiler import Handle, function
from engine.kernels.fast.images.channel_blocks.convolution_code import emit_convolution
from engine.kernels.fast.images.channel_blocks.copies_code import emit_enter, emit_leave
from engine.kernels.fast.images.channel_blocks.depthwise_code import emit_depthwise
from engine.kernels.fast.images.channel_blocks.pooling_code import emit_pointwise, emit_pool
from engine.kernels.fast.images.channel_blocks.stage_code import CONSTANTS, OPERANDS, SAMPLES, SOURCE, TARGET
from engine.kernels.fast.images.channel_blocks.stages import (
    Convolution,
    Depthwise,
    Enter,
    Grid,
    Leave,
    Pointwise,
    Pool,
    Stage,
)
from engine.kernels.fast.images.sample_blocks import aligned, array
from engine.kernels.fast.target import lanes
from engine.kernels.fast.vectors import I64, POINTER, Frame, load, loop, offset

Array = np.ndarray[Any, Any]

_EMIT: dict[type, Callable[[ir.Module, str, Any, int], ir.Function]] = {
    Convolution: emit_convolution,
    Depthwise: emit_depthwise,
    Pool: emit_pool,
    Pointwise: emit_pointwise,
    Enter: emit_enter,
    Leave: emit_leave,
}
_LINE = 16  # floats of a cache line


@dataclass
class Step:
    """A stage in a network: numbers of the values that it reads and makes, its constants, and operands:
    numbers of values, arrays, or None where the code has the number."""

    stage: Stage
    source: int
    target: int
    constants: Array | None = None
    operands: Sequence[int | Array | None] = ()


@dataclass
class Value:
    """A value of a network: in memory of its own as a ``grid``, or the caller's array of a ``shape``.

    ``given`` is the number among the arguments, ``result`` that among the results.
    """

    grid: Grid | None = None
    given: int | None = None
    result: int | None = None
    shape: tuple[int, ...] = ()


@dataclass
class _Places:
    """What one call at a time has: memory of the values, arguments, and the calls with their shards."""

    memory: Array
    arguments: list[Any]
    calls: list[tuple[Handle, Any, int]] = field(default_factory=list)


class Network:
    """Steps for some samples. ``steps`` are in an order in which values are made before they are read."""

    def __init__(self, steps: Sequence[Step], values: Sequence[Value], samples: int) -> None:
        width = lanes()
        self._steps, self._values, self._samples = steps, values, samples
        self._handles = [_handle(step.stage, width) for step in steps]
        self._run = function("channel blocks: steps", _emit_run)
        self._offsets, self._floats = _placed(steps, values, samples)
        self._inputs = [(n, s.source) for n, s in enumerate(steps) if values[s.source].given is not None]
        self._outputs = [(n, s.target) for n, s in enumerate(steps) if values[s.target].result is not None]
        self._free: list[_Places] = []

    @property
    def handles(self) -> list[Handle]:
        """All code that has to be there before a call."""
        return [*self._handles, self._run]

    def _made(self) -> _Places:
        memory = aligned(self._floats)
        base = address(memory)

        def place(n: int) -> int:
            return 0 if self._values[n].grid is None else base + 4 * self._offsets[n]

        arguments = []
        for step in self._steps:
            made = array(*[0] * (OPERANDS + len(step.operands)))
            made[SOURCE], made[TARGET] = place(step.source), place(step.target)
            made[CONSTANTS] = 0 if step.constants is None else address(step.constants)
            made[SAMPLES] = self._samples
            for n, operand in enumerate(step.operands):
                if operand is not None:
                    made[OPERANDS + n] = place(operand) if isinstance(operand, int) else address(operand)
            arguments.append(made)
        found = _Places(memory, arguments)
        several: list[int] = []

        def close() -> None:
            if several:
                table = [
                    number
                    for n in several
                    for number in (
                        self._handles[n].address or 0,
                        ctypes.addressof(arguments[n]),
                        self._count(n),
                    )
                ]
                found.calls.append((self._run, array(*table), len(several)))
                several.clear()

        for n in range(len(self._steps)):
            if self._alone(n):
                several.append(n)
            else:
                close()
                found.calls.append((self._handles[n], arguments[n], self._count(n)))
        close()
        return found

    def _alone(self, n: int) -> bool:
        """Whether one thread computes a step."""
        share = self._steps[n].stage.share
        return share.across * share.down == 1

    def _count(self, n: int) -> int:
        """Shards of a step."""
        share = self._steps[n].stage.share
        return share.across * share.down * self._samples

    def __call__(self, given: Sequence[Array]) -> list[Array]:
        """The results for float32 arrays, in new arrays."""
        try:
            places = self._free.pop()
        except IndexError:
            places = self._made()
        given = [x if x.flags.c_contiguous else np.ascontiguousarray(x) for x in given]
        results: dict[int, Array] = {}
        for n, value in self._inputs:
            number = self._values[value].given
            assert number is not None
            places.arguments[n][SOURCE] = address(given[number])
        for n, value in self._outputs:
            found = self._values[value]
            assert found.result is not None
            made = results[found.result] = np.empty(found.shape, np.float32)
            places.arguments[n][TARGET] = address(made)
        for handle, arguments, count in places.calls:
            if handle is self._run:
                handle.call(arguments, 0, count)
            else:
                assert handle.address is not None
                pool.parallel(handle.address, arguments, count)
        self._free.append(places)
        return [results[n] for n in range(len(results))]


def _handle(stage: Stage, width: int) -> Handle:
    emit = _EMIT[type(stage)]
    return function(f"channel blocks of {width}: {stage}", lambda m, n: emit(m, n, stage, width))


def _emit_run(module: ir.Module, name: str) -> ir.Function:
    """Calls steps that one thread computes. Arguments: of each its function, its arguments, its shards."""
    frame = Frame(module, name)
    b = frame.builder
    kind = ir.FunctionType(ir.VoidType(), [POINTER, I64, I64])
    with loop(b, frame.begin, frame.end) as n:
        line = offset(b, frame.args, b.mul(n, I64(24)))
        called, given, count = (load(b, offset(b, line, I64(8 * k)), I64) for k in range(3))
        function_at = b.inttoptr(called, kind.as_pointer())
        b.call(function_at, [b.inttoptr(given, POINTER), I64(0), count])
    return frame.close()


def _placed(steps: Sequence[Step], values: Sequence[Value], samples: int) -> tuple[dict[int, int], int]:
    """Where each value is in memory, in floats, and how many there are in all: first where there is room."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for n, step in enumerate(steps):
        first.setdefault(step.target, n)
        read = [step.source, *(o for o in step.operands if isinstance(o, int))]
        last |= dict.fromkeys([step.target, *read], n)
    offsets: dict[int, int] = {}
    live: list[tuple[int, int, int]] = []  # begin and end in memory, the last step that reads
    total = 0
    for value, begun in sorted(first.items(), key=lambda pair: pair[1]):
        grid = values[value].grid
        if grid is None:
            continue
        size = -(-grid.sample * samples // (4 * _LINE)) * _LINE
        live = sorted(each for each in live if each[2] >= begun)
        at = 0
        for begin, end, _ in live:
            if at + size <= begin:
                break
            at = max(at, end)
        offsets[value] = at
        live.append((at, at + size, last[value]))
        total = max(total, at + size)
    return offsets, total
