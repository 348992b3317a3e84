"""Paddle's ``device.xpu``: XPUs, which are not used here."""

from __future__ import annotations

from engine.core.errors import DeviceError

__all__ = ["synchronize"]


def synchronize(device: object = None) -> None:
    """Raises DeviceError: there is no XPU to wait for."""
    raise DeviceError("device.xpu.synchronize: XPUs are not used here; device.synchronize() waits for a GPU")
