"""MSEObserver: the threshold with the least mean squared error."""

from __future__ import annotations

from engine.quantization.calibration.searched import SquaredError
from engine.quantization.factory import ObserverFactory
from engine.slim.quant.observers.calibrated import CalibratedObserver


class MSEObserver(ObserverFactory):
    """As scale that share of a batch's largest absolute value which has the least mean squared error.

    Differs from Paddle: the best of all batches is used; there that of the last batch, if it is better than
    all before, and else that batch's largest value.
    """

    def __init__(self, quant_bits: int = 8) -> None:
        super().__init__(quant_bits=quant_bits)

    def _get_class(self) -> type:
        return MSEObserverLayer


class MSEObserverLayer(CalibratedObserver):
    """Sees each batch once and keeps none."""

    calibrator = SquaredError
