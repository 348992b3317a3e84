"""Steps of a small text classifier on a GPU: the CPU's losses, no wait besides the fetch, errors for wrong
ids."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import OutOfRangeError
from engine.core.place import place_guard
from tests.cupy_stand_in import counts

WORDS, CLASSES = 12, 3


class _Text(paddle.nn.Layer):  # type: ignore[misc]
    """Words, their mean, normalized, and a batch's statistics."""

    def __init__(self) -> None:
        super().__init__()
        self.words = paddle.nn.Embedding(WORDS, 8, padding_idx=0)
        self.norm = paddle.nn.LayerNorm(8)
        self.batch = paddle.nn.BatchNorm1D(8)
        self.last = paddle.nn.Linear(8, CLASSES)

    def forward(self, ids: Any) -> Any:
        return self.last(self.batch(self.norm(self.words(ids)).mean(axis=1)))


def _weights() -> dict[str, Any]:
    draws = np.random.default_rng(0)
    unchanged = ("_mean", "_variance")
    return {
        name: value.numpy() if name.endswith(unchanged) else draws.normal(size=value.shape).astype(np.float32)
        for name, value in _Text().state_dict().items()
    }


def _trainer(weights: dict[str, Any]) -> Any:
    net = _Text()
    net.set_state_dict({name: paddle.to_tensor(value) for name, value in weights.items()})
    sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())

    def step(ids: Any, labels: Any) -> Any:
        loss = paddle.nn.functional.cross_entropy(net(ids), labels)
        loss.backward()
        sgd.step()
        sgd.clear_grad()
        return loss

    return step


def _batches(count: int) -> list[tuple[Any, Any]]:
    draws = np.random.default_rng(1)
    return [(draws.integers(0, WORDS, (6, 5)), draws.integers(0, CLASSES, (6,))) for _ in range(count)]


def test_steps_have_the_losses_of_the_cpu_and_no_wait(cupy: Any) -> None:
    weights = _weights()
    step = _trainer(weights)
    want = [float(step(*map(paddle.to_tensor, batch))) for batch in _batches(4)]
    with place_guard("gpu:0"):
        step = _trainer(weights)
        batches = [tuple(map(paddle.to_tensor, batch)) for batch in _batches(4)]
        losses = [step(*batches[0])]
        with counts.counted() as found:
            losses += [step(*batch) for batch in batches[1:]]
        assert found.waits == 0, found.lines("waits")
        assert found.to_device == 0, found.lines("to_device")
        np.testing.assert_allclose([float(loss) for loss in losses], want, rtol=1e-4)


@pytest.mark.parametrize("wrong", ["id", "label"])
def test_a_wrong_batch_is_reported_and_does_not_spoil_the_weights(cupy: Any, wrong: str) -> None:
    with place_guard("gpu:0"):
        step = _trainer(_weights())
        (ids, labels), good = _batches(2)
        (ids if wrong == "id" else labels)[2] = 40
        loss = step(paddle.to_tensor(ids), paddle.to_tensor(labels))
        with pytest.raises(
            OutOfRangeError, match="embedding: row 40" if wrong == "id" else "label 40 is not"
        ):
            float(loss)
        assert np.isfinite(float(step(*map(paddle.to_tensor, good))))
