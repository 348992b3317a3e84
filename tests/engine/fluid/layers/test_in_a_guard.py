"""Layers without a class of their own in a guard: what a Program of the same seed computes, and slopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.fluid import layers
from engine.fluid.dygraph import to_variable

RNG = np.random.default_rng(5)


def f(*shape: int) -> Any:
    return RNG.uniform(0.1, 1.0, shape).astype(np.float32)


def i(high: int, *shape: int) -> Any:
    return RNG.integers(0, high, shape)


XAVIER = fluid.ParamAttr(name="centers", initializer=fluid.initializer.Xavier())
SUMS = {"batch_size": 1e3, "batch_sum": 1.0, "batch_square": 2e3}
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "hsigmoid": (lambda x, y: layers.hsigmoid(x, y, num_classes=6), (f(3, 2), i(6, 3, 1))),
    "hsigmoid of a tree": (
        lambda x, y, table, code: layers.hsigmoid(
            x, y, 4, path_table=table, path_code=code, is_custom=True, bias_attr=False
        ),
        (f(3, 2), i(4, 3, 1), i(3, 3, 2), i(2, 3, 2)),
    ),
    "center_loss": (lambda x, y: layers.center_loss(x, y, 4, 0.5, XAVIER), (f(3, 2), i(4, 3, 1))),
    "deformable_conv": (
        lambda x, offset, mask: layers.deformable_conv(x, offset, mask, 2, 2, padding=1),
        (f(2, 3, 6, 6), f(2, 8, 7, 7), f(2, 4, 7, 7)),
    ),
    "data_norm": (lambda x: layers.data_norm(x, name="dn1", param_attr=SUMS, act="tanh"), (f(3, 4),)),
    "lstm": (lambda x, h, c: layers.lstm(x, h, c, 4, 5, 2), (f(4, 2, 3), f(2, 2, 5), f(2, 2, 5))),
}


def loss_of(found: Any) -> Any:
    found = found[0] if isinstance(found, (list, tuple)) else found
    return found, layers.reduce_mean(found)


@pytest.mark.parametrize("name", CALLS)
def test_a_guard_computes_what_a_program_of_the_same_seed_does(name: str, main: Any) -> None:
    call, arrays = CALLS[name]
    main.random_seed = main.startup.random_seed = 7
    given = [engine.static.data(f"x{n}", a.shape, a.dtype) for n, a in enumerate(arrays)]
    given[0].stop_gradient = False
    out, loss = loss_of(call(*given))
    gradients = [g for _, g in fluid.backward.append_backward(loss)]
    executor = fluid.Executor()
    executor.run(main.startup)
    feed = {f"x{n}": a for n, a in enumerate(arrays)}
    expected, *slopes = executor.run(main, feed, [out, *gradients])
    with fluid.dygraph.guard():
        fluid.default_startup_program().random_seed = fluid.default_main_program().random_seed = 7
        out, loss = loss_of(call(*map(to_variable, arrays)))
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-5, atol=1e-6)
        loss.backward()
        tracer = fluid.framework._dygraph_tracer()
        assert tracer is not None
        trained = [p for p in tracer.all_parameters() if p.grad is not None]  # those of data_norm have none
        assert len(trained) == len(slopes)
        for parameter, slope in zip(trained, slopes, strict=True):
            assert parameter.grad is not None
            np.testing.assert_allclose(parameter.grad.numpy(), slope, rtol=1e-4, atol=1e-6)


def test_centers_move_in_a_guard() -> None:
    with fluid.dygraph.guard():
        attr = fluid.ParamAttr(initializer=fluid.initializer.Constant(0.0))
        x = np.array([[2.0, 4.0], [4.0, 0.0]], np.float32)
        loss = layers.center_loss(to_variable(x), to_variable(np.array([[1], [1]])), 3, 0.5, attr)
        np.testing.assert_allclose(loss.numpy(), [[10.0], [8.0]])
        tracer = fluid.framework._dygraph_tracer()
        assert tracer is not None
        (centers,) = tracer.all_parameters()
        # Half of the sum of the differences, over one row more than there are: 0.5 * (6, 4) / 3.
        np.testing.assert_allclose(centers.numpy(), [[0, 0], [1, 2 / 3], [0, 0]], rtol=1e-6)


def test_a_python_function_computes_at_once_with_its_gradient() -> None:
    with fluid.dygraph.guard():
        x = to_variable(np.array([0.5, -1.0], np.float32))
        x.stop_gradient = False
        out = to_variable(np.zeros(1, np.float32))
        seen: list[Any] = []

        def slope(y: Any, g: Any) -> Any:
            seen.append(np.array(y))
            return np.array(g) * (1 - np.square(np.array(y)))

        found = layers.py_func(
            lambda value: np.tanh(np.array(value)), x, out, backward_func=slope, skip_vars_in_backward_input=x
        )
        np.testing.assert_allclose(found.numpy(), np.tanh([0.5, -1.0]), rtol=1e-6)
        np.testing.assert_allclose(out.numpy(), found.numpy())
        layers.reduce_sum(found * 3.0).backward()
        np.testing.assert_allclose(x.gradient(), 3 * (1 - np.tanh([0.5, -1.0]) ** 2), rtol=1e-5)
        assert len(seen) == 1


def test_a_value_is_printed_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with fluid.dygraph.guard():
        x = to_variable(np.array([1.5, 2.0], np.float32))
        found = layers.Print(x, message="here")
        assert found.numpy().tolist() == [1.5, 2.0]
        text = capsys.readouterr().out
    assert all(part in text for part in ("message: here", "shape: [2]", "data: [1.5 2]", x.name))


def test_a_counter_counts_calls_in_a_guard() -> None:
    for _ in range(2):
        with fluid.dygraph.guard():
            counts = [layers.autoincreased_step_counter(begin=3, step=2) for _ in range(3)]
            assert [c.numpy().tolist() for c in counts] == [[3], [5], [7]]
            assert counts[0].dtype == engine.int64
            assert layers.autoincreased_step_counter("other").numpy().tolist() == [1]


def test_filled_values_have_no_gradient() -> None:
    """As in 1.5 to 1.8, so that a loop may write into them."""
    with fluid.dygraph.guard():
        x = to_variable(f(2, 2))
        filled = [
            layers.fill_constant([2, 2], "float32", 1.0),
            layers.ones([2, 2], "float32"),
            layers.zeros([2, 2], "float32"),
            layers.zeros_like(x),
            layers.ones_like(x),
            layers.range(0.0, 4.0, 1.0, "float32"),
            layers.fill_constant_batch_size_like(x, [-1, 2], "float32", 3.0),
        ]
        assert all(v.stop_gradient for v in filled)
        layers.assign(np.full((2, 2), 5.0, np.float32), filled[0])
        assert filled[0].numpy().tolist() == [[5.0, 5.0], [5.0, 5.0]]
        assert not layers.relu(filled[1]).stop_gradient
