"""The number of threads that compute; the BLAS library must not start more.

A team of BLAS threads spins while it waits for its slowest member, so one busy core stops it: on a 2-core
machine with other work a LeNet step took 243 to 288 ms with two threads (median) and 23 with one. So BLAS is
called with one thread, and large products are split over the pool (engine/kernels/cpu/products.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from engine.core.errors import ArgumentError

USERS_WORD = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS")
MOST = 1024

blas_is_ours = False  # whether BLAS has been set to use one thread

_count = 0  # 0: not worked out yet


def users_count() -> int | None:
    """The number of threads in the user's environment, or None."""
    for name in USERS_WORD:
        word = os.environ.get(name, "").partition(",")[0].strip()  # OpenMP takes a number for each level
        if word.isdecimal() and int(word) > 0:
            return min(int(word), MOST)
    return None


def get_num_threads() -> int:
    """How many threads compute: as set, else as in the environment, else the cores of this process."""
    global _count
    if not _count:
        _count = users_count() or _cores()
    return _count


def _cores() -> int:
    from engine.kernels.cpu.cores import cores  # with the first product, not with the engine

    return cores()


def set_num_threads(count: int) -> None:
    """Set the number of threads that compute, in the whole process; BLAS starts none itself.

    Raises:
        ArgumentError: not an integer from 1 to 1024.
    """
    global _count
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
        raise ArgumentError(
            f"set_num_threads: must be an integer from 1 to {MOST}: got {count!r}; "
            "give the number of cores to use"
        )
    claim_blas()
    _count = count


def claim_blas() -> None:
    """BLAS uses one thread in this process from here on: large products are split over the pool."""
    global blas_is_ours
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="blas")
    blas_is_ours = True


def granted(count: int = 0) -> int:
    """How many threads a run gets that asks for ``count`` (0: as many as there are cores).

    The user's environment takes precedence.
    """
    return users_count() or count or _cores()


def take_threads(count: int = 0) -> int:
    """From here on as many threads compute as a run gets that asks for ``count``; gives their number."""
    set_num_threads(granted(count))
    return get_num_threads()


@contextmanager
def computing_threads(count: int = 0, claim: bool = True) -> Iterator[int]:
    """Set the number of threads within the block (see ``granted``); yields it.

    ``claim``: BLAS gets one thread first, which takes a millisecond; False where a block before did that.
    """
    global _count
    before = _count
    try:
        if claim or not blas_is_ours:
            take_threads(count)
        else:
            _count = granted(count)
        yield get_num_threads()
    finally:
        _count = before
