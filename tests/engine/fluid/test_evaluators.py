"""``fluid.evaluator``: states in the Program that add up over runs, set to 0 by ``reset``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import ArgumentError, UnsupportedError


@pytest.fixture
def executor() -> Iterator[Any]:
    with (
        fluid.program_guard(fluid.Program(), fluid.Program()),
        fluid.scope_guard(fluid.Scope()),
        fluid.unique_name.guard(),
    ):
        engine.enable_static()
        yield fluid.Executor(fluid.CPUPlace())
    engine.disable_static()


def rows(*sequences: list[int]) -> Any:
    return fluid.create_lod_tensor(list(sequences), [[len(each) for each in sequences]], fluid.CPUPlace())


def tags() -> list[Any]:
    return [fluid.layers.data(name, shape=[1], dtype="int64", lod_level=1) for name in ("x", "y")]


def test_edit_distances_add_up_until_reset(executor: Any) -> None:
    made = fluid.evaluator.EditDistance(*tags(), ignored_tokens=[9])
    test_program = fluid.default_main_program().clone(for_test=True)
    executor.run(fluid.default_startup_program())
    made.reset(executor)
    # By hand: 0 of 2, 1 of 4 replaced; a 9 is ignored. The distances are divided by the lengths of y.
    first = {"x": rows([1, 2], [1, 2, 9, 3, 5]), "y": rows([1, 2], [1, 2, 3, 4])}
    total, wrong = executor.run(feed=first, fetch_list=made.metrics)
    assert (total.tolist(), wrong.tolist()) == ([0.25], [1])
    executor.run(test_program, feed={"x": rows([1], [2]), "y": rows([2], [2])})
    distance, error = made.eval(executor)
    assert (distance.tolist(), error.tolist(), distance.dtype) == ([1.25 / 4], [0.5], np.float32)
    made.reset(executor)
    with pytest.raises(ArgumentError, match="there are no sequences"):
        made.eval(executor)


def test_chunks_add_up(executor: Any) -> None:
    made = fluid.evaluator.ChunkEvaluator(*tags(), chunk_scheme="IOB", num_chunk_types=2)
    executor.run(fluid.default_startup_program())
    made.reset(executor)
    assert [value.tolist() for value in made.eval(executor)] == [[0.0], [0.0], [0.0]]
    # Tags 0 and 2 begin chunks, 1 and 3 continue them, 4 is none.
    batch = {"x": rows([0, 1, 4, 2]), "y": rows([0, 1, 4, 4])}
    for _ in range(2):
        precision, _, _ = executor.run(feed=batch, fetch_list=made.metrics)
    assert precision.tolist() == [0.5]
    found = [float(value[0]) for value in made.eval(executor)]
    assert found == pytest.approx([0.5, 1.0, 2 / 3])


def test_a_script_adds_its_own(executor: Any) -> None:
    class Sum(fluid.evaluator.Evaluator):
        def __init__(self, input: Any) -> None:
            super().__init__("sum")
            self.total = self._create_state(suffix="total", dtype="float32", shape=[1])
            fluid.layers.sums([self.total, fluid.layers.reduce_sum(input)], out=self.total)

    made = Sum(fluid.layers.data("x", shape=[2]))
    executor.run(fluid.default_startup_program())
    for _ in range(3):
        (total,) = executor.run(feed={"x": np.ones((1, 2), np.float32)}, fetch_list=[made.total])
    assert total.tolist() == [6.0]
    with pytest.raises(NotImplementedError, match=r"Sum\.eval"):
        made.eval(executor)


def test_one_within_a_loop_is_refused(executor: Any) -> None:
    x, y = tags()
    index, limit = (fluid.layers.fill_constant([1], "int64", value) for value in (0, 2))
    condition = fluid.layers.less_than(index, limit)
    with fluid.layers.While(condition).block():
        with pytest.raises(ValueError, match="You can only invoke Evaluator in root block"):
            fluid.evaluator.EditDistance(x, y)
        fluid.layers.increment(index, 1)
        fluid.layers.less_than(index, limit, cond=condition)


def test_boxes_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="DetectionMAP"):
        fluid.evaluator.DetectionMAP()
