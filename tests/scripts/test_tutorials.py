"""Scripts in the manner of tutorials print what they print on Paddle 2.6.2 (recorded by record.py).

Those in ``slim`` follow PaddleSlim's pages, and were recorded with paddleslim 2.6.0.

The text must be the same. Numbers may differ by rounding: sums in another order move a training a little.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")
TIME = re.compile(r"\d+m?s/(?:step|sample)")
"""How long a step took: it differs from run to run."""
LOOSE = 2e-3
"""Relative and absolute; a last printed digit that flips is inside."""


def without_times(text: str) -> str:
    """The text with times and runs of blanks made equal."""
    return re.sub(r"[ \t]+", " ", TIME.sub("TIME", text)).strip()


def differences(ours: str, theirs: str) -> list[str]:
    """Lines that differ in more than rounding, ours after theirs."""
    found = []
    ours_lines, theirs_lines = ours.splitlines(), theirs.splitlines()
    for mine, recorded in zip(ours_lines, theirs_lines, strict=False):
        if NUMBER.sub("#", mine) == NUMBER.sub("#", recorded) and all(
            close(a, b) for a, b in zip(NUMBER.findall(mine), NUMBER.findall(recorded), strict=True)
        ):
            continue
        found += [f"recorded: {recorded}", f"here:     {mine}"]
    if len(ours_lines) != len(theirs_lines):
        found.append(f"{len(theirs_lines)} lines recorded, {len(ours_lines)} here")
    return found


def close(mine: str, recorded: str) -> bool:
    """Whether two printed numbers are equal but for rounding; integers must be equal."""
    if mine == recorded:
        return True
    if not any(mark in mine + recorded for mark in ".eE"):
        return False
    return abs(float(mine) - float(recorded)) <= LOOSE * (1 + abs(float(recorded)))


SCRIPTS = sorted(path for folder in ("tutorials", "slim") for path in (HERE / folder).glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_prints_what_paddle_prints(script: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from studio.cli import main; main()",
            "run",
            str(script),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    first, _, recorded = (HERE / "recorded" / f"{script.stem}.txt").read_text().partition("\n")
    assert first.startswith("# paddlepaddle 2.6.2")
    assert not differences(without_times(done.stdout), without_times(recorded))


def test_a_number_that_differs_is_found() -> None:
    assert not differences("loss 0.51234 step 3", "loss 0.51236 step 3")
    assert differences("loss 0.52", "loss 0.51")
    assert differences("step 3", "step 4")
    assert differences("one line", "one line\nanother")
