"""Kills and power cuts in every writer: attacks trainings, saves, exports, projects, preferences, locks.

What must hold: a training continues, or begins anew, and ends bit-equal in weights, random numbers and
journal; a save leaves the old or the new; nothing else is left after the next start. Here each subject is
killed at some of its operations; ``--long`` takes all of them, and ``python -m tests.robust.kill_counts``
counts thousands. A failure names the seed and the case, or the operation.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))
COUNT = [sys.executable, "-m", "tests.robust.kill_counts"]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


def counted(*words: str) -> list[str]:
    done = subprocess.run(
        [*COUNT, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_trainings_at_random_moments_and_operations() -> None:
    *_, last = counted("trainings", "--kills", "1000" if LONG else "4", "--seed", "7")
    assert ", 0 failures" in last


def test_a_training_that_is_killed_while_it_is_cancelled() -> None:
    (line,) = counted("cancelled", "--stride", "1" if LONG else "61", "--offset", "0" if LONG else "13")
    assert ", 0 failures" in line


def test_a_power_cut_in_a_training() -> None:
    (line,) = counted("own model", "--power", "--stride", "1" if LONG else "263")
    assert ", 0 failures" in line


def test_every_save_at_operations_in_turn() -> None:
    lines = counted("saves", "--stride", "1" if LONG else "37")
    assert len(lines) == 11
    assert all(", 0 failures" in line for line in lines)


def test_a_power_cut_in_a_save() -> None:
    lines = counted("saves", "--power", "--stride", "1" if LONG else "97")
    assert all(", 0 failures" in line for line in lines)
