"""FakeQuanterWithAbsMaxObserver: the moving average of the largest absolute values as scale."""

from __future__ import annotations

from typing import Any

from engine.core import names
from engine.nn.initializer import Constant
from engine.nn.param_attr import ParamAttr
from engine.ops.quantization import moving as ops
from engine.quantization.base_quanter import BaseQuanter
from engine.quantization.calibration import levels
from engine.quantization.factory import QuanterFactory
from engine.tensor.tensor_like import AnyTensor


class FakeQuanterWithAbsMaxObserver(QuanterFactory):
    """Quantizes and dequantizes a tensor with one scale.

    While training the scale is the mean of the largest absolute values of all calls, each weighing
    ``moving_rate`` of the one after it. ``name`` is the beginning of its parameters' names.
    """

    def __init__(
        self,
        moving_rate: float = 0.9,
        bit_length: int = 8,
        dtype: str = "float32",
        name: str | None = None,
    ) -> None:
        super().__init__(name=name, moving_rate=moving_rate, bit_length=bit_length, dtype=dtype)

    def _get_class(self) -> type:
        return FakeQuanterWithAbsMaxObserverLayer


class FakeQuanterWithAbsMaxObserverLayer(BaseQuanter):
    """Its state: three parameters of one number that are not trained; the scale is accum / state.

    Raises ArgumentError for bits outside 2 to 16.
    """

    round_type = 1  # the operator's own way of rounding, which a converted network keeps

    def __init__(
        self,
        layer: object,
        name: str | None = None,
        moving_rate: float = 0.9,
        bit_length: int = 8,
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        levels(bit_length)
        self._moving_rate = moving_rate
        self._bit_length = bit_length
        for field, first in (("scale", 0.001), ("state", 1.0), ("accum", 1.0)):
            attr = ParamAttr(
                names.generate(f"{name or 'quant_dequant'}.{field}"),
                initializer=Constant(first),
                trainable=False,
            )
            setattr(self, f"_{field}", self.create_parameter([1], attr=attr, dtype=dtype))

    def forward(self, input: AnyTensor) -> Any:
        return ops.fake_quantize_dequantize_moving_average_abs_max(
            input,
            self._scale,
            self._accum if self.training else None,
            self._state if self.training else None,
            moving_rate=self._moving_rate,
            bit_length=self._bit_length,
            is_test=not self.training,
        )[0]

    def bit_length(self) -> int:
        return self._bit_length

    def quant_axis(self) -> int:
        return -1

    def scales(self) -> Any:
        return self._scale

    def zero_points(self) -> None:
        return None
