"""Paddle's ``device.cuda``: the GPUs and their memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias, cast

from engine.core.errors import ArgumentError
from engine.core.place import CUDAPlace, Place, PlaceLike, as_place, backend, current_place
from engine.device import kinds, streams
from engine.device.kinds import device_count

__all__ = [
    "Event",
    "Stream",
    "current_stream",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "stream_guard",
    "synchronize",
]

# A GPU by its place, name or number; None for the current one.
GPULike: TypeAlias = PlaceLike | int | None


class Event(streams.Event):
    """An event of a GPU. Raises DeviceError where there is none."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        super().__init__(_gpu(None), enable_timing, blocking, interprocess)


class Stream(streams.Stream):
    """A stream of a GPU. Raises DeviceError where there is none."""

    def __init__(self, device: GPULike = None, priority: int = 2) -> None:
        super().__init__(_gpu(device), priority)

    @property
    def cuda_stream(self) -> int:
        """CUDA's pointer to the stream."""
        return int(self.stream_base.ptr)

    @property
    def place(self) -> Place:
        """The GPU."""
        return self.device


def current_stream(device: GPULike = None) -> streams.Stream:
    """The GPU's stream. Raises DeviceError where there is none."""
    return streams.current_stream(_gpu(device))


@contextmanager
def stream_guard(stream: streams.Stream | None) -> Iterator[None]:
    """Within the block a GPU's stream is the current one. Raises DeviceError where there is no GPU."""
    backend(_gpu(None))
    with streams.stream_guard(stream):
        yield


class DeviceProperties:
    """What the driver says of a GPU; ``total_memory`` in bytes."""

    def __init__(
        self, name: str, major: int, minor: int, total_memory: int, multi_processor_count: int
    ) -> None:
        self.name = name
        self.major = major
        self.minor = minor
        self.total_memory = total_memory
        self.multi_processor_count = multi_processor_count

    def __repr__(self) -> str:
        return f"DeviceProperties({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


def get_device_properties(device: GPULike = None) -> DeviceProperties:
    """Name, compute capability, memory and processors of the GPU. Raises like ``get_device_name``."""
    place = _gpu(device)
    found = backend(place).properties(place.index)
    numbers = (int(found[key]) for key in ("major", "minor", "totalGlobalMem", "multiProcessorCount"))
    return DeviceProperties(found["name"].decode(), *numbers)


def get_device_name(device: GPULike = None) -> str:
    """What the GPU is called. Raises DeviceError or MissingExtraError where there is none."""
    place = _gpu(device)
    name: str = backend(place).properties(place.index)["name"].decode()
    return name


def get_device_capability(device: GPULike = None) -> tuple[int, int]:
    """The GPU's compute capability, (major, minor). Raises like ``get_device_name``."""
    place = _gpu(device)
    properties = backend(place).properties(place.index)
    return int(properties["major"]), int(properties["minor"])


def memory_allocated(device: GPULike = None) -> int:
    """Bytes in arrays on the GPU. Raises like ``get_device_name``."""
    place = _gpu(device)
    return int(backend(place).memory.in_use(place.index))


def memory_reserved(device: GPULike = None) -> int:
    """Bytes that the engine holds on the GPU, in arrays or for new ones. Raises like ``get_device_name``."""
    place = _gpu(device)
    return int(backend(place).memory.held(place.index))


def max_memory_allocated(device: GPULike = None) -> int:
    """The most bytes that arrays took at once on the GPU. Raises like ``get_device_name``.

    Differs from Paddle: sizes are rounded to 512 bytes, there to 256.
    """
    place = _gpu(device)
    return int(backend(place).memory.peaks().used(place.index))


def max_memory_reserved(device: GPULike = None) -> int:
    """The most bytes that the engine held on the GPU at once. Raises like ``get_device_name``."""
    place = _gpu(device)
    return int(backend(place).memory.peaks().held(place.index))


def reset_max_memory_allocated(device: GPULike = None) -> None:
    """Count ``max_memory_allocated`` from now on. Raises like ``get_device_name``.

    Differs from Paddle 2.6: not there; later versions have it.
    """
    place = _gpu(device)
    backend(place).memory.peaks().reset_used(place.index)


def reset_max_memory_reserved(device: GPULike = None) -> None:
    """Count ``max_memory_reserved`` from now on. Raises like ``get_device_name``.

    Differs from Paddle 2.6: not there; later versions have it.
    """
    place = _gpu(device)
    backend(place).memory.peaks().reset_held(place.index)


def empty_cache() -> None:
    """Give memory that holds no array back to the GPU; nothing where there is none."""
    for index in range(device_count()):
        backend(CUDAPlace(index)).memory.peaks().free_blocks(index)


def synchronize(device: GPULike = None) -> None:
    """Wait until a GPU, by default the current device, is done with what it was given."""
    kinds.synchronize(None if device is None else _gpu(device))


def _gpu(device: GPULike) -> Place:
    """The place of a device given as number, name or place; by default the current one, or the first GPU.

    Raises ArgumentError for anything else, and for the CPU.
    """
    if device is None:
        place = current_place()
        return place if place.is_gpu_place() else CUDAPlace(0)
    if isinstance(device, int) and not isinstance(device, bool):
        if device < 0:
            raise ArgumentError(f"device.cuda: GPUs have numbers from 0: got {device}; give 0 for the first")
        return CUDAPlace(device)
    place = as_place(cast("PlaceLike", device))
    if not place.is_gpu_place():
        raise ArgumentError(f"device.cuda: asks for a GPU: got {device!r}; give a number or 'gpu:0'")
    return place
