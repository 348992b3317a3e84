"""Plans are bounded however many shapes a Program meets, and they are freed with it."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.containers import lru
from engine.program.run.prepared import Compiled
from engine.static import Program, Scope, program_guard, scope_guard

SHAPES = 1_000


@pytest.fixture
def sixteen_plans() -> Any:
    before = lru.set_capacity("plans", 16)
    yield 16
    lru.set_capacity("plans", before)


@pytest.fixture
def static_mode() -> Any:
    paddle.enable_static()
    yield paddle.static
    paddle.disable_static()


def doubling() -> tuple[Program, Any]:
    program = Program()
    with program_guard(program, Program()):
        x = paddle.static.data("x", [None])
        y = paddle.tanh(x)
    return program, y


def tanh_of_any_size() -> Any:
    spec = paddle.static.InputSpec([None], "float32")
    return paddle.jit.to_static(lambda x: paddle.tanh(x), input_spec=[spec])


@pytest.mark.timeout(300)
def test_an_executor_keeps_the_plans_of_the_last_shapes(static_mode: Any, sixteen_plans: int) -> None:
    program, y = doubling()
    exe = static_mode.Executor()
    with scope_guard(Scope()):
        for size in range(1, SHAPES + 1):
            exe.run(program, feed={"x": np.zeros(size, "float32")}, fetch_list=[y])
    assert len(program.plans) == sixteen_plans
    assert len(program.calls) == 1
    assert [shapes for _, shapes in program.plans] == [((n,),) for n in range(SHAPES - 15, SHAPES + 1)]


@pytest.mark.timeout(300)
def test_a_converted_function_keeps_the_plans_of_the_last_shapes(sixteen_plans: int) -> None:
    function = paddle.jit.to_static(
        lambda x: paddle.tanh(x), input_spec=[paddle.static.InputSpec([None], "float32")]
    )
    for size in range(1, SHAPES + 1):
        function(paddle.to_tensor(np.zeros(size, "float32")))
    (concrete,) = function.program_cache
    assert len(concrete.runner._inference) == sixteen_plans
    for size in range(1, 40):
        x = paddle.to_tensor(np.zeros(size, "float32"), stop_gradient=False)
        function(x).sum().backward()
    assert len(concrete.runner._training) == sixteen_plans


def test_a_function_keeps_the_programs_of_the_last_kinds_of_call() -> None:
    before = lru.set_capacity("programs", 4)
    try:
        function = paddle.jit.to_static(lambda x: x * 2)
        freed = []
        for size in range(1, 13):
            function(paddle.to_tensor(np.zeros(size, "float32")))
            freed.append(weakref.ref(function.program_cache.last()[1][0].main_program))
        gc.collect()
        assert len(function.program_cache) == 4
        assert [ref() is None for ref in freed] == [True] * 8 + [False] * 4
    finally:
        lru.set_capacity("programs", before)


def test_a_function_keeps_the_programs_of_the_last_states_of_its_parameters() -> None:
    layers = [paddle.nn.Linear(1, 1) for _ in range(4)]
    parameters = [layer.weight for layer in layers]

    @paddle.jit.to_static
    def function(x: Any) -> Any:
        for weight in parameters:
            x = paddle.matmul(x, weight)
        return x

    x = paddle.to_tensor(np.ones((1, 1), "float32"))
    for state in range(16):
        for place, weight in enumerate(parameters):
            weight.stop_gradient = bool(state >> place & 1)
        function(x)
    assert len(function.program_cache) == 8


def test_plans_of_a_training_loop_are_not_dropped(sixteen_plans: int) -> None:
    """The shape of every other step stays, whatever the others are."""
    function = paddle.jit.to_static(
        lambda x: paddle.tanh(x), input_spec=[paddle.static.InputSpec([None], "float32")]
    )
    often = paddle.to_tensor(np.zeros(3, "float32"))
    function(often)
    (concrete,) = function.program_cache
    first = concrete.runner._inference.values()[0]
    for size in range(4, 60):
        function(paddle.to_tensor(np.zeros(size, "float32")))
        function(often)
    assert any(plan is first for plan in concrete.runner._inference.values())


def test_a_program_is_freed_with_its_plans(static_mode: Any) -> None:
    program, y = doubling()
    exe = static_mode.Executor()
    exe.run(program, feed={"x": np.zeros(3, "float32")}, fetch_list=[y])
    (compiled,) = program.plans.values()
    assert isinstance(compiled, Compiled)
    plan = weakref.ref(compiled.plan)
    freed = weakref.ref(program)
    del program, y, compiled
    gc.collect()
    assert freed() is None
    assert plan() is None


def test_a_program_that_changes_drops_its_plans_at_once(static_mode: Any) -> None:
    program, y = doubling()
    exe = static_mode.Executor()
    exe.run(program, feed={"x": np.zeros(3, "float32")}, fetch_list=[y])
    plan = weakref.ref(program.plans.values()[0].plan)
    with program_guard(program, Program()):
        paddle.tanh(y)
    gc.collect()
    assert (len(program.plans), len(program.calls), plan()) == (0, 0, None)


def test_a_converted_function_is_freed_with_its_programs() -> None:
    class Net(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.fc = paddle.nn.Linear(2, 2)

        @paddle.jit.to_static
        def forward(self, x: Any) -> Any:
            return self.fc(x)

    net = Net()
    x = paddle.to_tensor(np.ones((1, 2), "float32"))
    net(x).sum().backward()
    concrete = net.forward.program_cache[0]
    refs = [
        weakref.ref(concrete.main_program),
        weakref.ref(concrete.runner),
        weakref.ref(concrete.runner._training.values()[0].backward),
        weakref.ref(net),
    ]
    del net, concrete
    gc.collect()
    assert [ref() for ref in refs] == [None] * 4
