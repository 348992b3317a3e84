"""Learning rate schedules: each ``step()`` moves to the next rate."""

from engine.optimizer.lr.base import LRScheduler
from engine.optimizer.lr.composed import LinearWarmup, ReduceOnPlateau
from engine.optimizer.lr.decay import (
    CosineAnnealingDecay,
    ExponentialDecay,
    InverseTimeDecay,
    LambdaDecay,
    LinearLR,
    MultiplicativeDecay,
    MultiStepDecay,
    NaturalExpDecay,
    NoamDecay,
    PiecewiseDecay,
    PolynomialDecay,
    StepDecay,
)

__all__ = [
    "CosineAnnealingDecay", "ExponentialDecay", "InverseTimeDecay", "LRScheduler", "LambdaDecay", "LinearLR",
    "LinearWarmup", "MultiStepDecay", "MultiplicativeDecay", "NaturalExpDecay", "NoamDecay", "PiecewiseDecay",
    "PolynomialDecay", "ReduceOnPlateau", "StepDecay",
]  # fmt: skip
