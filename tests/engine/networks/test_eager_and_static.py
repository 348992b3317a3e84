"""Whole networks compute the same eagerly and converted: bitwise as built, within rounding with passes.

In float32 a training over many steps is chaotic: one weight that differs by 3e-7 moves a ResNet's loss by 5%
in ten steps. So what is compared over many steps is compared in float64.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.program.passes.pipeline import EXACT, level
from tests.engine.networks.trainings import TRAININGS, Trained


@pytest.fixture(params=["float32", "float64"])
def dtype(request: Any) -> Iterator[str]:
    before = paddle.get_default_dtype()
    paddle.set_default_dtype(request.param)
    yield request.param
    paddle.set_default_dtype(before)


@pytest.fixture(autouse=True)
def _costly_only_in_long(request: Any, dtype: str) -> None:
    costly = (request.node.callspec.params.get("name"), dtype) == ("resnet18", "float64")
    if costly and not os.environ.get("MODEL_STUDIO_LONG"):
        pytest.skip("takes 8 s: only in --long")


def _both(name: str, steps: int, passes: int) -> tuple[Trained, Trained]:
    found = []
    for convert in (lambda network: network, paddle.jit.to_static):
        paddle.seed(7)
        with level.guard(passes):
            found.append(TRAININGS[name](convert, steps))
    return found[0], found[1]


def _relative(found: Any, wanted: Any) -> float:
    return float(np.max(np.abs(found - wanted)) / max(np.max(np.abs(wanted)), 1e-30))


# Gradients of what is used three times or more are added up in another order: the tape takes an operator as
# soon as all that follows it is done, a Program the last operator first, a loop iteration by iteration.
SHARED = ("seq2seq with attention", "seq2seq in a loop")


@pytest.mark.parametrize("name", [name for name in TRAININGS if name not in SHARED])
def test_bit_equal_as_built(name: str, dtype: str) -> None:
    eager, static = _both(name, 3, 0)
    for part, values in eager._asdict().items():
        others = getattr(static, part)
        pairs = zip(values, others, strict=True)
        if isinstance(values, dict):
            assert values.keys() == others.keys(), part
            pairs = ((values[key], others[key]) for key in values)
        assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in pairs), part


@pytest.mark.parametrize("name", SHARED)
def test_shared_parameters_differ_by_rounding(name: str, dtype: str) -> None:
    eager, static = _both(name, 1, 0)
    assert np.array_equal(static.losses[0], eager.losses[0])
    assert eager.gradients.keys() == static.gradients.keys()
    few = 16 * np.finfo(dtype).eps
    assert all(_relative(static.gradients[key], g) <= few for key, g in eager.gradients.items())


@pytest.mark.parametrize("name", TRAININGS)
def test_with_passes(name: str, dtype: str) -> None:
    eager, static = _both(name, 10 if dtype == "float64" else 1, EXACT)
    assert eager.gradients.keys() == static.gradients.keys()
    if dtype == "float64":
        assert all(_relative(a, b) <= 1e-8 for a, b in zip(static.losses, eager.losses, strict=True))
    else:
        assert _relative(static.losses[0], eager.losses[0]) <= 1e-4
        # A gradient may be nothing but rounding (a bias before a normalization has none).
        largest = max(float(np.max(np.abs(g))) for g in eager.gradients.values())
        for key, wanted in eager.gradients.items():
            if np.max(np.abs(wanted)) > 1e-5 * largest:
                assert _relative(static.gradients[key], wanted) <= 1e-4, key


class Searching(paddle.nn.Layer):
    """An encoder, and a decoder that searches with two beams until all sentences ended."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = paddle.nn.Embedding(9, 8)
        self.encoder = paddle.nn.LSTM(8, 8)
        self.cell = paddle.nn.LSTMCell(8, 8)
        self.output = paddle.nn.Linear(8, 9)
        self.decoder = paddle.nn.BeamSearchDecoder(
            self.cell,
            start_token=0,
            end_token=1,
            beam_size=2,
            embedding_fn=self.embedding,
            output_fn=self.output,
        )

    def forward(self, source: Any) -> Any:
        _, (h, c) = self.encoder(self.embedding(source))
        found, (_, scores, _, _), lengths = paddle.nn.dynamic_decode(
            self.decoder, inits=(h[0], c[0]), max_step_num=6, return_length=True
        )
        return found, scores, lengths


def test_beam_search() -> None:
    paddle.seed(7)
    network = Searching()
    source = paddle.to_tensor([[3, 4, 5], [8, 2, 6], [7, 7, 7]])
    eager = network(source)
    static = paddle.jit.to_static(network)(source)
    assert [list(x.shape) for x in eager] == [[3, 7, 2], [3, 2], [3, 2]]
    assert all(np.array_equal(a.numpy(), b.numpy()) for a, b in zip(eager, static, strict=True))
    # Beams are sorted, and a better score belongs to the first one.
    assert np.all(eager[1].numpy()[:, 0] >= eager[1].numpy()[:, 1])
