"""What quantized layers ask of a configuration, whose classes stand above this room."""

from __future__ import annotations

from typing import Protocol

from engine.nn.layer.layers import Layer


class QuanterFactory(Protocol):
    """Makes the quanters of layers."""

    def _instance(self, layer: Layer) -> Layer:
        """A quanter for ``layer``."""


class LayerConfig(Protocol):
    """The factories of a layer's quanters, None for no quanter."""

    @property
    def activation(self) -> QuanterFactory | None:
        """That of the input."""

    @property
    def weight(self) -> QuanterFactory | None:
        """That of the weight."""
