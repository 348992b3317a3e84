"""KLObserver: the threshold after which the quantized distribution loses the least information."""

from __future__ import annotations

import numpy as np

from engine.quantization.calibration.calibrator import Values
from engine.quantization.calibration.histograms import PaddleDivergence
from engine.quantization.factory import ObserverFactory
from engine.slim.quant.observers.base_hist import BaseHistObserver


class KLObserver(ObserverFactory):
    """As scale the cut with the least Kullback-Leibler divergence, of a histogram of absolute values.

    Differs from Paddle: there the histogram has the values with their signs, and the threshold of values on
    both sides of 0 lies too high.
    """

    def __init__(self, quant_bits: int = 8, bins_count: int = 2048) -> None:
        super().__init__(quant_bits=quant_bits, bins_count=bins_count)

    def _get_class(self) -> type:
        return KLObserverLayer


class KLObserverLayer(BaseHistObserver):
    """Counts absolute values, from 0 on."""

    def __init__(self, layer: object, quant_bits: int = 8, bins_count: int = 2048) -> None:
        super().__init__(quant_bits, bins_count)
        self._search = PaddleDivergence(quant_bits, bins=bins_count)

    def _count(self, values: Values) -> None:
        values = np.abs(values)
        self._seen.add(values, 0.0, float(values.max()))

    def cal_min_max(self) -> tuple[float, float]:
        assert self._seen.counts is not None
        return 0.0, self._search.limit(self._seen.counts) * self._seen.width
