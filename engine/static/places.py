"""Lists of devices."""

from __future__ import annotations

import os
from collections.abc import Sequence

from engine.core.errors import DeviceError
from engine.core.place import CPUPlace, CUDAPlace, Place, backend


def cpu_places(device_count: int | None = None) -> list[Place]:
    """So many times the CPU; without a number as often as CPU_NUM in the environment says, or once."""
    count = int(os.environ.get("CPU_NUM", "1")) if device_count is None else device_count
    return [CPUPlace() for _ in range(count)]


def cuda_places(device_ids: Sequence[int] | int | None = None) -> list[Place]:
    """The GPUs of these numbers; without them those that FLAGS_selected_gpus in the environment names, or
    the first. Raises DeviceError where there is no GPU.
    """
    if device_ids is None:
        chosen = os.environ.get("FLAGS_selected_gpus", "0")  # noqa: SIM112 - its name
        device_ids = [int(n) for n in chosen.split(",") if n]
    places = [CUDAPlace(int(n)) for n in ([device_ids] if isinstance(device_ids, int) else device_ids)]
    for place in places:
        backend(place)
    if not places:
        raise DeviceError("cuda_places: no GPU is chosen; pass device_ids=[0]")
    return list(places)
