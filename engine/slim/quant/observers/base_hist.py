"""BaseHistObserver: counts the values that pass, in bins whose range grows with them."""

from __future__ import annotations

import abc
from typing import Any

from engine.quantization.calibration.calibrator import Values, finite_peak, floating
from engine.quantization.calibration.growing import GrowingHistogram
from engine.quantization.observers.observing import look
from engine.slim.quant.observers.uniform import UniformObserver
from engine.tensor.tensor_like import AnyTensor


class BaseHistObserver(UniformObserver):
    """Base of observers that read their range off a histogram of ``bins_count`` bins."""

    def __init__(
        self, quant_bits: int = 8, bins_count: int = 2048, sign: bool = True, symmetric: bool = True
    ) -> None:
        super().__init__(quant_bits, sign, symmetric)
        self._seen = GrowingHistogram(bins_count)

    def forward(self, inputs: AnyTensor) -> Any:
        """The inputs. Raises NotFiniteError where they hold nan or infinity."""
        look(self._see, inputs)
        return inputs

    def _see(self, array: Any) -> None:
        values = floating(array)
        if values.size:
            finite_peak(values)
            self._count(values)

    def _count(self, values: Values) -> None:
        self._seen.add(values, float(values.min()), float(values.max()))

    @abc.abstractmethod
    def cal_min_max(self) -> tuple[float, float]:
        """The range, of a histogram that has counts."""

    def _range(self) -> tuple[float, float]:
        if self._seen.counts is None:
            return self._seen.low, self._seen.high
        return self.cal_min_max()

    def min_value(self) -> float:
        return self._range()[0]

    def max_value(self) -> float:
        return self._range()[1]
