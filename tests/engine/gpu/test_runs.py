"""Training runs on a GPU: the losses of the CPU, and a run that is resumed goes on to the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.training import TrainingConfig, TrainingRun
from tests.engine.training.test_real_training import assert_same_bits, losses, train, weights


@pytest.fixture
def pictures(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    values = {
        f"{kind}_{part}": rng.integers(0, high, shape).astype("uint8")
        for part, count in (("train", 32), ("test", 8))
        for kind, high, shape in (("x", 255, (count, 28, 28)), ("y", 4, (count,)))
    }
    np.savez(tmp_path / "pictures.npz", **values)
    return str(tmp_path / "pictures.npz")


def _config(pictures: str, **settings: Any) -> TrainingConfig:
    return TrainingConfig(
        pictures, "linear", **{"batch_size": 8, "epochs": 2, "seed": 3, "device": "gpu", **settings}
    )


def test_a_run_has_the_losses_of_the_cpu(pictures: str) -> None:
    run, there = train(_config(pictures))
    assert isinstance(run, TrainingRun)
    _, here = train(_config(pictures, device="cpu"))
    np.testing.assert_allclose(losses(there), losses(here), atol=1e-5)


def test_a_run_that_is_resumed_ends_bit_equal(pictures: str, tmp_path: Path) -> None:
    whole, _ = train(_config(pictures))
    parts = _config(pictures, out=str(tmp_path / "run"))
    train(parts, stop_at=5)
    resumed, _ = train(parts, resume=True)
    assert_same_bits(weights(resumed), weights(whole))


def test_a_run_goes_on_on_the_cpu(pictures: str, tmp_path: Path) -> None:
    whole, _ = train(_config(pictures, device="cpu"))
    parts = _config(pictures, out=str(tmp_path / "run"))
    train(parts, stop_at=5)
    resumed, _ = train(parts.changed(device="cpu"), resume=True)
    for name, value in weights(resumed).items():
        np.testing.assert_allclose(value, weights(whole)[name], atol=1e-5)
