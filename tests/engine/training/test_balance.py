"""Classes of unequal size: their weights in the loss, and drawing rare ones more often."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError
from engine.tensor.creation import to_tensor
from engine.training import TrainingConfig, TrainingRun
from engine.training.network.losses import class_weights, loss_of
from engine.training.setup import build_parts
from tests.engine.training.number_data import number_splits

LABELS = np.repeat([0, 1], [90, 10])


@pytest.fixture
def unequal(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    inputs = (LABELS[:, None] + rng.normal(size=(100, 4))).astype(np.float32)
    np.savez(tmp_path / "data.npz", x_train=inputs, y_train=LABELS, x_test=inputs, y_test=LABELS)
    return str(tmp_path / "data.npz")


def settings(data: str, **more: Any) -> dict[str, Any]:
    return {
        "data": data,
        "model": "linear",
        "batch_size": 20,
        "epochs": 3,
        "kernels": "numpy",
        "threads": 1,
        "learning_rate": 0.1,
        **more,
    }


def test_weights_have_the_mean_one_over_all_samples() -> None:
    assert class_weights(LABELS, 2) == pytest.approx([100 / 180, 100 / 20])
    assert class_weights(np.array([0, 0, 2, -1]), 3) == pytest.approx([0.75, 0.0, 1.5])


@pytest.mark.parametrize("name", ["cross_entropy", "margin"])
def test_each_sample_counts_with_the_weight_of_its_class(name: str) -> None:
    scores = np.array([[2.0, 0.5], [0.0, 1.0], [0.3, 0.1]], np.float32)
    labels = np.array([[0], [1], [1]], np.int64)
    alone = [
        float(loss_of(name)(to_tensor(scores[i : i + 1]), to_tensor(labels[i : i + 1]))) for i in range(3)
    ]
    whole = loss_of(name, to_tensor(np.array([0.5, 3.0], np.float32)))(to_tensor(scores), to_tensor(labels))
    assert float(whole) == pytest.approx((0.5 * alone[0] + 3 * alone[1] + 3 * alone[2]) / 3, rel=1e-6)


def test_weights_recognize_more_of_the_rare_class(unequal: str) -> None:
    recalls = []
    for balance in ("none", "weights"):
        events: list[Any] = []
        TrainingRun(TrainingConfig(**settings(unequal, balance=balance)), [events.append]).run()
        confusion = [event for event in events if event["event"] == "epoch"][-1]["confusion"]
        recalls.append(confusion[1][1] / sum(confusion[1]))
    assert recalls[0] < recalls[1]


def test_sampling_draws_all_classes_alike(unequal: str) -> None:
    parts = build_parts(TrainingConfig(**settings(unequal, balance="sampling")))
    np.random.seed(0)
    drawn = np.concatenate([labels.numpy().ravel() for _ in range(10) for _, labels in parts.batches])
    assert len(drawn) == 1000
    assert 0.45 < drawn.mean() < 0.55


def test_a_resumed_run_draws_the_same_samples(unequal: str, tmp_path: Path) -> None:
    chosen = settings(unequal, balance="sampling", checkpoint_every=2, static=False)
    whole = TrainingRun(TrainingConfig(**chosen))
    whole.run()
    run = TrainingRun(TrainingConfig(**chosen, out=str(tmp_path / "run")))
    run.listeners.append(lambda event: run.interrupt() if _at(event, 7) else None)
    run.run()
    resumed = TrainingRun.from_folder(tmp_path / "run")
    resumed.run()
    assert resumed.history.losses == whole.history.losses
    for name, value in whole.network.state_dict().items():
        np.testing.assert_array_equal(resumed.network.state_dict()[name].numpy(), value.numpy())


def _at(event: Any, step: int) -> bool:
    return event["event"] == "checkpoint" and event["step"] >= step - 1 and event["reason"] == "steps"


def test_numbers_have_no_classes_to_balance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.training.corrections.load_data", lambda *_: number_splits())
    with pytest.raises(ArgumentError, match="balance: weights is for classes"):
        build_parts(TrainingConfig(**settings("numbers", balance="weights")))
