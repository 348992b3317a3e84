"""Places: the device of arrays, and the array module (NumPy, CuPy) that computes there."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from engine.core.context import Setting
from engine.core.errors import ArgumentError, DeviceError, MissingDeviceError
from resources.installing import extra

# An array that a kernel computes with, and the module ``xp`` of its functions. Type checkers know NumPy's;
# CuPy's, and what stands for an array while a kernel is traced or recorded, have the same.
Array: TypeAlias = np.ndarray[Any, Any]
ArrayModule: TypeAlias = ModuleType


class Place:
    """A device: ``Place(cpu)`` or ``Place(gpu:0)``."""

    __slots__ = ("index", "kind")

    def __init__(self, kind: str = "cpu", index: int = 0) -> None:
        self.kind = kind
        self.index = index

    def _equals(self, other: Place) -> bool:
        return self == other

    def is_cpu_place(self) -> bool:
        return self.kind == "cpu"

    def is_gpu_place(self) -> bool:
        return self.kind == "gpu"

    def is_cuda_pinned_place(self) -> bool:
        return False

    @property
    def device(self) -> str:
        """The name that ``set_device`` takes."""
        return "cpu" if self.kind == "cpu" else f"{self.kind}:{self.index}"

    def __repr__(self) -> str:
        return f"Place({self.device})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.device == other.device

    def __hash__(self) -> int:
        return hash(self.device)


class CPUPlace(Place):
    def __init__(self) -> None:
        super().__init__("cpu")


class CUDAPlace(Place):
    """GPU number ``index``."""

    def __init__(self, index: int = 0) -> None:
        super().__init__("gpu", int(index))


class CUDAPinnedPlace(CPUPlace):
    """Page-locked memory of the host, which a GPU reads while the host continues; NumPy computes on it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Place(gpu_pinned)"

    def is_cpu_place(self) -> bool:
        return False

    def is_cuda_pinned_place(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CUDAPinnedPlace)

    def __hash__(self) -> int:
        return hash("gpu_pinned")


# What names a device: ``'cpu'``, ``'gpu:1'``.
PlaceLike: TypeAlias = Place | str

REDIRECT = "MODEL_STUDIO_DEVICE"
"""The environment variable that, being ``cpu``, sends work meant for a GPU to the CPU."""
ON_CPU = f"or run a script on the CPU with `model-studio run --device cpu` ({REDIRECT}=cpu)"

_current: Setting[Place] = Setting("place", CPUPlace())


def backend(place: Place) -> ModuleType:
    """The kernels of ``place``, loaded by name.

    Raises MissingDeviceError without CuPy and DeviceError where CuPy finds no GPU.
    """
    if place.kind == "cpu":
        return importlib.import_module("engine.kernels.cpu")
    try:
        module = importlib.import_module("engine.kernels.cupy")
    except ImportError as error:
        raise refused(
            place,
            f"needs CuPy, which is not installed ({error})",
            f"{extra('gpu')} ('model-studio[gpu-cuda13]' for CUDA 13)",
            MissingDeviceError,
        ) from error
    module.check(place.index)
    return module


def refused(place: Place, why: str, remedy: str = "", kind: type[DeviceError] = DeviceError) -> DeviceError:
    """The error for a device that can't be used, with ``remedy`` before the way round it."""
    first = f"{remedy}, " if remedy else ""
    error = kind(f"set_device: {place.device!r} {why}; {first}use set_device('cpu'), {ON_CPU}")
    error.why, error.remedy = why, remedy
    return error


def is_pinned(array: np.ndarray[Any, Any]) -> bool:
    """Whether an array of NumPy is in page-locked memory, or is a view of one that does."""
    base: Any = array.base
    while base is not None:
        if type(base).__module__.startswith("cupy.cuda"):
            return True
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return False


def is_writable(array: Array) -> bool:
    """Whether numbers may be put into an array: an array of NumPy has a flag, one of CuPy is always
    writable."""
    return bool(getattr(array.flags, "writeable", True))


def page_locked(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy of an array of NumPy in page-locked memory; itself where there is no GPU."""
    try:
        module = backend(CUDAPlace(0))
    except DeviceError:
        return array
    locked: np.ndarray[Any, Any] = array if redirected() else module.memory.pinned(array)
    return locked


def is_cupy(array: object) -> bool:
    """Whether it is an array of CuPy, which need not be installed."""
    return type(array).__module__.partition(".")[0] == "cupy"


def array_module(array: object) -> ArrayModule:
    """The module whose functions compute on ``array``."""
    if isinstance(array, (np.ndarray, np.generic)):
        return np
    found: ArrayModule = importlib.import_module("engine.kernels.cupy").xp
    return found


def moved(xp: ArrayModule, array: Array) -> Any:
    """The array where ``xp`` computes: itself if it is on that device, else a copy.

    bfloat16 from a GPU comes as plain bits: see ``bfloat.adopt``.
    """
    if xp is not np:
        return xp.asarray(array)
    return fetched(array) if is_cupy(array) else array


def fetched(array: Any) -> np.ndarray[Any, Any]:
    """A copy of an array of CuPy as one of NumPy, for which the host waits.

    Raises OutOfRangeError for a class number or index that an operator before could not serve: a GPU reports
    it now, because a check after each operator would wait for the device each time.
    """
    copied: np.ndarray[Any, Any] = array.get()
    look()
    return copied


def look() -> None:
    """Raise errors that kernels on a GPU have noted; call it after the host has waited for one."""
    faults = sys.modules.get("engine.kernels.cupy.faults")  # not imported: there are no faults
    if faults is not None:
        faults.look()


def here(array: Array) -> Any:
    """The array on the place of new tensors."""
    return moved(backend(_current.get()).xp, array)


def redirected() -> bool:
    """Whether the environment sends work meant for a GPU to the CPU. Raises ArgumentError for a value of
    ``MODEL_STUDIO_DEVICE`` other than ``cpu``."""
    chosen = os.environ.get(REDIRECT, "")
    if chosen not in ("", "cpu"):
        raise ArgumentError(f"{REDIRECT}: {chosen!r} is not a device that work can be sent to; use 'cpu'")
    return chosen == "cpu"


def as_place(value: PlaceLike) -> Place:
    """A place from a Place or a name: ``'cpu'``, ``'gpu'``, ``'gpu:1'``.

    With ``MODEL_STUDIO_DEVICE=cpu`` the CPU for a GPU.
    """
    place = value if isinstance(value, Place) else _named(value)
    return CPUPlace() if place.kind == "gpu" and redirected() else place


def _named(value: Any) -> Place:
    kind, _, index = str(value).lower().partition(":")
    kind = {"cuda": "gpu"}.get(kind, kind)
    if kind not in ("cpu", "gpu") or (index and not index.isdigit()) or (kind == "cpu" and index):
        raise ArgumentError(f"set_device: {value!r} is not a device; use 'cpu', 'gpu' or 'gpu:N'")
    return CPUPlace() if kind == "cpu" else CUDAPlace(int(index or 0))


def current_place() -> Place:
    """The place of new tensors."""
    return _current.get()


def set_device(device: PlaceLike) -> Place:
    """Make ``device`` the place of new tensors: in every thread, or until an open ``place_guard`` ends.

    Raises MissingExtraError or DeviceError where the device can't be used; the old place then stays.
    """
    place = as_place(device)
    found = backend(place)
    if place.kind == "gpu":
        found.use(place.index)
    _current.set(place)
    return place


def place_guard(device: PlaceLike) -> AbstractContextManager[Place]:
    """Make ``device`` the place of new tensors within the block, in this context only.

    Raises as ``set_device``.
    """
    place = as_place(device)
    found = backend(place)
    guard = _current.guard(place)
    return _on_gpu(found, guard, place.index) if place.kind == "gpu" else guard


@contextmanager
def _on_gpu(found: ModuleType, guard: AbstractContextManager[Place], index: int) -> Iterator[Place]:
    with found.on(index), guard as place:
        yield place


def get_device() -> str:
    """The name of the place of new tensors: ``'cpu'`` or ``'gpu:N'``."""
    return _current.get().device


def require_same_place(where: str, arrays: list[Any]) -> None:
    kinds = {"numpy" if isinstance(a, np.ndarray) else type(a).__module__.partition(".")[0] for a in arrays}
    if len(kinds) > 1:
        raise DeviceError(
            f"{where}: inputs live on different devices: {sorted(kinds)}; move them with .cpu() or .cuda()"
        )
