"""The CuPy backend: NVIDIA GPUs.

The default kernels of ``engine.ops`` run on it unchanged; ``overrides.py`` lists those of the engine's own.
"""

from __future__ import annotations

from typing import Any

import cupy

from engine.core.errors import DeviceError
from engine.core.place import ON_CPU
from engine.kernels.cupy import overrides

xp = cupy
overrides.register()


def check(index: int) -> None:
    """Raise DeviceError with CuPy's own words if GPU number ``index`` can't be used here."""
    where = f"set_device: 'gpu:{index}'"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DeviceError(
            f"{where} can't be used: CuPy finds no working GPU ({error}); "
            f"check the driver with nvidia-smi, use set_device('cpu'), {ON_CPU}"
        ) from error
    if index >= count:
        raise DeviceError(
            f"{where} does not exist: this machine has {count} GPU(s); use 'gpu:0' to 'gpu:{count - 1}'"
            if count
            else f"{where} does not exist: this machine has no GPU; use set_device('cpu'), {ON_CPU}"
        )
    try:
        with cupy.cuda.Device(index):
            cupy.zeros(1).sum().item()
    except Exception as error:  # whatever the driver or the compiler of kernels has to say
        raise DeviceError(
            f"{where} can't compute: CuPy says {type(error).__name__}: {error}; "
            f"check that its CUDA version fits the driver, use set_device('cpu'), {ON_CPU}"
        ) from error


def count() -> int:
    """How many GPUs there are."""
    return int(cupy.cuda.runtime.getDeviceCount())


def cuda_version() -> str:
    """The version of CUDA that CuPy runs on, such as 12.4."""
    number = cupy.cuda.runtime.runtimeGetVersion()
    return f"{number // 1000}.{number % 1000 // 10}"


def synchronize(index: int) -> None:
    """Wait until GPU number ``index`` has done what it was given."""
    with cupy.cuda.Device(index):
        cupy.cuda.Device(index).synchronize()


def properties(index: int) -> dict[str, Any]:
    """What the driver says of GPU number ``index``."""
    found: dict[str, Any] = cupy.cuda.runtime.getDeviceProperties(index)
    return found


def pool(index: int) -> Any:
    """The memory pool of GPU number ``index``."""
    with cupy.cuda.Device(index):
        return cupy.get_default_memory_pool()
