"""Paddle's ``static.quantization``: quantization of Programs and inference files."""

from typing import TYPE_CHECKING

from engine.core.alias.absent import refusing
from engine.core.lazy import lazy

if TYPE_CHECKING:
    from engine.static.quantization.post_training import (
        PostTrainingQuantization,
        PostTrainingQuantizationProgram,
    )
    from engine.static.quantization.quanter import convert, quant_aware
    from engine.static.quantization.weights import WeightQuantization

__all__ = [
    "PostTrainingQuantization",
    "PostTrainingQuantizationProgram",
    "WeightQuantization",
    "convert",
    "quant_aware",
]

__getattr__ = lazy(
    __name__,
    members={
        "engine.static.quantization.post_training": (
            "PostTrainingQuantization",
            "PostTrainingQuantizationProgram",
        ),
        "engine.static.quantization.quanter": ("convert", "quant_aware"),
        "engine.static.quantization.weights": ("WeightQuantization",),
    },
    missing=refusing(__name__),
)
