"""EMDObserver: the threshold that moves mean and deviation of the values least."""

from __future__ import annotations

from engine.quantization.calibration.searched import EarthMover
from engine.quantization.factory import ObserverFactory
from engine.slim.quant.observers.calibrated import CalibratedObserver


class EMDObserver(ObserverFactory):
    """As scale that share of the largest absolute value which moves mean and deviation of the values least.

    Differs from Paddle: the best of all batches is used, as MSEObserver does; and there the largest value is
    taken with its sign, so that negative values do not count.
    """

    def __init__(self, quant_bits: int = 8) -> None:
        super().__init__(quant_bits=quant_bits)

    def _get_class(self) -> type:
        return EMDObserverLayer


class EMDObserverLayer(CalibratedObserver):
    """Sees each batch once and keeps none."""

    calibrator = EarthMover
