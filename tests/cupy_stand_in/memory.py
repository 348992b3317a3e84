"""Memory of the stand-in: pools that hold, split and reuse blocks as CuPy's do, and pinned memory.

Freed memory is used again, so a graph that writes to memory after freeing it spoils other arrays here
as it does on a GPU. Sources: ``cupy/cuda/memory.pyx`` and ``pinned_memory.pyx`` of CuPy 14.
"""

from __future__ import annotations

import ctypes
import gc
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tests.cupy_stand_in import compiler, streams

TOTAL = 8 << 30
UNIT = 512


class OutOfMemoryError(MemoryError):
    """``cupy.cuda.memory.OutOfMemoryError``."""

    def __init__(self, size: int, total: int, limit: int = 0) -> None:
        message = f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes"
        super().__init__(message + (f", limit set to: {limit:,} bytes)." if limit else ")."))
        self._size, self._total, self._limit = size, total, limit


_taken = [0]


def taken() -> int:
    """Bytes that all pools hold of the GPU."""
    return _taken[0]


def _close(place: int, size: int, closed: bool) -> None:
    """Let the address sanitizer, where it is active, report any access to these bytes."""
    if size and compiler.sanitized():
        library = ctypes.CDLL(None)
        change = library.__asan_poison_memory_region if closed else library.__asan_unpoison_memory_region
        change(ctypes.c_void_p(place), ctypes.c_size_t(size))


class Memory:
    """Memory as the driver gives it: ``size`` bytes of the host, aligned and uninitialized."""

    device_id = 0

    def __init__(self, size: int) -> None:
        self.size = 0
        if _taken[0] + size > TOTAL:
            raise OutOfMemoryError(size, _taken[0])
        whole = np.empty(size + UNIT, np.uint8)
        first = UNIT - whole.ctypes.data % UNIT
        _close(whole.ctypes.data, first, True)
        self.host = whole[first : first + size]
        self.ptr = self.host.ctypes.data if size else 0
        self.size = size
        _taken[0] += size

    def __del__(self, taken: list[int] = _taken) -> None:
        taken[0] -= self.size


class UnownedMemory:
    """Memory of another object, which stays alive."""

    def __init__(self, ptr: int, size: int, owner: Any, device_id: int = -1) -> None:
        self.ptr, self.size, self.owner, self.device_id = ptr, size, owner, max(device_id, 0)
        self.host = np.frombuffer((ctypes.c_char * size).from_address(ptr), np.uint8)


class MemoryPointer:
    """A place in memory of the device. Views of it must lie within that memory."""

    def __init__(self, mem: Any, offset: int) -> None:
        self.mem, self.ptr, self.device_id = mem, mem.ptr + offset, mem.device_id

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + offset)

    __radd__ = __add__

    def __sub__(self, offset: int) -> MemoryPointer:
        return self + -offset

    def __int__(self) -> int:
        return int(self.ptr)

    @property
    def device(self) -> Any:
        from tests.cupy_stand_in.cuda import Device

        return Device(self.device_id)

    def array(self, shape: Any, dtype: Any, strides: Any) -> Any:
        """A NumPy array over the memory."""
        if isinstance(shape, (int, np.integer)):
            shape = (int(shape),)
        try:
            return np.ndarray(shape, dtype, self.mem.host, self.ptr - self.mem.ptr, strides)
        except (TypeError, ValueError) as error:
            raise MemoryError(
                f"an array of {shape} {dtype} at {self.ptr - self.mem.ptr} of {self.mem.size} bytes: {error}"
            ) from None

    def memset(self, value: int, size: int) -> None:
        place = self.array((size,), np.uint8, None)
        streams.work(lambda: place.fill(value))

    def memset_async(self, value: int, size: int, stream: Any = None) -> None:
        self.memset(value, size)

    def copy_from_device_async(self, src: MemoryPointer, size: int, stream: Any = None) -> None:
        to, of = self.array((size,), np.uint8, None), src.array((size,), np.uint8, None)

        def copy() -> None:
            to[...] = of

        streams.work(copy)

    copy_from_device = copy_from_device_async


class _Chunk:
    """A part of a block that the pool got."""

    __slots__ = ("after", "before", "free", "offset", "parent", "size", "stream")

    def __init__(self, parent: MemoryPointer, offset: int, size: int, stream: int) -> None:
        self.parent, self.offset, self.size, self.stream = parent, offset, size, stream
        self.before: _Chunk | None = None
        self.after: _Chunk | None = None
        self.free = False


class PooledMemory:
    """A chunk in use; it returns to its pool when nothing refers to it."""

    def __init__(self, chunk: _Chunk, pool: MemoryPool) -> None:
        self._chunk, self._pool = chunk, pool
        self.ptr, self.size, self.device_id = chunk.parent.ptr + chunk.offset, chunk.size, 0
        start = chunk.parent.ptr - chunk.parent.mem.ptr + chunk.offset
        self.host = chunk.parent.mem.host[start : start + chunk.size]

    def __del__(self) -> None:
        # Whenever Python likes, in the middle of the pool's own work too.
        self._pool._returned.append(self._chunk)


class MemoryPool:
    """``cupy.cuda.MemoryPool``: free chunks are held for each stream, split and joined again."""

    def __init__(self, allocator: Callable[[int], MemoryPointer] | None = None) -> None:
        self._from = allocator or (lambda size: MemoryPointer(Memory(size), 0))
        self._returned: deque[_Chunk] = deque()
        self._free: dict[int, list[_Chunk]] = {}
        self._used = self._total = self._limit = 0
        self._lock = threading.RLock()

    def malloc(self, size: int) -> MemoryPointer:
        if size == 0:
            return MemoryPointer(_nothing, 0)
        # Under the sanitizer a closed zone follows every array.
        whole = -(-size // UNIT) * UNIT + UNIT * compiler.sanitized()
        with self._lock:
            chunk = self._found(whole, streams.current().ptr)
        made = PooledMemory(chunk, self)
        _close(made.ptr, size, False)
        _close(made.ptr + size, whole - size, True)
        return MemoryPointer(made, 0)

    def _found(self, size: int, stream: int) -> _Chunk:
        self._take_back()
        fits = [chunk for chunk in self._free.get(stream, ()) if chunk.size >= size]
        if fits:
            chunk = min(fits, key=lambda chunk: chunk.size)
            self._free[stream].remove(chunk)
        else:
            chunk = self._new(size, stream)
        chunk.free = False
        if chunk.size > size:
            rest = _Chunk(chunk.parent, chunk.offset + size, chunk.size - size, stream)
            rest.before, rest.after, chunk.after, chunk.size = chunk, chunk.after, rest, size
            if rest.after:
                rest.after.before = rest
            self._let_go(rest)
        self._used += size
        return chunk

    def _new(self, size: int, stream: int) -> _Chunk:
        for cleaned in (False, True):
            if not self._limit or self._total + size <= self._limit:
                try:
                    parent = self._from(size)
                    break
                except OutOfMemoryError:
                    if cleaned:
                        raise OutOfMemoryError(size, self._total, self._limit) from None
            elif cleaned:
                raise OutOfMemoryError(size, self._total, self._limit)
            gc.collect()
            self.free_all_blocks()
        self._total += size
        return _Chunk(parent, 0, size, stream)

    def _take_back(self) -> None:
        while self._returned:
            chunk = self._returned.popleft()
            self._used -= chunk.size
            _close(chunk.parent.ptr + chunk.offset, chunk.size, True)
            self._let_go(chunk)

    def _let_go(self, chunk: _Chunk) -> None:
        free = self._free.setdefault(chunk.stream, [])
        after, before = chunk.after, chunk.before
        if after and after.free:
            free.remove(after)
            chunk.size, chunk.after = chunk.size + after.size, after.after
            if chunk.after:
                chunk.after.before = chunk
        if before and before.free:
            free.remove(before)
            before.size, before.after = before.size + chunk.size, chunk.after
            if before.after:
                before.after.before = before
            chunk = before
        chunk.free = True
        free.append(chunk)

    def free_all_blocks(self, stream: Any = None) -> None:
        with self._lock:
            self._take_back()
            for key, free in self._free.items():
                if stream is not None and key != stream.ptr:
                    continue
                whole = [chunk for chunk in free if not chunk.before and not chunk.after]
                self._free[key] = [chunk for chunk in free if chunk.before or chunk.after]
                self._total -= sum(chunk.size for chunk in whole)

    def used_bytes(self) -> int:
        with self._lock:
            self._take_back()
            return self._used

    def total_bytes(self) -> int:
        return self._total

    def free_bytes(self) -> int:
        return self._total - self.used_bytes()

    def n_free_blocks(self) -> int:
        with self._lock:
            self._take_back()
            return sum(map(len, self._free.values()))

    def get_limit(self) -> int:
        return self._limit

    def set_limit(self, size: Any = None, fraction: Any = None) -> None:
        if size is not None and fraction is not None:
            raise ValueError("size and fraction cannot be specified at one time")
        if fraction is not None and not 0 <= fraction <= 1:
            raise ValueError(f"memory limit fraction out of range: {fraction}")
        self._limit = int(size if fraction is None and size is not None else TOTAL * (fraction or 0))


_nothing = Memory(0)
pool = MemoryPool()
_default: Callable[[int], MemoryPointer] = pool.malloc
_own = threading.local()


def get_allocator() -> Callable[[int], MemoryPointer]:
    return getattr(_own, "allocator", None) or _default


def set_allocator(allocator: Callable[[int], MemoryPointer] | None = None) -> None:
    global _default
    if getattr(_own, "allocator", None):
        raise ValueError("Can't change the global allocator inside `using_allocator` context manager")
    _default = allocator or (lambda size: MemoryPointer(Memory(size), 0))


def alloc(size: int) -> MemoryPointer:
    return get_allocator()(size)


@contextmanager
def using_allocator(allocator: Callable[[int], MemoryPointer] | None = None) -> Iterator[None]:
    before = getattr(_own, "allocator", None)
    _own.allocator = allocator or (lambda size: MemoryPointer(Memory(size), 0))
    try:
        yield
    finally:
        _own.allocator = before


# ----- pinned memory --------------------------------------------------------------------------------------


class _Pinned(ctypes.Array):  # type: ignore[type-arg]
    _type_, _length_ = ctypes.c_char, 0


class PinnedMemoryPool:
    """``cupy.cuda.PinnedMemoryPool``."""

    def malloc(self, size: int) -> Any:
        parts = {"_type_": ctypes.c_char, "_length_": size, "__module__": "cupy.cuda.pinned_memory"}
        kind = type("PinnedMemoryPointer", (_Pinned,), parts)
        made = kind()
        made.ptr, made.size = ctypes.addressof(made), lambda: size  # type: ignore[attr-defined]
        return made

    def free_all_blocks(self) -> None: ...

    def n_free_blocks(self) -> int:
        return 0


pinned_pool = PinnedMemoryPool()
_pinned_allocator: Callable[[int], Any] = pinned_pool.malloc


def set_pinned_memory_allocator(allocator: Callable[[int], Any] | None = None) -> None:
    global _pinned_allocator
    _pinned_allocator = allocator or pinned_pool.malloc


def alloc_pinned_memory(size: int) -> Any:
    return _pinned_allocator(size)


def is_pinned(array: Any) -> bool:
    """Whether an array of NumPy is in pinned memory."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array.obj if isinstance(array, memoryview) else array, _Pinned)


def empty_pinned(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """``cupyx.empty_pinned``: an uninitialized array of NumPy in pinned memory."""
    kind, shape = np.dtype(dtype), (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    size = int(np.prod(shape, dtype=np.int64))
    memory = alloc_pinned_memory(max(1, size * kind.itemsize))
    made = np.frombuffer(memory, kind, size)
    if kind.kind in "fc":
        made.fill(np.nan)
    return made.reshape(shape, order=order)  # type: ignore[call-overload]


def zeros_pinned(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    made = empty_pinned(shape, dtype, order)
    made[...] = 0
    return made


def empty_like_pinned(
    a: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None
) -> Any:
    return empty_pinned(a.shape if shape is None else shape, a.dtype if dtype is None else dtype)


def zeros_like_pinned(
    a: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None
) -> Any:
    return zeros_pinned(a.shape if shape is None else shape, a.dtype if dtype is None else dtype)
