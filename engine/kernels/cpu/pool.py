"""A small pool of threads for kernels: shards of one product or of one compiled function, side by side.

The calling thread works too, and each free thread takes the next task: a core that other programs keep busy
slows a call down and never stops it (a team of BLAS threads waits for its slowest member). Results do not
depend on which thread takes which task, so they are bitwise identical with and without the pool.
"""

from __future__ import annotations

import contextvars
import ctypes
import functools
import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from engine.kernels.cpu import threads as threads_

Task = Callable[[], None]

# Shards of a compiled function for each thread: few enough to cost nothing, enough that a busy core, which
# takes fewer, is not waited for long.
_SHARES = 4


class _Job:
    """The tasks of one call: who takes one, who waits for the last."""

    __slots__ = ("errors", "finished", "last", "numbers", "tasks")

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = tasks
        self.numbers = itertools.count()  # the next task; next() on a counter is one step for all threads
        self.finished = itertools.count(1)
        self.errors: list[tuple[int, BaseException]] = []
        self.last = threading.Lock()  # free as soon as the last task has ended
        self.last.acquire()

    def work(self) -> None:
        """Do tasks until none is left; errors that tasks raise are stored for the caller."""
        tasks = self.tasks
        count = len(tasks)
        while (number := next(self.numbers)) < count:
            try:
                if not self.errors:
                    tasks[number]()
            except BaseException as error:
                self.errors.append((number, error))
            finally:
                if next(self.finished) == count:
                    self.last.release()


class _Worker(threading.Thread):
    """A thread that sleeps until it is woken, and then helps with the current job."""

    def __init__(self, number: int) -> None:
        super().__init__(name=f"kernels-{number}", daemon=True)
        self.wake = threading.Lock()
        self.wake.acquire()
        # The job and a copy of the caller's context, which has NumPy's handling of overflow.
        self.job: tuple[_Job, contextvars.Context] | None = None
        self.leaving = False

    def run(self) -> None:
        while True:
            self.wake.acquire()
            if self.leaving:
                return
            job, self.job = self.job, None
            if job is not None:
                job[1].run(job[0].work)
                del job  # frees the arrays of its tasks before the next one

    def help(self, job: _Job) -> None:
        """Take part in a job. A worker that has not yet woken up for the last one finds this one."""
        self.job = job, contextvars.copy_context()
        if self.wake.locked():
            self.wake.release()

    def leave(self) -> None:
        """End after the task at hand."""
        self.leaving = True
        if self.wake.locked():
            self.wake.release()


_workers: list[_Worker] = []
_crew: Any = None  # None: not requested yet; False: not on this system
_taken = threading.Lock()  # held by the call that has the workers; every other call works alone


def threads() -> int:
    """How many threads a call may use, the caller's own one counted: at least 1."""
    return threads_.get_num_threads()


def run(tasks: Sequence[Task]) -> None:
    """Do the tasks, in any order and side by side, and return when all have ended.

    Tasks must not depend on each other. They run at the same time as far as they leave the interpreter's
    lock, as products of matrices do. A call from within a task, or while another thread has the pool, does
    its tasks one after another. Raises the error of the first task that failed (tasks not yet begun are left
    out then); an interrupt is raised as soon as the tasks at hand have ended.
    """
    count = len(tasks)
    if count < 2 or threads_.get_num_threads() < 2 or not _taken.acquire(blocking=False):
        for task in tasks:
            task()
        return
    try:
        _share(tasks, min(count, threads_.get_num_threads()) - 1)
    finally:
        _taken.release()


@contextmanager
def alone() -> Iterator[None]:
    """Calls of this and of all other threads work alone within the block: their times can be compared."""
    with _taken:
        yield


def _share(tasks: Sequence[Task], helpers: int) -> None:
    job = _Job(tasks)
    try:
        for worker in _workers_for(helpers):
            worker.help(job)
        job.work()
        job.last.acquire()
    except BaseException as error:  # an interrupt of the caller: no further task begins
        job.errors.append((-1, error))
        job.work()
        job.last.acquire()
    finally:
        job.tasks = ()  # a worker that wakes up late keeps no arrays until then
    if job.errors:
        first = min(job.errors, key=lambda pair: pair[0])[1]
        job.errors.clear()
        try:
            raise first
        finally:
            del first  # its traceback holds this frame


def _workers_for(count: int) -> list[_Worker]:
    """Return ``count`` workers; missing ones are started."""
    while len(_workers) < count:
        worker = _Worker(len(_workers) + 1)
        worker.start()
        _workers.append(worker)
    return _workers[:count]


def dismiss(keep: int = 0) -> None:
    """End all workers but ``keep``; waits for the tasks that they are at."""
    with _taken:
        leaving = _workers[keep:]
        del _workers[keep:]
        for worker in leaving:
            worker.leave()
        if _crew and _crew.size > keep:
            _crew.resize(keep)
    for worker in leaving:
        worker.join()


def parallel(address: int, args: Any, count: int) -> None:
    """Call the compiled function at ``address`` over the shards [0, count), side by side.

    The function is ``void f(int64_t *args, int64_t begin, int64_t end)``; its shards must not depend on each
    other, and it must not touch Python. ``args`` is a ctypes array of int64, which lives until the return.
    """
    function = _function(address)
    size = threads_.get_num_threads()
    parts = min(count, size * _SHARES) if size > 1 else 1
    if parts < 2:
        if count > 0:
            function(args, 0, count)
        return
    crew = _compiled_crew()
    if crew is not None:
        if not _taken.acquire(blocking=False):
            function(args, 0, count)
            return
        try:
            if crew.size != size - 1:
                crew.resize(size - 1)
            crew.call(address, ctypes.addressof(args), parts, count)
        finally:
            _taken.release()
        return
    ends = [count * n // parts for n in range(parts + 1)]
    run([functools.partial(function, args, ends[n], ends[n + 1]) for n in range(parts)])


def _compiled_crew() -> Any:
    """Workers that hand shards over in compiled code, or None: not there (yet), so Python does it.

    A hand-over costs about 1 us where the workers are awake and 14 where they sleep; through the interpreter
    it is 6 and 23 (python -m bench.pool).
    """
    global _crew
    if _crew is None:
        from engine.kernels.fast.compiler import available

        if available():
            from engine.kernels.fast.linalg import handoff

            _crew = handoff.Crew() if handoff.supported() else False
        else:
            _crew = False
    return _crew if _crew and _crew.ready else None


_Prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@functools.lru_cache(maxsize=4096)
def _function(address: int) -> Any:
    return _Prototype(address)


def _forget() -> None:
    """Reset the pool in a forked child, which has none of the parent's threads."""
    global _taken, _crew
    _workers.clear()
    _crew = None
    _taken = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
