"""BaseQuanter: what a layer has that quantizes one tensor."""

from __future__ import annotations

import abc
from typing import Any

from engine.nn.layer.layers import Layer
from engine.tensor.tensor_like import AnyTensor


class BaseQuanter(Layer, metaclass=abc.ABCMeta):
    """Base of quanters and observers: layers that see one tensor and know its scales.

    An own one defines all five methods; QAT and PTQ put it in place by a factory (``quanter``).
    """

    @abc.abstractmethod
    def forward(self, input: AnyTensor) -> Any:
        """The input, quantized and dequantized again, or as it is where it is only observed."""

    @abc.abstractmethod
    def scales(self) -> Any:
        """The absolute values that the largest integer stands for: one, or one for each channel."""

    @abc.abstractmethod
    def zero_points(self) -> Any:
        """The integers that stand for 0, or None where that is 0."""

    @abc.abstractmethod
    def quant_axis(self) -> int | None:
        """The dimension along which there are several scales; -1 or None for one scale."""

    @abc.abstractmethod
    def bit_length(self) -> int:
        """The bits of the integers, with their sign."""
