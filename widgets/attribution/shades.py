"""Shades: the colours of an attribution's values, one hue for and one against; no Qt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from resources.color_map import ABOVE, BELOW, color_parts

FOR, AGAINST = color_parts(ABOVE), color_parts(BELOW)
# The strongest percent of many values gets the full colour: one pixel alone does not make all others pale.
FULL, MANY = 99.0, 100


@dataclass(frozen=True)
class Shades:
    """``limit`` is the magnitude that gets the full colour, 0 where no value has a magnitude. ``signed`` says
    that values below zero mean something."""

    limit: float
    signed: bool

    @staticmethod
    def of(values: ArrayLike, signed: bool = False) -> Shades:
        """Those that suit these values, ``signed`` also where none is below zero; NaN counts for nothing."""
        found = np.asarray(values, np.float64)
        known = found[np.isfinite(found)]
        sizes = np.abs(known)
        if not sizes.size:
            return Shades(0.0, signed)
        limit = float(np.percentile(sizes, FULL)) if sizes.size > MANY else 0.0
        return Shades(limit or float(sizes.max()), signed or bool((known < 0).any()))

    def share(self, value: float) -> float:
        """How much of the full colour a value gets, below 0 against; NaN for NaN."""
        return float(np.clip(value / self.limit, -1.0, 1.0)) if self.limit > 0 else 0.0 * value

    def pixels(self, values: NDArray[np.float32]) -> NDArray[np.uint8]:
        """Red, green, blue and alpha [height, width, 4]: the stronger, the less transparent; NaN is clear."""
        known = np.isfinite(values)
        shares = np.where(known, values, 0.0) / (self.limit or 1.0)
        found = np.empty((*values.shape, 4), np.uint8)
        found[..., :3] = np.where((shares < 0)[..., None], np.uint8(AGAINST), np.uint8(FOR))
        found[..., 3] = (np.clip(np.abs(shares), 0.0, 1.0) * 255 + 0.5).astype(np.uint8)
        return found
