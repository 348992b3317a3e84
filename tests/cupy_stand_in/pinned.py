"""Pinned host memory of the stand-in, and memory that its pool does not own: a device sees both."""

from __future__ import annotations

from typing import Any

import numpy as np


class PinnedMemoryPointer(np.ndarray[Any, Any]):
    """``cupy.cuda.PinnedMemoryPointer``: bytes with an address."""

    @property
    def ptr(self) -> int:
        return int(self.ctypes.data)


def alloc_pinned_memory(size: int) -> PinnedMemoryPointer:
    """``cupy.cuda.alloc_pinned_memory``. The memory is not cleared."""
    return np.full(size, 0xA5, np.uint8).view(PinnedMemoryPointer)


class UnownedMemory:
    """``cupy.cuda.UnownedMemory``: the memory of another owner, here always pinned."""

    def __init__(self, ptr: int, size: int, owner: Any, device_id: int = -1) -> None:
        if not owner.ptr <= ptr <= ptr + size <= owner.ptr + len(owner):
            raise MemoryError(f"{size} bytes at {ptr - owner.ptr} of a memory of {len(owner)}")
        self.ptr, self.size, self.device_id, self.host = ptr, size, device_id, owner
