"""Saved models in the debugger: own ones in this process, others in a child process with limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, CancelledError, UnreadyError
from engine.core.models.limits import ModelLimits
from engine.debugger import Above, Breakpoint, Debugger, GuardedDebugger, open_saved
from engine.debugger.stop import Stop
from engine.jit.input_spec import InputSpec
from tests.robust.untrusted_models import unsign


class Net(paddle.nn.Layer):
    """Divides by a mean of its input; loops as often as its input says."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = paddle.nn.Linear(4, 3)

    def forward(self, x: Any, count: Any) -> Any:
        y = self.linear(x) / x.mean()
        n = paddle.zeros([1], "int64")
        while n < count:
            y = y * 2.0
            n = n + 1
        return y


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    specs = [InputSpec([None, 4], "float32", "x"), InputSpec([1], "int64", "count")]
    paddle.jit.save(Net(), str(tmp_path / "net"), input_spec=specs)
    return str(tmp_path / "net")


@pytest.fixture
def foreign(prefix: str) -> str:
    """The same model where another installation wrote it."""
    return str(unsign(Path(prefix)))


def fed(mean: float, count: int = 2) -> list[np.ndarray]:
    return [np.full((2, 4), mean, np.float32), np.array([count])]


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_own_models_run_here(prefix: str, mean: float) -> None:
    debugger = open_saved(prefix, fed(mean))
    assert isinstance(debugger, Debugger)
    stop = debugger.until_nan()
    if mean:
        assert stop.reason == "finite"
    else:
        assert (stop.reason, stop.operator, stop.part) == ("not finite", "elementwise_div", "forward")
    assert [part.name for part in debugger.parts] == ["forward"]


def test_results_are_those_of_the_model(prefix: str) -> None:
    debugger = open_saved(prefix, fed(0.5))
    end = debugger.resume()
    assert end.reason == "end"
    wanted = paddle.jit.load(prefix)(*map(paddle.to_tensor, fed(0.5))).numpy()
    (result,) = [row["name"] for row in end.outputs if row["shape"] == [2, 3]]
    np.testing.assert_allclose(debugger.array(result), wanted, rtol=1e-6)
    assert debugger.next_batch().message == "there are no more batches"


def test_random_numbers_are_taken_without_inputs(prefix: str) -> None:
    debugger = open_saved(prefix)
    assert debugger.until_nan().reason == "finite"
    assert "random numbers" in debugger.notes[-1]
    assert debugger.view("x")["count"] == 16


def test_inputs_that_do_not_fit_are_refused(prefix: str) -> None:
    with pytest.raises(ArgumentError, match="got 1 inputs"):
        open_saved(prefix, fed(1.0)[:1])
    stop = open_saved(prefix, [np.zeros((2, 5), np.float32), np.array([1])]).resume()
    assert (stop.reason, stop.operator, stop.position) == ("failed", "matmul_v2", 0)
    assert "[2, 5]" in stop.message


def test_others_run_in_a_process_with_limits(foreign: str) -> None:
    with open_saved(foreign, fed(0.0)) as debugger:
        assert isinstance(debugger, GuardedDebugger)
        assert "limits" in debugger.notes[-1]
        debugger.add_breakpoint(Breakpoint("operator", operator="matmul_v2"))
        stop = debugger.resume()
        assert (stop.reason, stop.operator) == ("breakpoint", "matmul_v2")
        assert debugger.breakpoints[1].operator == "matmul_v2"
        stop = debugger.until_nan()
        assert (stop.reason, stop.operator) == ("not finite", "elementwise_div")
        assert debugger.step_back().operator != "elementwise_div"
        debugger.change("x", "fill", 1.0)
        assert debugger.until_nan().reason == "finite"
        assert debugger.changes[0]["name"] == "x"
        assert debugger.view("x", "rows", count=1)["values"] == [[1.0] * 4]
        assert {row["name"] for row in debugger.values()} > {"x", "count"}
        debugger.watch("x")
        debugger.conditions = [Above(0.5)]
        assert debugger.restart().watches[0]["maximum"] == 0.0
        with pytest.raises(ArgumentError, match="no such operator"):
            debugger.add_breakpoint(Breakpoint("operator", operator="nothing"))
        json.dumps([part.plain() for part in debugger.parts])


def test_an_endless_loop_ends_at_the_limit(foreign: str) -> None:
    with open_saved(foreign, fed(1.0, 10**9), limits=ModelLimits(steps=50)) as debugger:
        stop = debugger.resume()
        assert stop.reason == "failed"
        assert "run more often" in stop.message
        assert stop.position > 100
    with open_saved(foreign, fed(1.0, 10**9), limits=ModelLimits(seconds=0.5, steps=10**9)) as debugger:
        assert "runs longer" in debugger.resume().message


def test_a_child_that_was_ended_is_started_again(foreign: str) -> None:
    with open_saved(foreign, fed(1.0)) as debugger:
        debugger.add_breakpoint(Breakpoint("operator", operator="matmul_v2"))
        debugger.conditions = [Above(1e9)]
        debugger.watch("x")
        assert debugger.resume().position == 1
        debugger.interrupt()
        with pytest.raises((UnreadyError, CancelledError), match=r"restart|cancelled"):
            debugger.step()
        stop = debugger.restart()
        assert stop.reason == "begin"
        assert debugger.resume().operator == "matmul_v2"
        assert debugger.stop.watches[0]["name"] == "x"
        assert debugger.conditions == [Above(1e9)]
        assert debugger.restart().position == 0


def test_the_memory_of_kept_values_is_within_the_limit(foreign: str) -> None:
    with open_saved(foreign, fed(1.0), limits=ModelLimits(memory=64 << 20)) as debugger:
        assert debugger.keep_bytes == 16 << 20
        assert debugger.resume().reason == "end"
        assert 0 < debugger.kept_bytes <= debugger.keep_bytes


def test_a_stop_of_a_child_is_checked() -> None:
    plain = Stop("step").plain()
    assert Stop.of_plain(plain) == Stop("step")
    for wrong in ({**plain, "position": "1"}, {**plain, "more": 1}, [], {**plain, "inputs": {}}):
        with pytest.raises(Exception, match="not a stop"):
            Stop.of_plain(wrong)
