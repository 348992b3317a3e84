"""Data-parallel training on several processes: results of one process, and of two in Paddle 2.6.2."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.engine.distributed.jobs import job

pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)

COUNTS = (2, 3, 4) if os.environ.get("MODEL_STUDIO_LONG") else (2,)


@pytest.mark.parametrize("count", COUNTS)
def test_data_parallel(count: int) -> None:
    done = job(count, Path(__file__).with_name("parallel_ranks.py"))
    assert done.returncode == 0, done.stdout
    for rank in range(count):
        assert f"rank {rank}: fluid_adds_up_after_backward" in done.stdout
