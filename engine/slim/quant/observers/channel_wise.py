"""ChannelWiseObserver: base of observers with a scale for each channel of a weight."""

from __future__ import annotations

from engine.core.errors import ArgumentError
from engine.nn.layer.common import Linear
from engine.nn.layer.conv import Conv2D, Conv2DTranspose
from engine.slim.quant.observers.uniform import UniformObserver

CHANNEL_AXIS: dict[type, int] = {Conv2D: 0, Conv2DTranspose: 1, Linear: 1}
"""The dimension of each layer's weight that counts its channels."""


def channel_axis(where: str, layer: object) -> int:
    """The dimension of ``layer``'s weight that counts its channels. Raises ArgumentError for other layers."""
    for kind, axis in CHANNEL_AXIS.items():
        if isinstance(layer, kind):
            return axis
    known = ", ".join(kind.__name__ for kind in CHANNEL_AXIS)
    raise ArgumentError(
        f"{where}: knows the channels of {known} only: got a {type(layer).__name__}; use a quanter with one "
        "scale for it"
    )


class ChannelWiseObserver(UniformObserver):
    """Base of observers of weights; ``layer`` says along which dimension its channels lie."""

    def __init__(self, layer: object, quant_bits: int = 8, sign: bool = True, symmetric: bool = True) -> None:
        super().__init__(quant_bits, sign, symmetric)
        self._channel_axis = channel_axis(type(self).__name__, layer)

    def quant_axis(self) -> int:
        return self._channel_axis
