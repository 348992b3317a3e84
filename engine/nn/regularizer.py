"""Weight decay as a term added to the gradient: L1Decay and L2Decay."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.ops.elementwise import arithmetic
from engine.program.graph.program import Block
from engine.tensor.tensor_like import AnyTensor


class WeightDecayRegularizer:
    """Base of the regularizers: called with a parameter, gives the term that is added to its gradient."""

    def __init__(self, coeff: float) -> None:
        if not isinstance(coeff, (int, float)) or isinstance(coeff, bool):
            raise ArgumentError(f"{type(self).__name__}: coeff is a number: got {coeff!r}; pass e.g. 1e-4")
        self._coeff = float(coeff)

    @property
    def coeff(self) -> float:
        return self._coeff

    def __call__(self, param: AnyTensor, grad: AnyTensor | None = None, block: Block | None = None) -> Any:
        """The term for ``param``, of its shape and dtype."""
        return self.term(param)

    def term(self, param: AnyTensor) -> Any:
        raise ArgumentError(f"{type(self).__name__}: is abstract; use L1Decay or L2Decay")

    def __str__(self) -> str:
        return f"{type(self).__name__}, coeff={self._coeff:f}"


class L1Decay(WeightDecayRegularizer):
    """``coeff * sign(param)``: the gradient of ``coeff * sum(|param|)``."""

    def __init__(self, coeff: float = 0.0) -> None:
        super().__init__(coeff)

    def term(self, param: AnyTensor) -> Any:
        return arithmetic.scale(arithmetic.sign(param), scale=self._coeff)


class L2Decay(WeightDecayRegularizer):
    """``coeff * param``: the gradient of ``coeff / 2 * sum(param ** 2)``."""

    def __init__(self, coeff: float = 0.0) -> None:
        super().__init__(coeff)

    def term(self, param: AnyTensor) -> Any:
        return arithmetic.scale(param, scale=self._coeff)
