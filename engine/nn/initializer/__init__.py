"""Initializers: how the first values of a parameter are made."""

from engine.nn.initializer.base import Initializer, calculate_gain, set_global_initializer
from engine.nn.initializer.drawn import (
    KaimingNormal,
    KaimingUniform,
    Normal,
    TruncatedNormal,
    Uniform,
    XavierNormal,
    XavierUniform,
)
from engine.nn.initializer.fixed import Assign, Constant
from engine.nn.initializer.structured import Bilinear, Dirac, Orthogonal

__all__ = [
    "Assign",
    "Bilinear",
    "Constant",
    "Dirac",
    "Initializer",
    "KaimingNormal",
    "KaimingUniform",
    "Normal",
    "Orthogonal",
    "TruncatedNormal",
    "Uniform",
    "XavierNormal",
    "XavierUniform",
    "calculate_gain",
    "set_global_initializer",
]
