"""Paddle's ``device``: which device computes, and which there are."""

from typing import TYPE_CHECKING

from engine.core.lazy import lazy
from engine.core.place import get_device, set_device
from engine.device import cuda
from engine.device.kinds import (
    get_all_custom_device_type,
    get_all_device_type,
    get_available_custom_device,
    get_available_device,
    get_cudnn_version,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_custom_device,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
    synchronize,
)
from engine.device.streams import (
    Event,
    IPUPlace,
    Stream,
    XPUPlace,
    current_stream,
    set_stream,
    stream_guard,
)

if TYPE_CHECKING:
    from engine.device import xpu

__getattr__ = lazy(__name__, modules=("xpu",))

__all__ = [
    "Event",
    "IPUPlace",
    "Stream",
    "XPUPlace",
    "cuda",
    "current_stream",
    "get_all_custom_device_type",
    "get_all_device_type",
    "get_available_custom_device",
    "get_available_device",
    "get_cudnn_version",
    "get_device",
    "is_compiled_with_cinn",
    "is_compiled_with_cuda",
    "is_compiled_with_custom_device",
    "is_compiled_with_distribute",
    "is_compiled_with_ipu",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
    "set_device",
    "set_stream",
    "stream_guard",
    "synchronize",
    "xpu",
]
