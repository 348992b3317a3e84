"""Counts what a program asks of CUDA's driver: kernels launched, graphs launched, waits of the host.

CUPTI reports each call of the driver's interface by its name, from any caller (CuPy, cuBLAS, torch). It comes
with CUDA, with torch, or as ``nvidia-cuda-cupti-cu12``.
"""

from __future__ import annotations

import ctypes
import sysconfig
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DRIVER_API = 1  # CUPTI_CB_DOMAIN_DRIVER_API
_LAUNCHES = ("cuLaunchKernel", "cuLaunchCooperativeKernel", "cuMemsetD")
_GRAPHS = ("cuGraphLaunch",)
_WAITS = (
    "cuStreamSynchronize",
    "cuEventSynchronize",
    "cuCtxSynchronize",
    "cuMemcpyDtoH_v2",
    "cuMemcpyHtoD_v2",
)
_PATTERNS = ("nvidia/cuda_cupti/lib/libcupti.so*", "nvidia/cu1*/lib/libcupti.so*")


@dataclass
class Calls:
    """How often, since the block began; ``names`` has every call of the driver."""

    launches: int = 0
    graphs: int = 0
    waits: int = 0

    def text(self) -> str:
        """The numbers in a few words."""
        graphs = f" + {self.graphs} graph" if self.graphs else ""
        return f"{self.launches}{graphs} / {self.waits}"


class _Data(ctypes.Structure):
    """The beginning of CUpti_CallbackData."""

    _fields_ = (("site", ctypes.c_int), ("function", ctypes.c_char_p))


_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.POINTER(_Data))


def library() -> Any | None:
    """CUPTI, or None where it is not installed."""
    folder = Path(sysconfig.get_paths()["purelib"])
    found = [str(path) for pattern in _PATTERNS for path in sorted(folder.glob(pattern))]
    for name in (*found, "libcupti.so", "libcupti.so.12", "libcupti.so.13"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


@contextmanager
def counted() -> Iterator[Calls | None]:
    """Count within the block; None where CUPTI is absent or refuses (another profiler uses it)."""
    cupti = library()
    counts: Counter[str] = Counter()

    def note(_: Any, __: int, ___: int, data: Any) -> None:
        if data.contents.site == 0:  # entering
            counts[data.contents.function.decode()] += 1

    callback, subscriber = _CALLBACK(note), ctypes.c_void_p()
    if cupti is None or cupti.cuptiSubscribe(ctypes.byref(subscriber), callback, None):
        yield None
        return
    calls = Calls()
    try:
        cupti.cuptiEnableDomain(ctypes.c_uint32(1), subscriber, _DRIVER_API)
        yield calls
    finally:
        cupti.cuptiUnsubscribe(subscriber)
        calls.launches, calls.graphs = _sum(counts, _LAUNCHES), _sum(counts, _GRAPHS)
        calls.waits = _sum(counts, _WAITS)


def _sum(counts: Counter[str], names: tuple[str, ...]) -> int:
    return sum(count for name, count in counts.items() if name.startswith(names))
