"""A disk that is full while training: what is lost is named, and nothing untrained is exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from engine.core.errors import SaveError
from engine.training.folder import run_folder
from engine.training.folder.recorded import recorded_best_step
from studio.cli import app


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def refused(done: Result) -> str:
    assert done.exit_code == 1, done.output
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.fixture
def train(bars: Path, tmp_path: Path) -> Any:
    words = ["--data", bars, "--model", "linear", "--epochs", "2", "--lr", "0.01", "--out", tmp_path / "run"]
    return lambda: call("train", *words)


@pytest.fixture
def full_after(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(last: int) -> None:
        for name in ("write_checkpoint", "write_best"):
            real = getattr(run_folder, name)

            def write(folder: Path, *rest: Any, real: Any = real) -> Any:
                if rest[-1]["progress"]["step"] > last:
                    raise SaveError(f"{folder}: could not be saved: no space left on device; free some space")
                return real(folder, *rest)

            monkeypatch.setattr(run_folder, name, write)

    return install


def test_nothing_trained_is_saved(train: Any, full_after: Any, tmp_path: Path) -> None:
    full_after(0)
    said = refused(train())
    assert "the last weights (step 8) and the best weights (step " in said
    assert "no space left on device" in said
    for checkpoint in ("best", "last"):
        said = refused(call("export", tmp_path / "run", "--checkpoint", checkpoint))
        assert "give --step with one that is saved: 0" in said
    assert not (tmp_path / "run" / "inference").exists()
    assert "no checkpoint of step 3" in refused(call("export", tmp_path / "run", "--step", "3"))
    done = call("export", tmp_path / "run", "--step", "0", "--samples", "5")
    assert done.exit_code == 0, done.output
    assert "step 0, accuracy not measured; " in done.stdout


def test_a_best_that_is_not_the_runs_best_is_refused(train: Any, tmp_path: Path) -> None:
    assert train().exit_code == 0
    journal = tmp_path / "run" / "journal.jsonl"
    store = run_folder.RunFolder(tmp_path / "run")
    best = store.best_step()
    assert best == recorded_best_step(store.journal_path) > 0
    journal.write_bytes(journal.read_bytes() + b'{"event":"epoch","step":12,"best":true}\n')
    said = refused(call("export", tmp_path / "run"))
    assert "the best weights, of step 12, were not saved" in said
    assert f"best.h5 is of step {best};" in said
    (store.checkpoints_path / "best.h5").unlink()
    assert "no best checkpoint" in refused(call("export", tmp_path / "run"))
