"""ActLSQplusQuanter: values quantized by a step that is learned."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.nn.quant.lsq import LsqFunc, LsqPlusActFunc
from engine.quantization.factory import QuanterFactory
from engine.slim.quant.quanters.base_fake_quanter import FIRST, BaseFakeQuanterLayer
from engine.tensor.tensor_like import AnyTensor


class ActLSQplusQuanter(QuanterFactory):
    """A learned step for a layer's input; without ``symmetric`` a learned offset too.

    See ``BaseFakeQuanterLayer``. ``per_channel`` and ``quant_linear`` change nothing, as in Paddle.

    Differs from Paddle: the offset's first values follow the offset; there they follow the step.
    """

    def __init__(
        self,
        quant_bits: int = 8,
        sign: bool = True,
        symmetric: bool = True,
        per_channel: bool = False,
        batch_init: int = 20,
        quant_linear: bool = False,
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
            reduce_type=reduce_type,
            dtype=dtype,
            name=name,
        )

    def _get_class(self) -> type:
        return ActLSQplusQuanterLayer


class ActLSQplusQuanterLayer(BaseFakeQuanterLayer):
    """The step begins at the range of the values over the number of steps."""

    def __init__(
        self,
        layer: object,
        quant_bits: int = 8,
        sign: bool = True,
        symmetric: bool = True,
        per_channel: bool = False,
        batch_init: int = 20,
        quant_linear: bool = False,
        reduce_type: str | None = None,
        dtype: str = "float32",
        name: str | None = None,
    ) -> None:
        super().__init__(quant_bits, sign, batch_init, reduce_type)
        self._symmetric = symmetric
        self._scale: Any = self._learned("scale", name, FIRST, 1, dtype)
        if not symmetric:
            self._beta: Any = self._learned("beta", name, 0.0, 1, "float32")

    def _first_values(self, x: Any) -> list[tuple[Any, Any]]:
        low = x.min()
        step = (x.max() - low) / float(self.qmax - self.qmin)
        found = [(self._scale, step)]
        return found if self._symmetric else [*found, (self._beta, low - step * float(self.qmin))]

    def forward(self, activation: AnyTensor) -> Any:
        self._settle(activation)
        if self._symmetric:
            return LsqFunc.apply(activation, self._scale, self.g, self.qmin, self.qmax)
        return LsqPlusActFunc.apply(activation, self._scale, self._beta, self.g, self.qmin, self.qmax)

    def quant_axis(self) -> int:
        return -1

    def scales(self) -> Any:
        """As of all quanters. Raises ArgumentError with an offset: quantize_linear has none."""
        if not self._symmetric:
            raise ArgumentError(
                "ActLSQplusQuanter: values with an offset (symmetric=False) can't be converted: integers "
                "have none; save the network as it is"
            )
        return super().scales()
