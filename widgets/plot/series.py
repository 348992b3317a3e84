"""One curve: all its points, the smoothed ones, and what of them is drawn for a stretch of the axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from widgets.plot.pyramid import GrowingArray, Pyramid
from widgets.plot.smoothing import Ema, weight_of

Floats = NDArray[np.float64]

LARGEST = 1e300


@dataclass(frozen=True)
class Trace:
    """What is drawn: x and y of a line, NaN for a gap."""

    x: Floats
    y: Floats


class Series:
    """Points in the order in which they came; x usually rises, but needn't."""

    def __init__(self, key: str, label: str, color: int | str, dashed: bool, smoothable: bool) -> None:
        self.key, self.label, self.color, self.dashed = key, label, color, dashed
        self.smoothable = smoothable
        self.visible = True
        self.quiet = False  # drawn paler, below the others
        self.xs = GrowingArray()
        self.ys = GrowingArray()
        self._sorted = True
        self._raw = Pyramid()
        self._smooth = Pyramid()
        self._share = 0.0
        self._ema = Ema(0.0)
        self.best: float | None = None  # x of the point that is marked
        self._bad: list[Floats] = []

    def __len__(self) -> int:
        return len(self.xs)

    def extend(self, xs: Floats, ys: Floats) -> None:
        """Append points; y that isn't finite is stored and counted, but not drawn."""
        if not len(xs):
            return
        last = self.xs.view()[-1] if len(self.xs) else -np.inf
        self._sorted &= bool(xs[0] >= last and np.all(np.diff(xs) >= 0))
        self.xs.extend(xs)
        self.ys.extend(ys)
        finite = np.isfinite(ys)
        if not finite.all():
            self._bad.append(xs[~finite])
        self._raw.extend(np.where(finite, ys, np.nan))
        if weight_of(self._share, len(self)) != self._ema.weight:
            self._smooth_anew()
        elif self._ema.weight:
            self._smooth.extend(self._ema.extend(ys))

    def smooth(self, share: float) -> None:
        """Smooth over another share of the points; 0 is off, and a series not to be smoothed stays off."""
        self._share = share if self.smoothable else 0.0
        self._smooth_anew()

    def _smooth_anew(self) -> None:
        self._ema = Ema(weight_of(self._share, len(self)))
        self._smooth = Pyramid()
        if self._ema.weight:
            self._smooth.extend(self._ema.extend(self.ys.view()))

    @property
    def is_smoothed(self) -> bool:
        """Whether there is an average to draw over the points."""
        return self._ema.weight > 0

    @property
    def smoothed(self) -> Floats:
        """The smoothed values, one for each point; the points themselves where smoothing is off."""
        return self._smooth.values.view() if self._ema.weight else self.ys.view()

    @property
    def bad_xs(self) -> Floats:
        """x of the points whose y is NaN or infinite."""
        return np.concatenate(self._bad) if self._bad else np.empty(0)

    def span(self, low: float, high: float) -> tuple[int, int]:
        """The indices [start, stop) whose points can touch low <= x <= high, one more at each side."""
        if not self._sorted:
            return 0, len(self)
        start, stop = np.searchsorted(self.xs.view(), [low, high], side="left")
        return max(0, int(start) - 1), min(len(self), int(stop) + 1)

    def nearest(self, x: float) -> int | None:
        """The index of the point nearest to x."""
        if not len(self):
            return None
        xs = self.xs.view()
        if not self._sorted:
            return int(np.argmin(np.abs(xs - x)))
        right = int(np.searchsorted(xs, x))
        near = [i for i in (right - 1, right) if 0 <= i < len(xs)]
        return min(near, key=lambda i: abs(float(xs[i]) - x))

    def trace_value(self, place: int, log: bool) -> float:
        """The y of a point as it is drawn; NaN where it isn't."""
        y = self._raw.values.view()[place : place + 1]
        return float((_logarithm(y) if log else y)[0])

    def outside(self, low: float, high: float, bottom: float, top: float) -> Floats:
        """The finite y between low and high of x that lie below ``bottom`` or above ``top``."""
        start, stop = self.span(low, high)
        ys = self.ys.view()[start:stop]
        return ys[((ys < bottom) | (ys > top)) & np.isfinite(ys)]

    def trace(self, low: float, high: float, columns: int, smooth: bool, log: bool) -> Trace:
        """At most two points for each of `columns` pixels between low and high; log10 of y if `log`."""
        pyramid = self._smooth if smooth and self._ema.weight else self._raw
        start, stop = self.span(low, high)
        xs = self.xs.view()
        reduced = pyramid.reduced(start, stop, columns)
        if reduced is None:
            x, y = xs[start:stop].copy(), pyramid.values.view()[start:stop].copy()
            return Trace(x, _logarithm(y) if log else _drawable(y))
        begins, lows, highs = reduced
        if log:
            highs = _logarithm(highs)
            lows = np.where(lows > 0, _logarithm(lows), highs)
        x = np.repeat(xs[begins], 2)
        y = np.empty(2 * len(begins))
        y[0::2], y[1::2] = lows, highs
        return Trace(x, _drawable(y))


def _logarithm(values: Floats) -> Floats:
    """log10 where it exists, else NaN."""
    result = np.full(len(values), np.nan)
    np.log10(values, out=result, where=values > 0)
    return result


def _drawable(values: Floats) -> Floats:
    """These values, those beyond ``LARGEST`` as that: the height between two others would be infinite."""
    return np.clip(values, -LARGEST, LARGEST, out=values, where=np.isfinite(values))
