"""Kernels that follow each other as one call: in small plans the calls take longer than what they compute.

A :class:`Part` says how one operator's kernel is called, with values in place of arrays. A :class:`Chain` has
the arguments of all of them in one block of memory. Compiled code puts the addresses in and calls one
kernel after the other; values that only the chain reads lie in one array, which a call allocates.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from engine.core.values.spec import Spec
from engine.kernels.fast import arguments
from engine.kernels.fast import vectors as v
from engine.kernels.fast.compiler import Handle, function

Array = Any

FAILED = -1  # the operand that is a word of memory: not 0 where a kernel can't compute what it was given

# Places in the block, in 64-bit integers: where objects end that addresses are read from, where the places of
# addresses begin and end, where the calls end, the word of FAILED, the block's own address, and the objects:
# first the array of the values that only the chain reads, then the arrays of the others.
_READ, _BEGIN, _END, _STOP, _WORD, _OWN, _INSIDE = range(7)
_LINE = 64  # bytes; values begin at multiples of it


class Part(NamedTuple):
    """The call of one kernel: the first ``numbers`` of its arguments, and the ``operands`` whose addresses
    follow, by position among the operator's inputs and outputs; ``holds`` is what has to live as long."""

    handle: Handle
    numbers: Sequence[int]
    operands: Sequence[int]
    shards: int
    holds: Any = None


class Chain:
    """Calls of ``parts``, each with the numbers of the values that it has as inputs and outputs.

    Values below ``given`` are the chain's own inputs, ``results`` those that it returns; ``specs`` are of all
    values. Call :meth:`complete` when the ``handles`` are compiled.
    """

    def __init__(
        self,
        parts: Sequence[tuple[Part, Sequence[int]]],
        specs: Sequence[Spec],
        given: int,
        results: Sequence[int],
    ) -> None:
        self._parts, self._given = parts, given
        self._code = function(f"chain {arguments.HEAD}", build)
        self.handles = (self._code, *(part.handle for part, _ in parts))
        self._results = [(specs[n].shape, specs[n].dtype.np) for n in results]
        self._numbers = any(not s.ndim for s in specs[:given])
        self._inside, self._bytes = _places(parts, specs, {*range(given), *results})
        self._objects = {n: _INSIDE + k for k, n in enumerate((*range(given), *results), 1)}

    def complete(self) -> None:
        """Write the block that each call begins with."""
        objects = _INSIDE + 1 + len(self._objects)
        block, places, calls = [0] * objects, [], []
        for part, values in self._parts:
            calls += [part.handle.address, len(block), part.shards]
            block += part.numbers
            for operand in part.operands:
                if operand == FAILED:
                    places += [len(block), _OWN, 8 * _WORD]
                elif (number := values[operand]) in self._objects:
                    places += [len(block), self._objects[number], 0]
                else:
                    places += [len(block), _INSIDE, self._inside[number]]
                block.append(0)
        block[_READ] = objects if arguments.is_quick else _INSIDE
        block[_BEGIN], block[_END] = len(block), len(block) + len(places)
        block[_STOP] = block[_END] + len(calls)
        block += [*places, *calls]
        kind = ctypes.c_int64 * len(block)
        self._template = kind(*block)
        self._make = kind.from_buffer_copy
        self._pack = struct.Struct(f"={objects - _INSIDE}q").pack_into

    def __call__(self, *arrays: Array) -> list[Array] | None:
        """The results; None where a kernel can't compute them from these arrays."""
        if self._numbers:
            arrays = tuple(arguments.as_arrays(arrays))
        if False in [x.flags.c_contiguous for x in arrays]:
            return None
        results = [np.empty(shape, dtype) for shape, dtype in self._results]
        inside = np.empty(self._bytes, np.int8)
        args = self._make(self._template)
        self._pack(args, 8 * _INSIDE, *map(arguments.reference, (inside, *arrays, *results)))
        self._code.call(args, 0, 0)
        return None if args[_WORD] else results


def _places(
    parts: Sequence[tuple[Part, Sequence[int]]], specs: Sequence[Spec], outside: set[int]
) -> tuple[dict[int, int], int]:
    """Where the values that are not ``outside`` lie, and how many bytes that takes: a value may lie where one
    of its size was that no later call reads."""
    last = {number: n for n, (_, values) in enumerate(parts) for number in values}
    found: dict[int, int] = {}
    free: dict[int, list[int]] = {}
    end = 0
    for n, (_, values) in enumerate(parts):
        for number in dict.fromkeys(values):
            if number in outside or number in found:
                continue
            size = _size(specs[number])
            if free.get(size):
                found[number] = free[size].pop()
            else:
                found[number], end = end, end + size
        for number in {*values}:
            if number in found and last[number] == n:
                free.setdefault(_size(specs[number]), []).append(found[number])
    return found, end + _LINE


def _size(spec: Spec) -> int:
    """Bytes, whole lines."""
    return -(-spec.size * spec.dtype.itemsize // _LINE) * _LINE


def build(module: ir.Module, name: str) -> ir.Function:
    """Write the code of all chains: its arguments are the block of one."""
    frame = v.Frame(module, name)
    b = frame.builder

    def at(index: v.Value) -> v.Value:
        return v.offset(b, frame.args, index, v.I64)

    def word(index: v.Value) -> v.Value:
        return v.load(b, at(index), v.I64)

    v.store(b, b.ptrtoint(frame.args, v.I64), at(v.I64(_OWN)))
    begin, end, stop = (frame.integer(n) for n in (_BEGIN, _END, _STOP))
    with v.loop(b, v.I64(_INSIDE), frame.integer(_READ)) as n:
        pointer = b.inttoptr(b.add(word(n), v.I64(arguments.HEAD)), v.POINTER)
        v.store(b, v.load(b, pointer, v.I64), at(n))
    line = b.and_(b.add(word(v.I64(_INSIDE)), v.I64(_LINE - 1)), v.I64(-_LINE))
    v.store(b, line, at(v.I64(_INSIDE)))
    with v.loop(b, begin, end, 3) as n:
        place, source, step = (word(b.add(n, v.I64(k))) for k in range(3))
        v.store(b, b.add(word(source), step), at(place))
    kind = ir.FunctionType(ir.VoidType(), [v.POINTER, v.I64, v.I64])
    with v.loop(b, end, stop, 3) as n:
        address, args, shards = (word(b.add(n, v.I64(k))) for k in range(3))
        b.call(b.inttoptr(address, kind.as_pointer()), [at(args), v.I64(0), shards])
    return frame.close()
