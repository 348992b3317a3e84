"""Allocation number N fails: files are old or new, and the next start works.

A training continues or begins anew and ends bit-equal; a save leaves the old or the new, a load leaves what
is there; nothing else is left after the next start. The process itself may end in any way, but not hang.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("_testcapi", reason="this Python is built without its tests' module")
pytest.importorskip("resource", reason="there are no limits of processes here")
ROOT = Path(__file__).resolve().parents[2]
LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))


@pytest.mark.timeout(20_000)
def test_old_or_new_after_a_failed_allocation() -> None:
    cases = 2000 if LONG else 6
    only = [] if LONG else ["--only", "training, static", "jit.save"]
    command = [sys.executable, "-m", "tests.robust.failed_allocations", "--seed", "7"]
    done = subprocess.run(
        [*command, *only, "--cases", str(cases)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"to {cases - 1}: 0 failures" in done.stdout
