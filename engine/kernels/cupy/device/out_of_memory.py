"""Out of memory on a GPU: unused blocks are freed, then an error names the largest holders of memory."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import cupy

from engine.core.delegate import delegate
from engine.core.errors import DeviceMemoryError

# Called before a second request for GPU memory: they free memory whose contents can be computed again.
giving_back: list[Callable[[], None]] = []


@delegate("engine.eager.live")
def largest(most: int) -> list[str]:
    """The ``most`` largest tensors on GPUs, each as name, dtype, shape and size."""
    raise NotImplementedError


def malloc(pool: Any, size: int) -> Any:
    """``size`` bytes of a pool of CuPy.

    If there is not enough, unused blocks are freed and the request is repeated; then DeviceMemoryError names
    the requested bytes, those of the GPU, and the largest tensors.
    """
    try:
        return pool.malloc(size)
    except cupy.cuda.memory.OutOfMemoryError:
        pass  # and the frames that it holds are released
    for let_go in giving_back:
        let_go()
    gc.collect()
    pool.free_all_blocks()
    try:
        return pool.malloc(size)
    except cupy.cuda.memory.OutOfMemoryError as error:
        raise _error(pool, size) from error


def _error(pool: Any, size: int) -> DeviceMemoryError:
    free, total = cupy.cuda.runtime.memGetInfo()
    limit = pool.get_limit()
    allowed = f", and this process may hold {in_words(limit)}" if limit else ""
    tensors = largest(3)
    held = ", the largest tensors are " + ", ".join(tensors) if tensors else ""
    return DeviceMemoryError(
        f"gpu:{cupy.cuda.runtime.getDevice()}: no memory for {in_words(size)}: {in_words(free)} of "
        f"{in_words(total)} are free{allowed}, arrays hold {in_words(pool.used_bytes())}{held}; take a "
        "smaller batch, use recompute or amp, or free unused memory with device.cuda.empty_cache()"
    )


def in_words(size: int) -> str:
    """A number of bytes as people read it."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale:
            return f"{size / scale:.2f} {unit}"
    return f"{size} bytes"
