"""Work over parts of arrays: ranges of an axis, each on a thread of the pool, without NumPy's buffers."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from engine.kernels.cpu import pool
from engine.kernels.cpu import threads as threads_

# Elements that are read or written from which on another thread is woken: NumPy copies them in about 200 us.
LARGE = 1 << 19
# Elements of a range, and how many ranges at most: a thread that another program keeps busy takes fewer.
_RANGE, _MOST = 1 << 21, 4
# Numbers in NumPy's buffer: shorter runs and casts are faster through it.
_BUFFER = 256


@contextlib.contextmanager
def unbuffered() -> Iterator[None]:
    """Within the block, in this thread and in tasks of the pool that begin there, NumPy's elementwise
    functions read and write the parts of larger arrays without copies.

    Where it can't walk through its operands as one run, NumPy copies parts into its buffer,
    computes there and copies the result back: 3 times the time for runs of 1,000 numbers. With a buffer
    shorter than the runs it leaves that.
    """
    before = np.setbufsize(_BUFFER)
    try:
        yield
    finally:
        np.setbufsize(before)


def in_ranges(length: int, size: int, work: Callable[[slice], None]) -> None:
    """Call ``work`` with slices that make up ``length``: several where ``size`` elements are many, over the
    threads of the pool. How many follows from the sizes alone, so it is the same for any number of threads.

    Results of different places must not depend on each other.
    """
    if not threads_.blas_is_ours:
        threads_.claim_blas()  # products in ``work`` use one thread each
    parts = min(length, max(2, min(_MOST, size // _RANGE))) if size >= LARGE else 1
    if parts < 2:
        work(slice(0, length))
        return
    ends = [length * n // parts for n in range(parts + 1)]
    pool.run([functools.partial(work, slice(*pair)) for pair in itertools.pairwise(ends)])


def in_parts(work: Callable[..., None], *arrays: Any) -> None:
    """Call ``work`` with parts of arrays of one shape, cut along the axis that is the outermost in memory."""
    first = arrays[0]
    steps = [0 if n == 1 else step for n, step in zip(first.shape, first.strides, strict=True)]
    axis = steps.index(max(steps))
    before = (slice(None),) * axis

    def compute(part: slice) -> None:
        work(*[each[(*before, part)] for each in arrays])

    in_ranges(first.shape[axis], sum([each.size for each in arrays]), compute)


def lie_alike(*arrays: Any) -> bool:
    """Whether arrays have one shape and one order, so that their parts are contiguous."""
    first = arrays[0]
    return all(each.shape == first.shape and each.strides == first.strides for each in arrays[1:])
