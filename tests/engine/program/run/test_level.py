"""The switch of the passes: operators that run with them and without, and Executors that use them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import static
from engine.core.errors import EngineError
from engine.program.graph.program import Program
from engine.program.passes import level
from engine.program.run import prepared


@pytest.fixture
def static_mode() -> Iterator[None]:
    paddle.enable_static()
    yield
    paddle.disable_static()


def network() -> Any:
    nn = paddle.nn
    paddle.seed(3)
    return nn.Sequential(
        nn.Conv2D(1, 3, 3),
        nn.ReLU(),
        nn.MaxPool2D(2, stride=2),
        nn.Dropout(0.3),
        nn.Flatten(),
        nn.Linear(27, 5),
        nn.ReLU(),
    )


IMAGES = np.random.default_rng(0).standard_normal((4, 1, 8, 8)).astype("float32")


def stepped(function: Callable[[Any], Any], net: Any) -> list[Any]:
    """The result of a call and the gradients of all parameters."""
    net.clear_gradients()
    paddle.seed(8)
    out = function(paddle.to_tensor(IMAGES))
    out.square().sum().backward()
    return [out.numpy(), *(p.grad.numpy() for p in net.parameters())]


def types(runner: Any) -> list[str]:
    return [o.opdef.name for o in runner.forward_ops]


def test_without_passes_a_converted_function_gives_the_bits_of_eager_mode() -> None:
    net = network()
    expected = stepped(net, net)
    converted = paddle.jit.to_static(net.forward)
    with level.guard(0):
        for one, other in zip(stepped(converted, net), expected, strict=True):
            np.testing.assert_array_equal(one, other)
        assert "conv2d" in types(converted.concrete_program.runner)


def test_the_level_holds_for_calls_and_a_function_keeps_a_program_for_each() -> None:
    net = network()
    converted = paddle.jit.to_static(net.forward)
    with_passes = stepped(converted, net)
    assert "conv2d_fusion" in types(converted.program_cache[0].runner)
    with level.guard(0):
        without = stepped(converted, net)
    assert "conv2d_fusion" not in types(converted.program_cache[1].runner)
    stepped(converted, net)
    assert len(converted.program_cache) == 2
    for one, other in zip(with_passes, without, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_a_guard_holds_for_its_thread_and_a_setting_for_the_process() -> None:
    seen: list[int] = []

    def look() -> None:
        thread = threading.Thread(target=lambda: seen.append(level.get()))
        thread.start()
        thread.join()

    with level.guard(0):
        look()
    before = level.set(0)
    try:
        look()
    finally:
        level.set(before)
    assert seen == [1, 0]


# -- Executors ---------------------------------------------------------------------------------------------


def operators_run(program: Program) -> list[str]:
    (compiled,) = program.plans.values()
    return [o.opdef.name for o in compiled.plan.ops]


def test_prediction_is_optimized_and_fetched_values_are_preserved(static_mode: None) -> None:
    main, startup = static.Program(), static.Program()
    main.random_seed = startup.random_seed = 4
    with static.program_guard(main, startup):
        x = static.data("x", [None, 1, 8, 8], "float32")
        convolved = paddle.nn.Conv2D(1, 3, 3)(x)
        out = paddle.nn.functional.relu(convolved)
        twice = paddle.exp(out) + paddle.exp(out)
        noise = paddle.rand([2])
    run = static.Executor()
    run.run(startup)
    text, found = str(main), {}
    for passes in (0, 1):
        with level.guard(passes):
            main.changed()  # its plans are compiled again
            paddle.seed(4)
            found[passes] = run.run(main, {"x": IMAGES}, [twice, noise])
            names = operators_run(main)
            assert ("conv2d_fusion" in names) is bool(passes)
            assert names.count("exp") == 2 - passes
            found[passes] += run.run(main, {"x": IMAGES}, [noise])  # the generator continues
    for one, other in zip(found[0], found[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    np.testing.assert_array_equal(found[0][1], found[1][1])
    assert not np.array_equal(found[1][1], found[1][2])
    assert str(main) == text
    main.plans.clear()
    middle, last = run.run(main, {"x": IMAGES}, [convolved.name, out])
    assert "conv2d_fusion" in operators_run(main)
    np.testing.assert_array_equal(np.maximum(middle, 0), last)
    assert middle.min() < 0


def test_a_program_with_gradients_runs_as_it_is(static_mode: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise AssertionError("nothing is to be gained")

    monkeypatch.setattr(prepared, "optimize", refused)
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 2], "float32")
        loss = paddle.nn.Linear(2, 2)(x).mean()
        paddle.optimizer.SGD(0.1).minimize(loss)
    run = static.Executor()
    run.run(startup)
    first, second = (float(run.run(main, {"x": np.ones((3, 2), "float32")}, [loss])[0]) for _ in range(2))
    assert second < first


def test_values_that_change_between_reads_are_read_again(static_mode: None) -> None:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        block = main.global_block()
        x = static.data("x", [2], "float32")
        state = static.create_global_var([2], 1.0, "float32", persistable=True, name="state")
        total = paddle.exp(state)
        again = block.create_var(name="again", shape=[2], dtype="float32", stop_gradient=True)
        for value in (2.0, 3.0):
            attrs = {"shape": [2], "value": value, "dtype": "float32"}
            block.append_op("fill_constant", {}, {"Out": [again]}, attrs)
            total = total + paddle.square(again)
        block.append_op("scale", {"X": [x]}, {"Out": [state]}, {"scale": 2.0})
        total = total + paddle.exp(state)
    run = static.Executor()
    run.run(startup)
    feed = np.array([1.0, 0.5], "float32")
    for before in (np.ones(2), feed * 2):
        expected = np.exp(before) + 4 + 9 + np.exp(feed * 2)
        np.testing.assert_allclose(run.run(main, {"x": feed}, [total])[0], expected, rtol=1e-6)
    np.testing.assert_array_equal(static.global_scope().find_var("state").get_tensor(), feed * 2)


def test_an_error_in_a_fused_operator_names_the_line_of_the_convolution(static_mode: None) -> None:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 1, None, None], "float32")
        weight = static.create_parameter([3, 1, 3, 3], "float32")
        bias = static.create_parameter([3], "float32", is_bias=True)
        out = paddle.nn.functional.conv2d(x, weight, bias)  # here
    run = static.Executor()
    run.run(startup)
    with pytest.raises(EngineError) as caught:
        run.run(main, {"x": np.ones((1, 1, 2, 2), "float32")}, [out])
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    line = next(n for n, text in enumerate(lines, 1) if text.endswith("  # here"))
    assert f"{__file__}:{line}: " in str(caught.value)
