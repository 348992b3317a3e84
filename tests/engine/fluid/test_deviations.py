"""Deviations of fluid that are listed have the answers that are listed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import fluid
from engine.fluid import layers
from engine.fluid.dygraph import to_variable
from tests.engine.fluid.deviations import DEVIATIONS, FluidDeviation


@pytest.mark.parametrize("each", DEVIATIONS, ids=lambda each: each.call)
def test_the_answer_is_the_listed_one(each: FluidDeviation) -> None:
    scope: dict[str, Any] = {
        "np": np,
        "paddle": paddle,
        "fluid": fluid,
        "layers": layers,
        "to_variable": to_variable,
    }
    *lines, last = each.code.split("\n")
    with fluid.dygraph.guard(fluid.CPUPlace()):
        exec("\n".join(lines), scope)
        assert str(eval(last, scope)) == each.here
    assert each.there != each.here
    assert len(each.reason) > 15
