"""Dimensions that are known only when a Program runs, in Python's own tests and functions."""

import numpy as np

import engine as paddle
from engine import static as S
from engine.jit import to_static
from engine.static import InputSpec


def test_python_takes_an_open_dimension_for_minus_one(static) -> None:
    """Recorded with Paddle 2.6.2, where it is the int -1."""
    x = S.data("x", [None, 4, 5])
    n = x.shape[0]
    assert not n > 0
    assert n < 1
    assert not n >= 2
    assert (max(n, 1), min(n, 1), abs(n)) == (1, -1, 1)
    assert sorted(x.shape) == [-1, 4, 5]
    assert [d for d in x.shape if d > 0] == [4, 5]


def test_arithmetic_with_an_open_dimension_counts_in_the_run(static) -> None:
    x = S.data("x", [None, 4], "float32")
    rows = x.shape[0]
    results = [paddle.full([1], 1.0) * rows * 2, paddle.full([1], 1.0) * -rows]
    found = S.Executor().run(feed={"x": np.ones((3, 4), np.float32)}, fetch_list=results)
    assert [float(each[0]) for each in found] == [6.0, -3.0]


def test_a_converted_function_decides_in_the_run() -> None:
    def sides(x):
        return x * 2 if x.shape[0] > 2 else x

    function = to_static(sides, input_spec=[InputSpec([None, 1])], full_graph=True)
    assert [float(function(paddle.ones([n, 1]))[0]) for n in (2, 3)] == [1.0, 2.0]


def test_print_names_the_place_of_a_number(static, capfd) -> None:
    x = S.data("x", [2], "float32")
    S.Executor().run(feed={"x": np.ones(2, np.float32)}, fetch_list=[S.Print(x.sum())])
    assert "place: Place(cpu)" in capfd.readouterr().out
