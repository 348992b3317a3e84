"""A network as compiled stages that are called one after the other.

Values between stages share memory: each has its place while it is needed. One call at a time has a set of
places; another call that comes meanwhile gets its own.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
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
from engine.kernels.fast.images.channel_blocks.rows_code import emit_row_convolution, emit_row_pool
from engine.kernels.fast.images.channel_blocks.stage_code import CONSTANTS, OPERANDS, SAMPLES, SOURCE, TARGET
from engine.kernels.fast.images.channel_blocks.stages import (
    Convolution,
    Depthwise,
    Enter,
    Grid,
    Leave,
    Pointwise,
    Pool,
    RowConvolution,
    RowPool,
    Stage,
    WinogradImage,
    WinogradResult,
)
from engine.kernels.fast.images.channel_blocks.winograd_code import emit_winograd_image, emit_winograd_result
from engine.kernels.fast.images.sample_blocks import aligned, array
from engine.kernels.fast.target import lanes
from engine.kernels.fast.vectors import I64, POINTER, Frame, load, loop, offset

Array = np.ndarray[Any, Any]

_EMIT: dict[type, Callable[[ir.Module, str, Any, int], ir.Function]] = {
    Convolution: emit_convolution,
    WinogradImage: emit_winograd_image,
    WinogradResult: emit_winograd_result,
    RowConvolution: emit_row_convolution,
    Depthwise: emit_depthwise,
    Pool: emit_pool,
    RowPool: emit_row_pool,
    Pointwise: emit_pointwise,
    Enter: emit_enter,
    Leave: emit_leave,
}
_LINE = 16  # floats of a cache line
_FLOAT, _empty = np.dtype(np.float32), np.empty
_RUN = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p
)  # one argument: each further one takes a tenth of a microsecond


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
    """A value of a network: in its own memory as a ``grid``, or the caller's array.

    ``given`` is the number among the arguments; ``shape`` is that of a result. Results are made in order.
    """

    grid: Grid | None = None
    given: int | None = None
    shape: tuple[int, ...] | None = None


Call = Callable[[], object]


@dataclass
class _Places:
    """What one call at a time has: memory of the values, arguments, and the calls.

    ``inputs`` are arguments to which the address of a caller's array goes, and its number; ``outputs`` those
    for a result, and its shape.
    """

    memory: Array
    odd: Array  # not 0 where a result of a transform is not finite
    arguments: list[Any]
    inputs: list[tuple[Any, int]]
    outputs: list[tuple[Any, tuple[int, ...]]]
    calls: list[Call] = field(default_factory=list)


class Network:
    """Steps for some samples. ``steps`` are in an order in which values are made before they are read.

    ``exact`` makes the network for images that transforms have no finite results for; None: there are no
    transforms.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        values: Sequence[Value],
        samples: int,
        exact: Callable[[], Network] | None = None,
    ) -> None:
        self._exact, self._made_exact = exact, threading.Lock()
        self._other: Network | None = None
        width = lanes()
        self._steps, self._values, self._samples = steps, values, samples
        self._handles = [_handle(step.stage, width) for step in steps]
        self._run = function("channel blocks: steps", _emit_run)
        self._run_shards = function("channel blocks: steps by samples", _emit_run_shards)
        spans = {n: (n, n) for n in range(len(steps))}
        for group in self._groups():
            if self._by_samples(group):  # one thread may be at its last step while another is at its first
                spans |= dict.fromkeys(group, (group[0], group[-1]))
        self._offsets, self._floats = _placed(steps, values, samples, spans)
        self._free: list[_Places] = []

    @property
    def handles(self) -> list[Handle]:
        """All code that has to be there before a call."""
        return [*self._handles, self._run, self._run_shards]

    def _made(self) -> _Places:
        memory, odd = aligned(self._floats), np.zeros(1, np.float32)
        base = address(memory)

        def place(n: int) -> int:
            return 0 if self._values[n].grid is None else base + 4 * self._offsets[n]

        arguments = []
        for step in self._steps:
            made = array(*[0] * (OPERANDS + len(step.operands) + 1))
            made[SOURCE], made[TARGET] = place(step.source), place(step.target)
            made[CONSTANTS] = 0 if step.constants is None else address(step.constants)
            made[SAMPLES] = self._turns(step.stage)
            for n, operand in enumerate(step.operands):
                if operand is not None:
                    made[OPERANDS + n] = place(operand) if isinstance(operand, int) else address(operand)
            if isinstance(step.stage, WinogradResult):
                made[-1] = address(odd)
            arguments.append(made)
        found = _Places(
            memory,
            odd,
            arguments,
            [
                (made, given)
                for made, step in zip(arguments, self._steps, strict=True)
                if (given := self._values[step.source].given) is not None
            ],
            [
                (made, shape)
                for made, step in zip(arguments, self._steps, strict=True)
                if (shape := self._values[step.target].shape) is not None
            ],
        )
        for numbers in self._groups():
            if not self._alone(numbers[0]):
                (n,) = numbers
                found.calls.append(partial(pool.parallel, self._address(n), arguments[n], self._count(n)))
                continue
            shared = self._by_samples(numbers)
            table = [len(numbers)]
            for n in numbers:
                table += [
                    self._address(n),
                    ctypes.addressof(arguments[n]),
                    *([] if shared else [self._count(n)]),
                ]
            found.arguments.append(array(*table))
            run = found.arguments[-1]
            if shared:
                assert self._run_shards.address is not None  # it is there before a call
                found.calls.append(partial(pool.parallel, self._run_shards.address, run, self._samples))
            else:
                found.calls.append(partial(_RUN(self._run.address), ctypes.addressof(run)))
        return found

    def _groups(self) -> list[list[int]]:
        """The steps in order: one that is divided is alone, neighbours that are not are one call."""
        found: list[list[int]] = []
        for n in range(len(self._steps)):
            together = found and self._alone(n) and self._alone(found[-1][0])
            if together and self._each_sample(n) == self._each_sample(found[-1][0]):
                found[-1].append(n)
            else:
                found.append([n])
        # Calls by one thread that follow each other are one.
        joined: list[list[int]] = []
        for group in found:
            alone = self._alone(group[0]) and not self._by_samples(group)
            if joined and alone and self._alone(joined[-1][0]) and not self._by_samples(joined[-1]):
                joined[-1] += group
            else:
                joined.append(group)
        return joined

    def _each_sample(self, n: int) -> bool:
        """Whether a step takes the samples one by one."""
        return self._turns(self._steps[n].stage) == self._samples

    def _by_samples(self, numbers: Sequence[int]) -> bool:
        """Whether threads take different samples through these steps: a sample's depend on its own alone."""
        return any(self._steps[n].stage.share.by_samples for n in numbers) and self._each_sample(numbers[0])

    def _address(self, n: int) -> int:
        """The code of a step, which is there before a call."""
        found = self._handles[n].address
        assert found is not None
        return found

    def _alone(self, n: int) -> bool:
        """Whether one thread computes a step."""
        share = self._steps[n].stage.share
        return share.across * share.down == 1

    def _count(self, n: int) -> int:
        """Shards of a step."""
        stage = self._steps[n].stage
        return stage.share.across * stage.share.down * self._turns(stage)

    def _turns(self, stage: Stage) -> int:
        """Samples that a stage takes one by one."""
        return self._samples // stage.together if isinstance(stage, Convolution) else self._samples

    def __call__(self, given: Sequence[Array]) -> list[Array]:
        """The results for float32 arrays, in new arrays."""
        try:
            places = self._free.pop()
        except IndexError:
            places = self._made()
        held = []
        for arguments, n in places.inputs:
            x = given[n]
            if not x.flags.c_contiguous:
                x = np.ascontiguousarray(x)
                held.append(x)
            arguments[SOURCE] = address(x)
        results = []
        for arguments, shape in places.outputs:
            made = _empty(shape, _FLOAT)
            arguments[TARGET] = address(made)
            results.append(made)
        for call in places.calls:
            call()
        if self._exact is not None and places.odd[0]:
            places.odd[0] = 0
            self._free.append(places)
            return self._without_transforms(given) or results
        self._free.append(places)
        return results

    def _without_transforms(self, given: Sequence[Array]) -> list[Array] | None:
        """What sums without transforms give, which keep numbers that are not finite apart from others; None
        where their code can't be compiled."""
        assert self._exact is not None
        with self._made_exact:
            if self._other is None:
                self._other = self._exact()
        there = all(handle.wait() for handle in self._other.handles)
        return self._other(given) if there else None


def _handle(stage: Stage, width: int) -> Handle:
    emit = _EMIT[type(stage)]
    return function(f"channel blocks of {width}: {stage}", lambda m, n: emit(m, n, stage, width))


def _emit_run(module: ir.Module, name: str) -> ir.Function:
    """Calls steps that one thread computes. Arguments: how many, and of each its function, its arguments, its
    shards. It reads neither ``begin`` nor ``end``."""
    frame = Frame(module, name)
    b = frame.builder
    kind = ir.FunctionType(ir.VoidType(), [POINTER, I64, I64])
    with loop(b, I64(0), frame.integer(0)) as n:
        line = offset(b, frame.args, b.add(b.mul(n, I64(24)), I64(8)))
        called, given, count = (load(b, offset(b, line, I64(8 * k)), I64) for k in range(3))
        function_at = b.inttoptr(called, kind.as_pointer())
        b.call(function_at, [b.inttoptr(given, POINTER), I64(0), count])
    return frame.close()


def _emit_run_shards(module: ir.Module, name: str) -> ir.Function:
    """Calls steps one after the other for the same shards. Arguments: how many, and of each its function and
    its arguments."""
    frame = Frame(module, name)
    b = frame.builder
    kind = ir.FunctionType(ir.VoidType(), [POINTER, I64, I64])
    with loop(b, I64(0), frame.integer(0)) as n:
        line = offset(b, frame.args, b.add(b.mul(n, I64(16)), I64(8)))
        called, given = (load(b, offset(b, line, I64(8 * k)), I64) for k in range(2))
        function_at = b.inttoptr(called, kind.as_pointer())
        b.call(function_at, [b.inttoptr(given, POINTER), frame.begin, frame.end])
    return frame.close()


def _placed(
    steps: Sequence[Step], values: Sequence[Value], samples: int, spans: Mapping[int, tuple[int, int]]
) -> tuple[dict[int, int], int]:
    """Where each value is in memory, in floats, and how many there are in all: first where there is room.

    ``spans`` are the first and the last of the steps that may run at the same time as each.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for n, step in enumerate(steps):
        begin, end = spans[n]
        first.setdefault(step.target, begin)
        read = [step.source, *(o for o in step.operands if isinstance(o, int))]
        last |= dict.fromkeys([step.target, *read], end)
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
