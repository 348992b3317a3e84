"""Functions in the manner of users, converted: what Paddle 2.6.2 gives for them."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.engine.jit.user_functions import CASES, results

RECORDED = json.loads(Path(__file__).with_name("user_functions.json").read_text(encoding="utf-8"))["results"]


def require_same(found, expected):
    if isinstance(expected, dict) and "dtype" in expected:
        assert (found["dtype"], found["shape"]) == (expected["dtype"], expected["shape"])
        np.testing.assert_allclose(found["values"], expected["values"], rtol=1e-5, atol=1e-6)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            require_same(found[key], expected[key])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            require_same(one, other)
    else:
        assert found == expected


@pytest.mark.parametrize(("function", "calls"), CASES, ids=[function.__name__ for function, _ in CASES])
def test_a_function_gives_what_it_gives_in_paddle(function, calls):
    require_same(results(function, calls), RECORDED[function.__name__])


def test_every_recorded_function_is_there():
    assert {function.__name__ for function, _ in CASES} == set(RECORDED)
