"""Blocks of memory for threads: no two calls work in one at the same time."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from llvmlite import ir

from engine.kernels.cpu import pool
from engine.kernels.fast.arguments import address
from engine.kernels.fast.compiler import function
from engine.kernels.fast.images.sample_blocks import array
from engine.kernels.fast.images.thread_blocks import ThreadBlocks, own_block
from engine.kernels.fast.vectors import I64, Frame, load, loop, offset, store

_SIZE, _SHARDS = 4096, 64


def _emit(module: ir.Module, name: str) -> ir.Function:
    """Each shard fills its block with its number, again and again; then it adds it up.

    Arguments: sums; blocks.
    """
    frame = Frame(module, name)
    b, sums = frame.builder, frame.pointer(0)
    with own_block(frame, 1, _SIZE) as block, loop(b, frame.begin, frame.end) as shard:
        goal = offset(b, sums, shard, I64)
        for _ in range(2):
            with loop(b, I64(0), I64(500)), loop(b, I64(0), I64(_SIZE), 8) as place:
                store(b, shard, offset(b, block, place))
        with loop(b, I64(0), I64(_SIZE), 8) as place:
            store(b, b.add(load(b, goal, I64), load(b, offset(b, block, place), I64)), goal)
    return frame.close()


@pytest.mark.parametrize("blocks_for", [1, 3])
def test_threads_do_not_share_a_block(blocks_for: int, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = function("test: blocks of threads", _emit)
    assert handle.wait(120)
    sums: Any = np.zeros(_SHARDS, np.int64)
    monkeypatch.setattr(pool.threads_, "get_num_threads", lambda: blocks_for)
    blocks = ThreadBlocks(_SIZE)
    monkeypatch.setattr(pool.threads_, "get_num_threads", lambda: 3)
    pool.parallel(handle.address, array(address(sums), *blocks.arguments), _SHARDS)
    pool.dismiss()
    np.testing.assert_array_equal(sums, np.arange(_SHARDS) * (_SIZE // 8))
    taken = (ctypes.c_int64 * blocks_for).from_address(blocks.arguments[1])
    assert list(taken) == [0] * blocks_for
