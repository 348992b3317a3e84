"""GroupWiseWeightObserver: one scale for each group of rows in each column of a weight."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ConditionError
from engine.quantization.base_observer import BaseObserver
from engine.quantization.calibration import levels
from engine.quantization.factory import ObserverFactory
from engine.tensor.creation import full_like, zeros_like
from engine.tensor.math import abs as absolute
from engine.tensor.reductions.reduction import max as largest
from engine.tensor.search import where
from engine.tensor.tensor_like import AnyTensor


class GroupWiseWeightObserver(ObserverFactory):
    """The largest absolute value of each group of ``group_size`` rows in each column of a matrix."""

    def __init__(self, quant_bits: int = 8, group_size: int = 128) -> None:
        super().__init__(quant_bits=quant_bits, group_size=group_size)

    def _get_class(self) -> type:
        return GroupWiseWeightObserverLayer


class GroupWiseWeightObserverLayer(BaseObserver):
    """Its scales are [rows / group_size, columns].

    Differs from Paddle: there the factory forgets ``group_size``, and ``bit_length()`` fails.
    """

    def __init__(self, layer: object, quant_bits: int = 8, group_size: int = 128) -> None:
        super().__init__()
        levels(quant_bits)
        self.quant_bits = quant_bits
        self.group_size = group_size
        self._max: Any = None

    def forward(self, inputs: AnyTensor) -> Any:
        self._max = self._cal_abs_max(inputs)
        return inputs

    def _cal_abs_max(self, inputs: Any) -> Any:
        size, shape = self.group_size, list(inputs.shape)
        if size not in (64, 128):
            raise ConditionError(f"GroupWiseWeightObserver: group_size only support 64 or 128: got {size}")
        if len(shape) != 2 or shape[0] % size:
            raise ConditionError(
                f"GroupWiseWeightObserver: takes a matrix whose rows divide into groups of {size}: got shape "
                f"{shape}; leave this layer out, or use another group_size"
            )
        found = largest(absolute(inputs).reshape([shape[0] // size, size, shape[1]]), axis=1).astype(
            "float32"
        )
        return where(found == 0, full_like(found, 1e-8), found)

    def min_value(self) -> float:
        return 0.0

    def max_value(self) -> Any:
        return self._max

    def bit_length(self) -> int:
        return self.quant_bits

    def quant_axis(self) -> int:
        return -1

    def cal_thresholds(self) -> None:
        """Nothing is left to compute: the scales are those of the last call."""

    def scales(self) -> Any:
        return self._max

    def zero_points(self) -> Any:
        return None if self._max is None else zeros_like(self._max)
