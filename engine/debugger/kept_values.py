"""KeptValues: what operators computed, up to a number of bytes; the oldest goes first."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from engine.debugger.points import Array
from engine.debugger.views import arrays_of

Key = tuple[int, str]
"""A time (twice the number of the operator; one more for its results) and the name of a value."""


class KeptValues:
    """Values by time and name. An array whose memory several of them share counts once.

    The newest value is kept even where it alone is larger than ``limit``: it is what is looked at.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.bytes = 0
        self._values: OrderedDict[Key, Array] = OrderedDict()
        self._owners: dict[int, tuple[Any, int]] = {}  # by id: the array, and how many values share it

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def put(self, key: Key, value: Array) -> None:
        """Keep a value, and let go of the oldest beyond the limit."""
        if key in self._values:
            self._drop(key)
        self._values[key] = value
        for array in (value,) if isinstance(value, np.ndarray) else arrays_of(value):
            owner = _owner(array)
            held, count = self._owners.get(id(owner), (owner, 0))
            if not count:
                self.bytes += int(owner.nbytes)
            self._owners[id(owner)] = (held, count + 1)
        while self.bytes > self.limit and len(self._values) > 1:
            self._drop(next(iter(self._values)))

    def get(self, key: Key) -> Array:
        """A value that is kept. Raises KeyError."""
        return self._values[key]

    def forget(self, after: int) -> None:
        """Let go of the values of later times."""
        for key in [key for key in self._values if key[0] > after]:
            self._drop(key)

    def _drop(self, key: Key) -> None:
        for array in arrays_of(self._values.pop(key)):
            owner = _owner(array)
            held, count = self._owners[id(owner)]
            if count > 1:
                self._owners[id(owner)] = (held, count - 1)
            else:
                del self._owners[id(owner)]
                self.bytes -= int(owner.nbytes)


def _owner(array: Any) -> Any:
    """The array that has the memory."""
    while isinstance(getattr(array, "base", None), np.ndarray):
        array = array.base
    return array
