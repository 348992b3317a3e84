"""Flags: reading, setting, refusing; results that are not finite are found where asked for."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, NotFiniteError


@pytest.fixture
def looking():
    paddle.set_flags({"FLAGS_check_nan_inf": 1})
    yield
    paddle.set_flags({"FLAGS_check_nan_inf": 0, "FLAGS_check_nan_inf_level": 0})


def test_read_and_set():
    assert paddle.get_flags("FLAGS_eager_delete_tensor_gb") == {"FLAGS_eager_delete_tensor_gb": 0.0}
    paddle.set_flags({"FLAGS_eager_delete_tensor_gb": "1.5", "FLAGS_benchmark": "true"})
    assert paddle.get_flags(["FLAGS_eager_delete_tensor_gb", "FLAGS_benchmark"]) == {
        "FLAGS_eager_delete_tensor_gb": 1.5,
        "FLAGS_benchmark": True,
    }
    paddle.set_flags({"FLAGS_eager_delete_tensor_gb": 0, "FLAGS_benchmark": False})


def test_wrong_names_and_kinds():
    for name in ("FLAGS_nothing", "benchmark", 3):
        with pytest.raises(ArgumentError, match="there is no flag"):
            paddle.set_flags({name: 1})
    with pytest.raises(TypeError, match="takes a dict"):
        paddle.set_flags(3)
    with pytest.raises(TypeError, match="takes a name"):
        paddle.get_flags(3)
    with pytest.raises(TypeError, match="FLAGS_benchmark is a bool: got 'x'"):
        paddle.set_flags({"FLAGS_benchmark": "x"})


def test_results_that_are_not_finite_are_found_at_the_users_line(looking):
    x = paddle.to_tensor(np.array([1.0, 0.0, 2.0]), stop_gradient=False)
    with pytest.raises(
        NotFiniteError, match=r"log: its result holds 0 nan and 1 infinite values of 3.*test_flags"
    ):
        paddle.log(x)
    y = paddle.sqrt(x)
    with pytest.raises(NotFiniteError, match="infinite"):  # the gradient of the root at 0
        y.sum().backward()


def test_at_a_level_above_zero_it_is_a_warning(looking):
    paddle.set_flags({"FLAGS_check_nan_inf_level": 1})
    with pytest.warns(RuntimeWarning, match="1 nan and 0 infinite"):
        paddle.sqrt(paddle.to_tensor([-1.0, 4.0]))


def test_nothing_is_looked_at_without_the_flag():
    assert paddle.log(paddle.to_tensor([0.0])).tolist() == [-np.inf]
