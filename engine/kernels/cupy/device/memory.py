"""How much memory of a GPU is in use, and was at most; memory of the host that is page-locked."""

from __future__ import annotations

import threading
from collections import deque
from functools import cache
from typing import Any

import cupy
import numpy as np

from engine.core.place import is_pinned
from engine.kernels.cupy.device.out_of_memory import malloc

# Sizes of the pool are multiples of it.
_UNIT = 512


class Peaks:
    """An allocator over CuPy's pool that knows the most that was in use on each GPU.

    The pool adds up the blocks in use by a walk over all. That is done only where the sum of everything
    that was requested since the last walk could have passed the peak, so the peak is exact and most
    allocations cost an addition.
    """

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._lock = threading.RLock()
        self._bound: dict[int, int] = {}  # nothing above it can be in use
        self._used: dict[int, int] = {}
        self._held: dict[int, int] = {}

    def __call__(self, size: int) -> Any:
        """Memory for ``size`` bytes on the current GPU. Raises DeviceMemoryError where it has none."""
        pointer = malloc(self._pool, size)
        index = cupy.cuda.runtime.getDevice()
        with self._lock:
            self._bound[index] = bound = self._bound.get(index, 0) + -(-size // _UNIT) * _UNIT
            if bound > self._used.get(index, 0):
                self._note(index)
        return pointer

    def _note(self, index: int) -> None:
        """Count again; the lock is held and the GPU is the current one."""
        self._bound[index] = used = int(self._pool.used_bytes())
        self._used[index] = max(self._used.get(index, 0), used)
        self._held[index] = max(self._held.get(index, 0), int(self._pool.total_bytes()))

    def used(self, index: int) -> int:
        """The most bytes that were in use at once on GPU number ``index``."""
        with cupy.cuda.Device(index), self._lock:
            self._note(index)
        return self._used[index]

    def held(self, index: int) -> int:
        """The most bytes that the pool held at once on GPU number ``index``."""
        with cupy.cuda.Device(index), self._lock:
            self._note(index)
        return self._held[index]

    def reset_used(self, index: int) -> None:
        """Count the peak in use from the memory in use now."""
        with cupy.cuda.Device(index), self._lock:
            self._used[index] = self._bound[index] = int(self._pool.used_bytes())

    def reset_held(self, index: int) -> None:
        """Count the peak held from the memory held now."""
        with cupy.cuda.Device(index), self._lock:
            self._held[index] = int(self._pool.total_bytes())

    def free_blocks(self, index: int) -> None:
        """Give blocks that hold no array back to the driver."""
        with cupy.cuda.Device(index), self._lock:
            self._note(index)
            self._pool.free_all_blocks()


@cache
def peaks() -> Peaks:
    """The counting of this process, which begins at the first call.

    An allocator that the program has chosen itself stays: peaks are then those of the moments of asking.
    """
    pool = cupy.get_default_memory_pool()
    made = Peaks(pool)
    if getattr(cupy.cuda.get_allocator(), "__self__", None) is pool:
        cupy.cuda.set_allocator(made)
    return made


def in_use(index: int) -> int:
    """Bytes in arrays on GPU number ``index``."""
    with cupy.cuda.Device(index):
        return int(cupy.get_default_memory_pool().used_bytes())


def held(index: int) -> int:
    """Bytes of GPU number ``index`` that the pool holds, in arrays or for new ones."""
    with cupy.cuda.Device(index):
        return int(cupy.get_default_memory_pool().total_bytes())


def free_and_total(index: int) -> tuple[int, int]:
    """Bytes of GPU number ``index`` that no process uses, and all bytes that it has."""
    with cupy.cuda.Device(index):
        free, total = cupy.cuda.runtime.memGetInfo()
    return int(free), int(total)


def pinned(array: np.ndarray) -> np.ndarray:
    """A copy in page-locked memory of the host, which a GPU reads while the host continues."""
    if not array.size:
        return array.copy()
    memory = cupy.cuda.alloc_pinned_memory(array.nbytes)
    made = np.frombuffer(memory, array.dtype, array.size).reshape(array.shape)
    made[...] = array
    return made


class Sending:
    """Page-locked arrays that a GPU still reads: they live until the copy is done."""

    # A host that is this many copies ahead waits, so that its memory has a bound.
    AHEAD = 64

    def __init__(self) -> None:
        self._pending: deque[tuple[Any, np.ndarray]] = deque()
        self._lock = threading.Lock()

    def send(self, array: np.ndarray) -> Any:
        """A copy on the current GPU, issued on the current stream; the host does not wait for it."""
        made = cupy.empty(array.shape, array.dtype)
        if not array.size:
            return made
        stream = cupy.cuda.get_current_stream()
        made.set(array, stream)
        copied = stream.record(cupy.cuda.Event(disable_timing=True))
        with self._lock:
            self._pending.append((copied, array))
            if len(self._pending) > self.AHEAD:
                self._pending[0][0].synchronize()
            while self._pending and self._pending[0][0].done:
                self._pending.popleft()
        return made


sending = Sending()


def put(array: Any, index: int) -> Any:
    """The array on GPU number ``index``: itself if it is on that device, else a copy.

    From page-locked memory the GPU copies while the host continues: do not change it before the copy is done.
    """
    with cupy.cuda.Device(index):
        if isinstance(array, np.ndarray):
            return sending.send(array) if is_pinned(array) else cupy.asarray(array)
        return array if array.device.id == index else array.copy()
