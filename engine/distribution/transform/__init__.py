"""Transforms of random variables."""

from engine.distribution.transform.base import Transform, Type
from engine.distribution.transform.composed import ChainTransform, IndependentTransform, StackTransform
from engine.distribution.transform.elementwise import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    TanhTransform,
)
from engine.distribution.transform.vectors import ReshapeTransform, SoftmaxTransform, StickBreakingTransform

__all__ = [
    "Transform",
    "AbsTransform",
    "AffineTransform",
    "ChainTransform",
    "ExpTransform",
    "IndependentTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
]
