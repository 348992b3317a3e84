"""The CuPy backend: NVIDIA GPUs.

The default kernels of ``engine.ops`` run on it unchanged; ``overrides.py`` lists those of the engine's own.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

import cupy

from engine.core.place import CUDAPlace, look, refused
from engine.kernels.cupy import overrides
from engine.kernels.cupy.device import feeding, memory, streams

__all__ = [
    "check",
    "count",
    "cuda_version",
    "driver_version",
    "feeding",
    "memory",
    "on",
    "overrides",
    "properties",
    "streams",
    "synchronize",
    "use",
    "xp",
]

xp = cupy
overrides.register()


@lru_cache(maxsize=64)
def check(index: int) -> None:
    """Raise DeviceError with CuPy's own words if GPU number ``index`` can't be used here.

    It is checked once: a kernel is compiled, and the GPU computes a number, for which the host waits.
    """
    place = CUDAPlace(index)
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise refused(
            place, f"can't be used: CuPy finds no working GPU ({error})", "check the driver with nvidia-smi"
        ) from error
    if not count:
        raise refused(place, "does not exist: this machine has no GPU")
    if index >= count:
        raise refused(
            place, f"does not exist: this machine has {count} GPU(s)", f"use 'gpu:0' to 'gpu:{count - 1}'"
        )
    try:
        with cupy.cuda.Device(index):
            (cupy.zeros(1) + 1).item()  # a sum would be ready-made: this one is compiled
    except Exception as error:  # any error of the driver or the compiler of kernels
        raise refused(
            place,
            f"can't compute: CuPy says {type(error).__name__}: {error}",
            "check that its CUDA version fits the driver, and install CUDA's compiler and libraries: "
            "pip install 'model-studio[gpu]' ('model-studio[gpu-cuda13]' for CUDA 13)",
        ) from error
    memory.peaks()


def count() -> int:
    """How many GPUs there are."""
    return int(cupy.cuda.runtime.getDeviceCount())


def cuda_version() -> str:
    """The version of CUDA that CuPy runs on, such as 12.4."""
    number = cupy.cuda.runtime.runtimeGetVersion()
    return f"{number // 1000}.{number % 1000 // 10}"


def driver_version() -> str:
    """The newest version of CUDA that the driver serves, such as 12.4."""
    number = cupy.cuda.runtime.driverGetVersion()
    return f"{number // 1000}.{number % 1000 // 10}"


def use(index: int) -> None:
    """Make GPU number ``index`` the one that this thread computes on."""
    cupy.cuda.Device(index).use()


def on(index: int) -> AbstractContextManager[Any]:
    """Within the block this thread computes on GPU number ``index``."""
    device: AbstractContextManager[Any] = cupy.cuda.Device(index)
    return device


def synchronize(index: int) -> None:
    """Wait until GPU number ``index`` has done its work. Raises OutOfRangeError for faults that its kernels
    have noted."""
    with cupy.cuda.Device(index):
        cupy.cuda.Device(index).synchronize()
    look()


def properties(index: int) -> dict[str, Any]:
    """The driver's properties of GPU number ``index``."""
    found: dict[str, Any] = cupy.cuda.runtime.getDeviceProperties(index)
    return found
