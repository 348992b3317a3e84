"""Methods of the graph and of Operator delegate to functions that exist in the named modules."""

from __future__ import annotations

import importlib

import pytest

from engine.core.delegate import Delegate
from engine.core.operators import operator
from engine.program.graph import delegates

DECLARED = [
    pytest.param(found, id=found.name)
    for module in (delegates, operator)
    for found in vars(module).values()
    if isinstance(found, Delegate)
]


@pytest.mark.parametrize("declared", DECLARED)
def test_the_named_module_defines_it(declared):
    module = importlib.import_module(declared.where)
    assert declared._function in vars(module).values()


def test_some_are_declared():
    assert len(DECLARED) > 10
