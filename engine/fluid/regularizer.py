"""``fluid.regularizer``: weight decay under its names before 2.0."""

from __future__ import annotations

from engine.nn import regularizer as modern
from engine.nn.regularizer import WeightDecayRegularizer

__all__ = ["L1Decay", "L1DecayRegularizer", "L2Decay", "L2DecayRegularizer", "WeightDecayRegularizer"]


class L1DecayRegularizer(modern.L1Decay):
    """Adds ``regularization_coeff * sign(parameter)`` to the gradient."""

    def __init__(self, regularization_coeff: float = 0.0) -> None:
        super().__init__(regularization_coeff)


class L2DecayRegularizer(modern.L2Decay):
    """Adds ``regularization_coeff * parameter`` to the gradient."""

    def __init__(self, regularization_coeff: float = 0.0) -> None:
        super().__init__(regularization_coeff)


L1Decay = L1DecayRegularizer
L2Decay = L2DecayRegularizer
