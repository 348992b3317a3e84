"""What a training can make small, eagerly and statically, and how many threads compute it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.kernels.cpu import pool
from engine.kernels.cpu.cores import cores
from engine.kernels.cpu.threads import USERS_WORD
from engine.tensor.creation import to_tensor
from engine.training import TrainingConfig, TrainingRun
from engine.training.network.losses import loss_of
from engine.training.setup import build_parts

SCORES = np.array([[2.0, 0.5, -1.0], [0.0, 1.0, 3.0]], np.float32)
LABELS = np.array([[0], [1]], np.int64)
LOGS = SCORES - np.log(np.exp(SCORES).sum(axis=1, keepdims=True))
EXPECTED = {
    "cross_entropy": -np.mean([LOGS[0, 0], LOGS[1, 1]]),
    "label_smoothing": -np.mean(
        [0.9 * LOGS[0, 0] + 0.1 * LOGS[0].mean(), 0.9 * LOGS[1, 1] + 0.1 * LOGS[1].mean()]
    ),
    # Over the other classes: by how much they do not stay 1 below the true one.
    "margin": np.mean([0.0, (0.0 + 3.0) / 3]),
}


@pytest.mark.parametrize("name", list(EXPECTED))
def test_the_loss_that_the_setting_names(name: str) -> None:
    loss = loss_of(name)(to_tensor(SCORES), to_tensor(LABELS))
    np.testing.assert_allclose(float(loss), EXPECTED[name], rtol=1e-6)


@pytest.mark.parametrize("name", ["label_smoothing", "margin"])
def test_static_and_eager_make_the_same_small(bars: Path, name: str) -> None:
    losses: list[list[float]] = []
    measured: list[float] = []
    for static in (True, False):
        values: dict[str, Any] = {"data": str(bars), "model": "linear", "batch_size": 50, "epochs": 2}
        run = TrainingRun(TrainingConfig(**values, loss=name, static=static))
        run.run()
        losses.append(list(run.history.losses))
        measured.append(run.history.epochs[-1]["validation_loss"])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)
    assert losses[0][-1] < losses[0][0]
    assert measured[0] != losses[0][-1]
    plain = build_parts(TrainingConfig(data=str(bars), model="linear", static=False))
    evaluation = plain.stepper.evaluate(plain.test_batches, 10)
    np.testing.assert_allclose(evaluation.loss, np.log(10), rtol=0.2)  # cross entropy of a fresh network


def test_so_many_threads_compute(bars: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in USERS_WORD:
        monkeypatch.delenv(name, raising=False)
    seen: list[tuple[int, int]] = []

    def listen(event: Any) -> None:
        if event["event"] == "started":
            seen.append((pool.threads(), event["config"]["threads"]))

    for threads in (1, 2, 0):
        config = TrainingConfig(data=str(bars), model="linear", epochs=1, threads=threads, static=False)
        TrainingRun(config, [listen]).run()
    assert seen == [(1, 1), (2, 2), (cores(), cores())]  # the record has the number that was used
    pool.dismiss()
