"""Layers of linear maps, of dropout and normalization in one call."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ConditionError, UnsupportedError
from engine.incubate.nn.functional.linear import fused_ec_moe, fused_linear
from engine.incubate.nn.functional.normalizing import (
    fused_bias_dropout_residual_layer_norm,
    fused_dropout_add,
)
from engine.nn.initializer import Constant
from engine.nn.layer.layers import Layer
from engine.nn.param_attr import AttrLike
from engine.tensor.tensor_like import AnyTensor


class FusedLinear(Layer):
    """x @ weight + bias, with the weight [out, in] where ``transpose_weight``."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        transpose_weight: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        shape = [out_features, in_features] if transpose_weight else [in_features, out_features]
        self.weight: Any = self.create_parameter(shape, attr=weight_attr)
        self.bias = self.create_parameter([out_features], attr=bias_attr, is_bias=True)
        self.transpose_weight = transpose_weight
        self.name = name

    def forward(self, input: AnyTensor) -> Any:
        """``fused_linear`` with the layer's parameters."""
        return fused_linear(input, self.weight, self.bias, self.transpose_weight, self.name)


class FusedDropoutAdd(Layer):
    """dropout(x) + y."""

    def __init__(self, p: float = 0.5, mode: str = "upscale_in_train", name: str | None = None) -> None:
        super().__init__()
        self.p = p
        self.mode = mode
        self.name = name

    def forward(self, x: AnyTensor, y: AnyTensor) -> Any:
        """``fused_dropout_add`` as the layer says."""
        return fused_dropout_add(x, y, self.p, self.training, self.mode, self.name)

    def extra_repr(self) -> str:
        """What ``print`` says of the layer."""
        return f"p={self.p}, mode={self.mode}{f', name={self.name}' if self.name else ''}"


class FusedBiasDropoutResidualLayerNorm(Layer):
    """layer_norm(residual + dropout(bias + x)) over the last dimension."""

    def __init__(
        self,
        embed_dim: int,
        dropout_rate: float = 0.5,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        epsilon: float = 1e-05,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0:
            raise ConditionError(
                f"FusedBiasDropoutResidualLayerNorm: Expected embed_dim to be greater than 0: got {embed_dim}"
            )
        self.embed_dim = embed_dim
        self.linear_bias = self.create_parameter([embed_dim], attr=bias_attr, is_bias=True)
        self.ln_scale = self.create_parameter(
            [embed_dim], attr=weight_attr, default_initializer=Constant(1.0)
        )
        self.ln_bias = self.create_parameter([embed_dim], attr=bias_attr, is_bias=True)
        self.dropout_rate = dropout_rate
        self._epsilon = epsilon
        self.name = name

    def forward(self, x: AnyTensor, residual: AnyTensor) -> Any:
        """``fused_bias_dropout_residual_layer_norm`` with the layer's parameters."""
        return fused_bias_dropout_residual_layer_norm(
            x,
            residual,
            self.linear_bias,
            self.ln_scale,
            self.ln_bias,
            self.dropout_rate,
            self._epsilon,
            self.training,
            "upscale_in_train",
            self.name,
        )

    def extra_repr(self) -> str:
        """What ``print`` says of the layer."""
        name = f", name={self.name}" if self.name else ""
        return f"embed_dim={self.embed_dim}, dropout_rate={self.dropout_rate}, epsilon={self._epsilon}{name}"


class FusedEcMoe(Layer):
    """Experts that choose their tokens; see ``functional.fused_ec_moe``.

    Args:
        hidden_size: of a token.
        inter_size: between an expert's two maps.
        num_experts: how many.
        act_type: 'gelu' or 'relu'.
        weight_attr, bias_attr: of the parameters.
    """

    def __init__(
        self,
        hidden_size: int,
        inter_size: int,
        num_experts: int,
        act_type: str,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
    ) -> None:
        super().__init__()
        if act_type not in ("gelu", "relu"):
            raise UnsupportedError(f"FusedEcMoe: Currently only support `gelu`, `relu`. got {act_type!r}")
        there, back = [num_experts, hidden_size, inter_size], [num_experts, inter_size, hidden_size]
        self.bmm_weight0: Any = self.create_parameter(there, attr=weight_attr)
        self.bmm_bias0: Any = self.create_parameter(
            [num_experts, 1, inter_size], attr=bias_attr, is_bias=True
        )
        self.bmm_weight1: Any = self.create_parameter(back, attr=weight_attr)
        self.bmm_bias1: Any = self.create_parameter(
            [num_experts, 1, hidden_size], attr=bias_attr, is_bias=True
        )
        self.act_type = act_type

    def forward(self, x: AnyTensor, gate: AnyTensor) -> Any:
        """``fused_ec_moe`` with the layer's parameters."""
        return fused_ec_moe(
            x, gate, self.bmm_weight0, self.bmm_bias0, self.bmm_weight1, self.bmm_bias1, self.act_type
        )
