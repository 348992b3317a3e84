"""Ranks of a data-parallel training are killed: the others end, nothing is left, it continues bit-equal."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.robust.killed_processes import count

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))

pytestmark = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc and SIGKILL")


@pytest.mark.timeout(3600 if LONG else 240)
def test_kills_in_turn(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
    report = count(100 if LONG else 4, 7, tmp_path)
    assert report.failures == []
    assert report.kinds.total() == (100 if LONG else 4)
