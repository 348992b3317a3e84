"""Compiled code hands shards over to workers: each shard once, whatever the number of workers and calls."""

import ctypes
import multiprocessing
import os
import random
import threading

import pytest

from engine.kernels.cpu import pool, threads

pytest.importorskip("llvmlite")

from engine.kernels.fast.compiler import function
from engine.kernels.fast.linalg import handoff
from engine.kernels.fast.vectors import I64, Frame, loop

pytestmark = pytest.mark.skipif(not handoff.supported(), reason="no futex whose number is known")
SIZE = 300


def count_up(module, name):
    """Adds 1 to each number of [begin, end) in the array at args[0]."""
    frame = Frame(module, name)
    b, base = frame.builder, frame.pointer(0)
    with loop(b, frame.begin, frame.end) as n:
        place = b.gep(base, [n], source_etype=I64)
        b.store(b.add(b.load(place, typ=I64), I64(1)), place)
    return frame.close()


@pytest.fixture
def crew(monkeypatch):
    """The pool's compiled crew, ready, for three threads."""
    monkeypatch.setattr(threads, "_count", 3)
    monkeypatch.setattr(pool, "_crew", None)
    pool._compiled_crew()
    made = pool._crew
    assert made.wait(120)
    yield made
    pool.dismiss()
    assert made.size == 0


@pytest.fixture
def kernel():
    made = function("tests: count up", count_up)
    assert made.wait(120)
    return made.address


def test_each_shard_is_done_once(crew, kernel, monkeypatch):
    counts, expected = (ctypes.c_int64 * SIZE)(), [0] * SIZE
    args = (ctypes.c_int64 * 1)(ctypes.addressof(counts))
    chosen = random.Random(0)
    for _ in range(3000):
        if chosen.random() < 0.01:
            monkeypatch.setattr(threads, "_count", chosen.randint(1, 4))
        size = chosen.choice([0, 1, 2, 3, 7, 12, 13, 100, SIZE])
        pool.parallel(kernel, args, size)
        for n in range(size):
            expected[n] += 1
    assert list(counts) == expected


def test_workers_wake_up_and_take_part(crew):
    met = threading.Barrier(3, timeout=60)  # passed only where three threads are in a shard at once
    names = set()

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    def shard(args, begin, end):
        met.wait()
        names.add(threading.current_thread().name)

    args = (ctypes.c_int64 * 1)()
    for pause in (0.0, 0.2):  # the workers look around for a moment, then they sleep
        threading.Event().wait(pause)
        names.clear()
        pool.parallel(ctypes.cast(shard, ctypes.c_void_p).value, args, 3)
        assert names == {"MainThread", "compiled-kernels-1", "compiled-kernels-2"}


def test_several_callers_at_once(crew, kernel):
    totals = []

    def call():
        counts = (ctypes.c_int64 * SIZE)()
        args = (ctypes.c_int64 * 1)(ctypes.addressof(counts))
        for _ in range(300):
            pool.parallel(kernel, args, SIZE)
        totals.append(set(counts))

    callers = [threading.Thread(target=call) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert totals == [{300}] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_its_own_crew(crew, kernel):
    counts = (ctypes.c_int64 * SIZE)()
    args = (ctypes.c_int64 * 1)(ctypes.addressof(counts))
    pool.parallel(kernel, args, SIZE)
    there, here = (context := multiprocessing.get_context("fork")).Pipe()

    def child():
        pool.parallel(kernel, args, SIZE)
        pool._compiled_crew()
        assert pool._crew.wait(120)
        pool.parallel(kernel, args, SIZE)
        there.send((set(counts), pool._crew.size))

    process = context.Process(target=child)
    process.start()
    assert here.poll(120)
    assert here.recv() == ({3}, 2)
    process.join()
    assert process.exitcode == 0
    assert set(counts) == {1}
