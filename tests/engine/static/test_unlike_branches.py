"""Branches of static graphs whose results differ in rank or dtype: the chosen one is what a run gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine import static
from engine.core.errors import ShapeError
from engine.core.strictness import LeniencyWarning, strict


@pytest.fixture(autouse=True)
def program():
    engine.enable_static()
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        yield static.default_main_program()
    engine.disable_static()


def full(shape: list[int], dtype: str, value: float) -> Any:
    return lambda: engine.full(shape, value, dtype)


def run(feed: dict[str, Any], *fetch: Any) -> list[Any]:
    return static.Executor(engine.CPUPlace()).run(feed=feed, fetch_list=list(fetch))


def is_same(found: Any, wanted: Any) -> bool:
    return found.dtype == wanted.dtype and found.shape == wanted.shape and bool((found == wanted).all())


ONE, OTHER = np.ones((1, 2), np.float32), np.full(3, 2, np.int32)


@pytest.mark.parametrize(("value", "wanted"), [(1.0, ONE), (-1.0, OTHER)])
def test_a_run_gives_what_the_chosen_branch_returns(value, wanted):
    x = static.data("x", [1])
    with pytest.warns(LeniencyWarning, match=r"float32\[1, 2\], the other int32\[3\]"):
        out = static.nn.cond(x > 0, full([1, 2], "float32", 1), full([3], "int32", 2))
    assert (tuple(out.shape), out.dtype.name) == ((1, 2), "float32")  # as the true side, in Paddle too
    more = out * 3
    found = run({"x": np.array([value], np.float32)}, out, more)
    assert is_same(found[0], wanted)
    assert is_same(found[1], wanted * wanted.dtype.type(3))


def test_strict_refuses_them():
    x = static.data("x", [1])
    with strict(), pytest.raises(ShapeError, match="make dtype and number of dimensions equal"):
        static.nn.cond(x > 0, full([1, 2], "float32", 1), full([3], "float32", 2))


@pytest.mark.parametrize(("index", "wanted"), [(0, ONE), (1, np.full((2, 2), 5, np.int64)), (7, OTHER)])
def test_switch_case(index, wanted):
    which = static.data("which", [1], "int32")
    functions = [full([1, 2], "float32", 1), full([2, 2], "int64", 5)]
    with pytest.warns(LeniencyWarning):
        out = static.nn.switch_case(which, functions, full([3], "int32", 2))
    (found,) = run({"which": np.array([index], np.int32)}, out)
    assert is_same(found, wanted)


@pytest.mark.parametrize(("sign", "wanted"), [(1, [[2.0, 2.0, 2.0]]), (-1, [[5.0, 5.0, 5.0]])])
def test_gradients_through_branches_of_another_rank(sign, wanted):
    x = static.data("x", [1, 3])
    x.stop_gradient = False
    with pytest.warns(LeniencyWarning):
        out = static.nn.cond(engine.sum(x) > 0, lambda: x * 2, lambda: engine.sum(x * 5, axis=0))
    (slope,) = static.gradients([engine.sum(out)], [x])
    (found,) = run({"x": np.full((1, 3), sign, np.float32)}, slope)
    assert is_same(found, np.array(wanted, np.float32))


def test_gradients_through_branches_of_another_dtype():
    x = static.data("x", [2])
    x.stop_gradient = False
    with pytest.warns(LeniencyWarning):
        out = static.nn.cond(engine.sum(x) > 0, lambda: engine.cast(x, "float64") * 2, lambda: x * 3)
    (slope,) = static.gradients([engine.sum(out)], [x])
    for sign, wanted in ((1, 2.0), (-1, 3.0)):
        (found,) = run({"x": np.full(2, sign, np.float32)}, slope)
        assert is_same(found, np.full(2, wanted, np.float32))
