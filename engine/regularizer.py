"""Paddle's ``regularizer``: weight decay as a term of the gradient."""

from engine.nn.regularizer import L1Decay, L2Decay, WeightDecayRegularizer

__all__ = ["L1Decay", "L2Decay", "WeightDecayRegularizer"]
