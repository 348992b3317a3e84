"""WeightQuanter: rounds a weight in training exactly as freezing rounds it afterwards."""

from __future__ import annotations

from typing import Any

from engine.nn.layer.conv import Conv2D
from engine.nn.layer.layers import Layer
from engine.ops.quantization import abs_max as ops
from engine.quantization.base_quanter import BaseQuanter
from engine.quantization.factory import QuanterFactory
from engine.tensor.tensor_like import AnyTensor


class WeightQuanter(QuanterFactory):
    """The largest absolute value of the weight as it is now is the threshold: of each channel, or of all.

    Paddle's own quanter of weights lags behind them (a moving average) and has one threshold.
    """

    def __init__(self, bit_length: int = 8, channel_wise: bool = True) -> None:
        super().__init__(bit_length=bit_length, channel_wise=channel_wise)

    def _get_class(self) -> type:
        return WeightQuanterLayer


class WeightQuanterLayer(BaseQuanter):
    """Channels are dimension 0 of the filters of a Conv2D, dimension 1 of the weight of a Linear."""

    round_type = 1  # as activations are rounded in training

    def __init__(self, layer: Layer, bit_length: int = 8, channel_wise: bool = True) -> None:
        super().__init__()
        self._bit_length = bit_length
        self._axis = (0 if isinstance(layer, Conv2D) else 1) if channel_wise else -1
        self._weight = [layer.weight]  # in a list: it stays the layer's parameter, and is none of this one

    def forward(self, input: AnyTensor) -> Any:
        return self._rounded(input)[0]

    def _rounded(self, weight: Any) -> Any:
        options = {"bit_length": self._bit_length, "round_type": self.round_type}
        if self._axis < 0:
            return ops.fake_quantize_dequantize_abs_max(weight, **options)
        return ops.fake_channel_wise_quantize_dequantize_abs_max(weight, quant_axis=self._axis, **options)

    def scales(self) -> Any:
        return self._rounded(self._weight[0])[1]

    def zero_points(self) -> None:
        return None

    def quant_axis(self) -> int:
        return self._axis

    def bit_length(self) -> int:
        return self._bit_length
