"""Functions are called as in PaddleSlim 2.6.0 and Paddle 2.6.2 (recorded by record_signatures.py)."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from engine.core.alias import real_name
from tests.engine.slim.record_signatures import NAMES, parameters

RECORDED = json.loads(Path(__file__).with_name("signatures.json").read_text())
# Paddle needs the names of a model's files; here they have names where none are given, as its page says.
OPTIONAL = ("model_filename", "params_filename")


@pytest.mark.parametrize(("module", "name"), [(module, name) for module in NAMES for name in NAMES[module]])
def test_parameters_and_defaults_are_the_recorded_ones(module: str, name: str) -> None:
    owner: Any = importlib.import_module(real_name(module))
    for part in name.split("."):
        owner = getattr(owner, part)
    theirs = [
        [p, kind, "None"]
        if name.startswith("quant_post_") and default is None and p in OPTIONAL
        else [p, kind, default]
        for p, kind, default in RECORDED[f"{module}.{name}"]
    ]
    assert parameters(owner) == theirs
