"""Stub: a place in a network where a value is quantized that no layer takes in."""

from __future__ import annotations

from typing import Any

from engine.nn.layer.layers import Layer
from engine.nn.quant.config import LayerConfig, QuanterFactory
from engine.tensor.tensor_like import AnyTensor


class Stub(Layer):
    """Gives back its input; QAT and PTQ put a quanter here.

    It stands in front of a function without parameters (``paddle.add``, ``nn.functional.relu``): a network's
    layers are found by themselves. ``observer`` is the factory of the quanter; without one it is that of the
    configuration.
    """

    def __init__(self, observer: QuanterFactory | None = None) -> None:
        super().__init__()
        self._observer = observer

    def forward(self, input: AnyTensor) -> Any:
        return input


class QuanterStub(Layer):
    """What a Stub becomes: its quanter, or nothing where neither it nor the configuration has one."""

    def __init__(self, layer: Stub, q_config: LayerConfig) -> None:
        super().__init__()
        self._observer: Layer | None = None
        if layer._observer is not None:
            self._observer = layer._observer._instance(layer)
        elif q_config.activation is not None:
            self._observer = q_config.activation._instance(layer)

    def forward(self, input: AnyTensor) -> Any:
        return input if self._observer is None else self._observer(input)
