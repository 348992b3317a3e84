"""How many threads compute, and how many of them BLAS uses by itself.

A team of BLAS threads spins while it waits for its slowest member, so one busy core stops it: on a 2-core
machine with other work a LeNet step took 243 to 288 ms with two threads (median) and 23 with one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from threadpoolctl import threadpool_limits

from engine.kernels.cpu.cores import cores

USERS_WORD = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS")

_count = 0  # 0: not worked out yet


def users_count() -> int | None:
    """The number of threads that the user's environment says, or None where it says none."""
    for name in USERS_WORD:
        word = os.environ.get(name, "").partition(",")[0].strip()  # OpenMP takes a number for each level
        if word.isdecimal() and int(word) > 0:
            return int(word)
    return None


def count() -> int:
    """How many threads compute: as set, else what the environment says, else the cores of this process."""
    global _count
    if not _count:
        _count = users_count() or cores()
    return _count


@contextmanager
def blas_threads(count: int) -> Iterator[None]:
    """Within the block BLAS uses so many threads, unless the user's environment says how many."""
    if any(os.environ.get(name) for name in USERS_WORD):
        yield
        return
    with threadpool_limits(limits=count, user_api="blas"):
        yield


def one_blas_thread() -> AbstractContextManager[None]:
    """Within the block BLAS uses one thread, unless the user's environment says how many."""
    return blas_threads(1)


def set_blas_threads(count: int) -> None:
    """From here on BLAS uses ``count`` threads in this process."""
    threadpool_limits(limits=count, user_api="blas")
