"""Functions are called as in PaddleSlim 2.6.0 and Paddle 2.6.2 (recorded by record_signatures.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import engine.slim.quant
import engine.static.quantization
from engine.core.alias import real_name
from tests.engine.slim.record_signatures import NAMES, parameters

RECORDED = json.loads(Path(__file__).with_name("signatures.json").read_text())


@pytest.mark.parametrize("name", [f"{module}.{name}" for module, names in NAMES.items() for name in names])
def test_parameters_and_defaults_are_the_recorded_ones(name: str) -> None:
    module = next(m for m in NAMES if name.startswith(m))
    owner: Any = {"paddleslim.quant": engine.slim.quant}.get(module, engine.static.quantization)
    assert owner.__name__ == real_name(module)
    for part in name.removeprefix(f"{module}.").split("."):
        owner = getattr(owner, part)
    ours, theirs = parameters(owner), RECORDED[name]
    made_optional = [p for p, t in zip(ours, theirs, strict=True) if p != t]
    assert all(p[:2] == t[:2] and t[2] is None for p, t in zip(ours, theirs, strict=True) if p != t)
    assert {p[0] for p in made_optional} <= {"model_filename", "params_filename"}
