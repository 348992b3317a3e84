"""Memory that a compiled function works in: a block for each thread, not for each shard.

A thread takes several shards, one after the other. In the same block each of them finds the memory in the
cache; blocks for shards would take several times as much memory and push each other out.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from engine.kernels.cpu import pool
from engine.kernels.fast.arguments import address
from engine.kernels.fast.vectors import I64, Frame, Local, Value, offset


class ThreadBlocks:
    """Blocks of ``size`` bytes, a multiple of 64, for one call of a function with :func:`own_block`."""

    def __init__(self, size: int) -> None:
        count = pool.threads()
        self._memory = np.empty(count * size + 64, np.uint8)
        self._taken = (ctypes.c_int64 * count)()
        start = address(self._memory)
        self.arguments = start + -start % 64, ctypes.addressof(self._taken), count


@contextmanager
def own_block(frame: Frame, slot: int, size: int) -> Iterator[Value]:
    """The address of a block of ``size`` bytes that no other thread uses until the end of this context.

    Arguments from ``slot`` on: those of :class:`ThreadBlocks`. Which block it is changes nothing: nothing is
    read that the same call did not write. Where there are more threads than blocks, since their number was
    changed meanwhile, a thread waits for another's block.
    """
    b = frame.builder
    blocks, count = frame.pointer(slot), frame.integer(slot + 2)
    taken = b.inttoptr(frame.integer(slot + 1), I64.as_pointer())  # atomic operations ask for the type
    following = Local(b, I64(0))
    search, found = b.append_basic_block("search"), b.append_basic_block("found")
    b.branch(search)
    b.position_at_end(search)
    number = following.get()
    following.set(b.srem(b.add(number, I64(1)), count))
    mark = b.gep(taken, [number])
    took = b.cmpxchg(mark, I64(0), I64(1), "seq_cst", "seq_cst")
    b.cbranch(b.extract_value(took, 1), found, search)
    b.position_at_end(found)
    yield offset(b, blocks, b.mul(number, I64(size)))
    b.store_atomic(I64(0), mark, "seq_cst", 8)
