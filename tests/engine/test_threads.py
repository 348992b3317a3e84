"""Eight threads that build, train and run models at once get what each gets alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core import names
from engine.jit.convert import convert as conversion
from engine.nn import functional
from engine.static import Program, Scope, program_guard, scope_guard
from tests.robust.at_once import at_once, switching_often

THREADS = 8
ACTIVATIONS = ["relu", "tanh", "sigmoid", "gelu"]
Meet = Callable[[], Any]


@pytest.fixture(autouse=True)
def _switching_often() -> Iterator[None]:
    with switching_often():
        yield


@pytest.fixture
def static_mode() -> Iterator[None]:
    paddle.enable_static()
    yield
    paddle.disable_static()


def compared(model: Callable[[int, Meet], Any]) -> None:
    """Each model gives the same among seven others, which all begin together, as alone in a thread."""
    alone = [at_once(lambda n=n: model(n, lambda: None))[0] for n in range(THREADS)]
    barrier = threading.Barrier(THREADS, timeout=50)
    together = at_once(*[lambda n=n: model(n, barrier.wait) for n in range(THREADS)])
    for expected, got in zip(alone, together, strict=True):
        assert got["text"] == expected["text"]
        np.testing.assert_array_equal(got["losses"], expected["losses"])
        np.testing.assert_array_equal(got["predicted"], expected["predicted"])
        assert len(set(expected["losses"])) == 3  # of one batch: the parameters changed in between


def batch(number: int, step: int) -> tuple[Any, Any]:
    """Inputs and labels of one step; their count varies, so that plans are made while others run."""
    rng = np.random.default_rng([number, step % 3])
    x = rng.standard_normal((4 + step % 3, 6)).astype("float32")
    return x, (x[:, :1] * 0.5 - x[:, 1:2]).astype("float32")


def optimizer(number: int, **more: Any) -> Any:
    kind = [paddle.optimizer.SGD, paddle.optimizer.Momentum, paddle.optimizer.Adam][number % 3]
    return kind(learning_rate=0.02, **more)


def static_model(number: int, meet: Meet) -> dict[str, Any]:
    main, startup = Program(), Program()
    main.random_seed = startup.random_seed = 40 + number
    with program_guard(main, startup), names.guard(), scope_guard(Scope()):
        meet()
        x = paddle.static.data("x", [None, 6])
        label = paddle.static.data("label", [None, 1])
        hidden = x
        for depth in range(1 + number % 4):
            with paddle.static.name_scope("hidden"), paddle.static.device_guard("cpu"):
                hidden = paddle.static.nn.fc(hidden, 5 + number, activation=ACTIVATIONS[number % 4])
            if depth == 1:
                hidden = functional.dropout(hidden, 0.1)
        meet()
        if number % 2:
            hidden = paddle.static.nn.cond(
                paddle.mean(hidden) > 0, lambda: hidden * 1.5, lambda: paddle.tanh(hidden)
            )
        predicted = paddle.static.nn.fc(hidden, 1)
        loss = paddle.mean((predicted - label) ** 2)
        test = main.clone(for_test=True)
        optimizer(number).minimize(loss)
        exe = paddle.static.Executor()
        exe.run(startup)
        losses = []
        for step in range(9):
            meet()
            values = dict(zip(("x", "label"), batch(number, step), strict=True))
            losses.append(float(exe.run(main, feed=values, fetch_list=[loss])[0]))
        values = dict(zip(("x", "label"), batch(number, 0), strict=True))
        (result,) = exe.run(test, feed=values, fetch_list=[predicted])
    return {"text": f"{main}{startup}{test}", "losses": losses[::3], "predicted": result}


class Net(paddle.nn.Layer):
    def __init__(self, number: int, meet: Meet) -> None:
        super().__init__()
        rng = np.random.default_rng(number)
        width = 5 + number

        def linear(rows: int, columns: int) -> Any:
            values = rng.standard_normal((rows, columns)) / rows
            weight = paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(values))
            return paddle.nn.Linear(rows, columns, weight_attr=weight)

        self.layers = paddle.nn.LayerList(
            [linear(6, width), *(linear(width, width) for _ in range(number % 3))]
        )
        self.norm = paddle.nn.BatchNorm1D(width)
        self.last = linear(width, 1)
        self.activation = getattr(functional, ACTIVATIONS[number % 4])
        self.meet = paddle.jit.not_to_static(lambda: meet() and None)

    @paddle.jit.to_static
    def forward(self, x: Any) -> Any:
        self.meet()  # while it is traced: all threads are in the middle of their Programs
        for layer in self.layers:
            x = self.activation(layer(x))
        x = self.norm(x)
        if paddle.mean(x) > 0.01:
            x = x * 1.5
        else:
            x = paddle.tanh(x)
        return self.last(x)


def converted_model(number: int, meet: Meet) -> dict[str, Any]:
    with names.guard():
        net = Net(number, meet)
    rule = optimizer(number, parameters=net.parameters())
    losses = []
    for step in range(9):
        x, label = (paddle.to_tensor(value) for value in batch(number, step))
        loss = paddle.mean((net(x) - label) ** 2)
        loss.backward()
        rule.step()
        rule.clear_grad()
        losses.append(float(loss))
    net.eval()
    with paddle.no_grad():
        predicted = net(paddle.to_tensor(batch(number, 0)[0])).numpy()
    texts = [str(concrete.main_program) for concrete in net.forward.program_cache]
    assert len(texts) == 4  # three shapes in training, one in inference
    return {"text": texts, "losses": losses[::3], "predicted": predicted}


@pytest.mark.usefixtures("static_mode")
def test_static_programs_are_built_trained_and_run() -> None:
    compared(static_model)


def test_converted_layers_are_traced_trained_and_run() -> None:
    compared(converted_model)


def test_eager_models_are_trained_while_others_record_nothing() -> None:
    def model(number: int, meet: Meet) -> Any:
        x = paddle.to_tensor([float(number + 1)], stop_gradient=False)
        for _ in range(30):
            meet()
            if number % 2:
                with paddle.no_grad():
                    meet()
                    assert (x * x).stop_gradient
            else:
                meet()
                (x * x).backward()
        return None if x.grad is None else x.grad.numpy().tolist()

    barrier = threading.Barrier(THREADS, timeout=50)
    found = at_once(*[lambda n=n: model(n, barrier.wait) for n in range(THREADS)])
    assert found == [None if n % 2 else [60.0 * (n + 1)] for n in range(THREADS)]


@pytest.mark.usefixtures("static_mode")
def test_one_program_is_compiled_once_for_all_threads() -> None:
    program = Program()
    with program_guard(program, Program()):
        x = paddle.static.data("x", [None, 3])
        y = paddle.tanh(x) * 2
    barrier = threading.Barrier(THREADS, timeout=50)

    def run(number: int) -> list[Any]:
        exe = paddle.static.Executor()
        found = []
        for size in range(1, 11):
            value = np.full((size, 3), number / 10, "float32")
            barrier.wait()
            found.append(exe.run(program, feed={"x": value}, fetch_list=[y])[0])
        return found

    results = at_once(*[lambda n=n: run(n) for n in range(THREADS)])
    assert (len(program.calls), len(program.plans)) == (1, 10)
    for number, found in enumerate(results):
        for size, value in enumerate(found, 1):
            expected = np.tanh(np.full((size, 3), number / 10, "float32")) * 2
            np.testing.assert_allclose(value, expected, rtol=1e-6)


def test_one_function_is_converted_and_traced_once_for_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    converted: list[str] = []
    real = conversion._convert
    monkeypatch.setattr(conversion, "_convert", lambda f: (converted.append(f.__name__), real(f))[1])

    def helper(x: Any) -> Any:
        if paddle.mean(x) > 0:
            x = x + 1
        return x

    class Shared(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.fc = paddle.nn.Linear(3, 3)
            self.norm = paddle.nn.BatchNorm1D(3)

        @paddle.jit.to_static
        def forward(self, x: Any) -> Any:
            return self.norm(helper(self.fc(x)))

        @paddle.jit.to_static
        def other(self, x: Any) -> Any:
            return helper(self.norm(x)) * 2

    net = Shared()
    net.eval()
    xs = [paddle.to_tensor(np.ones((size, 3), "float32")) for size in range(1, 5)]
    expected = [[net.norm(helper(net.fc(x))).numpy(), (helper(net.norm(x)) * 2).numpy()] for x in xs]
    barrier = threading.Barrier(THREADS, timeout=50)

    def run() -> Any:
        barrier.wait()
        methods = net.forward, net.other
        made = [[method(x).numpy() for method in methods] for x in xs]
        return methods, made

    results = at_once(*[run] * THREADS)
    assert sorted(converted) == ["forward", "helper", "other"]
    assert len({id(methods[0]) for methods, _ in results}) == 1
    assert (len(net.forward.program_cache), len(net.other.program_cache)) == (4, 4)
    for _, made in results:
        for got, wanted in zip(made, expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_two_functions_that_call_one_layer_are_traced_at_once() -> None:
    class Inner(paddle.nn.Layer):
        def forward(self, x: Any) -> Any:
            meet()
            return x * 3 if paddle.mean(x) > 0 else x

    inner = Inner()
    inner.register_forward_post_hook(lambda layer, inputs, output: output + 1)
    barrier = threading.Barrier(2, timeout=50)

    @paddle.jit.not_to_static
    def meet() -> None:
        if not paddle.in_dynamic_mode():
            barrier.wait()

    def times(factor: int) -> Any:
        function = paddle.jit.to_static(lambda x: inner(x) * factor)
        return function(paddle.ones([2])).numpy().tolist()

    assert at_once(lambda: times(1), lambda: times(10)) == [[4.0, 4.0], [40.0, 40.0]]
    assert "forward" not in vars(inner)
    assert inner(paddle.ones([2])).numpy().tolist() == [4.0, 4.0]
