"""Attention in one call: of whole layers, of sequences of uneven length, of one step with a cache."""

from __future__ import annotations

from typing import Any, cast

from engine.core.errors import ArgumentError, ConditionError, ShapeError, UnsupportedError
from engine.incubate.nn.functional.normalizing import (
    fused_dropout_add,
    last_normalized,
    require_mode,
)
from engine.nn import functional
from engine.nn.functional.attention import FORBIDDEN, additive_mask
from engine.program.build.calls import takes_name
from engine.tensor import creation, linalg, logic, manipulation, math, search
from engine.tensor.elements import scattering
from engine.tensor.tensor_like import AnyTensor


def heads(x: AnyTensor, weight: AnyTensor, bias: AnyTensor | None, num_heads: int, transposed: bool) -> Any:
    """Query, key and value [3, batch, heads, length, size] of ``x`` [batch, length, width].

    ``weight`` is [3, heads, size, width], or [width, 3 * heads * size] if ``transposed``.
    """
    if not transposed:
        num_heads, size = int(weight.shape[1]), int(weight.shape[2])
        weight = manipulation.reshape(weight, [3 * num_heads * size, int(weight.shape[3])])
    else:
        size = int(weight.shape[1]) // 3 // num_heads
    made = linalg.matmul(x, weight, transpose_y=not transposed)
    if bias is not None:
        made = math.add(made, manipulation.reshape(bias, [-1]))
    parted = manipulation.reshape(made, [0, 0, 3, num_heads, size])
    return manipulation.transpose(parted, [2, 0, 3, 1, 4])


def attended(
    q: AnyTensor,
    k: AnyTensor,
    v: AnyTensor,
    mask: AnyTensor | None,
    scale: float,
    rate: float = 0.0,
    training: bool = True,
    mode: str = "upscale_in_train",
) -> Any:
    """dropout(softmax(scale * q @ k.T + mask)) @ v over [batch, heads, length, size]."""
    scores = linalg.matmul(math.scale(q, scale), k, transpose_y=True)
    if mask is not None:
        scores = math.add(scores, additive_mask(mask, scores.dtype))
    weights = functional.softmax(scores, axis=-1)
    if rate:
        weights = functional.dropout(weights, rate, training=training, mode=mode)
    return linalg.matmul(weights, v)


def joined(x: AnyTensor) -> Any:
    """[batch, heads, length, size] as [batch, length, heads * size]."""
    return manipulation.reshape(manipulation.transpose(x, [0, 2, 1, 3]), [0, 0, -1])


def _require_weight(x: Any, weight: Any, bias: Any, num_heads: int, transposed: bool) -> None:
    where = "fused_multi_head_attention"
    if x.ndim != 3:
        raise ArgumentError(f"{where}: The rank of the x should be 3, but received {x.ndim}.")
    width = x.shape[2]
    if not transposed:
        right = weight.ndim == 4 and weight.shape[0] == 3 and weight.shape[3] == width
        right = right and weight.shape[1] * weight.shape[2] == weight.shape[3]
        wanted = "[3, heads, size, width] with heads * size = width"
    else:
        if num_heads <= 0:
            raise ConditionError(f"{where}: num_heads should be greater than 0 with transpose_qkv_wb")
        right = weight.ndim == 2 and weight.shape[0] == width and weight.shape[1] == 3 * width
        right = right and (bias is None or list(bias.shape) == [weight.shape[1]])
        wanted = "[width, 3 * width]"
    if not right:
        raise ConditionError(
            f"{where}: qkv_weight should be {wanted} for x {list(x.shape)}: got {list(weight.shape)}"
        )


@takes_name
def fused_multi_head_attention(
    x: AnyTensor,
    qkv_weight: AnyTensor,
    linear_weight: AnyTensor,
    pre_layer_norm: bool = False,
    pre_ln_scale: AnyTensor | None = None,
    pre_ln_bias: AnyTensor | None = None,
    ln_scale: AnyTensor | None = None,
    ln_bias: AnyTensor | None = None,
    pre_ln_epsilon: float = 1e-05,
    qkv_bias: AnyTensor | None = None,
    linear_bias: AnyTensor | None = None,
    cache_kv: AnyTensor | None = None,
    attn_mask: AnyTensor | None = None,
    dropout_rate: float = 0.5,
    attn_dropout_rate: float = 0.5,
    ln_epsilon: float = 1e-05,
    training: bool = True,
    mode: str = "upscale_in_train",
    ring_id: int = -1,
    add_residual: bool = True,
    num_heads: int = -1,
    transpose_qkv_wb: bool = False,
    name: str | None = None,
) -> Any:
    """The attention of a transformer's layer to its own input, with norm, dropout and residual.

    Args:
        x: [batch, length, width].
        qkv_weight: [3, heads, size, width], or [width, 3 * width] with ``transpose_qkv_wb``, ``num_heads``.
        linear_weight: of the map behind the attention, [width, width].
        pre_layer_norm: normalize ``x`` before, by ``pre_ln_scale``, ``pre_ln_bias``, ``pre_ln_epsilon``; else
            the result, by ``ln_scale``, ``ln_bias``, ``ln_epsilon``.
        qkv_bias: [3, heads, size], or [3 * width].
        linear_bias: [width].
        cache_kv: keys and values of earlier steps, [2, batch, heads, steps, size]; then the result is
            (result, those with the new ones).
        attn_mask: what is added to the scores, broadcast to [batch, heads, length, length]; a bool or integer
            one says where a query may look.
        dropout_rate, attn_dropout_rate: of the result before the residual, and of the weights.
        training, mode: of dropout.
        ring_id: has no effect: one process computes all heads.
        add_residual: add ``x``.
        name: of the result in a Program.
    """
    require_mode("fused_multi_head_attention", mode)
    _require_weight(x, qkv_weight, qkv_bias, num_heads, transpose_qkv_wb)
    where, out = "fused_multi_head_attention", x
    if pre_layer_norm:
        out = last_normalized(where, x, pre_ln_scale, pre_ln_bias, pre_ln_epsilon)
    q, k, v = manipulation.unbind(heads(out, qkv_weight, qkv_bias, num_heads, transpose_qkv_wb), 0)
    if cache_kv is not None:
        k, v = (manipulation.concat([cache_kv[n], new], axis=2) for n, new in enumerate((k, v)))
    size = int(q.shape[-1])
    made = attended(q, k, v, attn_mask, size**-0.5, attn_dropout_rate, training, mode)
    out = linalg.matmul(joined(made), linear_weight)
    out = out if linear_bias is None else math.add(out, linear_bias)
    if add_residual:
        out = fused_dropout_add(out, x, dropout_rate, training, mode)
    else:
        out = functional.dropout(out, dropout_rate, training=training, mode=mode)
    if not pre_layer_norm:
        out = last_normalized(where, out, ln_scale, ln_bias, ln_epsilon)
    return out if cache_kv is None else (out, manipulation.stack([k, v]))


def variable_length_memory_efficient_attention(
    query: AnyTensor,
    key: AnyTensor,
    value: AnyTensor,
    seq_lens: AnyTensor,
    kv_seq_lens: AnyTensor,
    mask: AnyTensor | None = None,
    scale: float | None = None,
    causal: bool = False,
    pre_cache_length: int = 0,
) -> Any:
    """softmax(scale * query @ key.T + mask) @ value of sequences of uneven length.

    Args:
        query, key, value: [batch, heads, length, size]; keys may have fewer heads, each for several queries.
        seq_lens: how many queries of each sequence count, [batch, 1]; the others are 0.
        kv_seq_lens: how many keys count, [batch, 1].
        mask: added to the scores, [batch, 1, queries, keys].
        scale: 1 / sqrt(size) by default.
        causal: a query sees the keys up to its own place,
        pre_cache_length: and as many more.
    """
    if query.ndim != 4 or int(query.shape[1]) % int(key.shape[1]):
        raise ShapeError(
            "variable_length_memory_efficient_attention: query and key are [batch, heads, length, size], the "
            f"heads of query a multiple of those of key: got {list(query.shape)} and {list(key.shape)}"
        )
    repeats = int(query.shape[1]) // int(key.shape[1])
    if repeats > 1:
        key, value = (_repeated(each, repeats) for each in (key, value))
    queries, keys = creation.arange(query.shape[2]), creation.arange(key.shape[2])
    lengths = manipulation.reshape(kv_seq_lens, [-1, 1, 1, 1])
    seen = logic.less_than(keys, math.cast(lengths, "int64"))
    if causal:
        seen = logic.logical_and(seen, keys <= manipulation.unsqueeze(queries + int(pre_cache_length), -1))
    forbidden = math.scale(math.cast(seen, query.dtype), -FORBIDDEN, FORBIDDEN)
    both = forbidden if mask is None else math.add(math.cast(mask, query.dtype), forbidden)
    scale = int(query.shape[3]) ** -0.5 if scale is None else scale
    made = attended(query, key, value, both, scale)
    counted = manipulation.unsqueeze(queries, -1) < math.cast(
        manipulation.reshape(seq_lens, [-1, 1, 1, 1]), "int64"
    )
    return search.where(counted, made, creation.zeros_like(made))


def _repeated(x: Any, repeats: int) -> Any:
    batch, count, length, size = (int(d) for d in x.shape)
    wide = manipulation.expand(manipulation.unsqueeze(x, 2), [batch, count, repeats, length, size])
    return manipulation.reshape(wide, [batch, count * repeats, length, size])


def masked_multihead_attention(
    x: AnyTensor,
    cache_kv: AnyTensor | None = None,
    bias: AnyTensor | None = None,
    src_mask: AnyTensor | None = None,
    cum_offsets: AnyTensor | None = None,
    sequence_lengths: AnyTensor | None = None,
    rotary_tensor: AnyTensor | None = None,
    beam_cache_offset: AnyTensor | None = None,
    qkv_out_scale: AnyTensor | None = None,
    out_shift: AnyTensor | None = None,
    out_smooth: AnyTensor | None = None,
    seq_len: int = 1,
    rotary_emb_dims: int = 0,
    use_neox_rotary_style: bool = False,
    compute_dtype: str = "default",
    out_scale: float = -1,
    quant_round_type: int = 1,
    quant_max_bound: float = 127.0,
    quant_min_bound: float = -127.0,
) -> tuple[Any, Any]:
    """One step of attention to all steps before it, whose keys and values a cache holds.

    Differs from Paddle: rotary embeddings, beams and quantization (``rotary_tensor``, ``beam_cache_offset``,
    ``qkv_out_scale``, ``out_shift``, ``out_smooth``, ``out_scale``) raise UnsupportedError.

    Args:
        x: query, key and value of this step, [batch, 3 * heads * size].
        cache_kv: [2, batch, heads, most steps, size]; it is changed in place.
        bias: [3, heads, size].
        src_mask: added to the scores, [batch, 1, 1, steps with this one].
        sequence_lengths: the place of this step in each sequence, [batch, 1]; by default behind the others,
            as ``src_mask`` counts them.

    Returns:
        the result [batch, heads * size] and the cache.
    """
    refused = {
        "rotary_tensor": rotary_tensor,
        "beam_cache_offset": beam_cache_offset,
        "qkv_out_scale": qkv_out_scale,
        "out_shift": out_shift,
        "out_smooth": out_smooth,
    }
    given = [name for name, value in refused.items() if value is not None]
    if given or out_scale > 0:
        raise UnsupportedError(
            f"masked_multihead_attention: {', '.join(given) or 'out_scale'} can't be used here; leave it out"
        )
    if cache_kv is None or (sequence_lengths is None and src_mask is None):
        raise ArgumentError(
            "masked_multihead_attention: needs cache_kv, and sequence_lengths or src_mask for the place "
            "of the step"
        )
    _, batch, count, most, size = (int(d) for d in cache_kv.shape)
    parted = manipulation.reshape(x, [batch, 3, count, size])
    parted = parted if bias is None else math.add(parted, manipulation.unsqueeze(bias, 0))
    q, k, v = manipulation.unbind(parted, 1)
    if sequence_lengths is None:
        place = creation.full([batch, 1, 1, 1], int(cast(AnyTensor, src_mask).shape[3]) - 1, "int64")
    else:
        place = math.cast(manipulation.reshape(sequence_lengths, [-1, 1, 1, 1]), "int64")
    at = manipulation.expand(place, [batch, count, 1, size])
    cached = [
        scattering.put_along_axis(cache_kv[n], at, manipulation.unsqueeze(new, 2), 2)
        for n, new in enumerate((k, v))
    ]
    creation.assign(manipulation.stack(cached), cache_kv)
    steps = creation.arange(most)
    mask = math.scale(math.cast(steps <= place, q.dtype), -FORBIDDEN, FORBIDDEN)
    if src_mask is not None:
        mask = math.add(mask, _widened(math.cast(src_mask, q.dtype), most))
    made = attended(manipulation.unsqueeze(q, 2), cached[0], cached[1], mask, size**-0.5)
    return manipulation.reshape(made, [batch, count * size]), cache_kv


def _widened(mask: Any, most: int) -> Any:
    """[batch, 1, 1, steps] with zeros up to ``most`` steps."""
    missing = most - int(mask.shape[3])
    if missing <= 0:
        return mask[:, :, :, :most]
    zeros = creation.zeros([*(int(d) for d in mask.shape[:3]), missing], mask.dtype)
    return manipulation.concat([mask, zeros], axis=3)


def fused_rotary_position_embedding(
    q: AnyTensor,
    k: AnyTensor | None = None,
    v: AnyTensor | None = None,
    sin: AnyTensor | None = None,
    cos: AnyTensor | None = None,
    position_ids: AnyTensor | None = None,
    use_neox_rotary_style: bool = True,
) -> tuple[Any, Any, Any]:
    """Pairs of numbers turned by an angle that grows with the place: Su et al., RoFormer (2021).

    Args:
        q, k, v: [batch, length, heads, size]; ``k`` and ``v`` may be None.
        sin, cos: [length, size] or [1, length, 1, size]; by default of place / 10000 ** (2 i / size).
        position_ids: places [batch, length], 0, 1, 2, ... by default; rows of ``sin`` and ``cos``.
        use_neox_rotary_style: pairs are neighbours; else one is of the first half, one of the second.

    Returns:
        all three, None where it was None.
    """
    if q.ndim != 4 or int(q.shape[3]) % 2:
        raise ShapeError(
            f"fused_rotary_position_embedding: q is [batch, length, heads, even size]: got {list(q.shape)}"
        )
    if (sin is None) != (cos is None):
        raise ArgumentError("fused_rotary_position_embedding: give both sin and cos, or neither")
    length, size = int(q.shape[1]), int(q.shape[3])
    if sin is None or cos is None:
        places = creation.arange(length, dtype="float32") if position_ids is None else position_ids
        rate = 10000.0 ** (creation.arange(0, size, 2, dtype="float32") / -size)
        angle = manipulation.unsqueeze(math.cast(places, "float32"), -1) * rate
        if use_neox_rotary_style:
            angle = manipulation.flatten(manipulation.stack([angle, angle], axis=-1), -2)
        else:
            angle = manipulation.concat([angle, angle], axis=-1)
        sin, cos = angle.sin(), angle.cos()
    else:
        sin, cos = (manipulation.reshape(each, [-1, size]) for each in (sin, cos))
        if position_ids is not None:
            flat = manipulation.reshape(position_ids, [-1])
            sin, cos = (
                manipulation.reshape(scattering.gather(each, flat), [-1, length, size]) for each in (sin, cos)
            )
    sin, cos = (math.cast(manipulation.unsqueeze(each, -2), q.dtype) for each in (sin, cos))

    def turned(x: Any) -> Any:
        if x is None:
            return None
        if use_neox_rotary_style:
            parts = manipulation.reshape(x, [0, 0, 0, size // 2, 2])
            other = manipulation.stack([-parts[..., 1], parts[..., 0]], axis=-1)
            other = manipulation.flatten(other, -2)
        else:
            other = manipulation.concat([-x[..., size // 2 :], x[..., : size // 2]], axis=-1)
        return math.add(math.multiply(x, cos), math.multiply(other, sin))

    return turned(q), turned(k), turned(v)
