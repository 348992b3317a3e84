"""Numbers of a CPU and a GPU are compared operator by operator."""

from __future__ import annotations

from typing import Any

import pytest

from engine.comparison.pairs import two_devices
from engine.comparison.values import ValueStore
from engine.core.place import place_guard
from tests.engine.comparison.networks import made


@pytest.mark.parametrize("name", ["small", "loop", "branch"])
def test_a_step_agrees_on_both_devices(cupy: Any, name: str) -> None:
    with place_guard("cpu"), ValueStore() as store:
        found = two_devices(made(name), ("cpu", "gpu"), store)
    assert found.equal, found.verdict
    assert (found.a, found.b) == ("cpu", "gpu")
    assert found.counts["forward"] > 5
    assert found.counts["backward"] >= 4
    assert not found.unmatched


def test_an_eager_step_on_a_gpu_is_recorded(cupy: Any) -> None:
    step = made("branch")
    with ValueStore() as store:
        side = step.eager(store)
    assert {each.layer for each in side.operators} == {"", "other", "out", "(loss)"}
