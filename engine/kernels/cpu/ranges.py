"""Work over an axis of arrays in ranges, each on a thread of the pool."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

from engine.kernels.cpu import pool
from engine.kernels.cpu import threads as threads_

# Elements that are read or written from which on another thread is woken: NumPy copies them in about 200 us.
LARGE = 1 << 19


def in_ranges(length: int, size: int, work: Callable[[slice], None]) -> None:
    """Call ``work`` with slices that make up ``length``; one a thread where ``size`` elements are many.

    Results of different places must not depend on each other, so that the number of threads changes none.
    """
    if not threads_.blas_is_ours:
        threads_.claim_blas()  # products in ``work`` use one thread each
    parts = min(pool.threads(), length) if size >= LARGE else 1
    if parts < 2:
        work(slice(0, length))
        return
    ends = [length * n // parts for n in range(parts + 1)]
    pool.run([functools.partial(work, slice(*pair)) for pair in itertools.pairwise(ends)])
