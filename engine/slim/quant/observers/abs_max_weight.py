"""AbsMaxChannelWiseWeightObserver: the largest absolute value of each channel of a weight."""

from __future__ import annotations

from typing import Any, ClassVar

from engine.quantization.calibration import weight_thresholds
from engine.quantization.factory import ObserverFactory
from engine.quantization.observers.observing import look
from engine.slim.quant.observers.channel_wise import ChannelWiseObserver
from engine.tensor.creation import to_tensor, zeros_like
from engine.tensor.tensor_like import AnyTensor


class AbsMaxChannelWiseWeightObserver(ObserverFactory):
    """As scales the largest absolute value of each channel."""

    def __init__(self, quant_bits: int = 8) -> None:
        super().__init__(quant_bits=quant_bits)

    def _get_class(self) -> type:
        return AbsMaxChannelWiseWeightObserverLayer


class AbsMaxChannelWiseWeightObserverLayer(ChannelWiseObserver):
    """Looks at the weight once: it is trained no more. A channel of zeros gets a very small scale."""

    kind: ClassVar[str] = "channel_wise_abs_max"

    def __init__(self, layer: object, quant_bits: int = 8) -> None:
        super().__init__(layer, quant_bits)
        self._max: Any = None

    def forward(self, inputs: AnyTensor) -> Any:
        """The weight. Raises NotFiniteError where it holds nan or infinity."""
        if self._max is None:
            look(self._see, inputs)
        return inputs

    def _see(self, weight: Any) -> None:
        found = weight_thresholds(weight, self.quant_axis(), self.bit_length(), self.kind)
        found[found == 0.0] = 1e-8
        self._max = to_tensor(found)

    def min_value(self) -> float:
        return 0.0

    def max_value(self) -> Any:
        return self._max

    def scales(self) -> Any:
        return self._max

    def zero_points(self) -> Any:
        return None if self._max is None else zeros_like(self._max)
