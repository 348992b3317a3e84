"""WeightReader: reads weights of single layers ahead and keeps the last ones, up to a number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from studio.session.checkpoints.checkpoint_files import FoundFile, StoredCheckpoint
from studio.session.checkpoints.weight_view import Range, range_of
from studio.session.work.file_thread import FileThread

MOST_BYTES = 96 << 20
TOGETHER = 2
"""A checkpoint and the one before it are needed at once."""
Key = tuple[FoundFile, str]


@dataclass(frozen=True, eq=False)
class _Read:
    """The weights of a layer, or why they can't be read, and their range."""

    key: Key
    values: NDArray[np.float32] | Exception
    range: Range = field(default_factory=Range)


class WeightReader:
    """Reads in the thread ``reading``; the newest request replaces those that wait.

    ``scales`` has the range of each layer over all checkpoints in which it was read.
    """

    def __init__(self, reading: FileThread) -> None:
        self._reading = reading
        self._known: OrderedDict[Key, NDArray[np.float32] | Exception] = OrderedDict()
        self._bytes = 0
        self.scales: dict[str, Range] = {}

    def forget(self) -> None:
        """Another run is shown."""
        self._known.clear()
        self._bytes = 0
        self.scales.clear()

    def known(self, checkpoint: StoredCheckpoint, layer: str) -> NDArray[np.float32] | Exception | None:
        """The weights, or why they can't be read; None until they are read."""
        found = self._known.get((checkpoint.file, layer))
        if found is not None:
            self._known.move_to_end((checkpoint.file, layer))
        return found

    def read(self, wanted: Sequence[StoredCheckpoint], layer: str, then: Callable[[], object]) -> None:
        """Read the layer of these checkpoints, the first two together and first; ``then`` is called after
        each part that was missing."""
        missing = [each for each in wanted if self.known(each, layer) is None]
        if not missing:
            return
        now, later = missing[:TOGETHER], missing[TOGETHER:]

        def work() -> list[_Read]:
            return [_read(each, layer) for each in now]

        def take(found: list[_Read]) -> None:
            for each in found:
                self._keep(each)
            then()
            self.read(later, layer, then)

        self._reading.do(work, take, "weights")

    def _keep(self, found: _Read) -> None:
        self._known[found.key] = found.values
        layer = found.key[1]
        self.scales[layer] = self.scales.get(layer, Range()).joined(found.range)
        self._bytes += _size(found.values)
        while self._bytes > MOST_BYTES and len(self._known) > 2:
            self._bytes -= _size(self._known.popitem(last=False)[1])


def _size(values: NDArray[np.float32] | Exception) -> int:
    return 0 if isinstance(values, Exception) else values.nbytes


def _read(checkpoint: StoredCheckpoint, layer: str) -> _Read:
    key = (checkpoint.file, layer)
    try:
        values = checkpoint.weights(layer)
    except Exception as error:
        return _Read(key, error)
    return _Read(key, values, range_of(values))
