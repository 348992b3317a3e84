"""The CuPy backend: NVIDIA GPUs. The default kernels of ``engine.ops`` run on it unchanged."""

from __future__ import annotations

import cupy

from engine.core.errors import DeviceError

xp = cupy


def check(index: int) -> None:
    """Raise DeviceError with CuPy's own words if GPU number ``index`` can't be used here."""
    where = f"set_device: 'gpu:{index}'"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DeviceError(
            f"{where} can't be used: CuPy finds no working GPU ({error}); "
            "check the driver with nvidia-smi, or use set_device('cpu')"
        ) from error
    if index >= count:
        raise DeviceError(
            f"{where} does not exist: this machine has {count} GPU(s); use 'gpu:0' to 'gpu:{count - 1}'"
            if count
            else f"{where} does not exist: this machine has no GPU; use set_device('cpu')"
        )
    try:
        with cupy.cuda.Device(index):
            cupy.zeros(1).sum().item()
    except Exception as error:  # whatever the driver or the compiler of kernels has to say
        raise DeviceError(
            f"{where} can't compute: CuPy says {type(error).__name__}: {error}; "
            "check that its CUDA version fits the driver, or use set_device('cpu')"
        ) from error
