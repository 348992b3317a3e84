"""PACTQuanter: limits values to a range that is learned, then quantizes them."""

from __future__ import annotations

from typing import Any

from engine.core import names
from engine.nn.functional.activation import relu
from engine.nn.initializer import Constant
from engine.nn.param_attr import ParamAttr
from engine.quantization.base_quanter import BaseQuanter
from engine.quantization.factory import QuanterFactory
from engine.tensor.tensor_like import AnyTensor


class PACTQuanter(QuanterFactory):
    """Limits values to [-alpha, alpha] before ``quanter``, a factory, quantizes them.

    alpha begins at ``init_value`` and is learned ``learning_rate`` times as fast as other parameters.
    """

    def __init__(
        self,
        quanter: QuanterFactory,
        init_value: float = 100.0,
        learning_rate: float = 1000.0,
        dtype: str = "float32",
        name: str | None = None,
    ) -> None:
        super().__init__(
            quanter=quanter, init_value=init_value, learning_rate=learning_rate, dtype=dtype, name=name
        )

    def _get_class(self) -> type:
        return PACTQuanterLayer


class PACTQuanterLayer(BaseQuanter):
    """The quanter within says scales, axis and bits."""

    def __init__(
        self,
        layer: object,
        quanter: QuanterFactory,
        init_value: float = 1000.0,
        learning_rate: float = 1000.0,
        dtype: str = "float32",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.quanter = quanter._instance(layer)
        attr = ParamAttr(
            names.generate(f"{name or 'quant_dequant'}.pact"),
            initializer=Constant(init_value),
            learning_rate=learning_rate,
        )
        self.alpha: Any = self.create_parameter([1], attr=attr, dtype=dtype)

    @property
    def round_type(self) -> int:
        """The way of rounding of the quanter within."""
        return getattr(self.quanter, "round_type", 0)

    def forward(self, activation: AnyTensor) -> Any:
        above, below = relu(activation - self.alpha), relu(-self.alpha - activation)
        return self.quanter(activation - above + below)

    def bit_length(self) -> int:
        return self.quanter.bit_length()

    def quant_axis(self) -> int | None:
        return self.quanter.quant_axis()

    def scales(self) -> Any:
        return self.quanter.scales()

    def zero_points(self) -> Any:
        return self.quanter.zero_points()
