"""Paddle's ``device.cuda``: the GPUs and their memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engine.core.place import CUDAPlace, as_place, backend, current_place
from engine.device import streams
from engine.device.kinds import device_count, synchronize

__all__ = [
    "Event", "Stream", "current_stream", "device_count", "empty_cache", "get_device_capability",
    "get_device_name", "get_device_properties", "max_memory_allocated", "max_memory_reserved",
    "memory_allocated", "memory_reserved", "stream_guard", "synchronize",
]  # fmt: skip


class Event(streams.Event):
    """An event of a GPU. Raises DeviceError where there is none."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        super().__init__(_gpu(None))


class Stream(streams.Stream):
    """A stream of a GPU. Raises DeviceError where there is none."""

    def __init__(self, device: Any = None, priority: int = 2) -> None:
        super().__init__(_gpu(device))


def current_stream(device: Any = None) -> streams.Stream:
    """The GPU's stream. Raises DeviceError where there is none."""
    return streams.current_stream(_gpu(device))


@contextmanager
def stream_guard(stream: Any) -> Iterator[None]:
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


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Name, compute capability, memory and processors of the GPU. Raises like ``get_device_name``."""
    place = _gpu(device)
    found = backend(place).properties(place.index)
    numbers = (int(found[key]) for key in ("major", "minor", "totalGlobalMem", "multiProcessorCount"))
    return DeviceProperties(found["name"].decode(), *numbers)


def get_device_name(device: Any = None) -> str:
    """What the GPU is called. Raises DeviceError or MissingExtraError where there is none."""
    place = _gpu(device)
    name: str = backend(place).properties(place.index)["name"].decode()
    return name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The GPU's compute capability, (major, minor). Raises like ``get_device_name``."""
    place = _gpu(device)
    properties = backend(place).properties(place.index)
    return int(properties["major"]), int(properties["minor"])


def memory_allocated(device: Any = None) -> int:
    """Bytes in arrays on the GPU. Raises like ``get_device_name``."""
    place = _gpu(device)
    return int(backend(place).pool(place.index).used_bytes())


def memory_reserved(device: Any = None) -> int:
    """Bytes that the engine holds on the GPU, in arrays or for new ones. Raises like ``get_device_name``."""
    place = _gpu(device)
    return int(backend(place).pool(place.index).total_bytes())


def max_memory_reserved(device: Any = None) -> int:
    """Bytes that the engine holds on the GPU: it gives none back before ``empty_cache``. Raises as above."""
    return memory_reserved(device)


def max_memory_allocated(device: Any = None) -> int:
    """Raises like ``get_device_name``.

    Differs from Paddle: an upper bound, ``max_memory_reserved``; the peak of arrays is not counted.
    """
    return memory_reserved(device)


def empty_cache() -> None:
    """Give memory that holds no array back to the GPU; nothing where there is none."""
    for index in range(device_count()):
        backend(CUDAPlace(index)).pool(index).free_all_blocks()


def _gpu(device: Any) -> Any:
    """The place of a device given as number, name or place; by default the current one, or the first GPU."""
    if device is None:
        place = current_place()
        return place if place.is_gpu_place() else CUDAPlace(0)
    return CUDAPlace(device) if isinstance(device, int) else as_place(device)
