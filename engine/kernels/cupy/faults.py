"""Class numbers and indices out of range on a GPU: noted by kernels, raised once the host has waited anyway.

To know on the spot that a label is wrong, the host would have to wait for each loss. A kernel writes the
first wrong value that it meets into a few words of pinned host memory instead, which the device sees at the
same address; it skips the element (a loss or a row of 0) and continues. Code that has waited for the device
reads the words, without a copy and without waiting again.
"""

from __future__ import annotations

import threading
from typing import Any

import cupy
import numpy as np

from engine.core.errors import OutOfRangeError

_WORDS = 8  # operator, value, place, least and largest value allowed

_CLASS = (
    "label {value} is not a class number: there are {count} classes, {low} to {high} (and ignore_index); "
    "check the labels or the last layer's size"
)
_ROW = "row {value} is out of range: weight has {count} rows; use {low} to {high}"
_INDEX = "index {value} is out of range for an axis with {count} elements; use {low} to {high}"
# Texts for faults, by the operator's name in messages; a kernel gets the position in this table.
_MESSAGES: dict[str, str] = {
    "cross_entropy": _CLASS,
    "nll_loss": _CLASS,
    "embedding": _ROW,
    "gather": _INDEX,
    "getitem": _INDEX,
    "gather_nd": _INDEX,
    "index_select": _INDEX,
    "index_sample": _INDEX,
    "index_add": _INDEX,
    "take_along_axis": _INDEX,
    "put_along_axis": _INDEX,
    "scatter": _INDEX,
    "scatter_nd_add": _INDEX,
    **dict.fromkeys(
        ("unpool", "unpool3d", "max_pool2d_with_index_grad", "max_pool3d_with_index_grad"),
        "place {value} is out of range for a plane with {count} elements; use {low} to {high}",
    ),
    "rnn": "sequence_length {value} is not a length for inputs of {high} steps; use {low} to {high}",
    "one_hot": "class {value} is out of range for {count} classes; use {low} to {high}",
}
_NAMES = tuple(_MESSAGES)
_CODES = {name: np.int32(n) for n, name in enumerate(_NAMES, 1)}

# The words of each device: as the host and as the device see them, and the memory itself.
_records: dict[int, tuple[Any, Any, Any]] = {}
_lock = threading.Lock()


def code(name: str) -> Any:
    """The number by which kernels call an operator."""
    return _CODES[name]


def record() -> Any:
    """The words of the current device, as an array that kernels write to."""
    device = cupy.cuda.runtime.getDevice()
    found = _records.get(device)
    if found is None:
        with _lock:
            found = _records.get(device) or _made(device)
    return found[1]


def _made(device: int) -> tuple[Any, Any, Any]:
    # Pinned memory has one address for host and device (unified addressing, every 64-bit system).
    size = 8 * _WORDS
    pinned = cupy.cuda.alloc_pinned_memory(size)
    host = np.frombuffer(pinned, np.int64, _WORDS)
    host[:] = 0
    memory = cupy.cuda.UnownedMemory(pinned.ptr, size, pinned, device)
    made = cupy.ndarray((_WORDS,), np.int64, cupy.cuda.MemoryPointer(memory, 0))
    _records[device] = (host, made, pinned)
    return _records[device]


def look() -> None:
    """Raise OutOfRangeError for a fault that a kernel has noted, and clear it. Call it after a wait for the
    device: nothing here waits."""
    for device, (host, _, _) in tuple(_records.items()):
        if host[0]:
            with _lock:
                number, value, place, low, high = (int(n) for n in host[:5])
                host[:] = 0
            if number:
                raise OutOfRangeError(_message(device, number, value, place, low, high))


def _message(device: int, number: int, value: int, place: int, low: int, high: int) -> str:
    name = _NAMES[number - 1]
    what = _MESSAGES[name].format(value=value, count=high + 1, low=low, high=high)
    return (
        f"{name}: {what} (element {place} of an input on gpu:{device}; a GPU reports it when results are "
        "fetched, so an operator before this line is meant)"
    )
