"""Quantizers of ImperativePTQ: they see the tensors of a layer and find their thresholds."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from engine.core.errors import ConditionError
from engine.nn.layer.common import Linear
from engine.nn.layer.conv import Conv2DTranspose
from engine.nn.layer.layers import Layer
from engine.quantization.calibration import weight_thresholds
from engine.quantization.calibration.calibrator import Values, finite_peak, floating
from engine.quantization.calibration.growing import GrowingHistogram
from engine.quantization.calibration.histograms import PaddleDivergence


class BaseQuantizer(metaclass=abc.ABCMeta):
    """Base of quantizers: ``thresholds`` has one for each tensor that a layer takes or gives.

    ``abs_max_vals`` are their largest absolute values. Raises ConditionError, an AssertionError, for bits
    outside 2 to 16.
    """

    def __init__(self, quant_bits: int = 8) -> None:
        if isinstance(quant_bits, bool) or not isinstance(quant_bits, int) or not 2 <= quant_bits <= 16:
            raise ConditionError(
                f"{type(self).__name__}: quant_bits must be from 2 to 16: got {quant_bits!r}; 8 is usual"
            )
        self.quant_bits = quant_bits
        self.abs_max_vals: list[Any] = []
        self.thresholds: list[Any] = []

    @abc.abstractmethod
    def sample_data(self, layer: Layer | None, tensors: tuple[Any, ...]) -> None:
        """Look at what ``layer`` takes or gives for one batch. Raises NotFiniteError for nan and infinity."""

    @abc.abstractmethod
    def cal_thresholds(self) -> None:
        """Compute ``thresholds`` when all batches have passed."""


class AbsmaxQuantizer(BaseQuantizer):
    """The largest absolute value of all batches."""

    def sample_data(self, layer: Layer | None, tensors: tuple[Any, ...]) -> None:
        found = [_peak(floating(each.numpy())) for each in tensors]
        self.abs_max_vals = _larger(self.abs_max_vals, found)

    def cal_thresholds(self) -> None:
        self.thresholds = self.abs_max_vals


class PerChannelAbsmaxQuantizer(BaseQuantizer):
    """The largest absolute value of each channel of a weight."""

    def sample_data(self, layer: Layer | None, tensors: tuple[Any, ...]) -> None:
        axis = 1 if isinstance(layer, Linear | Conv2DTranspose) else 0
        found = [weight_thresholds(each.numpy(), axis).tolist() for each in tensors]
        self.abs_max_vals = _larger(self.abs_max_vals, found)

    def cal_thresholds(self) -> None:
        self.thresholds = self.abs_max_vals


class BaseHistQuantizer(BaseQuantizer, metaclass=abc.ABCMeta):
    """Base of quantizers that read thresholds off a histogram of absolute values, from 0 on.

    ``hists`` are the counts of ``bins`` bins, one array a tensor, None of a tensor of zeros.
    """

    def __init__(self, quant_bits: int = 8, bins: int = 1024, upsample_bins: int = 64) -> None:
        super().__init__(quant_bits)
        self.bins = bins
        self.upsample_bins = upsample_bins
        self._seen: list[GrowingHistogram] = []

    @property
    def hists(self) -> list[Values | None]:
        return [each.counts for each in self._seen]

    def sample_data(self, layer: Layer | None, tensors: tuple[Any, ...]) -> None:
        if not self._seen:
            self._seen = [GrowingHistogram(self.bins, self.upsample_bins) for _ in tensors]
        if len(tensors) != len(self._seen):
            raise ConditionError(
                f"{type(self).__name__}: a layer took {len(tensors)} tensors, and {len(self._seen)} before; "
                "call it with the same number"
            )
        for seen, tensor in zip(self._seen, tensors, strict=True):
            values = np.abs(floating(tensor.numpy()))
            seen.add(values, 0.0, _peak(values))
        self.abs_max_vals = [each.high for each in self._seen]

    def cal_thresholds(self) -> None:
        self.thresholds = [
            seen.high if seen.counts is None else self._threshold(seen, seen.counts) for seen in self._seen
        ]

    @abc.abstractmethod
    def _threshold(self, seen: GrowingHistogram, counts: Values) -> float:
        """The threshold of one tensor that has values other than 0."""


class HistQuantizer(BaseHistQuantizer):
    """The absolute value that the share ``hist_percent`` of all values stays below."""

    def __init__(
        self,
        quant_bits: int = 8,
        bins: int = 1024,
        upsample_bins: int = 64,
        hist_percent: float = 0.99999,
    ) -> None:
        super().__init__(quant_bits, bins, upsample_bins)
        if not 0.0 < hist_percent < 1.0:
            raise ConditionError(
                f"HistQuantizer: hist_percent must be between 0 and 1: got {hist_percent}; 0.99999 is usual"
            )
        self.hist_percent = hist_percent

    def _threshold(self, seen: GrowingHistogram, counts: Values) -> float:
        shares = np.cumsum(counts / np.sum(counts, dtype=np.float64))
        return float((int(np.argmax(shares >= self.hist_percent)) - 0.5) * seen.width)


class KLQuantizer(BaseHistQuantizer):
    """The cut after which the quantized distribution loses the least information."""

    def _threshold(self, seen: GrowingHistogram, counts: Values) -> float:
        return PaddleDivergence(self.quant_bits, bins=self.bins).limit(counts) * seen.width


SUPPORT_ACT_QUANTIZERS: list[type[BaseQuantizer]] = [AbsmaxQuantizer, HistQuantizer, KLQuantizer]
SUPPORT_WT_QUANTIZERS: list[type[BaseQuantizer]] = [AbsmaxQuantizer, PerChannelAbsmaxQuantizer]


def _peak(values: Values) -> float:
    return finite_peak(values) if values.size else 0.0


def _larger(old: list[Any], new: list[Any]) -> list[Any]:
    """Element by element the larger of two lists of the same form; ``new`` where there is nothing old."""
    if not old:
        return new
    return [
        _larger(before, now) if isinstance(now, list) else max(before, now)
        for before, now in zip(old, new, strict=True)
    ]
