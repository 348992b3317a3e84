"""Observers that hand what passes to a Calibrator."""

from __future__ import annotations

from typing import Any, ClassVar

from engine.quantization.calibration import Calibrator
from engine.quantization.observers.observing import look
from engine.slim.quant.observers.uniform import UniformObserver
from engine.tensor.tensor_like import AnyTensor


class CalibratedObserver(UniformObserver):
    """Its range is the threshold that a Calibrator with one pass finds."""

    calibrator: ClassVar[type[Calibrator]]

    def __init__(self, layer: object, quant_bits: int = 8) -> None:
        super().__init__(quant_bits)
        self._calibrator = self.calibrator(quant_bits)

    def forward(self, inputs: AnyTensor) -> Any:
        """The inputs. Raises NotFiniteError where they hold nan or infinity."""
        look(self._collect, inputs)
        return inputs

    def _collect(self, values: Any) -> None:
        self._calibrator.collect(values)

    def min_value(self) -> float:
        return 0.0

    def max_value(self) -> float:
        return self._calibrator.threshold()
