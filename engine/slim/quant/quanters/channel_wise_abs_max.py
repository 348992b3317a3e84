"""FakeQuanterChannelWiseAbsMaxObserver: a weight quantized with a scale for each channel."""

from __future__ import annotations

from typing import Any

from engine.core import names
from engine.nn.initializer import Constant
from engine.nn.layer.layers import Layer
from engine.nn.param_attr import ParamAttr
from engine.ops.quantization import abs_max as ops
from engine.quantization.base_quanter import BaseQuanter
from engine.quantization.calibration import levels
from engine.quantization.factory import QuanterFactory
from engine.slim.quant.observers.channel_wise import channel_axis
from engine.tensor.tensor_like import AnyTensor


class FakeQuanterChannelWiseAbsMaxObserver(QuanterFactory):
    """Quantizes and dequantizes a weight; scales are the largest absolute value of each channel."""

    def __init__(self, bit_length: int = 8, dtype: str = "float32", name: str | None = None) -> None:
        super().__init__(bit_length=bit_length, dtype=dtype, name=name)

    def _get_class(self) -> type:
        return FakeQuanterChannelWiseAbsMaxObserverLayer


class FakeQuanterChannelWiseAbsMaxObserverLayer(BaseQuanter):
    """Keeps the scales of the last call, as a parameter that is not trained."""

    round_type = 1  # the operator's own way of rounding, which a converted network keeps

    def __init__(
        self, layer: Layer, bit_length: int = 8, dtype: str = "float32", name: str | None = None
    ) -> None:
        super().__init__()
        levels(bit_length)
        self._bit_length = bit_length
        self._quant_axis = channel_axis("FakeQuanterChannelWiseAbsMaxObserver", layer)
        attr = ParamAttr(
            names.generate(f"{name or 'quant_dequant'}.scale"), initializer=Constant(0.001), trainable=False
        )
        channels = layer.weight.shape[self._quant_axis]
        self._scale: Any = self.create_parameter([channels], attr=attr, dtype=dtype)

    def forward(self, input: AnyTensor) -> Any:
        return ops.fake_channel_wise_quantize_dequantize_abs_max(
            input, self._scale, bit_length=self._bit_length, quant_axis=self._quant_axis
        )[0]

    def bit_length(self) -> int:
        return self._bit_length

    def quant_axis(self) -> int:
        return self._quant_axis

    def scales(self) -> Any:
        return self._scale

    def zero_points(self) -> None:
        return None
