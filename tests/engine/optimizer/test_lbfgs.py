"""L-BFGS: minima found, limits kept, states loaded, wrong use refused."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine import optimizer
from engine.core.errors import ArgumentError, ModeError
from engine.optimizer.line_search import Point, strong_wolfe


def problem(start=(-1.2, 1.0), dtype="float64"):
    x = paddle.create_parameter([2], dtype)
    x.set_value(np.array(start, dtype))
    calls = []

    def make(rule):
        def closure():
            rule.clear_grad()
            loss = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2  # Rosenbrock: 0 at (1, 1)
            loss.backward()
            calls.append(float(loss))
            return loss

        return closure

    return x, make, calls


@pytest.mark.parametrize("history", [2, 100])
def test_the_minimum_of_rosenbrock(history):
    x, make, _ = problem()
    rule = optimizer.LBFGS(
        parameters=[x],
        line_search_fn="strong_wolfe",
        max_iter=60,
        max_eval=200,
        history_size=history,
        tolerance_change=1e-14,
    )
    before = rule.step(make(rule))
    np.testing.assert_allclose(float(before), 24.2)
    np.testing.assert_allclose(x.numpy(), [1.0, 1.0], atol=1e-5)


def test_a_quadratic_without_line_search():
    x = paddle.create_parameter([3], "float64")
    weights = paddle.to_tensor([1.0, 4.0, 9.0], "float64")

    def closure():
        rule.clear_grad()
        loss = (weights * (x - 2.0) ** 2).sum()
        loss.backward()
        return loss

    rule = optimizer.LBFGS(0.5, parameters=[x], max_iter=50)
    rule.step(closure)
    np.testing.assert_allclose(x.numpy(), [2.0, 2.0, 2.0], atol=1e-4)


def test_evaluations_are_counted_and_limited():
    x, make, calls = problem()
    rule = optimizer.LBFGS(parameters=[x], line_search_fn="strong_wolfe", max_iter=50, max_eval=9)
    rule.step(make(rule))
    assert rule.state_dict()["state"]["func_evals"] == len(calls)
    assert 9 <= len(calls) <= 12
    x, make, calls = problem()
    rule = optimizer.LBFGS(1e-3, parameters=[x], max_iter=4)
    rule.step(make(rule))
    assert len(calls) == 4  # the last step is not looked at
    assert rule.state_dict()["state"]["n_iter"] == 4


def test_a_saved_state_continues(tmp_path):
    x, make, _ = problem()
    rule = optimizer.LBFGS(parameters=[x], line_search_fn="strong_wolfe", max_iter=3)
    rule.step(make(rule))
    paddle.save(rule.state_dict(), str(tmp_path / "state"))
    y, again, _ = problem(x.numpy())
    other = optimizer.LBFGS(parameters=[y], line_search_fn="strong_wolfe", max_iter=3)
    other.set_state_dict(paddle.load(str(tmp_path / "state")))
    rule.step(make(rule))
    other.step(again(other))
    np.testing.assert_array_equal(x.numpy(), y.numpy())


def test_wrong_use():
    x, _, _ = problem()
    rule = optimizer.LBFGS(parameters=[x])
    with pytest.raises(ArgumentError, match="takes a function"):
        rule.step()
    with pytest.raises(ModeError, match=r"step\(closure\)"):
        rule.minimize(x.sum())
    with pytest.raises(ArgumentError, match="strong_wolfe"):
        optimizer.LBFGS(parameters=[x], line_search_fn="armijo")
    with pytest.raises(ArgumentError, match="penalty"):
        optimizer.LBFGS(parameters=[x], weight_decay=0.1)
    with pytest.raises(ArgumentError, match=r"takes \{'state': \.\.\.\}"):
        rule.set_state_dict({"w_moment1_0": x})
    with pytest.raises(ArgumentError, match="has 3 elements: the parameters 2"):
        rule.set_state_dict({"state": {"d": paddle.zeros([3])}})


@pytest.mark.parametrize("first", [1e-3, 0.5, 1.0, 30.0])
def test_a_line_search_ends_at_a_good_step(first):
    def evaluate(step):
        return Point(step, (step - 1.0) ** 4 - step, 4 * (step - 1.0) ** 3 - 1, np.zeros(1))

    start = evaluate(0.0)
    found, count = strong_wolfe(evaluate, start, first, 1.0, 1e-9)
    assert found.value <= start.value + 1e-4 * found.step * start.slope
    assert abs(found.slope) <= 0.9 * abs(start.slope)
    assert count < 15


def test_parameters_in_bfloat16_are_numbers_not_bits():
    """Of (w - 1)^2 from (3, -2, 1): 4 + 9 + 0 at first, and the minimum is 1, which bfloat16 holds."""
    begin = paddle.nn.initializer.Assign(np.array([3, -2, 1], "float32"))
    w = paddle.create_parameter([3], "bfloat16", default_initializer=begin)
    rule = optimizer.LBFGS(0.5, parameters=[w], max_iter=4)

    def closure():
        rule.clear_grad()
        loss = ((w.astype("float32") - 1.0) ** 2).sum()
        loss.backward()
        return loss

    losses = [float(rule.step(closure)) for _ in range(4)]
    assert losses[0] == 13.0
    assert losses[-1] < 1e-3
    assert w.dtype == paddle.bfloat16
    np.testing.assert_allclose(w.astype("float32").numpy(), [1, 1, 1], atol=1 / 64)
    assert rule.state_dict()["state"]["d"].dtype == paddle.float32
