"""Learning rate schedules: each ``step()`` moves to the next rate."""

from engine.optimizer.lr.base import LRScheduler
from engine.optimizer.lr.composed import LinearWarmup, ReduceOnPlateau
from engine.optimizer.lr.cycles import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
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
    "CosineAnnealingDecay",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LRScheduler",
    "LambdaDecay",
    "LinearLR",
    "LinearWarmup",
    "MultiStepDecay",
    "MultiplicativeDecay",
    "NaturalExpDecay",
    "NoamDecay",
    "OneCycleLR",
    "PiecewiseDecay",
    "PolynomialDecay",
    "ReduceOnPlateau",
    "StepDecay",
]
