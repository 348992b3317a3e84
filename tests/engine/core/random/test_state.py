"""States of NumPy's and Python's generators: invalid ones are refused before C code reads them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError
from engine.core.random.generator import numpy_state, set_numpy_state
from engine.core.random.state import python_state
from engine.training.randomness import random_state, set_random_state

KEYS = np.arange(1, 625, dtype=np.uint32)
NUMPY: dict[str, Any] = {"kind": "MT19937", "keys": KEYS, "position": 624, "has_gauss": 0, "gauss": 0.0}
PYTHON: dict[str, Any] = {
    "version": 3,
    "internal": np.append(np.arange(1, 625), 624).astype(np.uint64),
    "spare": float("nan"),
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"position": 2**31 - 1}, "position must be from 0 to 624: got 2147483647"),
        ({"position": -1}, "position must be from 0 to 624: got -1"),
        ({"position": 2**63}, "position must be from 0 to 624"),
        ({"position": 3.0}, "position must be an integer: got 3.0"),
        ({"position": True}, "position must be an integer: got True"),
        ({"keys": KEYS[:-1]}, r"keys must be 624 integers: got shape \[623\]"),
        ({"keys": KEYS.reshape(2, 312)}, "keys must be 624 integers"),
        ({"keys": KEYS.astype(np.float64)}, "dtype float64"),
        ({"keys": KEYS.astype(np.int64) << 24}, "keys must be of 32 bits: got 16777216 to 10468982784"),
        ({"keys": "x"}, "keys must be 624 integers"),
        ({"keys": KEYS * 0}, "keys are all 0"),
        ({"has_gauss": 2}, "has_gauss must be from 0 to 1: got 2"),
        ({"gauss": float("inf")}, "gauss must be finite: got inf"),
        ({"gauss": 10**400}, "gauss must be finite"),
        ({"gauss": "1"}, "gauss must be a number: got '1'"),
        ({"kind": "PCG64"}, "kind must be 'MT19937': got 'PCG64'"),
        ({"kind": KEYS}, "kind must be 'MT19937'"),
    ],
)
def test_an_invalid_state_of_numpy_is_refused(changed: dict[str, Any], message: str) -> None:
    before = numpy_state()
    with pytest.raises(ArgumentError, match=message) as error:
        set_numpy_state({**NUMPY, **changed})
    assert "\n" not in str(error.value)
    np.testing.assert_equal(numpy_state(), before)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"version": 2}, "version must be 3: got 2"),
        ({"version": PYTHON["internal"]}, "version must be an integer"),
        ({"internal": PYTHON["internal"][1:]}, r"internal must be 625 integers: got \[624\]"),
        ({"internal": 7}, "internal must be 625 integers: got int"),
        ({"internal": PYTHON["internal"] + 1}, "position must be from 0 to 624: got 625"),
        ({"internal": PYTHON["internal"] << np.uint64(30)}, "32 bits"),
        ({"internal": PYTHON["internal"] * 0}, "internal are all 0"),
        ({"internal": PYTHON["internal"] * 1.0}, "dtype float64"),
        ({"spare": float("-inf")}, "spare must be finite"),
        ({"spare": None}, "spare must be a number: got None"),
    ],
)
def test_an_invalid_state_of_python_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        python_state({**PYTHON, **changed})


@pytest.mark.parametrize("part", ["engine", "numpy", "python"])
def test_a_part_that_is_missing_is_named(part: str) -> None:
    state = random_state()
    for damaged in ({name: value for name, value in state.items() if name != part}, {**state, part: 3}):
        with pytest.raises(ArgumentError, match="not the state of a generator"):
            set_random_state(damaged)


def test_current_states_are_restored() -> None:
    np.random.seed(3)
    random.seed(3)
    np.random.standard_normal(3)  # leaves a spare number of either generator
    random.gauss()
    state = random_state()
    drawn = [np.random.standard_normal(700).tolist(), [random.gauss() for _ in range(700)]]
    set_random_state(state)
    assert drawn == [np.random.standard_normal(700).tolist(), [random.gauss() for _ in range(700)]]
