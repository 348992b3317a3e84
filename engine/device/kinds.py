"""Which kinds of devices this installation can use, and how many of each there are."""

from __future__ import annotations

from importlib.util import find_spec

from engine.core.errors import EngineError
from engine.core.place import CUDAPlace, PlaceLike, as_place, backend, current_place, redirected


def is_compiled_with_cuda() -> bool:
    """True where CuPy is installed (``set_device`` shows whether it finds a GPU)."""
    return find_spec("cupy") is not None


def is_compiled_with_distribute() -> bool:
    """True where mpi4py is installed."""
    return find_spec("mpi4py") is not None


def is_compiled_with_rocm() -> bool:
    """False: AMD's GPUs are not used."""
    return False


def is_compiled_with_xpu() -> bool:
    """False: Kunlun's XPUs are not used."""
    return False


def is_compiled_with_ipu() -> bool:
    """False: Graphcore's IPUs are not used."""
    return False


def is_compiled_with_cinn() -> bool:
    """False: there is no CINN compiler here."""
    return False


def is_compiled_with_custom_device(device_type: str) -> bool:
    """False: there are no custom devices."""
    return False


def get_cudnn_version() -> int | None:
    """None, as where Paddle finds no cuDNN: the engine does not use it."""
    return None


def get_all_device_type() -> list[str]:
    """``['cpu']``, with ``'gpu'`` where CuPy is installed.

    Differs from Paddle: without a GPU it is an empty list there.
    """
    return ["cpu", "gpu"] if is_compiled_with_cuda() else ["cpu"]


def get_all_custom_device_type() -> list[str]:
    """No custom devices: an empty list."""
    return []


def get_available_device() -> list[str]:
    """``['cpu']`` and the GPUs that can be used now: ``'gpu:0'`` ...

    Differs from Paddle: without a GPU it is an empty list there.
    """
    return ["cpu", *(f"gpu:{index}" for index in range(device_count()))]


def get_available_custom_device() -> list[str]:
    """No custom devices: an empty list."""
    return []


def device_count() -> int:
    """How many GPUs can be used; 0 without CuPy, and where work for them is sent to the CPU."""
    if redirected():
        return 0
    try:
        return int(backend(CUDAPlace(0)).count())
    except EngineError:
        return 0


def synchronize(device: PlaceLike | None = None) -> None:
    """Wait until the GPU is done with what it was given; the CPU always is."""
    place = current_place() if device is None else as_place(device)
    if place.is_gpu_place():
        backend(place).synchronize(place.index)
