"""Trainings whose process may have little memory: too little to load the program, or for a batch.

Each ends with status 0 or 1 and no traceback, and its folder trains on, or anew, when there is memory again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.files.checkpoint import list_checkpoints

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps RLIMIT_AS")
resource = pytest.importorskip("resource", reason="there are no limits of processes here")

# What libraries take differs from machine to machine: some of these fail early, some late or not at all.
LIMITS = (180, 200, 240, 330)


def train(out: Path, few: Path, megabytes: int | None, *words: str) -> subprocess.CompletedProcess[str]:
    """``model-studio train`` in a process of ``megabytes``; None sets no limit."""

    def limit() -> None:
        if megabytes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    return subprocess.run(
        [
            sys.executable,
            "-m",
            "studio",
            "train",
            "--data",
            few,
            "--model",
            "linear",
            "--batch-size",
            "8",
            "--epochs",
            "1",
            "--out",
            out,
            *words,
        ],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "XDG_DATA_HOME": str(out.parent / "data")},
    )


@pytest.mark.parametrize("megabytes", LIMITS)
def test_a_training_without_memory_reports_it(tmp_path: Path, few: Path, megabytes: int) -> None:
    out = tmp_path / "run"
    done = train(out, few, megabytes)
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert bool(done.returncode) == bool(done.stderr.strip())
    if done.returncode:
        resumes = bool(list_checkpoints(out / "checkpoints"))
        if not resumes and out.exists():
            refused = train(out, few, None, "--resume")
            assert refused.returncode == 1
            assert "start a new run in this folder" in refused.stderr
        again = train(out, few, None, *(["--resume"] if resumes else []))
        assert again.returncode == 0, again.stderr
