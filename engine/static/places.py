"""Lists of devices."""

from __future__ import annotations

import os
from collections.abc import Sequence

from engine.core.errors import AbsentDeviceError, DeviceError, EngineError
from engine.core.place import CPUPlace, CUDAPlace, Place, as_place, backend


def cpu_places(device_count: int | None = None) -> list[Place]:
    """A list of ``device_count`` CPU places; by default CPU_NUM of the environment, or one."""
    count = int(os.environ.get("CPU_NUM", "1")) if device_count is None else device_count
    return [CPUPlace() for _ in range(count)]


def cuda_places(device_ids: Sequence[int] | int | None = None) -> list[Place]:
    """A list of GPU places by number; by default FLAGS_selected_gpus of the environment, or the first.

    Raises DeviceError where there is no GPU.
    """
    if device_ids is None:
        chosen = os.environ.get("FLAGS_selected_gpus", "0")  # noqa: SIM112 - its name
        device_ids = [int(n) for n in chosen.split(",") if n]
    places = [CUDAPlace(int(n)) for n in ([device_ids] if isinstance(device_ids, int) else device_ids)]
    try:
        for place in places:
            backend(as_place(place))
    except EngineError as error:
        raise AbsentDeviceError(f"cuda_places: {error}") from error
    if not places:
        raise DeviceError("cuda_places: no GPU is chosen; pass device_ids=[0]")
    return list(places)
