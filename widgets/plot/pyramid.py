"""Growing arrays and the min/max pyramid that draws a million points with at most two a pixel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FACTOR = 4


class GrowingArray:
    """A float64 array that grows at its end in amortised constant time."""

    def __init__(self) -> None:
        self._store: Floats = np.empty(256)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def extend(self, values: Floats) -> None:
        """Copy `values` behind the last one."""
        need = self._size + len(values)
        if need > len(self._store):
            store = np.empty(max(need, 2 * len(self._store)))
            store[: self._size] = self._store[: self._size]
            self._store = store
        self._store[self._size : need] = values
        self._size = need

    def view(self) -> Floats:
        """All values, without a copy; valid until the next `extend`."""
        return self._store[: self._size]


class Pyramid:
    """Values with the minima and maxima of their groups of 4, 16, 64, ...

    NaN means "no value": it is skipped in a group and leaves a gap where single values are drawn.
    """

    def __init__(self) -> None:
        self.values = GrowingArray()
        self._levels: list[tuple[GrowingArray, GrowingArray]] = []

    def __len__(self) -> int:
        return len(self.values)

    def extend(self, values: Floats) -> None:
        """Append values and complete the groups that they fill."""
        self.values.extend(values)
        low = high = self.values.view()
        level = 0
        while len(low) >= FACTOR:
            if level == len(self._levels):
                self._levels.append((GrowingArray(), GrowingArray()))
            lows, highs = self._levels[level]
            start, stop = len(lows), len(low) // FACTOR
            if start == stop:
                return
            lows.extend(np.fmin.reduce(low[start * FACTOR : stop * FACTOR].reshape(-1, FACTOR), axis=1))
            highs.extend(np.fmax.reduce(high[start * FACTOR : stop * FACTOR].reshape(-1, FACTOR), axis=1))
            low, high = lows.view(), highs.view()
            level += 1

    def reduced(self, start: int, stop: int, columns: int) -> tuple[NDArray[np.intp], Floats, Floats] | None:
        """Minima and maxima of about `columns` equal pieces of [start, stop), with the index where each piece
        begins.

        None where there are so few values that they are drawn one by one. The pieces keep their borders while
        the range moves, so that a curve doesn't shimmer when it is panned.
        """
        count = stop - start
        if count <= 2 * columns:
            return None
        level = 0
        while level < len(self._levels) and count >= columns * FACTOR ** (level + 1):
            level += 1
        group = FACTOR**level
        if level:
            low, high = (side.view() for side in self._levels[level - 1])
        else:
            low = high = self.values.view()
        per_piece = -(-count // (group * columns))
        first = start // group // per_piece * per_piece
        last = min(-(-stop // group), len(low))
        edges = np.arange(first, last, per_piece)
        lows = np.fmin.reduceat(low[:last], edges)
        highs = np.fmax.reduceat(high[:last], edges)
        begins = edges * group
        rest = last * group
        if rest < stop:
            tail = self.values.view()[rest:stop]
            begins = np.append(begins, rest)
            lows = np.append(lows, np.fmin.reduce(tail))
            highs = np.append(highs, np.fmax.reduce(tail))
        return begins, lows, highs
