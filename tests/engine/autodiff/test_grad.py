"""backward() and grad(): sums over paths, hooks, freed graphs, orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine.core.errors import ArgumentError, GradientError, ShapeError
from engine.core.operators import traits
from engine.core.strictness import LeniencyWarning


def _leaf(*values: float) -> Any:
    return engine.to_tensor(np.array(values, "float64"), stop_gradient=False)


def test_paths_add_up() -> None:
    x = _leaf(3.0)
    a = x * x
    b = a * x
    (a + b + a * b).sum().backward()  # x^2 + x^3 + x^5
    assert x.grad.item() == 2 * 3 + 3 * 9 + 5 * 81


def test_gradients_accumulate_over_calls() -> None:
    x = _leaf(2.0)
    (x * x).backward()
    (x * x).backward()
    assert x.grad.item() == 8.0
    x.clear_gradient()
    assert x.grad.item() == 0.0
    x.clear_gradient(False)
    assert x.grad is None


def test_an_input_used_twice_by_one_operator() -> None:
    x = _leaf(3.0)
    (x * x).backward()
    assert x.grad.item() == 6.0
    y = _leaf(1.0, 2.0)
    engine.concat([y, y * 2.0, y]).sum().backward()
    assert y.grad.tolist() == [4.0, 4.0]


def test_branches_without_gradient_do_not_block_the_walk() -> None:
    x = _leaf(2.0)
    used, unused = engine.split(engine.concat([x * x, x * 5.0]), 2)
    used.backward()
    assert x.grad.item() == 4.0
    del unused
    top, _ = engine.topk(x * 3.0, 1)
    x.clear_gradient(False)
    top.backward()
    assert x.grad.item() == 3.0


def test_broadcasting_is_undone() -> None:
    x, b, s = engine.ones([2, 3]), _leaf(1.0, 2.0, 3.0), _leaf()
    s = engine.to_tensor(np.array(2.0), stop_gradient=False)
    c = engine.to_tensor(np.ones((2, 1)), stop_gradient=False)
    ((x.astype("float64") + b) * c * s).sum().backward()
    assert b.grad.tolist() == [4.0, 4.0, 4.0]
    assert c.grad.tolist() == [[18.0], [18.0]]
    assert (s.grad.shape, s.grad.item()) == ([], 18.0)


def test_the_same_gradient_array_is_not_shared_between_leaves() -> None:
    x, y = _leaf(1.0), _leaf(2.0)
    (x + y).backward()
    x.grad.set_value(np.array([9.0]))
    assert y.grad.tolist() == [1.0]
    start = engine.to_tensor(np.array([1.0]))
    z = _leaf(1.0)
    z.backward(start)
    z.grad.set_value(np.array([5.0]))
    assert start.tolist() == [1.0]
    w = _leaf(1.0)
    w.reshape([1, 1]).backward(start.reshape([1, 1]))  # the gradient comes back as a view of the given one
    w.grad.set_value(np.array([5.0]))
    assert start.tolist() == [1.0]


def test_backward_through_a_freed_graph_raises() -> None:
    x = _leaf(1.0)
    y = engine.exp(x * 2.0)
    y.backward()
    with pytest.raises(
        GradientError, match=r"the graph of exp was freed by an earlier backward.*retain_graph=True"
    ) as e:
        y.backward()
    assert "y = engine.exp(x * 2.0)" in str(e.value)


def test_backward_through_a_freed_shared_part_raises() -> None:
    x = _leaf(1.0)
    shared = engine.exp(x)
    first, second = shared * 2.0, shared * 3.0
    first.backward()
    with pytest.raises(GradientError, match="the graph of exp was freed"):
        second.backward()


def test_retained_graphs_walk_again() -> None:
    x = _leaf(1.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 4.0


def test_starting_gradients() -> None:
    x = _leaf(1.0, 2.0)
    (x * x).backward(engine.to_tensor(np.array([1.0, 10.0])))
    assert x.grad.tolist() == [2.0, 40.0]
    with pytest.raises(ShapeError, match=r"start from has shape \[3\], its tensor \[2\]"):
        (x * x).backward(engine.to_tensor(np.ones(3)))


def test_nothing_was_recorded() -> None:
    """Paddle passes over it in silence."""
    for call in (lambda: engine.ones([2]).backward(), lambda: engine.ones([2]).retain_grads()):
        with pytest.warns(LeniencyWarning, match=r"shape \[2\] has stop_gradient=True") as seen:
            call()
        assert seen[0].filename == __file__
        with engine.strict(), pytest.raises(GradientError, match=r"shape \[2\] has stop_gradient=True"):
            call()


# -- grad() ------------------------------------------------------------------------------------------------


def test_grad_touches_no_leaf() -> None:
    x, w = _leaf(2.0), _leaf(3.0)
    (slope,) = engine.grad(x * w, x)
    assert slope.item() == 3.0
    assert slope.stop_gradient
    assert x.grad is None
    assert w.grad is None


def test_grad_of_values_in_between() -> None:
    x = _leaf(2.0)
    h = x * x
    y = h * h
    to_h, to_x, to_y = engine.grad(y, [h, x, y])
    assert (to_h.item(), to_x.item(), to_y.item()) == (8.0, 32.0, 1.0)


def test_grad_of_several_outputs() -> None:
    x = _leaf(2.0)
    a, b = x * x, x * 3.0
    (slope,) = engine.grad(
        [a, b], [x], [engine.to_tensor(np.array([1.0])), engine.to_tensor(np.array([10.0]))]
    )
    assert slope.item() == 4.0 + 30.0
    with pytest.raises(ArgumentError, match="2 tensors but 1 gradients"):
        engine.grad([x * x, x * 3.0], [x], [engine.to_tensor(np.array([1.0]))])


def test_unused_inputs() -> None:
    x, w = _leaf(2.0), _leaf(3.0)
    with pytest.raises(GradientError, match=r"inputs\[1\] of shape \[1\]; pass allow_unused=True"):
        engine.grad(x * x, [x, w])
    slope, nothing = engine.grad(x * x, [x, w], allow_unused=True)
    assert slope.item() == 4.0
    assert nothing is None
    with pytest.raises(GradientError, match=r"inputs\[0\] has stop_gradient=True"):
        engine.grad(x * x, engine.ones([1]))


def test_no_grad_vars_are_constants() -> None:
    x = _leaf(2.0)
    h = x * x
    (slope,) = engine.grad(h * x, x, no_grad_vars=[h])
    assert slope.item() == 4.0  # h counts as a number: d(4 x)/dx


@pytest.mark.parametrize(
    ("function", "orders"),
    [
        (lambda x: x * x * x * x, [32.0, 48.0, 48.0]),
        (engine.exp, [np.exp(2.0)] * 3),
        (engine.sin, [np.cos(2.0), -np.sin(2.0), -np.cos(2.0)]),
        (lambda x: 1.0 / x, [-1 / 4, 2 / 8, -6 / 16]),
        (engine.log, [1 / 2, -1 / 4, 2 / 8]),
        (lambda x: x**3.0, [12.0, 12.0, 6.0]),
    ],
)
def test_orders_one_to_three(function: Any, orders: list[float]) -> None:
    x = _leaf(2.0)
    value = function(x)
    for order in orders:
        (value,) = engine.grad(value, x, create_graph=True)
        assert value.item() == pytest.approx(order, rel=1e-12)


def test_third_order_of_the_hyperbolic_tangent() -> None:
    x = _leaf(0.3)
    t = np.tanh(0.3)
    value = engine.tanh(x)
    for order in (1 - t**2, -2 * t * (1 - t**2), (1 - t**2) * (6 * t**2 - 2)):
        (value,) = engine.grad(value, x, create_graph=True)
        assert value.item() == pytest.approx(order, rel=1e-12)


def test_backward_through_a_gradient() -> None:
    """A penalty on the gradient, as in WGAN-GP."""
    x, w = _leaf(1.0, 2.0), _leaf(3.0, -1.0)
    (slope,) = engine.grad((x * w * w).sum(), x, create_graph=True)
    (slope * slope).sum().backward()
    np.testing.assert_allclose(w.grad.tolist(), [4 * 27.0, -4 * 1.0])


def test_second_derivatives_of_a_first_order_operator_raise() -> None:
    from engine.core.operators.infer import same_as_x
    from engine.core.operators.opdef import OPS, op

    @traits.order(1)
    @op("t_first_order", infer=same_as_x)
    def once(xp: Any, x: Any) -> Any:
        return x * 2

    try:
        once.grad(x=lambda g: g * 2.0)
        x = _leaf(1.0)
        assert engine.grad(once(x), x)[0].item() == 2.0
        with pytest.raises(GradientError, match="t_first_order: has gradients of order 1 only"):
            engine.grad(once(x), x, create_graph=True)
    finally:
        del OPS["t_first_order"]


# -- hooks and retained gradients --------------------------------------------------------------------------


def test_hooks_see_and_replace_gradients() -> None:
    seen: list[float] = []
    x = _leaf(2.0)
    h = x * 3.0
    h.register_hook(lambda g: seen.append(g.item()))
    h.register_hook(lambda g: g * 10.0)
    x.register_hook(lambda g: g + 1.0)
    (h * h).backward()
    assert seen == [12.0]
    assert x.grad.item() == 12.0 * 10.0 * 3.0 + 1.0


def test_hooks_see_the_whole_gradient_once() -> None:
    seen: list[float] = []
    x = _leaf(2.0)
    h = x * 1.0
    h.register_hook(lambda g: seen.append(g.item()))
    x.register_hook(lambda g: seen.append(g.item()))
    (h * 2.0 + h * 3.0).backward()
    assert seen == [5.0, 5.0]
    y = _leaf(1.0)
    y.register_hook(lambda g: seen.append(g.item()))
    (y * 2.0 + y * 4.0).backward()
    assert seen[2:] == [6.0]


def test_removed_hooks_are_silent() -> None:
    seen: list[float] = []
    x = _leaf(2.0)
    handle = x.register_hook(lambda g: seen.append(g.item()))
    assert handle.remove()
    assert not handle.remove()
    (x * x).backward()
    assert seen == []
    with pytest.raises(GradientError, match="register_hook"):
        engine.ones([1]).register_hook(lambda g: g)


def test_retained_gradients() -> None:
    x = _leaf(2.0)
    h = x * 3.0
    k = h * h
    h.retain_grads()
    k.sum().backward()
    assert h.grad.item() == 12.0
    assert k.grad is None
    assert x.grad.item() == 36.0
    h.clear_gradient()
    assert h.grad is None or h.grad.item() == 0.0


def test_retained_gradients_of_several_outputs() -> None:
    x = engine.to_tensor(np.arange(4.0), stop_gradient=False)
    first, second = engine.split(x, 2)
    second.retain_grads()
    (first * 2.0 + second * 5.0).sum().backward()
    assert second.grad.tolist() == [5.0, 5.0]
    assert first.grad is None
    assert x.grad.tolist() == [2.0, 2.0, 5.0, 5.0]


def test_mixed_dtypes_keep_each_leafs_dtype() -> None:
    x = engine.to_tensor(np.ones(2, "float32"), stop_gradient=False)
    y = engine.to_tensor(np.ones(2, "float64"), stop_gradient=False)
    (x.astype("float64") * y).sum().backward()
    assert (x.grad.dtype, y.grad.dtype) == (engine.float32, engine.float64)


def test_the_inference_of_gradients_survives_an_error_in_a_hook() -> None:
    x = _leaf(1.0)

    def fail(gradient: Any) -> None:
        raise KeyError("from the hook")

    handle = x.register_hook(fail)
    with pytest.raises(KeyError, match="from the hook"):
        (x * x).backward()
    assert engine.is_grad_enabled()
    handle.remove()
    (x * x).backward()
    assert x.grad.item() == 2.0


def test_grad_computes_only_paths_to_its_inputs() -> None:
    calls = []

    class Watched(engine.autograd.PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            calls.append(1)
            return g * 2

    x, w = engine.ones([2]), engine.ones([2])
    x.stop_gradient = w.stop_gradient = False
    aside = Watched.apply(w)
    y = (x * aside).sum()
    (found,) = engine.grad(y, x, retain_graph=True)
    assert calls == []
    assert found.tolist() == [2.0, 2.0]
    (found,) = engine.grad(y, aside)
    assert calls == []
    aside.sum().backward()  # paths without an input were not freed
    assert calls == [1]
    assert w.grad.tolist() == [2.0, 2.0]


def test_grad_of_an_intermediate_with_a_freed_graph() -> None:
    x = engine.ones([2])
    x.stop_gradient = False
    h = x.exp()
    h.sum().backward()
    y = (h * h).sum()
    (found,) = engine.grad(y, h)
    np.testing.assert_allclose(found.numpy(), 2 * h.numpy())
    with pytest.raises(GradientError, match="freed"):
        engine.grad((h * 3).sum(), x)
