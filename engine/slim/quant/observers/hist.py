"""HistObserver: the range that holds a share of all values."""

from __future__ import annotations

import numpy as np

from engine.core.errors import ArgumentError
from engine.quantization.factory import ObserverFactory
from engine.slim.quant.observers.base_hist import BaseHistObserver


class HistObserver(ObserverFactory):
    """As scale the absolute value that ``percent`` of all values stay below, on either side of 0."""

    def __init__(
        self,
        quant_bits: int = 8,
        bins_count: int = 2048,
        percent: float = 0.999,
        sign: bool = True,
        symmetric: bool = True,
    ) -> None:
        super().__init__(
            quant_bits=quant_bits, bins_count=bins_count, percent=percent, sign=sign, symmetric=symmetric
        )

    def _get_class(self) -> type:
        return PercentHistObserverLayer


class PercentHistObserverLayer(BaseHistObserver):
    """Cuts ``1 - percent`` of the values off at either end."""

    def __init__(
        self,
        layer: object,
        quant_bits: int = 8,
        bins_count: int = 2048,
        percent: float = 0.999,
        sign: bool = True,
        symmetric: bool = True,
    ) -> None:
        super().__init__(quant_bits, bins_count, sign, symmetric)
        if not 0.5 < percent <= 1.0:
            raise ArgumentError(
                f"HistObserver: percent is a share of the values above 0.5 and at most 1: got {percent}; "
                "0.999 is usual"
            )
        self._percent = percent

    def cal_min_max(self) -> tuple[float, float]:
        seen = self._seen
        assert seen.counts is not None
        shares = np.cumsum(seen.counts / np.sum(seen.counts, dtype=np.float64))
        low, high = (int(np.argmax(shares >= share)) for share in (1.0 - self._percent, self._percent))
        return seen.low + (low - 0.5) * seen.width, seen.low + (high - 0.5) * seen.width
