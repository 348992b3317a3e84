"""Functions that do the work of several in one call."""

from engine.core.alias.absent import refusing
from engine.incubate.nn.functional.attention import (
    fused_multi_head_attention,
    fused_rotary_position_embedding,
    masked_multihead_attention,
    variable_length_memory_efficient_attention,
)
from engine.incubate.nn.functional.linear import (
    fused_ec_moe,
    fused_linear,
    fused_linear_activation,
    fused_matmul_bias,
    swiglu,
)
from engine.incubate.nn.functional.normalizing import (
    fused_bias_dropout_residual_layer_norm,
    fused_dropout_add,
    fused_layer_norm,
    fused_rms_norm,
)
from engine.incubate.nn.functional.transformer import fused_feedforward, fused_multi_transformer
from engine.tensor.arguments.caught import explain_public as _explain_public

_explain_public(globals())

__all__ = [
    "fused_multi_head_attention",
    "fused_feedforward",
    "fused_multi_transformer",
    "fused_matmul_bias",
    "fused_linear",
    "fused_linear_activation",
    "fused_bias_dropout_residual_layer_norm",
    "fused_ec_moe",
    "fused_dropout_add",
    "fused_rotary_position_embedding",
    "variable_length_memory_efficient_attention",
    "fused_rms_norm",
    "fused_layer_norm",
    "masked_multihead_attention",
]

__getattr__ = refusing(__name__)
