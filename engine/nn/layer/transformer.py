"""Transformers: Vaswani et al., Attention is all you need (2017)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from engine.core.errors import ArgumentError
from engine.core.values.dtype import default_dtype
from engine.nn import functional
from engine.nn.functional.attention import additive_mask
from engine.nn.layer.attention import AnyCache, MultiHeadAttention
from engine.nn.layer.common import Linear
from engine.nn.layer.container import LayerList
from engine.nn.layer.dropping import Dropout
from engine.nn.layer.layers import Layer
from engine.nn.layer.norm import LayerNorm
from engine.nn.param_attr import AttrLike, ParamAttr
from engine.tensor.creation import full
from engine.tensor.elements.arranging import triu
from engine.tensor.tensor_like import AnyTensor

# One attribute for all parts, or one for each.
Attrs: TypeAlias = AttrLike | Sequence[AttrLike]


def _attributes(attr: Any, count: int) -> list[Any]:
    """One attribute for each of ``count`` parts: given as a list, or one for all, names then numbered."""
    if isinstance(attr, (list, tuple)):
        if len(attr) != count:
            raise ArgumentError(f"Transformer: {len(attr)} attributes for {count} parts: got {attr!r}")
        return [ParamAttr._to_attr(None if a is True else a) for a in attr]
    if isinstance(attr, bool):
        return [ParamAttr._to_attr(None) if attr else False for _ in range(count)]
    made = []
    for number in range(count):
        each = copy.deepcopy(ParamAttr._to_attr(attr))
        if each.name:
            each.name = f"{each.name}_{number}"
        made.append(each)
    return made


def _check_sizes(where: str, **sizes: int) -> None:
    for name, size in sizes.items():
        if size <= 0:
            raise ArgumentError(f"{where}: {name} must be above 0: got {size}")


def _function(where: str, activation: str) -> Any:
    found = getattr(functional, activation, None)
    if found is None:
        raise ArgumentError(
            f"{where}: activation {activation!r} is not a function of nn.functional; use 'relu'"
        )
    return found


class TransformerEncoderLayer(Layer):
    """Self-attention and a feed-forward net, each with dropout, a residual and a LayerNorm.

    src is [batch, length, d_model]; ``src_mask`` as in MultiHeadAttention. ``normalize_before`` puts the
    LayerNorm before each part instead of after its residual. ``weight_attr`` and ``bias_attr`` are one for
    all, or a list: for the attention and for the feed-forward net. ``attn_dropout`` and ``act_dropout`` are
    ``dropout`` where omitted.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Attrs = None,
        bias_attr: Attrs = None,
    ) -> None:
        config = dict(locals())
        super().__init__()
        self._config = {k: v for k, v in config.items() if k not in ("self", "__class__")}
        _check_sizes("TransformerEncoderLayer", d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        act_dropout = dropout if act_dropout is None else act_dropout
        self.normalize_before = normalize_before
        weights, biases = _attributes(weight_attr, 2), _attributes(bias_attr, 2)
        self.self_attn = MultiHeadAttention(
            d_model, nhead, dropout=attn_dropout, weight_attr=weights[0], bias_attr=biases[0]
        )
        self.linear1 = Linear(d_model, dim_feedforward, weights[1], biases[1])
        self.dropout = Dropout(act_dropout)
        self.linear2 = Linear(dim_feedforward, d_model, weights[1], biases[1])
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = _function("TransformerEncoderLayer", activation)

    def forward(
        self, src: AnyTensor, src_mask: AnyTensor | None = None, cache: AnyCache | None = None
    ) -> Any:
        src_mask = additive_mask(src_mask, src.dtype)
        residual = src
        if self.normalize_before:
            src = self.norm1(src)
        if cache is None:
            src = self.self_attn(src, src, src, src_mask)
        else:
            src, cache = self.self_attn(src, src, src, src_mask, cache)
        src = residual + self.dropout1(src)
        if not self.normalize_before:
            src = self.norm1(src)
        residual = src
        if self.normalize_before:
            src = self.norm2(src)
        src = self.linear2(self.dropout(self.activation(self.linear1(src))))
        src = residual + self.dropout2(src)
        if not self.normalize_before:
            src = self.norm2(src)
        return src if cache is None else (src, cache)

    def gen_cache(self, src: AnyTensor) -> AnyCache:
        """An empty Cache for the batch of ``src``."""
        return self.self_attn.gen_cache(src, type=self.self_attn.Cache)


class TransformerEncoder(Layer):
    """``num_layers`` encoder layers, the given one and others made like it, and a ``norm`` at the end."""

    def __init__(self, encoder_layer: Layer, num_layers: int, norm: Layer | None = None) -> None:
        super().__init__()
        self.layers = LayerList(_copies(encoder_layer, num_layers))
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self, src: AnyTensor, src_mask: AnyTensor | None = None, cache: Sequence[Any] | None = None
    ) -> Any:
        src_mask = additive_mask(src_mask, src.dtype)
        caches = []
        for number, layer in enumerate(self.layers):
            if cache is None:
                src = layer(src, src_mask=src_mask)
            else:
                src, new_cache = layer(src, src_mask=src_mask, cache=cache[number])
                caches.append(new_cache)
        if self.norm is not None:
            src = self.norm(src)
        return src if cache is None else (src, caches)

    def gen_cache(self, src: AnyTensor) -> list[Any]:
        """An empty Cache for each layer."""
        return [layer.gen_cache(src) for layer in self.layers]


def _copies(layer: Any, count: int) -> list[Any]:
    return [layer if n == 0 else type(layer)(**layer._config) for n in range(count)]


class TransformerDecoderLayer(Layer):
    """Self-attention, attention to a memory and a feed-forward net: each with dropout, residual, LayerNorm.

    tgt is [batch, length, d_model], memory [batch, memory length, d_model]. Lists of attributes are for the
    self-attention, the attention to the memory and the feed-forward net. ``cache`` is what gen_cache gives.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Attrs = None,
        bias_attr: Attrs = None,
    ) -> None:
        config = dict(locals())
        super().__init__()
        self._config = {k: v for k, v in config.items() if k not in ("self", "__class__")}
        _check_sizes("TransformerDecoderLayer", d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        act_dropout = dropout if act_dropout is None else act_dropout
        self.normalize_before = normalize_before
        weights, biases = _attributes(weight_attr, 3), _attributes(bias_attr, 3)
        self.self_attn = MultiHeadAttention(
            d_model, nhead, dropout=attn_dropout, weight_attr=weights[0], bias_attr=biases[0]
        )
        self.cross_attn = MultiHeadAttention(
            d_model, nhead, dropout=attn_dropout, weight_attr=weights[1], bias_attr=biases[1]
        )
        self.linear1 = Linear(d_model, dim_feedforward, weights[2], biases[2])
        self.dropout = Dropout(act_dropout)
        self.linear2 = Linear(dim_feedforward, d_model, weights[2], biases[2])
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.norm3 = LayerNorm(d_model)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = _function("TransformerDecoderLayer", activation)

    def forward(
        self,
        tgt: AnyTensor,
        memory: AnyTensor,
        tgt_mask: AnyTensor | None = None,
        memory_mask: AnyTensor | None = None,
        cache: Sequence[AnyCache] | None = None,
    ) -> Any:
        tgt_mask = additive_mask(tgt_mask, tgt.dtype)
        memory_mask = additive_mask(memory_mask, memory.dtype)
        before = self.normalize_before
        grown = static = None
        residual = tgt
        if before:
            tgt = self.norm1(tgt)
        if cache is None:
            tgt = self.self_attn(tgt, tgt, tgt, tgt_mask)
        else:
            tgt, grown = self.self_attn(tgt, tgt, tgt, tgt_mask, cache[0])
        tgt = residual + self.dropout1(tgt)
        if not before:
            tgt = self.norm1(tgt)
        residual = tgt
        if before:
            tgt = self.norm2(tgt)
        if cache is None:
            tgt = self.cross_attn(tgt, memory, memory, memory_mask)
        else:
            tgt, static = self.cross_attn(tgt, memory, memory, memory_mask, cache[1])
        tgt = residual + self.dropout2(tgt)
        if not before:
            tgt = self.norm2(tgt)
        residual = tgt
        if before:
            tgt = self.norm3(tgt)
        tgt = self.linear2(self.dropout(self.activation(self.linear1(tgt))))
        tgt = residual + self.dropout3(tgt)
        if not before:
            tgt = self.norm3(tgt)
        return tgt if cache is None else (tgt, (grown, static))

    def gen_cache(self, memory: AnyTensor) -> tuple[AnyCache, AnyCache]:
        """An empty Cache for the self-attention, and the StaticCache of ``memory``."""
        return (
            self.self_attn.gen_cache(memory, type=self.self_attn.Cache),
            self.cross_attn.gen_cache(memory, memory, type=self.cross_attn.StaticCache),
        )


class TransformerDecoder(Layer):
    """``num_layers`` decoder layers, the given one and others made like it, and a ``norm`` at the end."""

    def __init__(self, decoder_layer: Layer, num_layers: int, norm: Layer | None = None) -> None:
        super().__init__()
        self.layers = LayerList(_copies(decoder_layer, num_layers))
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: AnyTensor,
        memory: AnyTensor,
        tgt_mask: AnyTensor | None = None,
        memory_mask: AnyTensor | None = None,
        cache: Sequence[Any] | None = None,
    ) -> Any:
        tgt_mask = additive_mask(tgt_mask, tgt.dtype)
        memory_mask = additive_mask(memory_mask, memory.dtype)
        caches = []
        for number, layer in enumerate(self.layers):
            given = {"tgt_mask": tgt_mask, "memory_mask": memory_mask}
            if cache is None:
                tgt = layer(tgt, memory, **given)
            else:
                tgt, new_cache = layer(tgt, memory, **given, cache=cache[number])
                caches.append(new_cache)
        if self.norm is not None:
            tgt = self.norm(tgt)
        return tgt if cache is None else (tgt, caches)

    def gen_cache(self, memory: AnyTensor, do_zip: bool = False) -> list[Any]:
        """The caches of each layer; with ``do_zip`` two lists, those of each kind."""
        caches = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*caches, strict=True)) if do_zip else caches


class Transformer(Layer):
    """An encoder and a decoder with LayerNorms at their ends: ``Transformer()(src, tgt)``.

    src is [batch, length, d_model], tgt [batch, target length, d_model]. Lists of attributes have one, two or
    three entries: attention(s) and, last, the feed-forward nets.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Attrs = None,
        bias_attr: Attrs = None,
        custom_encoder: Layer | None = None,
        custom_decoder: Layer | None = None,
    ) -> None:
        super().__init__()
        _check_sizes("Transformer", d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        weights, biases = _split_attributes(weight_attr), _split_attributes(bias_attr)
        options = (
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            attn_dropout,
            act_dropout,
            normalize_before,
        )
        if custom_encoder is None:
            encoder_layer = TransformerEncoderLayer(*options, weights[0], biases[0])
            custom_encoder = TransformerEncoder(encoder_layer, num_encoder_layers, LayerNorm(d_model))
        self.encoder = custom_encoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(*options, weights[1], biases[1])
            custom_decoder = TransformerDecoder(decoder_layer, num_decoder_layers, LayerNorm(d_model))
        self.decoder = custom_decoder
        self.d_model = d_model
        self.nhead = nhead

    def forward(
        self,
        src: AnyTensor,
        tgt: AnyTensor,
        src_mask: AnyTensor | None = None,
        tgt_mask: AnyTensor | None = None,
        memory_mask: AnyTensor | None = None,
    ) -> Any:
        memory = self.encoder(src, src_mask=additive_mask(src_mask, src.dtype))
        return self.decoder(
            tgt,
            memory,
            tgt_mask=additive_mask(tgt_mask, tgt.dtype),
            memory_mask=additive_mask(memory_mask, memory.dtype),
        )

    def generate_square_subsequent_mask(self, length: int) -> Any:
        """A mask to be added, [length, length]: 0 up to each position, -inf after it."""
        return triu(full([length, length], -np.inf, default_dtype()), 1)


def _split_attributes(attr: Any) -> tuple[Any, Any]:
    """The attributes of encoder layers and of decoder layers."""
    if not isinstance(attr, (list, tuple)):
        return attr, attr
    if len(attr) not in (1, 2, 3):
        raise ArgumentError(f"Transformer: a list of attributes must have 1, 2 or 3 entries: got {len(attr)}")
    first, last = attr[0], attr[-1]
    return [first, last], list(attr) if len(attr) == 3 else [first, first, last]
