"""Scripts with ``Model`` and its callbacks print what they print with Paddle 2.6.2."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

import engine

HERE = Path(__file__).parent
SCENARIOS = runpy.run_path(str(HERE / "scenarios.py"))
RECORDED: dict[str, list[str]] = json.loads((HERE / "recorded.json").read_text())
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]\d+)?")
QUIET = (
    "ignore:.*mixed precision",
    "ignore:Skip loading",
    "ignore:Model.save",
    "ignore:Model.load",
    "ignore:.*no parameter",
    "ignore:Monitor of",
)


def same(line: str, recorded: str) -> bool:
    """Equal but for the last digits of numbers, which sums in another order change."""
    if NUMBER.sub("#", line) != NUMBER.sub("#", recorded):
        return False
    pairs = zip(NUMBER.findall(line), NUMBER.findall(recorded), strict=True)
    return all(float(a) == pytest.approx(float(b), rel=2e-3, abs=1.1e-4) for a, b in pairs)


@pytest.mark.filterwarnings(*QUIET)
@pytest.mark.parametrize("name", RECORDED)
def test_scenario(name: str) -> None:
    scenario: Any = SCENARIOS[name]
    lines = SCENARIOS["transcript"](engine, scenario)
    different = [pair for pair in zip(lines, RECORDED[name], strict=False) if not same(*pair)]
    assert not different
    assert len(lines) == len(RECORDED[name])


def test_every_scenario_is_recorded() -> None:
    assert list(RECORDED) == [each.__name__ for each in SCENARIOS["SCENARIOS"]]
