"""AVGObserver: the mean over all samples of their largest absolute values, a batch at a time."""

from __future__ import annotations

from engine.quantization.calibration.maxima import Average
from engine.quantization.factory import ObserverFactory
from engine.slim.quant.observers.calibrated import CalibratedObserver


class AVGObserver(ObserverFactory):
    """As scale the mean over all samples of their largest absolute values, a batch at a time."""

    def __init__(self, quant_bits: int = 8) -> None:
        super().__init__(quant_bits=quant_bits)

    def _get_class(self) -> type:
        return AVGObserverLayer


class AVGObserverLayer(CalibratedObserver):
    """Sees each batch once and keeps none."""

    calibrator = Average
