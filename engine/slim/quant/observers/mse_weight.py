"""MSEChannelWiseWeightObserver: for each channel of a weight the threshold with the least squared error."""

from __future__ import annotations

from typing import ClassVar

from engine.quantization.factory import ObserverFactory
from engine.slim.quant.observers.abs_max_weight import AbsMaxChannelWiseWeightObserverLayer


class MSEChannelWiseWeightObserver(ObserverFactory):
    """As scales that share of each channel's largest absolute value with the least mean squared error."""

    def __init__(self, quant_bits: int = 8) -> None:
        super().__init__(quant_bits=quant_bits)

    def _get_class(self) -> type:
        return MSEChannelWiseWeightObserverLayer


class MSEChannelWiseWeightObserverLayer(AbsMaxChannelWiseWeightObserverLayer):
    """Looks at the weight once: it is trained no more."""

    kind: ClassVar[str] = "channel_wise_mse"
