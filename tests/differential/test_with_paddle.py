"""Random calls of three unseen seeds with the real Paddle 2.6.2, which MODEL_STUDIO_PADDLE names.

Silent differences (values, dtypes, shapes, gradients) that no deviation explains are few, and no call ends
the engine's process. ``python -m tests.differential --seed N`` repeats a seed that is printed.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from tests.differential.calls import calls
from tests.differential.runs import run

PADDLE = os.environ.get("MODEL_STUDIO_PADDLE", "")
CALLS = 3000
# The share of calls that may differ silently; three unseen seeds showed 0.001 and 0.0037 at most.
MOST = {"eager": 0.002, "static": 0.008}
LOUD = ("refused", "declared")


@pytest.mark.timeout(1200)
@pytest.mark.skipif(
    not PADDLE, reason="needs MODEL_STUDIO_PADDLE, the path of a Python that has Paddle 2.6.2"
)
@pytest.mark.parametrize("number", range(3))
def test_random_calls_give_what_paddle_gives(number: int, tmp_path: Path) -> None:
    seed = secrets.randbelow(10**9)
    report = run(seed, list(calls(seed, CALLS)), PADDLE, tmp_path)
    print(*report.lines(), sep="\n")
    silent = [entry for entry in report.differ if not any(word in entry[2].category for word in LOUD)]
    for which, most in MOST.items():
        shown = [
            f"{call['number']} {call['name']} {mode}: {outcome}"
            for call, mode, outcome in silent
            if mode == which
        ]
        assert not [each for each in shown if "process ended" in each], f"seed {seed}"
        assert len(shown) <= most * CALLS, "\n".join([f"seed {seed}", *shown])
