"""The device of a run's setting, and its description: for command lines and records, not for scripts.

``auto`` is the first GPU where one can be used, else the CPU, and a line reports it: nothing else falls back.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.core.errors import DeviceError
from engine.core.place import as_place, backend, get_device, set_device

AUTO = "auto"


@dataclass(frozen=True)
class Used:
    """A device by its name (``cpu``, ``gpu:0``); ``fallback`` is the reason for the CPU where ``auto`` looked
    for a GPU, and is empty otherwise."""

    device: str
    fallback: str = ""


def use(name: str) -> Used:
    """Make ``name`` (cpu, gpu, gpu:1, auto) the place of new tensors.

    Raises:
        DeviceError: it can't be used; MissingDeviceError where CuPy is not installed.
        ArgumentError: no device has this name.
    """
    wanted = "gpu:0" if name == AUTO else name
    try:
        place = set_device(wanted)
    except DeviceError as error:
        if name != AUTO:
            raise _with_advice(name, error) from error
        set_device("cpu")
        return Used("cpu", f"device auto: the CPU computes, because {wanted} {error.why or error}")
    return Used(place.device)


def _with_advice(name: str, error: DeviceError) -> DeviceError:
    """The error in the words of a setting."""
    remedy = f"{error.remedy}, or " if error.remedy else ""
    worded = type(error)(f"device {name}: {error.why or error}; {remedy}compute on the CPU with --device cpu")
    worded.why, worded.remedy = error.why, error.remedy
    return worded


def label() -> str:
    """The place of new tensors with the name of its GPU: ``cpu``, ``gpu:0 (NVIDIA H100 80GB HBM3)``."""
    device = get_device()
    place = as_place(device)
    if not place.is_gpu_place():
        return device
    name = backend(place).properties(place.index)["name"].decode(errors="replace")
    return f"{device} ({name})"


def versions() -> dict[str, str]:
    """Versions of a GPU's software, for records: ``cupy``, ``cuda``, ``driver``; empty on the CPU."""
    place = as_place(get_device())
    if not place.is_gpu_place():
        return {}
    found = backend(place)
    return {"cupy": str(found.xp.__version__), "cuda": found.cuda_version(), "driver": found.driver_version()}
