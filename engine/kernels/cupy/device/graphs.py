"""CUDA graphs: the GPU work of a function, recorded once and launched again as one piece of work.

While a stream records, nothing runs. Addresses, sizes and numbers of every launch become part of the graph,
so all that it reads and writes has to stay where it is: it has its own memory pool, which gives nothing
back to the GPU while a graph lives, and arrays of others that its kernels read are held. Sources: CUDA C++
Programming Guide, "CUDA Graphs"; CuPy's ``cupy/cuda/stream.pyx`` and ``memory.pyx``.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import cupy

from engine.kernels.cupy.device.memory import peaks
from engine.kernels.cupy.source import recording


class Arena:
    """The memory of the graphs of one stream, which run one after the other and so share it.

    Blocks come from CuPy's pool, where they count as used, and stay as long as a graph lives. ``lock``:
    copies into a graph, its launch and copies out of it belong together.
    """

    def __init__(self) -> None:
        blocks: list[Any] = []

        def block(size: int) -> Any:
            # A pool that finds no memory frees its unused blocks, which graphs use: so they are held here.
            pointer = peaks()(size)
            blocks.append(pointer)
            return pointer

        self._blocks = blocks
        self.pool = cupy.cuda.MemoryPool(block)
        self.stream = cupy.cuda.Stream(non_blocking=True)  # a pool keeps free blocks for each stream
        self.lock = threading.RLock()

    def like(self, arrays: Sequence[Any]) -> list[Any]:
        """Arrays in it, of the shapes, dtypes and layouts of others."""
        with cupy.cuda.using_allocator(self.pool.malloc):
            return [cupy.empty_like(array) for array in arrays]

    def one(self) -> list[Any]:
        """A list that alone holds a new array."""
        with cupy.cuda.using_allocator(self.pool.malloc):
            return [cupy.empty(1)]

    def has(self, place: int) -> bool:
        """Whether an address is in it."""
        return any(block.ptr <= place < block.ptr + block.mem.size for block in self._blocks)


Array = cupy.ndarray
_arenas: weakref.WeakValueDictionary[tuple[int, int], Arena] = weakref.WeakValueDictionary()
_arenas_lock = threading.Lock()


def stream_key() -> tuple[int, int]:
    """The GPU and the stream that this thread gives its work to."""
    return cupy.cuda.runtime.getDevice(), cupy.cuda.get_current_stream().ptr


def arena() -> Arena:
    """The memory of graphs of the current stream."""
    key = stream_key()
    with _arenas_lock:
        found = _arenas.get(key)
        if found is None:
            found = _arenas[key] = Arena()
        return found


def is_recording() -> bool:
    """Whether the current stream records: a graph of ours, or that of a user."""
    return recording.note is not None or bool(cupy.cuda.get_current_stream().is_capturing())


class Graph:
    """The recorded GPU work of ``function``; ``result`` is its result, filled by each launch.

    ``stays`` are arrays whose address is looked at before each launch, so they need not be held. Raises
    any error of the function, and CuPy's error for work that can't be recorded (a wait of the host, a copy
    from or to it, cuBLAS). Nothing has run then, and streams can be used.
    """

    def __init__(self, memory: Arena, function: Callable[[], Any], stays: Sequence[Any]) -> None:
        self._memory = memory
        known = {array.data.mem.ptr for array in stays}
        held: dict[int, Any] = {}  # tables that a cache may drop, say, by the address of their memory

        def note(arrays: Sequence[Any]) -> None:
            for array in arrays:
                place = array.data.mem.ptr
                if place not in known and not memory.has(place):
                    held.setdefault(place, array)

        stream = memory.stream
        _refuse_copies_from_host()
        recording.note = note
        before = memory.pool.used_bytes()
        try:
            with cupy.cuda.using_allocator(memory.pool.malloc), stream:
                stream.begin_capture()
                try:
                    self.result = function()
                except BaseException:
                    _abandon(stream)
                    raise
                self._graph = stream.end_capture()
        finally:
            recording.note = None
        self._held = list(held.values())
        own = {array.data.mem.ptr: array.data.mem.size for array in self.result if isinstance(array, Array)}
        if memory.pool.used_bytes() - before > sum(own.values()):
            _for_good.append(memory)  # a cache has taken an array of it
        for array in self.result:
            if isinstance(array, Array):  # a result may outlive its graph
                weakref.finalize(array, _let_go, memory).atexit = False

    def launch(self) -> None:
        """Give it to the current stream."""
        self._graph.launch()


_for_good: list[Arena] = []


def _let_go(_: Arena) -> None:
    """The arena was held until now."""


def _abandon(stream: Any) -> None:
    """End a recording that failed."""
    with suppress(RuntimeError):  # the graph is invalid, whose cause was raised already
        stream.end_capture()


_guarded = False


def _refuse_copies_from_host() -> None:
    """Let a copy from the host fail while its thread records.

    The graph would read memory of the host that CuPy has used for something else by then.
    """
    global _guarded
    if not _guarded:
        _guarded = True
        cupy.cuda.set_pinned_memory_allocator(_pinned)


def _pinned(size: int) -> Any:
    if recording.note is not None:
        raise RuntimeError("it takes page-locked memory of the host, to copy an array from it")
    return cupy.get_default_pinned_memory_pool().malloc(size)
