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

__all__ = [
    "Assign",
    "Constant",
    "Initializer",
    "KaimingNormal",
    "KaimingUniform",
    "Normal",
    "TruncatedNormal",
    "Uniform",
    "XavierNormal",
    "XavierUniform",
    "calculate_gain",
    "set_global_initializer",
]
