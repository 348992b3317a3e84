"""How a batch comes from a worker to the main process: its structure pickled, its arrays in shared memory.

The memory is a file without a name (Linux ``memfd``) whose descriptor is sent once, so that nothing is left
in ``/dev/shm`` however a process ends, and its size is not limited by that of ``/dev/shm``. It is used again
as soon as a batch has been copied from it: new pages cost several times what the copy costs. Small batches,
and all where there is no such file, go through the pipe.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
from collections.abc import Callable
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from engine.eager.tensor import Tensor

SHARES_MEMORY = hasattr(os, "memfd_create")
_SMALL = 1 << 16  # bytes of arrays that are not worth shared memory
_ALIGNED = 64


class _Pickler(pickle.Pickler):
    """Tensors as their arrays, which leave the pickle as buffers."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return Tensor, (value.numpy(),)
        if type(value) is np.ndarray and not (value.flags.c_contiguous or value.flags.f_contiguous):
            return np.ascontiguousarray(value).__reduce_ex__(pickle.HIGHEST_PROTOCOL)
        return NotImplemented


def packed(value: object) -> tuple[bytes, list[memoryview]]:
    """``value`` as a pickle and the contents of its arrays."""
    buffers: list[pickle.PickleBuffer] = []
    stream = io.BytesIO()
    _Pickler(stream, pickle.HIGHEST_PROTOCOL, buffer_callback=buffers.append).dump(value)
    return stream.getvalue(), [buffer.raw() for buffer in buffers]


class Sender:
    """The worker's end: sends what ``packed`` gave."""

    def __init__(self, connection: Connection, shared: bool) -> None:
        self._connection = connection
        self._shared = shared
        self._memory: dict[int, mmap.mmap] = {}

    def send(self, body: bytes, buffers: list[memoryview], slot: int) -> None:
        """Send one value; ``slot`` says which piece of shared memory is free."""
        sizes = [buffer.nbytes for buffer in buffers]
        if not self._shared or sum(sizes) < _SMALL:
            self._connection.send_bytes(pickle.dumps((sizes, body, None, False)))
            for buffer in buffers:
                self._connection.send_bytes(buffer)
            return
        offsets, total = _layout(sizes)
        held = self._memory.get(slot)
        if held is not None and len(held) >= total:
            self._fill(held, offsets, buffers)
            self._connection.send_bytes(pickle.dumps((sizes, body, slot, False)))
            return
        file = os.memfd_create("dataloader")
        try:
            os.ftruncate(
                file, total + total // 4
            )  # a little larger batch fits too; unused pages cost nothing
            self._memory[slot] = memory = mmap.mmap(file, 0)
            self._fill(memory, offsets, buffers)
            self._connection.send_bytes(pickle.dumps((sizes, body, slot, True)))
            reduction.send_handle(self._connection, file, None)
        finally:
            os.close(file)

    def _fill(self, memory: mmap.mmap, offsets: list[int], buffers: list[memoryview]) -> None:
        for offset, buffer in zip(offsets, buffers, strict=True):
            if buffer.nbytes:
                np.copyto(
                    np.frombuffer(memory, np.uint8, buffer.nbytes, offset), np.frombuffer(buffer, np.uint8)
                )


class Receiver:
    """The main process's end."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._memory: dict[int, mmap.mmap] = {}

    def receive(self) -> Any:
        """What the other side gave to ``packed``; its arrays belong to the caller alone.

        Raises EOFError or OSError where the other process has exited.
        """
        sizes, body, slot, new = pickle.loads(self.connection.recv_bytes())
        if slot is None:
            return pickle.loads(body, buffers=[self._received(size) for size in sizes])
        if new:
            file = reduction.recv_handle(self.connection)
            try:
                self._memory[slot] = mmap.mmap(file, 0)
            finally:
                os.close(file)
        memory, (offsets, _) = self._memory[slot], _layout(sizes)
        pairs = zip(sizes, offsets, strict=True)
        return pickle.loads(body, buffers=[_copied(memory, size, offset) for size, offset in pairs])

    def _received(self, size: int) -> Any:
        content = np.empty(size, np.uint8)
        if size:
            self.connection.recv_bytes_into(content)
        else:
            self.connection.recv_bytes()
        return content


def _copied(memory: mmap.mmap, size: int, offset: int) -> Any:
    return np.frombuffer(memory, np.uint8, size, offset).copy() if size else np.empty(0, np.uint8)


def _layout(sizes: list[int]) -> tuple[list[int], int]:
    """Where each buffer begins, and where the last one ends."""
    offsets, end = [], 0
    for size in sizes:
        offsets.append(-(-end // _ALIGNED) * _ALIGNED)
        end = offsets[-1] + size
    return offsets, end


def packed_for_spawn(job: object) -> bytes | str:
    """``job`` as a pickle that a new Python process can read; or, as text, why there can be none."""
    try:
        return bytes(reduction.ForkingPickler.dumps(job))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        return f"the dataset or a function of the loader can't be pickled ({error})"


def unpacked(job: bytes) -> Any:
    """What ``packed_for_spawn`` was given."""
    return pickle.loads(job)


def remembered(error: Exception) -> Callable[[str], Exception] | Exception:
    """What a pickle can hold of ``error``: itself, or the nearest class that takes a message."""
    try:
        again = pickle.loads(pickle.dumps(error))
        if type(again) is type(error):
            return error
    except Exception:  # whatever a user's class raises while it is copied
        pass
    for kind in type(error).__mro__:
        try:
            pickle.dumps(kind)
            kind("")
        except Exception:
            continue
        return kind
    return RuntimeError
