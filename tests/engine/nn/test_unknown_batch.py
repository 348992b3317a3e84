"""Functions in a Program whose batch is not known: values and gradients are those of eager mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine
from engine import jit, nn, to_tensor
from engine.core.errors import ArgumentError, GradientError, OutOfRangeError, ShapeError
from engine.nn import functional as F
from engine.static import InputSpec

RNG = np.random.default_rng(3)


def _x(*shape: int) -> Any:
    return RNG.standard_normal(shape)


def _p(*shape: int) -> Any:
    return RNG.random(shape) * 0.8 + 0.1


def _n(high: int, *shape: int) -> Any:
    return RNG.integers(0, high, shape)


SIGNS = np.array([1.0, -1.0, 1.0, -1.0])
CASES: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "maxout": (lambda x: F.maxout(x, 2), [_x(4, 6, 2, 2)]),
    "maxout last": (lambda x: F.maxout(x, 3, axis=-1), [_x(4, 6)]),
    "glu": (F.glu, [_x(4, 6)]),
    "prelu": (lambda x, w: F.prelu(x, w), [_x(4, 3, 2), _x(3)]),
    "bilinear": (F.bilinear, [_x(4, 3), _x(4, 2), _x(5, 3, 2), _x(1, 5)]),
    "cosine_similarity": (F.cosine_similarity, [_x(4, 3), _x(4, 3)]),
    "pairwise_distance": (F.pairwise_distance, [_x(4, 3), _x(4, 3)]),
    "embedding": (lambda i, w: F.embedding(i, w, padding_idx=1), [_n(5, 4, 2), _x(5, 3)]),
    "label_smooth": (F.label_smooth, [_p(4, 3)]),
    "sequence_mask": (lambda x, n: F.sequence_mask(n, 5, "float64") * x, [_x(4, 5), _n(5, 4)]),
    "cross_entropy": (F.cross_entropy, [_x(4, 3), _n(3, 4)]),
    "cross_entropy smooth": (lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1), [_x(4, 3), _n(3, 4)]),
    "smooth_l1": (F.smooth_l1_loss, [_x(4, 3), _x(4, 3)]),
    "kl_div": (F.kl_div, [_x(4, 3), _p(4, 3)]),
    "kl_div batchmean": (lambda x, y: F.kl_div(x, y, "batchmean"), [_x(4, 3), _p(4, 3)]),
    "log_loss": (F.log_loss, [_p(4, 1), _p(4, 1)]),
    "poisson": (lambda x, y: F.poisson_nll_loss(x, y, full=True), [_x(4), _p(4) * 9]),
    "gaussian": (F.gaussian_nll_loss, [_x(4, 3), _x(4, 3), _p(4, 1)]),
    "dice": (F.dice_loss, [_p(4, 2, 3), _n(3, 4, 2, 1)]),
    "hinge": (F.hinge_embedding_loss, [_x(4), SIGNS]),
    "margin ranking": (F.margin_ranking_loss, [_x(4), _x(4), SIGNS]),
    "cosine embedding": (F.cosine_embedding_loss, [_x(4, 3), _x(4, 3), SIGNS]),
    "soft margin": (F.soft_margin_loss, [_x(4), SIGNS]),
    "multi label": (F.multi_label_soft_margin_loss, [_x(4, 3), _p(4, 3)]),
    "multi margin": (lambda x, y, w: F.multi_margin_loss(x, y, 2, 0.7, w), [_x(4, 3), _n(3, 4), _p(3)]),
    "triplet": (lambda *x: F.triplet_margin_loss(*x, swap=True), [_x(4, 3), _x(4, 3), _x(4, 3)]),
    "triplet distance": (F.triplet_margin_with_distance_loss, [_x(4, 3), _x(4, 3), _x(4, 3)]),
    "npair": (F.npair_loss, [_x(4, 3), _x(4, 3), _n(2, 4)]),
    "focal": (F.sigmoid_focal_loss, [_x(4, 3), _p(4, 3)]),
    "margin_cross_entropy": (F.margin_cross_entropy, [_p(4, 3), _n(3, 4)]),
    "hsigmoid": (lambda x, y, w, b: F.hsigmoid_loss(x, y, 5, w, b), [_x(4, 3), _n(5, 4), _x(4, 3), _x(4, 1)]),
    "ctc": (
        lambda x, y: F.ctc_loss(x, y + 1, to_tensor([5, 4]), to_tensor([2, 1])),
        [_x(5, 2, 4), _n(3, 2, 2)],
    ),
}


def _found(function: Any, arrays: list[Any]) -> list[Any]:
    inputs = [to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]
    out = function(*inputs)
    (out * out).sum().backward()
    return [out.numpy(), *[i.grad.numpy() if i.grad is not None else None for i in inputs]]


@pytest.mark.parametrize("name", CASES)
def test_static_equals_eager(name: str) -> None:
    function, arrays = CASES[name]
    # Only what has the batch of the first one in front is not known there.
    batch = arrays[0].shape[0]
    specs = [
        InputSpec([None if n == 0 and d == batch else d for n, d in enumerate(a.shape)], str(a.dtype))
        for a in arrays
    ]
    if name == "ctc":
        specs = [InputSpec([None, None, 4], "float64"), InputSpec([None, None], "int64")]
    static = _found(jit.to_static(function, input_spec=specs), arrays)
    for a, b in zip(static, _found(function, arrays), strict=True):
        if b is None:
            assert a is None
        else:
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_decoding_in_a_program_of_unknown_batch() -> None:
    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.embedding, self.cell, self.head = nn.Embedding(7, 4), nn.GRUCell(4, 4), nn.Linear(4, 7)

        def forward(self, start: Any) -> Any:
            decoder = nn.BeamSearchDecoder(self.cell, 0, 1, 3, self.embedding, self.head)
            out, states, lengths = nn.dynamic_decode(decoder, start, max_step_num=6, return_length=True)
            return out, states.log_probs, lengths

    engine.seed(1)
    net = Net()
    for parameter in net.parameters():
        parameter.set_value(parameter * 4)
    start = to_tensor(RNG.standard_normal((2, 4)).astype(np.float32))
    want = net(start)
    got = jit.to_static(net, input_spec=[InputSpec([None, 4])])(start)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5)


def test_sparse_attention_is_attention_with_a_mask() -> None:
    q, k, v = (to_tensor(_x(1, 2, 3, 4)) for _ in range(3))
    offset = to_tensor(np.array([[[0, 2, 3, 5], [0, 1, 2, 4]]], np.int32))
    columns = to_tensor(np.array([[[0, 2, 1, 0, 2], [0, 1, 0, 2, 0]]], np.int32))
    mask = np.zeros((1, 2, 3, 3), bool)
    for place in [
        (0, 0, 0),
        (0, 0, 2),
        (0, 1, 1),
        (0, 2, 0),
        (0, 2, 2),
        (1, 0, 0),
        (1, 1, 1),
        (1, 2, 0),
        (1, 2, 2),
    ]:
        mask[0][place] = True
    swapped = [engine.transpose(x, [0, 2, 1, 3]) for x in (q, k, v)]
    want = engine.transpose(F.scaled_dot_product_attention(*swapped, to_tensor(mask)), [0, 2, 1, 3])
    np.testing.assert_allclose(F.sparse_attention(q, k, v, offset, columns).numpy(), want.numpy(), rtol=1e-9)
    padding = to_tensor(np.array([[1.0, 1.0, 0.0]]))
    mask &= np.array([True, True, False])
    want = engine.transpose(F.scaled_dot_product_attention(*swapped, to_tensor(mask)), [0, 2, 1, 3])
    got = F.sparse_attention(q, k, v, offset, columns, key_padding_mask=padding)
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-9)
    with pytest.raises(OutOfRangeError, match="column 3 is out of range"):
        F.sparse_attention(q, k, v, offset, columns + 1)


def test_margin_cross_entropy_by_hand() -> None:
    cosines, label = np.array([[0.5, -0.2, 0.1], [0.3, 0.9, -0.4]]), np.array([0, 2])
    moved = cosines.copy()
    for n, c in enumerate(label):
        moved[n, c] = np.cos(1.2 * np.arccos(cosines[n, c]) + 0.3) - 0.1
    moved *= 8
    want = [np.log(np.exp(row).sum()) - row[c] for row, c in zip(moved, label, strict=True)]
    loss, softmax = F.margin_cross_entropy(
        to_tensor(cosines), to_tensor(label), 1.2, 0.3, 0.1, 8.0, return_softmax=True, reduction="none"
    )
    np.testing.assert_allclose(loss.numpy()[:, 0], want, rtol=1e-9)
    np.testing.assert_allclose(softmax.numpy().sum(1), 1.0)
    one = to_tensor(np.array([[1.0, 0.0]]), stop_gradient=False)
    F.margin_cross_entropy(one, to_tensor([0])).backward()
    assert np.isfinite(one.grad.numpy()).all()


def test_invalid_arguments_are_refused_with_the_values() -> None:
    x = engine.zeros([4, 3])
    for wrong, message in (
        (
            lambda: F.ctc_loss(engine.zeros([5, 1, 4]), to_tensor([[7]]), to_tensor([5]), to_tensor([1])),
            "label 7 of sample 0 is not a class of 4",
        ),
        (
            lambda: F.ctc_loss(engine.zeros([5, 1, 4]), to_tensor([[0]]), to_tensor([5]), to_tensor([1])),
            "label 0 of sample 0 is the blank",
        ),
        (
            lambda: F.ctc_loss(engine.zeros([5, 1, 4]), to_tensor([[1]]), to_tensor([6]), to_tensor([1])),
            "6 in input_lengths is not a length of 5 steps",
        ),
        (
            lambda: F.hsigmoid_loss(x, to_tensor([0, 1, 5, 2]), 5, engine.zeros([4, 3])),
            "label 5 is not a class of 5",
        ),
        (lambda: F.embedding(to_tensor([-1]), x), "row -1 is out of range"),
        (lambda: F.cross_entropy(x, to_tensor([0, 1, 3, 2])), "label 3 is not a class number"),
    ):
        with pytest.raises(OutOfRangeError, match=message):
            wrong()
    with pytest.raises(ShapeError, match="smooth_l1_loss: the tensors must have one shape"):
        F.smooth_l1_loss(x, engine.zeros([3]))
    with pytest.raises(ArgumentError, match="'average' is not one of 'sum', 'mean', 'none', 'batchmean'"):
        F.kl_div(x, x, "average")
    with pytest.raises(ArgumentError, match="beam_size must be 1 or more"):
        nn.BeamSearchDecoder(nn.GRUCell(2, 2), 0, 1, 0)
    y = engine.zeros([5, 1, 4])
    y.stop_gradient = False
    loss = F.ctc_loss(y, to_tensor([[1]]), to_tensor([5]), to_tensor([1]))
    with pytest.raises(GradientError, match="warpctc: has gradients of order 1 only"):
        engine.grad(loss, [y], create_graph=True)


def test_variance_learns() -> None:
    """In Paddle 2.6.2 it has no gradient."""
    variance = to_tensor([0.5, 1e-9], stop_gradient=False)
    given = to_tensor([0.5, 0.2]), to_tensor([0.1, 0.3])
    F.gaussian_nll_loss(*given, variance, epsilon=0.1, reduction="sum").backward()
    want = [(1 / 0.5 - 0.16 / 0.25) / 2, (1 / 0.1 - 0.01 / 0.01) / 2]
    np.testing.assert_allclose(variance.grad.numpy(), want, rtol=1e-5)


def test_losses_at_the_ends_of_the_range_are_finite() -> None:
    wide = to_tensor(np.array([-1e4, -100.0, 0.0, 100.0, 1e4], np.float32), stop_gradient=False)
    ones = engine.ones([5])
    for function in (
        lambda x: F.softplus(x),
        F.log_sigmoid,
        F.gelu,
        F.mish,
        F.silu,
        lambda x: F.soft_margin_loss(x, -ones, "none"),
        lambda x: F.binary_cross_entropy_with_logits(x, ones, reduction="none"),
        lambda x: F.sigmoid_focal_loss(x, ones, reduction="none"),
        lambda x: F.cross_entropy(x.unsqueeze(0), to_tensor([2])),
    ):
        wide.clear_gradient()
        out = function(wide)
        out.sum().backward()
        assert np.isfinite(out.numpy()).all()
        assert np.isfinite(wide.grad.numpy()).all()
