"""Optimizers that are tried out, and minimization of functions."""

from engine.incubate.optimizer import functional
from engine.incubate.optimizer.lookahead import LookAhead
from engine.incubate.optimizer.model_average import ModelAverage
from engine.incubate.optimizer.recompute import RecomputeOptimizer
from engine.optimizer.lbfgs import LBFGS

__all__ = ["LBFGS"]
