"""Work over an axis of arrays in ranges, each on a thread of the pool."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

from engine.kernels.cpu import pool
from engine.kernels.cpu import threads as threads_

# Elements that are read or written from which on another thread is woken: NumPy copies them in about 200 us.
LARGE = 1 << 19
# Elements of a range at least, and how many ranges at most: a thread that another program keeps busy takes
# fewer of them.
_RANGE, _MOST = 1 << 18, 8


def in_ranges(length: int, size: int, work: Callable[[slice], None]) -> None:
    """Call ``work`` with slices that make up ``length``: several where ``size`` elements are many, over the
    threads of the pool. How many follows from the sizes alone, so it is the same for any number of threads.

    Results of different places must not depend on each other.
    """
    if not threads_.blas_is_ours:
        threads_.claim_blas()  # products in ``work`` use one thread each
    parts = min(length, _MOST, size // _RANGE) if size >= LARGE else 1
    if parts < 2:
        work(slice(0, length))
        return
    ends = [length * n // parts for n in range(parts + 1)]
    pool.run([functools.partial(work, slice(*pair)) for pair in itertools.pairwise(ends)])
