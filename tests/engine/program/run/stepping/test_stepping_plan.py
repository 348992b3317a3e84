"""Stepping plans: their results are those of plans, bit by bit, and each operator's values are seen."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, EngineError, LimitError, ProgramError, ShapeError
from engine.core.models.limits import model_limits
from engine.core.values.spec import Spec
from engine.nn import functional
from engine.program.run.stepping.plan import SteppingPlan
from tests.engine.program.run.stepping.functions import forward_of, moments_of_equal, with_gradients_of

X = np.float32([[-1.0, 0.0, 2.0], [0.5, 1.5, -2.5]])


def chain(x: Any) -> Any:
    return functional.relu(paddle.exp(x)) + x


def test_operators_in_order_with_their_values() -> None:
    moments = moments_of_equal(*forward_of(chain, X))
    assert [m.operator.opdef.name for m in moments] == ["exp", "relu", "elementwise_add"]
    assert [m.where for m in moments] == [((0, 0),), ((0, 1),), ((0, 2),)]
    ((name, given),) = moments[0].inputs
    assert name == "x0"
    assert given is X
    np.testing.assert_allclose(moments[0].outputs[0][1], np.exp(X), rtol=1e-6)
    assert moments[2].iterations == ()


def test_a_branch_steps() -> None:
    def branching(x: Any) -> Any:
        y = x * 2.0
        if y.sum() > 0.0:
            y = paddle.exp(y)
        else:
            y = paddle.tanh(y)
        return y.mean()

    for x, name in ((X + 5.0, "exp"), (X - 5.0, "tanh")):
        moments = moments_of_equal(*with_gradients_of(branching, x))
        inside, *_ = [m for m in moments if m.operator.opdef.name == name and len(m.where) == 2]
        (around,) = [m for m in moments if m.where == inside.where[:1]]
        assert around.operator.regions
        assert not [m for m in moments if m.operator.opdef.name in {"exp", "tanh"} - {name}]
        assert moments.index(inside) < moments.index(around)
        assert around.outputs[0][1] is inside.outputs[0][1]


def test_loops_number_their_iterations() -> None:
    def looping(x: Any) -> Any:
        n = paddle.zeros([1], "int32")
        while n < 3:
            m = paddle.zeros([1], "int32")
            while m < n:
                x = functional.dropout(paddle.tanh(x) * 1.5, 0.3)
                m += 1
            n += 1
        return x.sum()

    moments = moments_of_equal(*with_gradients_of(looping, X))
    inner = [m.iterations for m in moments if m.operator.opdef.name == "tanh" and len(m.where) == 3]
    assert inner[:3] == [(1, 0), (2, 0), (2, 1)]
    backward = [m.iterations for m in moments if m.operator.opdef.name == "dropout" and len(m.where) == 3]
    assert backward[:3] == [(1, 0), (2, 0), (2, 1)]
    assert backward[-1] == (1, 0)


def test_an_input_that_is_written_is_shown_as_it_was() -> None:
    paddle.seed(3)
    norm = paddle.nn.BatchNorm1D(3)
    stepping, plan, values = with_gradients_of(lambda x: (norm(x) ** 3).sum(), X)
    moments = moments_of_equal(stepping, plan, values)
    (moment,) = [m for m in moments if m.operator.opdef.name == "batch_norm"]
    before, after = dict(moment.inputs), dict(moment.outputs)
    mean = norm._mean.name
    assert not before[mean].any()
    np.testing.assert_allclose(after[mean], 0.1 * X.mean(0), rtol=1e-5)
    assert {name for name, _ in stepping.begin(values).changed} == {mean, norm._variance.name}


def test_a_changed_result_goes_on() -> None:
    stepping, _, values = forward_of(chain, X)
    run = stepping.begin(values)
    for moment in run:
        if moment.operator.opdef.name == "exp":
            name = moment.outputs[0][0]
            moment.replace(name, np.full((2, 3), -1.0, np.float32))
            np.testing.assert_array_equal(moment.outputs[0][1], -1.0)
    np.testing.assert_array_equal(run.results[0], X)


@pytest.mark.parametrize("new", [np.ones((3, 2), np.float32), np.ones((2, 3), np.float64)])
def test_another_shape_or_dtype_is_refused(new: Any) -> None:
    stepping, _, values = forward_of(chain, X)
    moment = next(stepping.begin(values))
    with pytest.raises(ArgumentError, match=r"\[2, 3\] and dtype float32.*got shape .* and dtype float"):
        moment.replace(moment.outputs[0][0], new)
    with pytest.raises(ArgumentError, match="'x0' is not one of its results"):
        moment.replace("x0", X)


def test_a_change_of_what_is_written_in_place() -> None:
    norm = paddle.nn.BatchNorm1D(3)
    stepping, _, values = forward_of(lambda x: norm(x), X)
    run = stepping.begin(values)
    for moment in run:
        if moment.operator.opdef.name == "batch_norm":
            moment.replace(norm._mean.name, np.float32([7.0, 8.0, 9.0]))
    assert dict(run.changed)[norm._mean.name].tolist() == [7.0, 8.0, 9.0]


def test_a_result_before_the_end_is_refused() -> None:
    stepping, _, values = forward_of(chain, X)
    run = stepping.begin(values)
    next(run)
    with pytest.raises(ProgramError, match="not come to its end"):
        _ = run.results
    assert len(run.finish()) == 1


def test_a_program_without_operators() -> None:
    stepping, _, values = forward_of(lambda x: x, X)
    run = stepping.begin(values)
    assert list(run) == []
    np.testing.assert_array_equal(run.results[0], X)


def test_an_operator_that_fails() -> None:
    def failing(x: Any, at: Any) -> Any:
        for _ in range(11):
            x = paddle.tanh(x)
        return paddle.gather(x, at) + 1.0

    stepping, _, values = forward_of(failing, X, np.int64([0, 7]))
    run = stepping.begin(values)
    seen: list[Any] = []
    with pytest.raises(EngineError, match=r"test_stepping_plan\.py:\d+: .*gather"):
        seen.extend(run)
    assert len(seen) == 11
    assert run.moment is not None
    assert run.moment.where == ((0, 10),)
    assert run.failed is not None
    assert run.failed.where == ((0, 11),)
    assert [name for name, _ in run.failed.inputs][1:] == ["x1"]
    assert run.failed.outputs == []


def test_shapes_that_an_operator_does_not_fit_stop_there() -> None:
    layer = paddle.nn.Linear(3, 2)

    class Adding(paddle.nn.Layer):
        def forward(self, x: Any, y: Any) -> Any:
            return x + y

    added = Adding()

    def adding(x: Any, y: Any) -> Any:
        return added(layer(paddle.exp(x)), y)

    concrete = paddle.jit.to_static(
        adding,
        input_spec=[paddle.static.InputSpec([-1, 3], "float32"), paddle.static.InputSpec([-1, 2], "float32")],
    ).concrete_program
    program = concrete.main_program
    inputs = [*concrete.inputs, *program.bound()]
    x, y = X, np.ones((3, 2), np.float32)
    feeds = {v.name: Spec(a.shape, "float32") for v, a in zip(inputs, (x, y), strict=False)}
    stepping = SteppingPlan(program, program.global_block().ops, inputs, concrete.outputs, feeds)
    run = stepping.begin([x, y, *[v.tensor.numpy() for v in program.bound()]])
    seen: list[Any] = []
    with pytest.raises(ShapeError, match=r"test_stepping_plan\.py:\d+: add: shapes .*broadcast") as e:
        seen.extend(run)
    assert e.value.__notes__ == ["in layer Adding"]
    assert seen[0].operator.opdef.name == "exp"
    assert run.failed is not None
    assert run.failed.inputs[1][1] is y


def foreign(function: Any, x: Any) -> tuple[SteppingPlan, list[Any]]:
    """The stepping plan of a Program that another installation wrote."""
    made, _, values = forward_of(function, x)
    program = made.program
    program.foreign = True
    return SteppingPlan(program, program.global_block().ops, made.inputs, made.outputs, {}), values


def test_a_program_of_others_keeps_its_limits() -> None:
    def looping(x: Any) -> Any:
        n = paddle.zeros([1], "int32")
        while n < 1000:
            x, n = x + 1.0, n + 1
        return x

    stepping, values = foreign(looping, X)
    with model_limits(steps=10), pytest.raises(LimitError, match="iterations"):
        stepping.begin(values).finish()


def test_the_memory_of_a_program_of_others_is_limited_at_the_operator() -> None:
    x = np.ones((64, 64), np.float32)
    stepping, values = foreign(lambda x: paddle.tile(paddle.exp(x), [200, 200]).sum(), x)
    with model_limits(memory=10**6):
        run = stepping.begin(values)
        assert next(run).operator.opdef.name == "exp"
        with pytest.raises(LimitError, match="memory"):
            run.finish()
    assert run.failed is not None
    assert run.failed.operator.opdef.name == "tile"


def test_the_time_between_operators_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    stepping, values = foreign(chain, X)
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with model_limits(seconds=1.0):
        run = stepping.begin(values)
        for _ in run:
            now[0] += 60.0
    assert len(run.results) == 1
    with model_limits(seconds=1.0):
        run = stepping.begin(values)
        next(run)
        slow = stepping._called[id(stepping.ops[1])]

        def kernel(*values: Any) -> Any:
            now[0] += 60.0
            return values[-1]

        monkeypatch.setitem(stepping._kernels._namespace, slow.name, kernel)
        with pytest.raises(LimitError, match="longer"):
            run.finish()
