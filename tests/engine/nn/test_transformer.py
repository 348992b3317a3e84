"""Attention by hand, in Programs with unknown lengths, step by step with caches, and to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine import jit, nn, to_tensor
from engine.core.errors import ArgumentError, ArgumentTypeError, ShapeError
from engine.nn import functional
from engine.static import InputSpec

RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def _float64() -> Any:
    engine.set_default_dtype("float64")
    yield
    engine.set_default_dtype("float32")


def _attention(q: Any, k: Any, v: Any, added: Any = 0.0) -> Any:
    """[batch, length, heads, size], one pair of query and head after the other."""
    out = np.zeros((*q.shape[:3], v.shape[3]))
    added = np.broadcast_to(added, (q.shape[0], q.shape[2], q.shape[1], k.shape[1]))
    for b, n, h in np.ndindex(q.shape[:3]):
        scores = np.array([q[b, n, h] @ key for key in k[b, :, h]]) / np.sqrt(q.shape[3]) + added[b, h, n]
        weights = np.exp(scores - scores.max())
        out[b, n, h] = weights / weights.sum() @ v[b, :, h]
    return out


def test_scaled_dot_product_attention() -> None:
    q, k = RNG.standard_normal((2, 3, 2, 4)), RNG.standard_normal((2, 5, 2, 4))
    v = RNG.standard_normal((2, 5, 2, 3))
    given = [to_tensor(a) for a in (q, k, v)]
    got = functional.scaled_dot_product_attention(*given)
    np.testing.assert_allclose(got.numpy(), _attention(q, k, v), rtol=1e-12)
    mask = RNG.random((2, 1, 3, 5)) < 0.6
    got = functional.scaled_dot_product_attention(*given, to_tensor(mask))
    np.testing.assert_allclose(got.numpy(), _attention(q, k, v, np.where(mask, 0, -1e9)), rtol=1e-12)
    added = RNG.standard_normal((3, 5))
    got = functional.scaled_dot_product_attention(*given, to_tensor(added))
    np.testing.assert_allclose(got.numpy(), _attention(q, k, v, added), rtol=1e-12)
    ahead = np.where(np.arange(5)[None, :] > np.arange(3)[:, None], -np.inf, 0)
    got = functional.scaled_dot_product_attention(*given, is_causal=True)
    np.testing.assert_allclose(got.numpy(), _attention(q, k, v, ahead), rtol=1e-12)


def test_attention_refuses_what_does_not_fit() -> None:
    x = engine.zeros([2, 3, 2, 4])
    with pytest.raises(ShapeError, match=r"query must be \[batch, length, heads, size\]"):
        functional.scaled_dot_product_attention(x[0], x, x)
    with pytest.raises(ShapeError, match="a query has size 4 and a key 3"):
        functional.scaled_dot_product_attention(x, x[:, :, :, :3], x)
    with pytest.raises(ArgumentError, match="dropout_p is a share"):
        functional.scaled_dot_product_attention(x, x, x, dropout_p=1.5)
    with pytest.raises(ShapeError, match=r"MultiHeadAttention: query must be \[batch, length, size\]"):
        nn.MultiHeadAttention(4, 2)(engine.zeros([3, 4]))


def _both_ways(net: Any, specs: list[Any], *arrays: Any) -> None:
    found = []
    for forward in (net, jit.to_static(net, input_spec=specs)):
        inputs = [to_tensor(a, stop_gradient=False) for a in arrays]
        out = forward(*inputs)
        net.clear_gradients()
        (out * out).sum().backward()
        found.append([out.numpy(), *[x.grad.numpy() for x in (*inputs, *net.parameters())]])
    for eager, static in zip(*found, strict=True):
        np.testing.assert_allclose(static, eager, rtol=1e-9, atol=1e-12)


def test_encoder_in_a_program_of_unknown_lengths() -> None:
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 6, dropout=0.0, activation="gelu"), 2)
    _both_ways(net, [InputSpec([None, None, 8], "float64")], RNG.standard_normal((2, 5, 8)))


def test_transformer_in_a_program_of_unknown_lengths() -> None:
    net = nn.Transformer(8, 2, 1, 1, 6, dropout=0.0)
    specs = [InputSpec([None, None, 8], "float64"), InputSpec([None, None, 8], "float64")]
    _both_ways(net, specs, RNG.standard_normal((2, 5, 8)), RNG.standard_normal((2, 3, 8)))


def test_subsequent_mask_of_a_length_that_is_not_known() -> None:
    net = nn.Transformer(8, 2, 1, 1, 6)
    masked = jit.to_static(
        lambda x: net.generate_square_subsequent_mask(x.shape[1]), [InputSpec([None, None], "float64")]
    )
    for length in (1, 3):
        ahead = np.triu(np.full((length, length), -np.inf), 1)
        np.testing.assert_array_equal(masked(engine.zeros([2, length])).numpy(), ahead)


def test_decoding_step_by_step_with_caches_gives_what_the_whole_gives() -> None:
    net = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 6, dropout=0.0), 2)
    memory, tgt = to_tensor(RNG.standard_normal((2, 4, 8))), to_tensor(RNG.standard_normal((2, 3, 8)))
    mask = nn.Transformer(8, 2, 1, 1, 6).generate_square_subsequent_mask(3)
    whole = net(tgt, memory, tgt_mask=mask).numpy()
    caches = net.gen_cache(memory)
    for n in range(3):
        out, caches = net(tgt[:, n : n + 1], memory, cache=caches)
        np.testing.assert_allclose(out.numpy()[:, 0], whole[:, n], rtol=1e-9, atol=1e-12)


def test_second_derivatives() -> None:
    net = nn.MultiHeadAttention(4, 2)
    start = RNG.standard_normal((1, 3, 4))

    def square(array: Any) -> tuple[Any, Any]:
        x = to_tensor(array, stop_gradient=False)
        (slope,) = engine.grad(net(x).sum(), [x], create_graph=True)
        return x, (slope * slope).sum()

    x, total = square(start)
    (curve,) = engine.grad(total, [x])
    step = 1e-6 * RNG.standard_normal(start.shape)
    difference = (float(square(start + step)[1]) - float(square(start - step)[1])) / 2
    assert (curve.numpy() * step).sum() == pytest.approx(difference, rel=1e-5)


def test_dropout_drops_attention_in_training_only() -> None:
    net = nn.MultiHeadAttention(8, 2, dropout=0.5, need_weights=True)
    x = to_tensor(RNG.standard_normal((2, 6, 8)))
    assert (net(x)[1].numpy() == 0).any()
    net.eval()
    weights = net(x)[1].numpy()
    np.testing.assert_allclose(weights.sum(-1), 1.0)


def test_layers_of_a_stack_have_weights_of_their_own() -> None:
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 6), 2)
    first, second = net.layers[0].linear1.weight, net.layers[1].linear1.weight
    assert not np.array_equal(first.numpy(), second.numpy())
    assert len(net.parameters()) == 32


def test_a_static_cache_needs_a_value() -> None:
    attention = nn.MultiHeadAttention(4, 2)
    with pytest.raises(ArgumentTypeError, match="a StaticCache needs value too"):
        attention.gen_cache(engine.ones([1, 2, 4]), type=nn.MultiHeadAttention.StaticCache)
