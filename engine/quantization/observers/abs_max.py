"""AbsmaxObserver: the largest absolute value of all that passed."""

from __future__ import annotations

from typing import Any

from engine.quantization.base_observer import BaseObserver
from engine.quantization.calibration import levels
from engine.quantization.factory import ObserverFactory
from engine.tensor.creation import to_tensor
from engine.tensor.math import abs as absolute
from engine.tensor.math import maximum
from engine.tensor.reductions.reduction import max as largest
from engine.tensor.tensor_like import AnyTensor


class AbsmaxObserver(ObserverFactory):
    """The largest absolute value of a tensor over all calls; integers have ``quant_bits`` bits."""

    def __init__(self, quant_bits: int = 8) -> None:
        super().__init__(quant_bits=quant_bits)

    def _get_class(self) -> type:
        return AbsmaxObserverLayer


class AbsmaxObserverLayer(BaseObserver):
    """Keeps one number, ``abs_max_val``. Raises ArgumentError for bits outside 2 to 16."""

    INIT_ABS_MAX = 1e-7

    def __init__(self, layer: object, quant_bits: int = 8) -> None:
        super().__init__()
        levels(quant_bits)
        self._quant_bits = quant_bits
        self.abs_max_val = to_tensor(AbsmaxObserverLayer.INIT_ABS_MAX)

    def forward(self, input: AnyTensor) -> Any:
        self.abs_max_val = maximum(largest(absolute(input)), self.abs_max_val)
        return input

    def cal_thresholds(self) -> None:
        self.thresholds = self.abs_max_val

    def bit_length(self) -> int:
        return self._quant_bits

    def quant_axis(self) -> int:
        return -1

    def scales(self) -> Any:
        return self.abs_max_val

    def zero_points(self) -> None:
        return None
