"""The cases cover every public layer, and their deviations are of cases that exist."""

from __future__ import annotations

import ast

import engine
from engine.nn.layer.layers import Layer
from tests.differential.layers.deviations import DEVIATIONS
from tests.differential.layers.sweep import cases

# Their instances are not applied: the base of all, and the base of own cells.
BASES = {"Layer", "RNNCellBase"}


def test_cases_are_as_many_as_promised_and_can_be_read() -> None:
    found = cases()
    assert len(found) >= 320
    for case in found:
        assert isinstance(ast.parse(case["make"]).body[-1], ast.Expr), case["name"]
        ast.parse(f"f({case['call']})")


def test_every_layer_of_nn_is_in_a_case() -> None:
    used = "\n".join(case["make"] for case in cases())
    layers = {
        name
        for name in engine.nn.__all__
        if isinstance(getattr(engine.nn, name), type) and issubclass(getattr(engine.nn, name), Layer)
    }
    named = {"LayerList", "LayerDict", "ParameterList"}  # within the networks of the cases
    assert {name for name in layers - BASES - named if f"nn.{name}(" not in used} == set()


def test_deviations_have_reasons_and_match_a_case() -> None:
    names = [case["name"] for case in cases()]
    for deviation in DEVIATIONS:
        assert len(deviation.reason) >= 15
        assert any(deviation.of_case(name) for name in names), deviation
