"""Paddle's ``device.cuda``: the GPUs and their memory."""

from __future__ import annotations

from typing import Any

from engine.core.place import CUDAPlace, as_place, backend, current_place
from engine.device.kinds import device_count, synchronize

__all__ = [
    "device_count", "empty_cache", "get_device_capability", "get_device_name", "memory_allocated",
    "memory_reserved", "synchronize",
]  # fmt: skip


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
