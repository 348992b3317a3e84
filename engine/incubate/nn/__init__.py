"""Layers that do the work of several in one call."""

from engine.incubate.nn import functional
from engine.incubate.nn.layer.small import (
    FusedBiasDropoutResidualLayerNorm,
    FusedDropoutAdd,
    FusedEcMoe,
    FusedLinear,
)
from engine.incubate.nn.layer.transformer import (
    FusedFeedForward,
    FusedMultiHeadAttention,
    FusedMultiTransformer,
    FusedTransformerEncoderLayer,
)

__all__ = [
    "FusedMultiHeadAttention",
    "FusedFeedForward",
    "FusedTransformerEncoderLayer",
    "FusedMultiTransformer",
    "FusedLinear",
    "FusedBiasDropoutResidualLayerNorm",
    "FusedEcMoe",
    "FusedDropoutAdd",
]
