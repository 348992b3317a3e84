"""incubate.nn computes what its parts compute one by one: Paddle 2.6.2 has most of it for GPUs only.

The references are the layers of ``nn``, which the recorded calls compare with Paddle, and NumPy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, ConditionError, UnsupportedError
from engine.incubate import nn
from engine.incubate.nn import functional as F

RNG = np.random.default_rng(5)


def made(*shape: int) -> Any:
    return paddle.to_tensor(RNG.standard_normal(shape) * 0.7)


def close(got: Any, want: Any) -> None:
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-7, atol=1e-9)


@pytest.fixture(autouse=True)
def double() -> Any:
    paddle.set_default_dtype("float64")
    yield
    paddle.set_default_dtype("float32")


@pytest.fixture
def x() -> Any:
    return made(2, 5, 8)


def softmax(scores: Any) -> Any:
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def test_linear_maps(x: Any) -> None:
    weight, bias = made(8, 3), made(3)
    want = x.numpy() @ weight.numpy() + bias.numpy()
    close(F.fused_linear(x, weight, bias), want)
    close(F.fused_linear(x, weight.t(), bias, True), want)
    close(F.fused_matmul_bias(made(2, 3), made(3, 4)).shape, [2, 4])
    close(F.fused_linear_activation(x, weight, bias, activation="relu"), np.maximum(want, 0))
    gelu = 0.5 * want * (1 + np.tanh(math.sqrt(2 / math.pi) * (want + 0.044715 * want**3)))
    close(F.fused_linear_activation(x, weight, bias, activation="gelu"), gelu)
    close(F.fused_linear_activation(x, weight, bias), want)
    with pytest.raises(ArgumentError, match="activation is 'gelu'"):
        F.fused_linear_activation(x, weight, bias, activation="tanh")
    halves = x.numpy()[..., :4], x.numpy()[..., 4:]
    close(F.swiglu(x), halves[0] / (1 + np.exp(-halves[0])) * halves[1])
    layer = nn.FusedLinear(8, 3, transpose_weight=True)
    close(layer(x), x.numpy() @ layer.weight.numpy().T + layer.bias.numpy())


def test_normalization(x: Any) -> None:
    scale, shift, bias, other = made(8), made(8), made(8), made(2, 5, 8)
    total = x + bias + other
    want = paddle.nn.functional.layer_norm(total, 8, scale, shift)
    close(F.fused_bias_dropout_residual_layer_norm(x, other, bias, scale, shift, 0.0), want)
    kept = F.fused_bias_dropout_residual_layer_norm(x, other, bias, scale, shift, 0.3, training=False)
    close(kept, want)
    out, summed, mean, variance = F.fused_layer_norm(x, scale, shift, 1e-5, 1.0, 2, bias, other)
    close(out, want)
    close(summed, total)
    close(np.asarray(mean).reshape(2, 5), total.numpy().mean(-1))
    close(np.asarray(variance).reshape(2, 5), total.numpy().var(-1))
    assert F.fused_layer_norm(x, scale, shift, 1e-5, begin_norm_axis=2)[1] is None
    close(F.fused_layer_norm(x, None, None, 1e-5, 0.5, residual=other)[0], x + other * 0.5)
    root = np.sqrt((total.numpy() ** 2).mean(-1, keepdims=True) + 1e-6)
    out, summed = F.fused_rms_norm(x, scale, shift, 1e-6, 2, bias, other)
    close(out, total.numpy() / root * scale.numpy() + shift.numpy())
    close(summed, total)
    with pytest.raises(UnsupportedError, match="quant_scale"):
        F.fused_rms_norm(x, scale, shift, 1e-6, 2, quant_scale=0.1)
    with pytest.raises(ConditionError, match="ln_scale"):
        F.fused_bias_dropout_residual_layer_norm(x, other, ln_scale=made(7))


def test_dropout_and_sum(x: Any) -> None:
    other = made(2, 5, 8)
    paddle.seed(3)
    got = F.fused_dropout_add(x, other, 0.5)
    paddle.seed(3)
    close(got, paddle.nn.functional.dropout(x, 0.5) + other)
    layer = nn.FusedDropoutAdd(0.25, mode="downscale_in_infer")
    layer.eval()
    close(layer(x, other), x * 0.75 + other)
    with pytest.raises(ArgumentError, match="mode argument"):
        F.fused_dropout_add(x, other, 0.5, mode="no")


def encoder_pair(before: bool, transposed: bool = False) -> tuple[Any, Any]:
    """A layer of ``nn`` and the fused ones with the same parameters."""
    plain = paddle.nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", normalize_before=before)
    attention = nn.FusedMultiHeadAttention(
        8, 2, 0.0, 0.0, normalize_before=before, transpose_qkv_wb=transposed
    )
    feed = nn.FusedFeedForward(8, 16, 0.0, activation="gelu", normalize_before=before)
    for parameter in plain.parameters():
        parameter.set_value(made(*parameter.shape))
    parts = [getattr(plain.self_attn, f"{name}_proj") for name in "qkv"]
    rows = np.stack([part.weight.numpy().T.reshape(2, 4, 8) for part in parts])
    biases = np.stack([part.bias.numpy().reshape(2, 4) for part in parts])
    if transposed:
        rows, biases = rows.reshape(24, 8).T, biases.reshape(24)
    attention.qkv_weight.set_value(rows)
    attention.qkv_bias.set_value(biases)
    attention.linear_weight.set_value(plain.self_attn.out_proj.weight)
    attention.linear_bias.set_value(plain.self_attn.out_proj.bias)
    feed._linear1_weight.set_value(plain.linear1.weight)
    feed._linear1_bias.set_value(plain.linear1.bias)
    feed._linear2_weight.set_value(plain.linear2.weight)
    feed._linear2_bias.set_value(plain.linear2.bias)
    for layer, norm, names in (
        (attention, plain.norm1, ("pre_ln", "ln")),
        (feed, plain.norm2, ("_ln1", "_ln2")),
    ):
        name = names[0] if before else names[1]
        getattr(layer, f"{name}_scale").set_value(norm.weight)
        getattr(layer, f"{name}_bias").set_value(norm.bias)
    return plain, (attention, feed)


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("transposed", [True, False])
def test_a_layer_of_an_encoder(x: Any, before: bool, transposed: bool) -> None:
    plain, (attention, feed) = encoder_pair(before, transposed)
    mask = paddle.to_tensor(np.triu(np.full((5, 5), -1e9), 1))
    x.stop_gradient = False
    for given in (None, mask):
        got, want = feed(attention(x, attn_mask=given)), plain(x, given)
        close(got, want)
        one, other = (paddle.grad([y.sum() + (y * y).sum()], [x])[0] for y in (got, want))
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6, atol=1e-8)


def test_the_encoder_layer_joins_both_parts(x: Any) -> None:
    plain, (attention, feed) = encoder_pair(False)
    layer = nn.FusedTransformerEncoderLayer(8, 2, 16, 0.0, "gelu")
    layer.fused_attn.set_state_dict(attention.state_dict())
    layer.ffn.set_state_dict(feed.state_dict())
    close(layer(x), plain(x))
    cache = made(2, 2, 2, 3, 4)
    out, grown = layer(x, cache=cache)
    assert out.shape == [2, 5, 8]
    close(grown.numpy()[:, :, :, :3], cache)
    assert grown.shape == [2, 2, 2, 8, 4]


@pytest.mark.parametrize("before", [True, False])
def test_two_attributes_are_for_the_attention_and_for_the_feed_forward_part(before: bool) -> None:
    weights, biases = (
        [paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(value)) for value in values]
        for values in ((1.0, 2.0), (3.0, 4.0))
    )
    layer = nn.FusedTransformerEncoderLayer(
        8, 2, 16, normalize_before=before, weight_attr=weights, bias_attr=biases
    )
    attention = {name: set(value.numpy().ravel()) for name, value in layer.fused_attn.named_parameters()}
    assert attention == {name: {3.0 if "bias" in name else 1.0} for name in attention}
    feed = {name: set(value.numpy().ravel()) for name, value in layer.ffn.named_parameters()}
    linear = {
        "_linear1_weight": {2.0},
        "_linear1_bias": {4.0},
        "_linear2_weight": {2.0},
        "_linear2_bias": {4.0},
    }
    assert linear.items() <= feed.items()


@pytest.mark.parametrize("before", [True, False])
def test_layers_of_a_decoder_with_a_cache(x: Any, before: bool) -> None:
    pairs = [encoder_pair(before) for _ in range(2)]
    layer = nn.FusedMultiTransformer(8, 2, 16, normalize_before=before, num_layers=2)
    assert len(layer.parameters()) == 24
    names = {
        "qkv_weights": "qkv_weight",
        "qkv_biases": "qkv_bias",
        "linear_weights": "linear_weight",
        "linear_biases": "linear_bias",
        "ln_scales": "pre_ln_scale" if before else "ln_scale",
        "ln_biases": "pre_ln_bias" if before else "ln_bias",
    }
    number = 1 if before else 2
    ffn = {
        "ffn1_weights": "_linear1_weight",
        "ffn1_biases": "_linear1_bias",
        "ffn2_weights": "_linear2_weight",
        "ffn2_biases": "_linear2_bias",
        "ffn_ln_scales": f"_ln{number}_scale",
        "ffn_ln_biases": f"_ln{number}_bias",
    }
    for n, (_, (attention, feed)) in enumerate(pairs):
        for key, name in names.items():
            getattr(layer, key)[n].set_value(getattr(attention, name))
        for key, name in ffn.items():
            getattr(layer, key)[n].set_value(getattr(feed, name))
    causal = paddle.to_tensor(np.triu(np.full((5, 5), -1e9), 1))
    want = x
    for plain, _ in pairs:
        want = plain(want, causal)
    layer.eval()
    close(layer(x, causal), want)
    caches = [paddle.zeros([2, 2, 2, 6, 4]) for _ in range(2)]
    first, same = layer(x[:, :4], causal[:4, :4], caches=caches)
    assert same is caches
    close(first, want[:, :4])
    last, _ = layer(x[:, 4:], caches=caches, time_step=paddle.to_tensor([4], dtype="int32"))
    close(last, want[:, 4:])
    with pytest.raises(ConditionError, match="holds 6 steps"):
        layer(x[:, 4:], caches=caches, time_step=6)
    with pytest.raises(UnsupportedError, match="rotary_embs"):
        layer(x, rotary_emb_dims=1)


def test_one_step_of_attention_with_a_cache() -> None:
    cache, x, bias = made(2, 3, 2, 6, 4), made(3, 24), made(3, 2, 4)
    lengths = np.array([[2], [0], [5]])
    before = cache.numpy()
    out, same = F.masked_multihead_attention(
        x, cache, bias, sequence_lengths=paddle.to_tensor(lengths, "int32")
    )
    assert same is cache
    q, k, v = np.moveaxis(x.numpy().reshape(3, 3, 2, 4) + bias.numpy(), 1, 0)
    for b, (place,) in enumerate(lengths):
        keys, values = (
            np.concatenate([before[n, b, :, :place], new[b][:, None]], 1) for n, new in ((0, k), (1, v))
        )
        weights = softmax(np.einsum("hd,htd->ht", q[b], keys) / 2)
        close(out.numpy()[b].reshape(2, 4), np.einsum("ht,htd->hd", weights, values))
        close(cache.numpy()[0, b, :, place], k[b])
    mask = paddle.to_tensor(RNG.standard_normal((3, 1, 1, 3)))
    by_mask, _ = F.masked_multihead_attention(x, paddle.to_tensor(before), bias, mask)
    keys = np.concatenate([before[0, :, :, :2], k[:, :, None]], 2)
    values = np.concatenate([before[1, :, :, :2], v[:, :, None]], 2)
    weights = softmax(np.einsum("bhd,bhtd->bht", q, keys) / 2 + mask.numpy()[:, 0])
    close(by_mask.numpy().reshape(3, 2, 4), np.einsum("bht,bhtd->bhd", weights, values))
    with pytest.raises(UnsupportedError, match="rotary_tensor"):
        F.masked_multihead_attention(x, cache, src_mask=mask, rotary_tensor=mask)
    with pytest.raises(ArgumentError, match="sequence_lengths or src_mask"):
        F.masked_multihead_attention(x, cache)


@pytest.mark.parametrize("causal", [True, False])
def test_attention_of_sequences_of_uneven_length(causal: bool) -> None:
    q, k, v = made(2, 4, 3, 4), made(2, 2, 5, 4), made(2, 2, 5, 4)
    mask = made(2, 1, 3, 5)
    queries, keys = np.array([[3], [2]]), np.array([[5], [1]])
    got = F.variable_length_memory_efficient_attention(
        q,
        k,
        v,
        paddle.to_tensor(queries, "int32"),
        paddle.to_tensor(keys, "int32"),
        mask,
        causal=causal,
        pre_cache_length=1,
    ).numpy()
    for b in range(2):
        for i in range(3):
            for h in range(4):
                if i >= queries[b, 0]:
                    close(got[b, h, i], np.zeros(4))
                    continue
                most = min(keys[b, 0], i + 2) if causal else keys[b, 0]
                scores = k.numpy()[b, h // 2, :most] @ q.numpy()[b, h, i] / 2 + mask.numpy()[b, 0, i, :most]
                close(got[b, h, i], softmax(scores) @ v.numpy()[b, h // 2, :most])


@pytest.mark.parametrize("neox", [True, False])
def test_rotary_embeddings(neox: bool) -> None:
    q, k = made(2, 4, 3, 6), made(2, 4, 3, 6)
    places = np.array([[0, 1, 2, 3], [3, 0, 1, 2]])
    rates = 10000.0 ** (-np.arange(0, 6, 2) / 6)

    def turned(x: Any, places: Any) -> Any:
        pairs = x.reshape(2, 4, 3, 3, 2) if neox else np.moveaxis(x.reshape(2, 4, 3, 2, 3), 3, -1)
        angle = (places[..., None] * rates)[:, :, None]
        z = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(1j * angle)
        both = np.stack([z.real, z.imag], -1 if neox else -2)
        return both.reshape(2, 4, 3, 6)

    def near(got: Any, want: Any) -> None:  # angles are float32
        np.testing.assert_allclose(got.numpy(), want, atol=1e-5)

    a, b, c = F.fused_rotary_position_embedding(q, k, use_neox_rotary_style=neox)
    near(a, turned(q.numpy(), places[:1]))
    near(b, turned(k.numpy(), places[:1]))
    assert c is None
    given = paddle.to_tensor(places)
    near(
        F.fused_rotary_position_embedding(q, position_ids=given, use_neox_rotary_style=neox)[0],
        turned(q.numpy(), places),
    )
    angle = np.arange(4)[:, None] * rates
    angle = np.repeat(angle, 2, -1) if neox else np.concatenate([angle, angle], -1)
    sin, cos = (paddle.to_tensor(f(angle).reshape(1, 4, 1, 6)) for f in (np.sin, np.cos))
    for ids, want in ((None, places[:1]), (given, places)):
        got = F.fused_rotary_position_embedding(
            q, sin=sin, cos=cos, position_ids=ids, use_neox_rotary_style=neox
        )
        near(got[0], turned(q.numpy(), want))
    with pytest.raises(ArgumentError, match="both sin and cos"):
        F.fused_rotary_position_embedding(q, sin=sin)


def test_experts_choose_tokens() -> None:
    layer = nn.FusedEcMoe(4, 6, 3, "relu")
    for parameter in layer.parameters():
        parameter.set_value(made(*parameter.shape))
    x, gate = made(2, 33, 4), made(2, 33, 3)
    got = layer(x, gate).numpy()
    want, share = x.numpy().copy(), softmax(gate.numpy())
    w0, b0, w1, b1 = (
        p.numpy() for p in (layer.bmm_weight0, layer.bmm_bias0, layer.bmm_weight1, layer.bmm_bias1)
    )
    for b in range(2):
        for e in range(3):
            for t in np.argsort(-gate.numpy()[b, :, e])[:2]:
                inner = np.maximum(x.numpy()[b, t] @ w0[e] + b0[e, 0], 0)
                want[b, t] += share[b, t, e] * (inner @ w1[e] + b1[e, 0])
    close(got, want)
    x.stop_gradient = gate.stop_gradient = False
    grads = paddle.grad([layer(x, gate).sum()], [x, gate, layer.bmm_weight0])
    assert all(np.abs(g.numpy()).sum() > 0 for g in grads)
    with pytest.raises(UnsupportedError, match="gelu"):
        nn.FusedEcMoe(4, 6, 3, "tanh")


def test_absent_fused_functions_raise_with_the_reason() -> None:
    with pytest.raises(AttributeError, match="paged caches"):
        F.block_multihead_attention  # noqa: B018 - the look-up raises
