"""Layers of a transformer whose parts are computed in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ConditionError
from engine.incubate.nn.functional.attention import fused_multi_head_attention
from engine.incubate.nn.functional.transformer import fused_feedforward, fused_multi_transformer
from engine.nn.initializer import Constant
from engine.nn.layer.layers import Layer
from engine.nn.layer.transformer import Attrs
from engine.nn.param_attr import AttrLike
from engine.tensor.tensor_like import AnyTensor


def _require_positive(where: str, **sizes: int) -> None:
    for name, size in sizes.items():
        if size <= 0:
            raise ConditionError(f"{where}: Expected {name} to be greater than 0, but received {size}")


def _require_divided(where: str, embed_dim: int, num_heads: int, nranks: int, *more: int) -> None:
    if embed_dim % num_heads or any(size % nranks for size in (num_heads, *more)):
        raise ConditionError(
            f"{where}: embed_dim must be divisible by num_heads, and num_heads (and dim_feedforward) by "
            f"nranks: got {embed_dim}, {num_heads} and {nranks}"
        )


def _norm(layer: Layer, size: int, scale_attr: Any, bias_attr: Any) -> tuple[Any, Any]:
    scale = layer.create_parameter([size], attr=scale_attr, default_initializer=Constant(1.0))
    return scale, layer.create_parameter([size], attr=bias_attr, is_bias=True)


class FusedMultiHeadAttention(Layer):
    """Attention of a sequence to itself with norm, dropout and residual.

    See ``functional.fused_multi_head_attention``.

    ``kdim``, ``vdim``, ``nranks`` beyond splitting the heads, and ``ring_id`` have no effect.

    Args:
        embed_dim: the width of tokens.
        num_heads: among which it is divided.
        dropout_rate, attn_dropout_rate: of the result, and of the weights.
        normalize_before: normalize before the attention, else the result.
        need_weights: only False.
        epsilon: of the norm.
        transpose_qkv_wb: the weight of query, key and value is [width, 3 * width].
        the others: attributes of the parameters.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout_rate: float = 0.5,
        attn_dropout_rate: float = 0.5,
        kdim: int | None = None,
        vdim: int | None = None,
        normalize_before: bool = False,
        need_weights: bool = False,
        qkv_weight_attr: AttrLike = None,
        qkv_bias_attr: AttrLike = None,
        linear_weight_attr: AttrLike = None,
        linear_bias_attr: AttrLike = None,
        pre_ln_scale_attr: AttrLike = None,
        pre_ln_bias_attr: AttrLike = None,
        ln_scale_attr: AttrLike = None,
        ln_bias_attr: AttrLike = None,
        epsilon: float = 1e-5,
        nranks: int = 1,
        ring_id: int = -1,
        transpose_qkv_wb: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        where = "FusedMultiHeadAttention"
        _require_positive(where, embed_dim=embed_dim, num_heads=num_heads)
        _require_divided(where, embed_dim, num_heads, nranks)
        if need_weights is not False:
            raise ConditionError(f"{where}: Only support need_weight is False now. got {need_weights!r}")
        self.normalize_before = normalize_before
        self.embed_dim = embed_dim
        self.head_dim = embed_dim // num_heads
        self.num_heads = num_heads // nranks
        self.kdim, self.vdim, self.need_weights = kdim, vdim, need_weights
        self.transpose_qkv_wb = transpose_qkv_wb
        self.dropout_rate = dropout_rate
        self.attn_dropout_rate = attn_dropout_rate
        self._epsilon = epsilon
        self.name = name
        parts = [3, self.num_heads, self.head_dim]
        own = self.num_heads * self.head_dim
        self.qkv_weight: Any = self.create_parameter(
            [embed_dim, 3 * own] if transpose_qkv_wb else [*parts, embed_dim], attr=qkv_weight_attr
        )
        self.qkv_bias = self.create_parameter(
            [3 * own] if transpose_qkv_wb else parts, attr=qkv_bias_attr, is_bias=True
        )
        self.linear_weight: Any = self.create_parameter([own, embed_dim], attr=linear_weight_attr)
        self.linear_bias = self.create_parameter([embed_dim], attr=linear_bias_attr, is_bias=True)
        self.pre_ln_scale = self.pre_ln_bias = self.ln_scale = self.ln_bias = None
        if normalize_before:
            self.pre_ln_scale, self.pre_ln_bias = _norm(self, embed_dim, pre_ln_scale_attr, pre_ln_bias_attr)
        else:
            self.ln_scale, self.ln_bias = _norm(self, embed_dim, ln_scale_attr, ln_bias_attr)

    def forward(
        self,
        query: AnyTensor,
        key: AnyTensor | None = None,
        value: AnyTensor | None = None,
        attn_mask: AnyTensor | None = None,
        cache: AnyTensor | None = None,
    ) -> Any:
        """The attention of ``query`` [batch, length, width] to itself; key and value have no effect."""
        return fused_multi_head_attention(
            query,
            self.qkv_weight,
            self.linear_weight,
            self.normalize_before,
            self.pre_ln_scale,
            self.pre_ln_bias,
            self.ln_scale,
            self.ln_bias,
            self._epsilon,
            self.qkv_bias,
            self.linear_bias,
            cache,
            attn_mask,
            self.dropout_rate,
            self.attn_dropout_rate,
            self._epsilon,
            self.training,
            num_heads=self.num_heads,
            transpose_qkv_wb=self.transpose_qkv_wb,
            name=self.name,
        )

    def extra_repr(self) -> str:
        """What ``print`` says of the layer."""
        return (
            f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, dropout_rate={self.dropout_rate}, "
            f"attn_dropout_rate={self.attn_dropout_rate}, epsilon={self._epsilon}, kdim={self.kdim}, "
            f"vdim={self.vdim}, normalize_before={self.normalize_before}, need_weights={self.need_weights}, "
            f"dtype={self._dtype}{f', name={self.name}' if self.name else ''}"
        )


class FusedFeedForward(Layer):
    """The two linear maps of a transformer's layer; see ``functional.fused_feedforward``.

    ``nranks`` divides ``dim_feedforward``; ``ring_id`` has no effect.
    """

    def __init__(
        self,
        d_model: int,
        dim_feedforward: int,
        dropout_rate: float = 0.1,
        epsilon: float = 1e-05,
        activation: str = "relu",
        act_dropout_rate: float | None = None,
        normalize_before: bool = False,
        linear1_weight_attr: AttrLike = None,
        linear1_bias_attr: AttrLike = None,
        linear2_weight_attr: AttrLike = None,
        linear2_bias_attr: AttrLike = None,
        ln1_scale_attr: AttrLike = None,
        ln1_bias_attr: AttrLike = None,
        ln2_scale_attr: AttrLike = None,
        ln2_bias_attr: AttrLike = None,
        nranks: int = 1,
        ring_id: int = -1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        _require_positive("FusedFeedForward", d_model=d_model, dim_feedforward=dim_feedforward)
        if dim_feedforward % nranks:
            raise ConditionError(f"FusedFeedForward: nranks {nranks} must divide {dim_feedforward}")
        inner = dim_feedforward // nranks
        self._d_model, self._dim_feedforward = d_model, inner
        self._dropout_rate = dropout_rate
        self._act_dropout_rate = dropout_rate if act_dropout_rate is None else act_dropout_rate
        self._act_method = activation
        self._normalize_before = normalize_before
        self._epsilon = epsilon
        self.name = name
        self._linear1_weight: Any = self.create_parameter([d_model, inner], attr=linear1_weight_attr)
        self._linear1_bias = self.create_parameter([inner], attr=linear1_bias_attr, is_bias=True)
        self._linear2_weight: Any = self.create_parameter([inner, d_model], attr=linear2_weight_attr)
        self._linear2_bias = self.create_parameter([d_model], attr=linear2_bias_attr, is_bias=True)
        self._ln1_scale = self._ln1_bias = self._ln2_scale = self._ln2_bias = None
        if normalize_before:
            self._ln1_scale, self._ln1_bias = _norm(self, d_model, ln1_scale_attr, ln1_bias_attr)
        else:
            self._ln2_scale, self._ln2_bias = _norm(self, d_model, ln2_scale_attr, ln2_bias_attr)

    def forward(self, src: AnyTensor, cache: AnyTensor | None = None) -> Any:
        """Of ``src`` [batch, length, width]; ``cache`` has no effect."""
        return fused_feedforward(
            src,
            self._linear1_weight,
            self._linear2_weight,
            self._linear1_bias,
            self._linear2_bias,
            self._ln1_scale,
            self._ln1_bias,
            self._ln2_scale,
            self._ln2_bias,
            self._act_dropout_rate,
            self._dropout_rate,
            self._act_method,
            self._epsilon,
            self._epsilon,
            self._normalize_before,
            self.training,
            name=self.name,
        )

    def extra_repr(self) -> str:
        """What ``print`` says of the layer."""
        return (
            f"d_model={self._d_model}, dim_feedforward={self._dim_feedforward}, "
            f"dropout_rate={self._dropout_rate}, epsilon={self._epsilon}, activation={self._act_method}, "
            f"act_dropout_rate={self._act_dropout_rate}, normalize_before={self._normalize_before}, "
            f"dtype={self._dtype}{f', name={self.name}' if self.name else ''}"
        )


def _pair(where: str, name: str, attr: Any) -> list[Any]:
    """An attribute for the attention and one for the linear maps."""
    if not isinstance(attr, (list, tuple)):
        return [attr, attr]
    if len(attr) not in (1, 2):
        raise ConditionError(f"{where}: {name} is one attribute or two: got {len(attr)}")
    return [attr[0], attr[-1]]


class FusedTransformerEncoderLayer(Layer):
    """A layer of a transformer's encoder: ``FusedMultiHeadAttention``, then ``FusedFeedForward``.

    Args:
        d_model: the width of tokens.
        nhead: heads of the attention.
        dim_feedforward: between the two linear maps.
        dropout_rate, attn_dropout_rate, act_dropout_rate: of results, of the attention's weights, of what is
            between the linear maps; the last two are the first by default.
        activation: 'relu' or 'gelu'.
        normalize_before: normalize before each part, else behind.
        weight_attr, bias_attr: of the parameters; of two, the first is the attention's.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout_rate: float = 0.1,
        activation: str = "relu",
        attn_dropout_rate: float | None = None,
        act_dropout_rate: float | None = None,
        normalize_before: bool = False,
        weight_attr: Attrs = None,
        bias_attr: Attrs = None,
    ) -> None:
        super().__init__()
        where = "FusedTransformerEncoderLayer"
        _require_positive(where, d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        weights, biases = _pair(where, "weight_attr", weight_attr), _pair(where, "bias_attr", bias_attr)
        self.normalize_before = normalize_before
        self.fused_attn = FusedMultiHeadAttention(
            d_model,
            nhead,
            dropout_rate,
            dropout_rate if attn_dropout_rate is None else attn_dropout_rate,
            normalize_before=normalize_before,
            qkv_weight_attr=weights[0],
            qkv_bias_attr=biases[0],
            linear_weight_attr=weights[0],
            linear_bias_attr=biases[0],
            pre_ln_scale_attr=weights[0],
            pre_ln_bias_attr=biases[0],
            ln_scale_attr=weights[0],
            ln_bias_attr=biases[0],
        )
        self.ffn = FusedFeedForward(
            d_model,
            dim_feedforward,
            dropout_rate,
            activation=activation,
            act_dropout_rate=act_dropout_rate,
            normalize_before=normalize_before,
            linear1_weight_attr=weights[1],
            linear1_bias_attr=biases[1],
            linear2_weight_attr=weights[1],
            linear2_bias_attr=biases[1],
        )

    def forward(
        self, src: AnyTensor, src_mask: AnyTensor | None = None, cache: AnyTensor | None = None
    ) -> Any:
        """Of ``src`` [batch, length, width]; with a ``cache`` also the cache with the new steps."""
        if cache is None:
            return self.ffn(self.fused_attn(src, attn_mask=src_mask))
        attended, grown = self.fused_attn(src, attn_mask=src_mask, cache=cache)
        return self.ffn(attended), grown


class FusedMultiTransformer(Layer):
    """Several layers of a decoder; see ``functional.fused_multi_transformer``.

    Differs from Paddle: the parameters are in ``parameters()`` and ``state_dict()``; there they are not.

    Args:
        embed_dim: the width of tokens.
        num_heads: heads of the attention.
        dim_feedforward: between the two linear maps.
        dropout_rate: of all results.
        activation: 'gelu' or 'relu'.
        normalize_before: normalize before each part, else behind.
        num_layers: how many layers; as many as ``qkv_weight_attrs`` where that is a list.
        trans_qkvw: the weight of query, key, value is [3, heads, size, width], else [width, 3, heads, size].
        epsilon: of the norms.
        nranks: divides heads and ``dim_feedforward``; ``ring_id`` has no effect.
        the others: attributes of the parameters, one for all layers or a list.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dim_feedforward: int,
        dropout_rate: float = 0.0,
        activation: str = "gelu",
        normalize_before: bool = True,
        ln_scale_attrs: Attrs = None,
        ln_bias_attrs: Attrs = None,
        qkv_weight_attrs: Attrs = None,
        qkv_bias_attrs: Attrs = None,
        linear_weight_attrs: Attrs = None,
        linear_bias_attrs: Attrs = None,
        ffn_ln_scale_attrs: Attrs = None,
        ffn_ln_bias_attrs: Attrs = None,
        ffn1_weight_attrs: Attrs = None,
        ffn1_bias_attrs: Attrs = None,
        ffn2_weight_attrs: Attrs = None,
        ffn2_bias_attrs: Attrs = None,
        epsilon: float = 1e-5,
        num_layers: int = -1,
        nranks: int = 1,
        trans_qkvw: bool = True,
        ring_id: int = -1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        where = "FusedMultiTransformer"
        _require_positive(where, embed_dim=embed_dim, num_heads=num_heads, dim_feedforward=dim_feedforward)
        _require_divided(where, embed_dim, num_heads, nranks, dim_feedforward)
        if isinstance(qkv_weight_attrs, (list, tuple)):
            num_layers = len(qkv_weight_attrs)
        _require_positive(where, num_layers=num_layers)
        self.normalize_before = normalize_before
        self.embed_dim = embed_dim
        self.head_dim = embed_dim // num_heads
        self.num_heads = num_heads
        self.dropout_rate = dropout_rate
        self.activation = activation
        self.name = name
        self._epsilon, self._trans_qkvw = epsilon, trans_qkvw
        own, inner = num_heads // nranks, dim_feedforward // nranks
        parts = [3, own, self.head_dim]
        qkv = [*parts, embed_dim] if trans_qkvw else [embed_dim, *parts]
        shapes = {  # list of parameters: shape, attributes, whether it is a bias, first value
            "ln_scales": ([embed_dim], ln_scale_attrs, False, Constant(1.0)),
            "ln_biases": ([embed_dim], ln_bias_attrs, True, None),
            "qkv_weights": (qkv, qkv_weight_attrs, False, None),
            "qkv_biases": (parts, qkv_bias_attrs, True, None),
            "linear_weights": ([own * self.head_dim, embed_dim], linear_weight_attrs, False, None),
            "linear_biases": ([embed_dim], linear_bias_attrs, True, None),
            "ffn_ln_scales": ([embed_dim], ffn_ln_scale_attrs, False, Constant(1.0)),
            "ffn_ln_biases": ([embed_dim], ffn_ln_bias_attrs, True, None),
            "ffn1_weights": ([embed_dim, inner], ffn1_weight_attrs, False, None),
            "ffn1_biases": ([inner], ffn1_bias_attrs, True, None),
            "ffn2_weights": ([inner, embed_dim], ffn2_weight_attrs, False, None),
            "ffn2_biases": ([embed_dim], ffn2_bias_attrs, True, None),
        }
        made: dict[str, list[Any]] = {key: [] for key in shapes}
        for n in range(num_layers):
            for key, (shape, attrs, is_bias, first) in shapes.items():
                if isinstance(attrs, (list, tuple)) and len(attrs) != num_layers:
                    raise ConditionError(
                        f"{where}: attributes are one or {num_layers}, one a layer: got {len(attrs)} of {key}"
                    )
                attr: Any = attrs[n] if isinstance(attrs, (list, tuple)) else attrs
                parameter = self.create_parameter(shape, attr, is_bias=is_bias, default_initializer=first)
                # A list of parameters is not searched for them: each has a name of its own, too.
                self.add_parameter(f"{key}_{n}", parameter)
                made[key].append(parameter)
        for key, parameters in made.items():
            setattr(self, key, parameters)

    def forward(
        self,
        src: AnyTensor,
        attn_mask: AnyTensor | None = None,
        caches: Sequence[AnyTensor] | None = None,
        pre_caches: Sequence[AnyTensor] | None = None,
        rotary_embs: AnyTensor | None = None,
        rotary_emb_dims: int = 0,
        seq_lens: AnyTensor | None = None,
        time_step: int | AnyTensor | None = None,
    ) -> Any:
        """``fused_multi_transformer`` with the layer's parameters."""
        if caches is not None and len(caches) != len(self.qkv_weights):
            raise ConditionError(
                f"FusedMultiTransformer: {len(self.qkv_weights)} layers need a cache each: got {len(caches)}"
            )
        return fused_multi_transformer(
            src,
            self.ln_scales,
            self.ln_biases,
            self.qkv_weights,
            self.qkv_biases,
            self.linear_weights,
            self.linear_biases,
            self.ffn_ln_scales,
            self.ffn_ln_biases,
            self.ffn1_weights,
            self.ffn1_biases,
            self.ffn2_weights,
            self.ffn2_biases,
            self.normalize_before,
            self._epsilon,
            caches,
            pre_caches,
            seq_lens,
            rotary_embs,
            time_step,
            attn_mask,
            self.dropout_rate,
            rotary_emb_dims,
            self.activation,
            self.training,
            trans_qkvw=self._trans_qkvw,
            name=self.name,
        )
