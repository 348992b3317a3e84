"""How many threads the BLAS library uses.

A team of BLAS threads spins while it waits for its slowest member, so one busy core stops it: on a 2-core
machine with other work a LeNet step took 243 to 288 ms with two threads (median) and 23 with one. The window
draws while the training runs, so there is other work.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from threadpoolctl import threadpool_limits

USERS_WORD = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS")


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
