"""Batches on their way to a GPU: page-locked memory, a stream for the copies, and events for the order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from engine.kernels.cupy.device import memory, streams


class Feed:
    """Copies arrays to GPU number ``index`` while it computes; the host waits for none of them.

    The copies' memory belongs to their stream. A batch that the program has dropped may be overwritten by the
    next copy: that one runs behind all that the computing stream has been given, which read the old one.
    """

    def __init__(self, index: int) -> None:
        self._index = index
        self._stream = streams.make(index)

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Copies of the block run on the feed's stream."""
        streams.wait_for(self._index, self._stream, streams.current(self._index))
        with streams.within(self._index, self._stream):
            yield

    def copy(self, array: np.ndarray) -> Any:
        """An array of the GPU with these values, within ``sending()``."""
        return memory.sending.send(memory.pinned(array))

    def sent(self) -> Any:
        """A mark behind the copies so far."""
        return self._stream.record(streams.event(self._index, timing=False))

    def arrive(self, mark: Any) -> None:
        """Later work of the current stream runs after the mark."""
        streams.current(self._index).wait_event(mark)
