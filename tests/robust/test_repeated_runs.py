"""Trainings of the command line with one seed end bitwise identical: at once, parted, with kernels to
compile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.robust.small_training import final, same

# Draws from all three generators in each step.
MODEL = """
import random

import numpy as np

from engine import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(784, 10)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        scale = 1.0 + 0.2 * random.random() - 0.1 * np.random.random()
        return self.linear(self.dropout(x.reshape([-1, 784])) * scale)
"""
DIGITS = ("--data", "digits", "--samples", "400", "--batch-size", "4", "--epochs", "3")


def _train(*words: str | Path, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "studio", "train", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.timeout(300)
def test_a_parted_training_of_a_model_that_draws_ends_as_one_at_once(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MODEL)
    words = (*DIGITS, "--model", f"{tmp_path / 'net.py'}:Net", "--eager", "--out")
    _train(*words, tmp_path / "whole")
    _train(*words, tmp_path / "parted", "--stop-after", "1")
    said = _train("--resume", "--trust", "--out", tmp_path / "parted")
    assert "resuming after step 100" in said
    assert same(final(tmp_path / "parted"), final(tmp_path / "whole"))


@pytest.mark.timeout(300)
def test_a_training_that_compiles_its_kernels_ends_as_one_that_finds_them(tmp_path: Path) -> None:
    pytest.importorskip("llvmlite", reason="the extra 'fast' is not installed")
    variables = {"MODEL_STUDIO_KERNELS": "auto", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for name in ("compiles", "finds"):
        _train(*DIGITS, "--model", "lenet", "--out", tmp_path / name, **variables)
        assert '"since":20' in (tmp_path / name / "journal.jsonl").read_text()
    assert same(final(tmp_path / "compiles"), final(tmp_path / "finds"))
