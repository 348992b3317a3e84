"""Runs at their checkpoints, in this process and in a child."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine import explain
from engine.explain import Subject
from engine.explain.guarded.process import ExplainRunProcess, ProcessModel
from engine.training import TrainingConfig, TrainingRun


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("explained") / "run"
    config = TrainingConfig(
        model="mlp", data="digits", epochs=2, checkpoint_every=10, keep=10, batch_size=128, out=str(out)
    )
    TrainingRun(config).run()
    return out


def checkpoints(run: Path) -> list[Path]:
    return sorted((run / "checkpoints").glob("step-*.h5"))


def digit() -> list[np.ndarray]:
    return [np.random.default_rng(2).random((1, 1, 28, 28)).astype(np.float32)]


def test_run_is_explained_at_any_checkpoint(run: Path) -> None:
    steps = [int(path.stem.removeprefix("step-")) for path in checkpoints(run)]
    assert len(steps) > 1
    maps = [explain.of_run(run, step).saliency(digit(), target=3).values for step in (steps[0], steps[-1])]
    assert not np.array_equal(*maps)
    with ExplainRunProcess(run, checkpoints(run)[0]) as apart:
        subject = Subject(ProcessModel(apart, owned=False))
        assert subject.methods() == dict.fromkeys(explain.METHODS, "")
        for path, wanted in ((0, maps[0]), (-1, maps[1]), (0, maps[0])):
            apart.checkpoint = checkpoints(run)[path]
            assert subject.saliency(digit(), target=3).values.tobytes() == wanted.tobytes()


def test_best_checkpoint_is_explained_unless_another_is_chosen(run: Path) -> None:
    best = explain.of_run(run).saliency(digit())
    last = explain.of_run(run, "last").saliency(digit())
    assert best.values.shape == last.values.shape == (1, 1, 28, 28)
