"""The pool does every task once, on several threads; errors and interrupts leave it whole."""

import ctypes
import functools
import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from engine.kernels.cpu import pool, threads


@pytest.fixture
def three(monkeypatch):
    monkeypatch.setattr(threads, "_count", 3)
    yield
    pool.dismiss()


def test_importing_starts_no_thread():
    code = "import threading, engine.kernels.cpu.pool; print(threading.active_count())"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.split() == ["1"]


def test_tasks_run_side_by_side(three):
    met = threading.Barrier(3, timeout=60)  # passed only where three threads are in a task at once
    names = []

    def task():
        met.wait()
        names.append(threading.current_thread().name)

    pool.run([task] * 3)
    assert sorted(names) == ["MainThread", "kernels-1", "kernels-2"]


def test_each_task_is_done_once(three):
    done = np.zeros((50, 20), int)
    for row in done:

        def task(number, row=row):
            row[number] += 1

        pool.run([lambda n=n: task(n) for n in range(20)])
    assert (done == 1).all()


def test_one_thread_starts_none(monkeypatch):
    monkeypatch.setattr(threads, "_count", 1)
    names = []
    pool.run([lambda: names.append(threading.current_thread().name)] * 5)
    assert names == ["MainThread"] * 5
    assert not pool._workers


def test_calls_within_a_task_run_inline(three):
    pairs = []

    def task():
        own = threading.current_thread().name
        pool.run([lambda: pairs.append((own, threading.current_thread().name))] * 4)

    pool.run([task] * 6)
    assert len(pairs) == 24
    assert all(own == inner for own, inner in pairs)


def test_an_error_reaches_the_caller_and_the_pool_continues(three):
    def fail():
        raise ValueError("from a task")

    with pytest.raises(ValueError, match="from a task"):
        pool.run([lambda: None, fail, lambda: None, fail])
    done = []
    pool.run([lambda n=n: done.append(n) for n in range(9)])
    assert sorted(done) == list(range(9))


def test_several_callers_at_once(three):
    totals = [0] * 4

    def call(place):
        for _ in range(200):
            found = []
            pool.run([functools.partial(found.append, n) for n in range(5)])
            totals[place] += len(found)

    callers = [threading.Thread(target=call, args=(place,)) for place in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert totals == [1000] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_its_own_workers(three):
    pool.run([lambda: None] * 3)
    context = multiprocessing.get_context("fork")
    there, here = context.Pipe()

    def child():
        names = set()
        met = threading.Barrier(3, timeout=60)
        pool.run([lambda: (met.wait(), names.add(threading.current_thread().name))] * 3)
        there.send(len(names))

    process = context.Process(target=child)
    process.start()
    assert here.poll(60)
    assert here.recv() == 3
    process.join()
    assert process.exitcode == 0


INTERRUPTED = """
import os, signal, threading
from engine.kernels.cpu import pool, threads
threads._count = 2
begun, on = threading.Event(), threading.Event()
def task():
    if threading.current_thread() is threading.main_thread():
        begun.wait()  # the other task is at work, so the caller waits for it at the end
    else:
        begun.set()
        print("waiting", flush=True)
        on.wait(60)
try:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    signal.signal(signal.SIGINT, lambda *_: (on.set(), signal.default_int_handler(signal.SIGINT, None)))
    pool.run([task, task])
except KeyboardInterrupt:
    print("interrupted")
done = []
pool.run([lambda: done.append(1)] * 4)
print(len(done))
"""


def test_an_interrupt_is_raised_and_the_pool_continues():
    made = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120, check=True
    )
    assert made.stdout.split() == ["waiting", "interrupted", "4"]


@ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_int64), ctypes.c_int64, ctypes.c_int64)
def _mark(args, begin, end):
    for place in range(begin, end):
        args[place] += 1


@pytest.mark.parametrize("count", [0, 1, 2, 11, 12, 13, 100])
@pytest.mark.parametrize("size", [1, 3])
def test_a_compiled_function_gets_every_shard_once(monkeypatch, count, size):
    monkeypatch.setattr(threads, "_count", size)
    args = (ctypes.c_int64 * 100)()
    pool.parallel(ctypes.cast(_mark, ctypes.c_void_p).value, args, count)
    assert list(args) == [1] * count + [0] * (100 - count)
    pool.dismiss()
