"""UniformObserver: base of observers that find the range of a tensor's values."""

from __future__ import annotations

import abc
from typing import Any

from engine.core.errors import ArgumentError
from engine.quantization.base_observer import BaseObserver
from engine.quantization.calibration import levels
from engine.tensor.creation import to_tensor


class UniformObserver(BaseObserver):
    """Base of observers whose scale follows from a smallest and a largest value; an own one defines those.

    Raises ArgumentError for integers without a sign or not around 0: quantize_linear has none of them. In
    Paddle such an observer gives scales that the operators misread.
    """

    def __init__(self, quant_bits: int = 8, sign: bool = True, symmetric: bool = True) -> None:
        super().__init__()
        if not sign or not symmetric:
            raise ArgumentError(
                f"{type(self).__name__}: sign={sign}, symmetric={symmetric}: integers have a sign and lie "
                "around 0; leave both True"
            )
        levels(quant_bits)
        self._quant_bits = quant_bits

    @property
    def qmin_qmax(self) -> tuple[int, int]:
        """The smallest and the largest integer."""
        largest = levels(self.bit_length())
        return -largest - 1, largest

    @abc.abstractmethod
    def min_value(self) -> Any:
        """The smallest value that is represented."""

    @abc.abstractmethod
    def max_value(self) -> Any:
        """The largest value that is represented."""

    def cal_scales_zero_points(self) -> tuple[Any, int]:
        """The scale, a float32 tensor of one number, and the zero point, 0."""
        return to_tensor(float(max(-min(self.min_value(), 0.0), self.max_value(), 0.0)), "float32"), 0

    def cal_thresholds(self) -> None:
        """Nothing is kept: ``scales`` computes them of what was seen so far."""

    def bit_length(self) -> int:
        return self._quant_bits

    def quant_axis(self) -> int:
        return -1

    def scales(self) -> Any:
        return self.cal_scales_zero_points()[0]

    def zero_points(self) -> Any:
        return 0
