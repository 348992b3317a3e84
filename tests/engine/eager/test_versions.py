"""Values that a gradient needs and that were changed in place are refused; views share their storage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine
from engine.core.errors import EngineError, GradientError


def _leaf(*values: float) -> Any:
    return engine.to_tensor(np.array(values or (1.0, 2.0, 3.0), "float64"), stop_gradient=False)


def _other(*values: float) -> Any:
    return engine.to_tensor(np.array(values or (1.0, 2.0, 3.0), "float64"))


def test_an_input_changed_after_use_is_named() -> None:
    x, w = _leaf(), _other()
    y = (x * w).sum()
    w.set_value(np.zeros(3))
    with pytest.raises(
        GradientError, match=r"input 'y' of elementwise_mul, shape \[3\], was changed in place 1 time"
    ) as e:
        y.backward()
    assert "y = (x * w).sum()" in str(e.value)
    assert "clone()" in str(e.value)


def test_changes_before_use_do_no_harm() -> None:
    x, w = _leaf(), _other()
    w.set_value(np.full(3, 2.0))
    w.set_value(np.full(3, 4.0))
    (x * w).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0, 4.0]


def test_changes_of_values_that_no_rule_uses_do_no_harm() -> None:
    x, w = _leaf(), _other()
    y = (x + w).sum()
    w.set_value(np.zeros(3))
    y.backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_a_change_between_two_uses_is_seen() -> None:
    x, w = _leaf(), _other()
    first = x * w
    w.set_value(np.zeros(3))
    second = x * w
    with pytest.raises(GradientError, match="changed in place"):
        (first + second).sum().backward()
    x.clear_gradient()
    (x * w).sum().backward()


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t.reshape([1, 3]),
        lambda t: t[1:],
        lambda t: t[0],
        lambda t: t.transpose([0]),
        lambda t: t.detach(),
        lambda t: t.unsqueeze(0),
        lambda t: t.reshape([3, 1]).squeeze(1),
        lambda t: t.flatten(),
    ],
)
def test_a_change_through_a_view_is_a_change_of_the_base(view: Callable[[Any], Any]) -> None:
    x, w = _leaf(), _other()
    y = (x * w).sum()
    part = view(w)
    part.set_value(np.zeros(part.shape))
    assert 0.0 in w.tolist()
    with pytest.raises(GradientError, match="changed in place"):
        y.backward()


def test_a_change_of_the_base_is_a_change_of_a_view_used() -> None:
    x, w = _leaf(), _other()
    y = (x * w.reshape([3])).sum()
    w.set_value(np.zeros(3))
    with pytest.raises(GradientError, match="changed in place"):
        y.backward()


@pytest.mark.parametrize(
    "function",
    [
        engine.exp,
        engine.nn.functional.relu,
        engine.tanh,
        engine.nn.functional.sigmoid,
        engine.sqrt,
        engine.nn.functional.softmax,
    ],
)
def test_a_result_that_its_gradient_needs(function: Callable[[Any], Any]) -> None:
    x = _leaf()
    y = function(x)
    z = y.sum()
    y.set_value(np.zeros(3))
    with pytest.raises(GradientError, match=r"the result of .* was changed in place after it was computed"):
        z.backward()


@pytest.mark.parametrize("function", [engine.exp, engine.nn.functional.relu])
def test_a_result_changed_through_a_view(function: Callable[[Any], Any]) -> None:
    x = _leaf()
    y = function(x)
    z = y.sum()
    y.detach().set_value(np.zeros(3))
    with pytest.raises(GradientError, match="changed in place"):
        z.backward()


def test_a_result_that_nothing_needs_may_change() -> None:
    x = _leaf()
    y = x + 1.0
    z = y.sum()
    y.set_value(np.zeros(3))
    z.backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_clone_keeps_the_old_value() -> None:
    x, w = _leaf(), _other()
    y = (x * w.clone()).sum()
    w.set_value(np.zeros(3))
    y.backward()
    assert x.grad.tolist() == [1.0, 2.0, 3.0]


def test_an_optimizer_step_between_forward_and_backward_is_refused() -> None:
    layer = engine.nn.Linear(2, 2)
    optimizer = engine.optimizer.SGD(learning_rate=0.1, parameters=layer.parameters())
    x = engine.ones([1, 2])
    x.stop_gradient = False
    early = layer(x).sum()
    layer(x).sum().backward()
    optimizer.step()
    with pytest.raises(GradientError, match=r"linear.*changed in place"):
        early.backward()


# -- views ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("view", "shape"),
    [
        (lambda t: t.reshape([3, 2]), [3, 2]),
        (lambda t: t[0], [3]),
        (lambda t: t[:, 1:], [2, 2]),
        (lambda t: t.transpose([1, 0]), [3, 2]),
        (lambda t: t.detach(), [2, 3]),
        (lambda t: t.flatten(), [6]),
        (lambda t: t.unsqueeze(0), [1, 2, 3]),
    ],
)
def test_views_share_storage(view: Callable[[Any], Any], shape: list[int]) -> None:
    base = engine.to_tensor(np.arange(6.0).reshape(2, 3))
    part = view(base)
    assert part.shape == shape
    assert np.shares_memory(part._array, base._array)
    base.set_value(np.full((2, 3), 7.0))
    assert set(np.ravel(part.tolist())) == {7.0}
    part.set_value(np.zeros(shape))
    assert 0.0 in np.ravel(base.tolist())


def test_a_view_that_had_to_be_copied_is_independent() -> None:
    base = engine.to_tensor(np.arange(6.0).reshape(2, 3))
    turned = base.transpose([1, 0]).reshape([6])
    assert not np.shares_memory(turned._array, base._array)
    x = engine.to_tensor(np.ones(6), stop_gradient=False)
    y = (x * turned).sum()
    base.set_value(np.zeros((2, 3)))
    y.backward()
    assert x.grad.tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]


def test_views_of_views() -> None:
    base = engine.to_tensor(np.arange(6.0))
    inner = base.reshape([2, 3])[1][1:]
    inner.set_value(np.array([-1.0, -2.0]))
    assert base.tolist() == [0.0, 1.0, 2.0, 3.0, -1.0, -2.0]
    assert inner._version is base._version


def test_numpy_copies() -> None:
    x = engine.to_tensor([1.0, 2.0])
    array = x.numpy()
    array[0] = 9.0
    assert x.tolist() == [1.0, 2.0]
    source = np.array([1.0, 2.0])
    made = engine.to_tensor(source)
    source[0] = 9.0
    assert made.tolist() == [1.0, 2.0]


def test_set_value_refuses_another_shape_or_kind() -> None:
    x = engine.to_tensor([1.0, 2.0])
    with pytest.raises(EngineError, match=r"has shape \[2\]: got \[3\]"):
        x.set_value(np.zeros(3))
    with pytest.raises(EngineError, match="has dtype float32: got complex"):
        x.set_value(np.zeros(2, complex))
    assert x.tolist() == [1.0, 2.0]


def test_a_gradient_that_needs_a_shape_only_lets_the_value_change() -> None:
    """As in Paddle: rows are computed from rows of the same tensor, columns copied, parts joined."""

    def rows(x: Any) -> Any:
        y = x * 1.0
        y[1] = y[0] * 2.0
        y[2] = y[1] + y[0]
        return y

    def columns(x: Any) -> Any:
        y = x * 1.0
        y[:, 1] = y[:, 0]
        return y

    def joined(x: Any) -> Any:
        y = x * 1.0
        z = engine.concat([y, y])
        y[0] = 0.0
        return z[:3] + y

    def gathered(x: Any) -> Any:
        y = x * 1.0
        z = engine.gather(y, engine.to_tensor([0, 0, 1]))
        y[0] = 0.0
        return z + y.astype("float32")

    expected = {
        rows: [[6, 6], [0, 0], [0, 0]],
        columns: [[2, 0], [2, 0], [2, 0]],
        joined: [[1, 1], [2, 2], [2, 2]],
        gathered: [[2, 2], [2, 2], [1, 1]],
    }
    for function, want in expected.items():
        x = engine.to_tensor(np.arange(6, dtype="float32").reshape(3, 2), stop_gradient=False)
        function(x).sum().backward()
        assert x.grad.tolist() == want, function.__name__


def test_a_leaf_that_is_frozen_after_use_still_gets_its_gradient() -> None:
    """As in Paddle: recorded operators stay recorded, and freezing a leaf for a while loses nothing."""
    x = _leaf(1.0, 2.0)
    loss = (x * x).sum()
    x.stop_gradient = True
    frozen = x * 5.0
    assert frozen.stop_gradient
    loss.backward()
    assert x.grad.tolist() == [2.0, 4.0]
    x.stop_gradient = False
    (x * 3.0).sum().backward()
    assert x.grad.tolist() == [5.0, 7.0]
    x.stop_gradient = True
    x.clear_gradient()
    assert x.grad.tolist() == [0.0, 0.0]
    x.grad = None
    assert x.grad is None
