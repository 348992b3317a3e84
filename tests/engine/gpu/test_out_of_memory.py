"""A GPU without memory: unused blocks are freed and the request is repeated, then one line names the largest
holders."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import DeviceMemoryError
from engine.training.problem import describe_problem
from tests.engine.training.conftest import Bench

MIB = 1 << 20


@pytest.fixture
def weights(cupy: Any) -> Iterator[Any]:
    """A tensor of 1 MiB, on a GPU that has 2.5 MiB for new arrays."""
    pool = cupy.get_default_memory_pool()
    made = paddle.ones([512, 512])
    made.name = "weights"
    gc.collect()
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + 5 * MIB // 2)
    yield made
    pool.set_limit(size=0)


def test_unused_blocks_are_freed_before_it_is_given_up(weights: Any, cupy: Any) -> None:
    parts = [paddle.ones([384, 512]) for _ in range(3)]  # 768 KiB each
    del parts
    assert cupy.get_default_memory_pool().free_bytes() >= 2 * MIB
    assert float(paddle.ones([2 * MIB // 4]).sum()) == 2 * MIB // 4


def test_the_error_names_the_operator_its_line_sizes_and_the_largest_tensors(weights: Any) -> None:
    with pytest.raises(DeviceMemoryError) as raised:
        paddle.concat([weights, weights, weights])
    message = str(raised.value)
    assert message.startswith(f"{__file__}:")
    assert ": concat: gpu:0: no memory for 3.00 MiB: " in message
    assert "this process may hold" in message
    assert "the largest tensors are weights float32 [512, 512] 1.00 MiB" in message
    assert describe_problem(raised.value).do.startswith("take a smaller batch")
    assert weights.numpy().sum() == 512 * 512
    assert float((weights + 1.0).sum()) == 2.0 * 512 * 512  # the remaining memory can be used


def test_the_error_for_data_that_does_not_fit_has_its_line(weights: Any) -> None:
    with pytest.raises(
        DeviceMemoryError, match=r"test_out_of_memory\.py:\d+: to_tensor: gpu:0: no memory for 4\.00 MiB"
    ):
        paddle.to_tensor(np.ones((1024, 1024), "float32"))


def test_the_error_of_a_plan_names_its_largest_values(weights: Any) -> None:
    @paddle.jit.to_static
    def function(x: Any) -> Any:
        y = paddle.tanh(x)
        return paddle.concat([y, y, x])

    with pytest.raises(DeviceMemoryError) as raised:
        function(weights)
    message = str(raised.value)
    assert message.startswith(f"{__file__}:")
    assert ": concat: gpu:0: no memory for 3.00 MiB" in message
    assert "at its fullest the program holds concat of test_out_of_memory.py" in message
    assert describe_problem(raised.value).do.startswith("take a smaller batch")


def test_graphs_free_their_memory_first(weights: Any) -> None:
    @paddle.jit.to_static
    def twice(x: Any) -> Any:
        return x * 2.0

    for _ in range(4):
        twice(weights)
    assert [plan.graph for _, plan in twice.concrete_program.plans()] == ["graph"]
    assert float(paddle.ones([2 * MIB // 4]).sum()) == 2 * MIB // 4
    assert [plan.graph for _, plan in twice.concrete_program.plans()] == ["plain"]
    assert float(twice(weights)[0, 0]) == 2.0


def test_a_run_reports_it_and_retains_its_checkpoints(weights: Any, tmp_path: Path) -> None:
    bench = Bench()

    def fill(step: int) -> None:
        if step == 7:
            paddle.concat([weights, weights, weights])

    bench.stepper.before_step = fill
    with pytest.raises(DeviceMemoryError):
        bench.run(out=str(tmp_path), checkpoint_every=2).run()
    event = bench.one("failed")
    assert "concat: gpu:0: no memory for 3.00 MiB" in event["what"]
    assert event["do"].startswith("take a smaller batch")
    assert event["checkpoint"].endswith("step-00000006.h5")
    bench.stepper.before_step = lambda step: None
    assert bench.run(resume=True, out=str(tmp_path), checkpoint_every=2).run().outcome == "finished"
