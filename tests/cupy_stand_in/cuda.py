"""``cupy.cuda`` of the stand-in: one device with 8 GiB; streams and memory have their own modules."""

from __future__ import annotations

import types
from typing import Any

from tests.cupy_stand_in import memory, streams
from tests.cupy_stand_in.memory import TOTAL
from tests.cupy_stand_in.recorded import names


class CUDADriverError(RuntimeError):
    """An error of the driver about modules and kernels."""


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
        streams.wait_for_device()

    @property
    def mem_info(self) -> tuple[int, int]:
        return _memory_info()

    @property
    def compute_capability(self) -> str:
        return "80"

    @property
    def attributes(self) -> dict[str, int]:
        return {"MultiProcessorCount": 16, "MaxThreadsPerBlock": 1024, "MaxSharedMemoryPerBlock": 49152}


def _memory_info() -> tuple[int, int]:
    return TOTAL - memory.taken(), TOTAL


_RUNTIME = {
    "getDeviceCount": lambda: 1,
    "getDevice": lambda: 0,
    "runtimeGetVersion": lambda: 12090,
    "driverGetVersion": lambda: 12090,
    "memGetInfo": _memory_info,
    "deviceSynchronize": streams.wait_for_device,
    "getDeviceProperties": lambda index: {
        "name": b"Stand-in",
        "totalGlobalMem": TOTAL,
        "major": 8,
        "minor": 0,
        "multiProcessorCount": 16,
        "warpSize": 32,
        "maxThreadsPerBlock": 1024,
        "sharedMemPerBlock": 49152,
        "uuid": bytes(16),
    },
}
_CUDA = {
    "alloc": memory.alloc,
    "get_allocator": memory.get_allocator,
    "set_allocator": memory.set_allocator,
    "using_allocator": memory.using_allocator,
    "alloc_pinned_memory": memory.alloc_pinned_memory,
    "set_pinned_memory_allocator": memory.set_pinned_memory_allocator,
    "get_device_id": lambda: 0,
    "get_current_stream": streams.current,
    "get_elapsed_time": streams.get_elapsed_time,
    "is_available": lambda: True,
}
_CLASSES = (
    Device,
    streams.Event,
    streams.Stream,
    streams.Graph,
    memory.Memory,
    memory.MemoryPointer,
    memory.MemoryPool,
    memory.PinnedMemoryPool,
    memory.UnownedMemory,
)


def refused(full: str) -> Any:
    def call(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"the stand-in has no cupy.{full}: add it to its cuda.py")

    return call


def _submodule(name: str, **members: Any) -> Any:
    made = types.ModuleType(f"cupy.cuda.{name}")
    vars(made).update(members)
    return made


def module() -> Any:
    made: Any = types.ModuleType("cupy.cuda")
    runtime: Any = types.ModuleType("cupy.cuda.runtime")
    for path, target, own in (("cuda", made, _CUDA), ("cuda.runtime", runtime, _RUNTIME)):
        for name in names()["modules"][path]["functions"]:
            setattr(target, name, own.get(name, refused(f"{path}.{name}")))
    runtime.CUDARuntimeError = streams.CUDARuntimeError
    runtime.streamCaptureModeGlobal, runtime.streamCaptureModeThreadLocal = 0, 1
    runtime.streamCaptureModeRelaxed = 2
    made.runtime = runtime
    for kind in _CLASSES:
        setattr(made, kind.__name__, kind)
    made.memory = _submodule(
        "memory",
        OutOfMemoryError=memory.OutOfMemoryError,
        alloc=memory.alloc,
        Memory=memory.Memory,
        MemoryPointer=memory.MemoryPointer,
        MemoryPool=memory.MemoryPool,
        PooledMemory=memory.PooledMemory,
        UnownedMemory=memory.UnownedMemory,
        get_allocator=memory.get_allocator,
        set_allocator=memory.set_allocator,
        using_allocator=memory.using_allocator,
    )
    made.pinned_memory = _submodule(
        "pinned_memory",
        alloc_pinned_memory=memory.alloc_pinned_memory,
        PinnedMemoryPool=memory.PinnedMemoryPool,
    )
    made.stream = _submodule(
        "stream", Stream=streams.Stream, Event=streams.Event, get_current_stream=streams.current
    )
    made.driver = _submodule("driver", CUDADriverError=CUDADriverError)
    return made


def cupyx() -> Any:
    """The module ``cupyx``: arrays in pinned memory."""
    made = types.ModuleType("cupyx")
    for name in ("empty_pinned", "zeros_pinned", "empty_like_pinned", "zeros_like_pinned"):
        setattr(made, name, getattr(memory, name))
    return made
