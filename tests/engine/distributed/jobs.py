"""Starts jobs of several processes for the tests, in an environment that no launcher has touched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from engine.distributed.mpi import find_mpiexec

ROOT = Path(__file__).resolve().parents[3]
OURS = ("PADDLE_", "PMI_", "OMP_", "OPENBLAS_", "MKL_")


def command(count: int, *arguments: object) -> list[str]:
    worker = [sys.executable, "-m", "engine.distributed.worker", *map(str, arguments)]
    return [find_mpiexec(), "-n", str(count), *worker]


def environment() -> dict[str, str]:
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(OURS)}
    return inherited | {"PYTHONPATH": str(ROOT)}


def job(count: int, *arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run the worker with ``arguments`` in ``count`` processes; what all of them print is in ``stdout``."""
    return subprocess.run(
        command(count, *arguments),
        cwd=cwd,
        env=environment(),
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
