"""WeightLSQplusQuanter: a weight quantized by steps that are learned."""

from __future__ import annotations

from typing import Any

from engine.nn.layer.layers import Layer
from engine.nn.quant.lsq import LsqFunc
from engine.quantization.factory import QuanterFactory
from engine.slim.quant.observers.channel_wise import channel_axis
from engine.slim.quant.quanters.base_fake_quanter import FIRST, BaseFakeQuanterLayer
from engine.tensor.math import maximum
from engine.tensor.tensor_like import AnyTensor


class WeightLSQplusQuanter(QuanterFactory):
    """One learned step for a weight, or with ``per_channel`` one for each of its channels.

    ``quant_linear`` and ``channel_num`` are read off the layer. See ``BaseFakeQuanterLayer``.

    Differs from Paddle: channels of a Linear are its columns, and steps of channels begin near their end;
    there they are mixed up, and begin 100 times too large. After conversion the steps stay what they are.
    """

    def __init__(
        self,
        quant_bits: int = 8,
        sign: bool = True,
        symmetric: bool = True,
        per_channel: bool = False,
        batch_init: int = 20,
        quant_linear: bool = False,
        channel_num: int | None = None,
        reduce_type: str | None = None,
        dtype: str = "float32",
        name: str | None = None,
    ) -> None:
        super().__init__(
            quant_bits=quant_bits,
            sign=sign,
            symmetric=symmetric,
            per_channel=per_channel,
            batch_init=batch_init,
            quant_linear=quant_linear,
            channel_num=channel_num,
            reduce_type=reduce_type,
            dtype=dtype,
            name=name,
        )

    def _get_class(self) -> type:
        return WeightLSQplusQuanterLayer


class WeightLSQplusQuanterLayer(BaseFakeQuanterLayer):
    """A step begins at the larger distance of 0 from mean - 3 deviations and mean + 3 deviations."""

    def __init__(
        self,
        layer: Layer,
        quant_bits: int = 8,
        sign: bool = True,
        symmetric: bool = True,
        per_channel: bool = False,
        batch_init: int = 20,
        quant_linear: bool = False,
        channel_num: int | None = None,
        reduce_type: str | None = None,
        dtype: str = "float32",
        name: str | None = None,
    ) -> None:
        super().__init__(quant_bits, sign, batch_init, reduce_type)
        self._per_channel = per_channel
        self._quant_axis = channel_axis("WeightLSQplusQuanter", layer) if per_channel else -1
        channels = layer.weight.shape[self._quant_axis] if per_channel else 1
        self._scale: Any = self._learned("scale", name, FIRST, channels, dtype)

    def _first_values(self, x: Any) -> list[tuple[Any, Any]]:
        axes = [n for n in range(x.ndim) if n != self._quant_axis] if self._per_channel else None
        mean, deviation = x.mean(axis=axes), x.std(axis=axes)
        reached = maximum((mean - 3 * deviation).abs(), (mean + 3 * deviation).abs())
        return [(self._scale, reached / float(2**self._quant_bits - 1))]

    def forward(self, weight: AnyTensor) -> Any:
        self._settle(weight)
        axis = max(self._quant_axis, 0)
        return LsqFunc.apply(weight, self._scale, self.g, self.qmin, self.qmax, self._per_channel, axis)

    def quant_axis(self) -> int:
        return self._quant_axis
