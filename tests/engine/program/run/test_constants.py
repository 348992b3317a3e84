"""Constants that a plan computes once: which, and that no caller can change them for later calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import engine as paddle
from engine.core.values.spec import Spec
from engine.ops.training.parameter_updates import assign_into
from engine.program.build.builder import building, variable
from engine.program.build.control import while_loop
from engine.program.graph.liveness import with_sub_blocks
from engine.program.graph.program import Program
from engine.program.run.plan import Plan


def planned(function: Callable[[Any], Any]) -> Plan:
    program = Program()
    x = variable(program, "x", Spec((3,), "float32"))
    with building(program):
        made = function(x)
    results = made if isinstance(made, tuple) else (made,)
    return Plan(program, program.global_block().ops, [x], results, {"x": Spec((3,), "float32")})


def constants(plan: Plan) -> list[str]:
    """The operators that are run once."""
    everything = with_sub_blocks(plan.ops)
    return [o.opdef.name for o in everything if o.outputs and id(o.outputs[0]) in plan.constants]


def results(plan: Plan) -> list[Any]:
    """The results of two calls, the first one's overwritten in between."""
    first = plan([np.ones(3, "float32")])
    copies = [np.array(a) for a in first]
    for array in first:
        array[...] = 77
    second = plan([np.ones(3, "float32")])
    for one, other in zip(copies, second, strict=True):
        np.testing.assert_array_equal(one, other)
    return copies


def test_a_constant_is_computed_with_the_plan() -> None:
    plan = planned(lambda x: x * paddle.full([3], 2.0) + paddle.full([3], 1.0))
    assert constants(plan) == ["fill_constant", "fill_constant"]
    np.testing.assert_array_equal(results(plan)[0], np.full(3, 3.0))


def test_ones_in_a_known_shape_are_computed_with_the_plan() -> None:
    plan = planned(lambda x: paddle.ones_like(x) + x)
    assert constants(plan) == ["fill_any_like"]
    np.testing.assert_array_equal(results(plan)[0], np.full(3, 2.0))


def test_fetched_constants_and_views_of_them_are_copies() -> None:
    def function(x: Any) -> Any:
        made = paddle.full([4], 2.0)
        return made, made.reshape([2, 2]), made + 1.0

    plan = planned(function)
    assert constants(plan) == ["fill_constant"]
    assert [a.shape for a in results(plan)] == [(4,), (2, 2), (4,)]


def test_random_numbers_and_large_arrays_are_computed_by_every_call() -> None:
    plan = planned(lambda x: (paddle.rand([3]), paddle.full([2000], 1.0)))
    assert not constants(plan)
    one, other = (plan([np.ones(3, "float32")])[0] for _ in range(2))
    assert not np.array_equal(one, other)


def test_values_written_in_place_or_starting_a_loop_are_not_constants() -> None:
    def written(x: Any) -> Any:
        made = paddle.full([3], 2.0)
        flat = made.reshape([3, 1])
        assign_into(flat, paddle.reshape(x, [3, 1]))
        return made + 1.0

    assert not constants(planned(written))

    def looped(x: Any) -> Any:
        start = paddle.zeros([3])
        return while_loop(lambda v: v.sum() < 6.0, lambda v: [v + x], [start])[0]

    plan = planned(looped)
    np.testing.assert_array_equal(results(plan)[0], np.full(3, 2.0))


def test_constants_in_a_loop_are_computed_once() -> None:
    def looped(x: Any) -> Any:
        return while_loop(lambda v: v.sum() < 6.0, lambda v: [v + paddle.full([3], 1.0)], [x * 0.0])[0]

    plan = planned(looped)
    assert "fill_constant" in constants(plan)
    np.testing.assert_array_equal(results(plan)[0], np.full(3, 2.0))
