"""What scripts of 1.5 to 1.8 may do in a guard: gradients of their own values, used steps, arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.core.strictness import LeniencyWarning
from engine.fluid import dygraph, layers
from engine.fluid.dygraph import to_variable

ONES = np.ones((2, 2), np.float32)


def test_given_values_have_gradients_where_there_are_no_layers() -> None:
    with dygraph.guard():
        inputs = [to_variable(ONES) for _ in range(3)]
        loss = layers.reduce_sum(layers.sums([each * 2.0 for each in inputs]))
        loss.backward()
        for each in inputs:
            np.testing.assert_array_equal(each.gradient(), 2 * ONES)
            assert each.stop_gradient


def test_given_values_have_none_next_to_layers() -> None:
    with dygraph.guard():
        net = dygraph.Linear(2, 1)
        x = to_variable(ONES)
        layers.mean(net(x)).backward()
        assert x.gradient() is None
        assert net.weight.gradient() is not None


def test_given_values_can_be_changed_in_place_and_stopped() -> None:
    with dygraph.guard():
        x = to_variable(np.ones(1, np.float32))
        layers.increment(x)
        layers.assign(x * 3.0, x)
        assert x.numpy().tolist() == [6.0]
        y = to_variable(ONES)
        y.stop_gradient = True
        layers.reduce_sum(y * y).backward()
        assert y.gradient() is None
        y.stop_gradient = False
        layers.reduce_sum(y * y).backward()
        np.testing.assert_array_equal(y.gradient(), 2 * ONES)


def test_parts_that_nothing_reads_have_gradients_of_zeros() -> None:
    with dygraph.guard():
        x = to_variable(np.arange(4, dtype=np.float32))
        x.stop_gradient = False
        first, second = layers.split(x, 2)
        assert second.gradient() is None
        layers.reduce_sum(first * first).backward()
        assert x.gradient().tolist() == [0.0, 2.0, 0.0, 0.0]
        assert first.gradient().tolist() == [0.0, 2.0]
        assert second.gradient().tolist() == [0.0, 0.0]


def test_results_of_a_used_step_are_constants_which_a_warning_says() -> None:
    with dygraph.guard():
        first, second = dygraph.Linear(2, 2), dygraph.Linear(2, 1)
        hidden = first(to_variable(ONES))
        loss = layers.mean(hidden)
        loss.backward()
        before = first.weight.gradient()
        with pytest.warns(LeniencyWarning, match="they are constants now"):
            layers.reduce_sum(second(hidden)).backward()
        np.testing.assert_array_equal(first.weight.gradient(), before)
        np.testing.assert_allclose(second.weight.gradient()[:, 0], hidden.numpy().sum(0), rtol=1e-6)
        with pytest.warns(LeniencyWarning, match="they are constants now"):
            loss.backward()
        np.testing.assert_array_equal(first.weight.gradient(), before)


def test_a_step_that_retains_its_graph_is_gone_through_again() -> None:
    with dygraph.guard():
        net = dygraph.Linear(2, 1)
        loss = layers.reduce_sum(net(to_variable(ONES)))
        loss.backward(retain_graph=True)
        loss.backward()
        assert net.bias.gradient().tolist() == [4.0]


def test_memory_is_shared_where_the_script_asks_for_it() -> None:
    with dygraph.guard(fluid.CPUPlace()):
        array = np.array([[2, 3, 1]], np.float32)
        shared, copied = to_variable(array, zero_copy=True), to_variable(array)
        array[0, 0] = 4
        assert shared.numpy().tolist() == [[4, 3, 1]]
        assert copied.numpy().tolist() == [[2, 3, 1]]
        assert to_variable(array, "called").name == "called"
        assert to_variable(array, None, "called").name == "called"


def test_counts_of_accuracy_have_one_dimension() -> None:
    with dygraph.guard():
        correct, total = (to_variable(np.zeros(1, np.int32)) for _ in range(2))
        guess = to_variable(np.array([[0.1, 0.9], [0.8, 0.2]], np.float32))
        found = layers.accuracy(guess, to_variable(np.array([[1], [1]])), correct=correct, total=total)
        assert [v.numpy().tolist() for v in (found, correct, total)] == [[0.5], [1], [2]]


@pytest.mark.parametrize(
    "operator",
    [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: a**b,
        lambda a, b: a < b,
    ],
)
def test_arrays_are_operands(operator: Callable[[Any, Any], Any]) -> None:
    other = np.array([[1, 2], [3, 4]], np.float32)
    with dygraph.guard():
        x = to_variable(2 * ONES)
        for found, wanted in (
            (operator(x, other), operator(2 * ONES, other)),
            (operator(other, x), operator(other, 2 * ONES)),
        ):
            assert isinstance(found, fluid.core.VarBase)
            np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6)


def test_any_eager_value_is_a_var_base() -> None:
    with dygraph.guard():
        made = fluid.core.VarBase(ONES, fluid.CPUPlace(), persistable=True, name="made")
        assert (made.name, made.persistable, made.numpy().tolist()) == ("made", True, ONES.tolist())
        for value in (made, made + 1.0, dygraph.Linear(2, 2).weight):
            assert isinstance(value, fluid.core.VarBase)
        assert not isinstance(ONES, fluid.core.VarBase)


def test_a_strategy_may_come_with_grad() -> None:
    with dygraph.guard():
        x = to_variable(ONES)
        x.stop_gradient = False
        (found,) = dygraph.grad([x * x], [x], backward_strategy=dygraph.BackwardStrategy())
        np.testing.assert_array_equal(found.numpy(), 2 * ONES)
        assert isinstance(found, type(x))


def test_auc_counts_as_many_predictions_as_there_are_labels() -> None:
    metric = fluid.metrics.Auc("auc")
    guess = np.array([[0.2, 0.8], [0.6, 0.4], [0.1, 0.9]])
    metric.update(guess, np.array([[1], [0]]))
    assert metric.eval() == 1.0
