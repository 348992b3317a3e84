"""Training runs on a GPU: the losses of the CPU, and a resumed run is bitwise identical."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.training import TrainingConfig, TrainingRun
from tests.engine.training.test_real_training import assert_same_bits, losses, train, weights


@pytest.fixture
def images(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    values = {
        f"{kind}_{part}": rng.integers(0, high, shape).astype("uint8")
        for part, count in (("train", 32), ("test", 8))
        for kind, high, shape in (("x", 255, (count, 28, 28)), ("y", 4, (count,)))
    }
    np.savez(tmp_path / "images.npz", **values)
    return str(tmp_path / "images.npz")


def _config(images: str, **settings: Any) -> TrainingConfig:
    return TrainingConfig(
        images, "linear", **{"batch_size": 8, "epochs": 2, "seed": 3, "device": "gpu", **settings}
    )


def test_a_run_has_the_losses_of_the_cpu(images: str) -> None:
    run, there = train(_config(images))
    assert isinstance(run, TrainingRun)
    _, here = train(_config(images, device="cpu"))
    np.testing.assert_allclose(losses(there), losses(here), atol=1e-5)


def test_a_run_that_is_resumed_ends_bit_equal(images: str, tmp_path: Path) -> None:
    whole, _ = train(_config(images))
    parts = _config(images, out=str(tmp_path / "run"))
    train(parts, stop_at=5)
    resumed, _ = train(parts, resume=True)
    assert_same_bits(weights(resumed), weights(whole))


def test_a_run_continues_on_the_cpu(images: str, tmp_path: Path) -> None:
    whole, _ = train(_config(images, device="cpu"))
    parts = _config(images, out=str(tmp_path / "run"))
    train(parts, stop_at=5)
    resumed, _ = train(parts.changed(device="cpu"), resume=True)
    for name, value in weights(resumed).items():
        np.testing.assert_allclose(value, weights(whole)[name], atol=1e-5)
