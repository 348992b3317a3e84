"""``cupy.cuda`` of the stand-in: one device with 8 GiB, streams that finish at once, a pool that counts."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tests.cupy_stand_in import counts
from tests.cupy_stand_in.pinned import PinnedMemoryPointer, UnownedMemory, alloc_pinned_memory
from tests.cupy_stand_in.recorded import names

TOTAL = 8 << 30


class CUDARuntimeError(RuntimeError):
    """What the driver says."""


class CUDADriverError(RuntimeError):
    """What the driver says of modules and kernels."""


class Device:
    def __init__(self, device: Any = None) -> None:
        self.id = 0 if device is None else int(device)

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return self.id

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def use(self) -> None: ...

    def synchronize(self) -> None:
        counts.wait()

    @property
    def mem_info(self) -> tuple[int, int]:
        return TOTAL, TOTAL

    @property
    def compute_capability(self) -> str:
        return "80"

    @property
    def attributes(self) -> dict[str, int]:
        return {"MultiProcessorCount": 16, "MaxThreadsPerBlock": 1024, "MaxSharedMemoryPerBlock": 49152}


class Event:
    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        self.done = True

    def record(self, stream: Any = None) -> None: ...

    def synchronize(self) -> None:
        counts.wait()


class Stream:
    null: Stream

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: Any = None
    ) -> None:
        self.ptr, self.done, self._before = 0 if null else id(self), True, None

    def __enter__(self) -> Stream:
        self._before = _current[-1:]
        _current.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _current.pop()

    def use(self) -> Stream:
        _current[:] = [self]
        return self

    def synchronize(self) -> None:
        counts.wait()

    def record(self, event: Any = None) -> Event:
        return Event() if event is None else event

    def wait_event(self, event: Event) -> None: ...

    def is_capturing(self) -> bool:
        return False


Stream.null = Stream(null=True)
_current: list[Stream] = [Stream.null]


class MemoryPointer:
    """A place in the memory of an array. What is laid over it must lie within that memory."""

    def __init__(self, mem: Any, offset: Any) -> None:
        if isinstance(mem, UnownedMemory):  # as CuPy's users make it
            mem, offset = mem.ptr + offset, mem.host
        self.ptr, self._owner, self.device = mem, offset, Device(0)

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.ptr + offset, self._owner)

    def array(self, shape: Any, dtype: Any, strides: Any) -> Any:
        """A NumPy array over the memory."""
        root = self._owner
        while isinstance(root.base, np.ndarray):
            root = root.base
        over = _Interface(self.ptr, tuple(shape), dtype, strides, root)
        made = np.asarray(over)
        (low, high), (first, last) = byte_bounds(root), byte_bounds(made)
        if made.size and not low <= first <= last <= high:
            raise MemoryError(
                f"an array over [{first - low}, {last - low}) of a memory of {high - low} bytes"
            )
        return made


class _Interface:
    def __init__(self, pointer: int, shape: Any, dtype: Any, strides: Any, owner: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "data": (pointer, False), "shape": shape, "typestr": dtype.str, "strides": strides, "version": 3,
        }  # fmt: skip


class MemoryPool:
    """What CuPy's pool tells; the stand-in's memory is the host's."""

    def __init__(self) -> None:
        self._limit = 0

    def used_bytes(self) -> int:
        return 0

    def total_bytes(self) -> int:
        return 0

    def free_bytes(self) -> int:
        return 0

    def n_free_blocks(self) -> int:
        return 0

    def get_limit(self) -> int:
        return self._limit

    def set_limit(self, size: Any = None, fraction: Any = None) -> None:
        self._limit = int(size if size is not None else TOTAL * fraction)

    def free_all_blocks(self, stream: Any = None) -> None: ...


pool, pinned_pool = MemoryPool(), MemoryPool()

_RUNTIME = {
    "getDeviceCount": lambda: 1,
    "getDevice": lambda: 0,
    "runtimeGetVersion": lambda: 12090,
    "driverGetVersion": lambda: 12090,
    "get_allocator": lambda: None,  # arrays of the stand-in do not come from its pool
    "memGetInfo": lambda: (TOTAL, TOTAL),
    "deviceSynchronize": counts.wait,
    "getDeviceProperties": lambda index: {
        "name": b"Stand-in", "totalGlobalMem": TOTAL, "major": 8, "minor": 0, "multiProcessorCount": 16,
        "warpSize": 32, "maxThreadsPerBlock": 1024, "sharedMemPerBlock": 49152, "uuid": bytes(16),
    },
}  # fmt: skip


def refused(full: str) -> Any:
    def call(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"the stand-in has no cupy.{full}: add it to its cuda.py")

    return call


def module() -> Any:
    made = types.ModuleType("cupy.cuda")
    for path, target in (("cuda", made), ("cuda.runtime", types.ModuleType("cupy.cuda.runtime"))):
        for name in names()["modules"][path]["functions"]:
            setattr(target, name, _RUNTIME.get(name, refused(f"{path}.{name}")))
        if path == "cuda.runtime":
            target.CUDARuntimeError = CUDARuntimeError  # type: ignore[attr-defined]
            made.runtime = target  # type: ignore[attr-defined]
    kinds = (Device, Event, Stream, MemoryPointer, MemoryPool, PinnedMemoryPointer, UnownedMemory)
    for kind in kinds:
        setattr(made, kind.__name__, kind)
    made.alloc_pinned_memory = alloc_pinned_memory  # type: ignore[attr-defined]
    made.get_current_stream = lambda: _current[-1]  # type: ignore[attr-defined]
    made.is_available = lambda: True  # type: ignore[attr-defined]
    return made
