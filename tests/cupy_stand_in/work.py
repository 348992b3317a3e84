"""Work that a call gives to the stream: kernels, copies from the host, waits; and refusals of captures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.cupy_stand_in import counts, memory, streams

_BLAS = {"matmul", "dot", "vdot", "inner", "tensordot", "einsum"}
_SORTS = {"sort", "argsort", "lexsort", "partition", "argpartition", "msort", "sort_complex"}


def spoil(host: Any) -> None:
    """Overwrite it as uninitialized memory: with NaN where there is one."""
    if host.size:
        host.fill(np.nan if host.dtype.kind in "fc" else True if host.dtype.kind == "b" else 85)


def write(function: Any) -> None:
    """A kernel that writes to existing memory."""
    counts.launch()
    streams.work(function)


def copied(to: Any, source: Any) -> None:
    """A copy from the host that keeps its stream's order."""
    streams.refuse_transfer("H2D")
    pinned = memory.is_pinned(source)
    counts.to_device(pinned)
    if not pinned:
        to[...] = source
        return

    def later() -> None:
        to[...] = source
        streams.read_later(source)

    streams.work(later)


def staged() -> None:
    """A copy from the host through pinned memory of CuPy's, which it uses again."""
    if streams.capture() is not None:
        memory.alloc_pinned_memory(1)
    streams.refuse_transfer("H2D")
    counts.to_device()


def waits() -> None:
    """The host waits for values."""
    streams.refuse_wait()
    streams.waited()


def library(name: str, args: Sequence[Any], path: str = "") -> None:
    """Refuse, while the stream captures, calls that CuPy passes to libraries that do not capture."""
    if streams.capture() is None:
        return
    kinds = [each.dtype.kind for each in args if type(each).__module__ == "cupy"]
    if name in _BLAS and not path and len(kinds) > 1 and kinds[0] in "fc":
        streams.refuse_library("cuBLAS")
    elif path == "linalg" and name != "norm":
        streams.refuse_library("cuSOLVER")
    elif path == "random":
        streams.refuse_library("cuRAND")
    elif name in _SORTS:  # Thrust waits for its stream
        streams.refuse_wait()
