"""Whole layers of a transformer in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError, ConditionError, UnsupportedError
from engine.incubate.nn.functional.attention import attended, heads, joined
from engine.incubate.nn.functional.normalizing import last_normalized, require_mode
from engine.nn import functional
from engine.program.build.calls import takes_name
from engine.tensor import linalg, manipulation, math
from engine.tensor.tensor_like import AnyTensor


def _activated(where: str, x: Any, activation: str) -> Any:
    if activation not in ("relu", "gelu"):
        raise ArgumentError(f"{where}: activation must be 'relu' or 'gelu': got {activation!r}")
    return getattr(functional, activation)(x)


def _linear(x: Any, weight: Any, bias: Any) -> Any:
    made = linalg.matmul(x, weight)
    return made if bias is None else math.add(made, bias)


@takes_name
def fused_feedforward(
    x: AnyTensor,
    linear1_weight: AnyTensor,
    linear2_weight: AnyTensor,
    linear1_bias: AnyTensor | None = None,
    linear2_bias: AnyTensor | None = None,
    ln1_scale: AnyTensor | None = None,
    ln1_bias: AnyTensor | None = None,
    ln2_scale: AnyTensor | None = None,
    ln2_bias: AnyTensor | None = None,
    dropout1_rate: float = 0.5,
    dropout2_rate: float = 0.5,
    activation: str = "relu",
    ln1_epsilon: float = 1e-5,
    ln2_epsilon: float = 1e-5,
    pre_layer_norm: bool = False,
    training: bool = True,
    mode: str = "upscale_in_train",
    ring_id: int = -1,
    add_residual: bool = True,
    name: str | None = None,
) -> Any:
    """x + dropout2(linear2(dropout1(activation(linear1(x))))), the two linear maps of a transformer's layer.

    Args:
        x: [batch, length, width].
        linear1_weight, linear1_bias: [width, inner] and [inner].
        linear2_weight, linear2_bias: [inner, width] and [width].
        pre_layer_norm: normalize before the first map, by ``ln1_...``; else the result, by ``ln2_...``.
        dropout1_rate, dropout2_rate, training, mode: of dropout.
        activation: 'relu' or 'gelu'.
        ring_id: has no effect.
        add_residual: add ``x``.
        name: of the result in a Program.
    """
    where = "fused_feedforward"
    require_mode(where, mode)
    for rate_name, rate in (("dropout1_rate", dropout1_rate), ("dropout2_rate", dropout2_rate)):
        if not 0 <= rate <= 1:
            raise ArgumentError(f"{where}: {rate_name} argument should between 0 and 1: got {rate}")
    out = last_normalized(where, x, ln1_scale, ln1_bias, ln1_epsilon) if pre_layer_norm else x
    out = _activated(where, _linear(out, linear1_weight, linear1_bias), activation)
    out = functional.dropout(out, dropout1_rate, training=training, mode=mode)
    out = _linear(out, linear2_weight, linear2_bias)
    out = functional.dropout(out, dropout2_rate, training=training, mode=mode)
    out = math.add(x, out) if add_residual else out
    return out if pre_layer_norm else last_normalized(where, out, ln2_scale, ln2_bias, ln2_epsilon)


def _cached(cache: Any, pre: Any, k: Any, v: Any, step: int | None) -> tuple[Any, Any]:
    """Keys and values with those before them; the cache takes the new ones in place."""
    if cache is not None:
        first = 0 if step is None else step
        last = first + int(k.shape[2])
        if last > int(cache.shape[3]):
            raise ConditionError(
                f"fused_multi_transformer: the cache holds {int(cache.shape[3])} steps: got step {last - 1}"
            )
        cache[0, :, :, first:last] = k
        cache[1, :, :, first:last] = v
        if step is not None:
            return cache[0, :, :, :last], cache[1, :, :, :last]
    if pre is not None:
        k, v = (manipulation.concat([pre[n], new], axis=2) for n, new in enumerate((k, v)))
    return k, v


@takes_name
def fused_multi_transformer(
    x: AnyTensor,
    ln_scales: Sequence[Any],
    ln_biases: Sequence[Any],
    qkv_weights: Sequence[Any],
    qkv_biases: Sequence[Any] | None,
    linear_weights: Sequence[Any],
    linear_biases: Sequence[Any] | None,
    ffn_ln_scales: Sequence[Any],
    ffn_ln_biases: Sequence[Any],
    ffn1_weights: Sequence[Any],
    ffn1_biases: Sequence[Any] | None,
    ffn2_weights: Sequence[Any],
    ffn2_biases: Sequence[Any] | None,
    pre_layer_norm: bool = True,
    epsilon: float = 1e-05,
    cache_kvs: Sequence[Any] | None = None,
    pre_caches: Sequence[Any] | None = None,
    seq_lens: AnyTensor | None = None,
    rotary_embs: AnyTensor | None = None,
    time_step: int | AnyTensor | None = None,
    attn_mask: AnyTensor | None = None,
    dropout_rate: float = 0.0,
    rotary_emb_dims: int = 0,
    activation: str = "gelu",
    training: bool = False,
    mode: str = "upscale_in_train",
    trans_qkvw: bool = True,
    ring_id: int = -1,
    name: str | None = None,
) -> Any:
    """Layers of attention and feed-forward maps, one after the other, as a decoder generates with them.

    Differs from Paddle: rotary embeddings (``rotary_embs``) and lengths (``seq_lens``) raise
    UnsupportedError; give a mask, and turn queries and keys with ``fused_rotary_position_embedding``.

    Args:
        x: [batch, length, width].
        ln_scales, ln_biases, ffn_ln_scales, ffn_ln_biases: [width] of each layer.
        qkv_weights, qkv_biases: [3, heads, size, width] ([width, 3, heads, size] without ``trans_qkvw``), [3,
            heads, size].
        linear_weights, linear_biases: [heads * size, width], [width].
        ffn1_weights, ffn1_biases, ffn2_weights, ffn2_biases: [width, inner], [inner], [inner, width],
            [width].
        pre_layer_norm: normalize before attention and before the feed-forward maps, else behind them.
        epsilon: of the norms.
        cache_kvs: keys and values [2, batch, heads, most steps, size] of each layer, changed in place;
            then the result is (result, cache_kvs).
        pre_caches: keys and values [2, batch, heads, steps, size] before those of ``x``.
        time_step: the place of ``x``, one step, behind what the caches hold; without it they fill from 0.
        attn_mask: added to the scores, or where a query may look.
        dropout_rate, training, mode: of dropout.
        activation: 'gelu' or 'relu'.
        ring_id: has no effect.
        name: of the result in a Program.
    """
    where = "fused_multi_transformer"
    require_mode(where, mode)
    if rotary_emb_dims or rotary_embs is not None or seq_lens is not None:
        raise UnsupportedError(f"{where}: rotary_embs and seq_lens can't be used here; leave them out")
    step = None if time_step is None else int(time_step)

    def dropped(value: Any) -> Any:
        return functional.dropout(value, dropout_rate, training=training, mode=mode)

    def of(values: Sequence[Any] | None, n: int) -> Any:
        return None if values is None else values[n]

    out = x
    for n, weight in enumerate(qkv_weights):
        if not trans_qkvw:
            weight = manipulation.transpose(weight, [1, 2, 3, 0])
        residual = out
        if pre_layer_norm:
            out = last_normalized(where, out, ln_scales[n], ln_biases[n], epsilon)
        q, k, v = manipulation.unbind(heads(out, weight, of(qkv_biases, n), -1, False), 0)
        k, v = _cached(of(cache_kvs, n), of(pre_caches, n), k, v, step)
        made = attended(q, k, v, attn_mask, int(q.shape[-1]) ** -0.5, dropout_rate, training, mode)
        out = math.add(residual, dropped(_linear(joined(made), linear_weights[n], of(linear_biases, n))))
        if not pre_layer_norm:
            out = last_normalized(where, out, ln_scales[n], ln_biases[n], epsilon)
        residual = out
        if pre_layer_norm:
            out = last_normalized(where, out, ffn_ln_scales[n], ffn_ln_biases[n], epsilon)
        out = dropped(_activated(where, _linear(out, ffn1_weights[n], of(ffn1_biases, n)), activation))
        out = math.add(residual, dropped(_linear(out, ffn2_weights[n], of(ffn2_biases, n))))
        if not pre_layer_norm:
            out = last_normalized(where, out, ffn_ln_scales[n], ffn_ln_biases[n], epsilon)
    return out if cache_kvs is None else (out, cache_kvs)
