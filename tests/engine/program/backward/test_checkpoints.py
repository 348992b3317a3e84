"""append_backward with checkpoints: bitwise identical to one without, with less memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import static
from engine.core.errors import ArgumentError
from engine.distributed import fleet
from engine.incubate.optimizer import RecomputeOptimizer
from engine.kernels import choice
from engine.program.graph.check import check
from engine.program.graph.program import writes

ROWS, WIDTH, LAYERS = 64, 32, 9
Minimize = Callable[[Any, list[Any]], Any]


@pytest.fixture(autouse=True)
def _static_mode() -> Iterator[None]:
    paddle.enable_static()
    yield
    paddle.disable_static()


def _net() -> tuple[Any, list[Any]]:
    """The loss of layers with dropout and batch norm, and every third layer's result."""
    x = static.data("x", [ROWS, WIDTH])
    h, marks = x, []
    for n in range(LAYERS):
        h = paddle.tanh(static.nn.fc(h, WIDTH))
        h = paddle.nn.functional.dropout(static.nn.batch_norm(h), 0.3)
        if n % 3 == 2:
            marks.append(h)
    return paddle.mean(h * h), marks


def _plain(loss: Any, marks: list[Any]) -> Any:
    return paddle.optimizer.Adam(0.01).minimize(loss)


def _wrapped(loss: Any, marks: list[Any]) -> Any:
    optimizer = RecomputeOptimizer(paddle.optimizer.Adam(0.01))
    optimizer._set_checkpoints(marks)
    return optimizer.minimize(loss)


def _of_fleet(loss: Any, marks: list[Any]) -> Any:
    strategy = fleet.DistributedStrategy()
    strategy.recompute = True
    strategy.recompute_configs = {"checkpoints": marks}
    fleet.init(is_collective=True, strategy=strategy)
    return fleet.distributed_optimizer(paddle.optimizer.Adam(0.01)).minimize(loss)


def _trained(minimize: Minimize) -> tuple[list[np.ndarray], Any]:
    """Losses, gradients and weights of three steps; the Program."""
    main, start, scope = static.Program(), static.Program(), static.Scope()
    main.random_seed = start.random_seed = 3
    with paddle.utils.unique_name.guard(), static.program_guard(main, start), static.scope_guard(scope):
        loss, marks = _net()
        pairs = minimize(loss, marks)[1]
        exe = static.Executor()
        exe.run(start)
        wanted = [loss, *(gradient for _, gradient in pairs)]
        draw = np.random.default_rng(5)
        found: list[np.ndarray] = []
        for _ in range(3):
            found += exe.run(main, {"x": draw.normal(size=(ROWS, WIDTH)).astype("float32")}, wanted)
        persistable = [v for v in main.list_vars() if v.persistable and scope.find_var(v.name) is not None]
        found += [np.asarray(scope.find_var(v.name).get_tensor()) for v in persistable]
    return found, main


def _peak(program: Any) -> int:
    """Bytes that a step's plan holds at its fullest moment."""
    return max(compiled.plan.report().peak for compiled in program.plans.values())


def test_a_training_is_the_same_to_the_bit_and_holds_less() -> None:
    plain, without = _trained(_plain)
    assert not any(o.replay for o in without.global_block().ops)
    for minimize in (_wrapped, _of_fleet):
        found, program = _trained(minimize)
        check(program)
        for a, b in zip(plain, found, strict=True):
            np.testing.assert_array_equal(a, b)
        # A layer saves three values: its hyperbolic tangent, the normalized value, and the mask of dropout.
        assert _peak(without) - _peak(program) >= 12 * ROWS * WIDTH * 4
        kinds = [o.opdef.name for o in program.clone(for_test=True).global_block().ops]
        assert kinds == [o.opdef.name for o in without.clone(for_test=True).global_block().ops]


def test_compiled_kernels_give_the_same_bits_too() -> None:
    pytest.importorskip("llvmlite", reason="llvmlite is not installed")
    gate = choice.Gate()
    gate.open()
    with choice.kernels.guard("fast"), choice.gate.guard(gate):
        (plain, _), (found, program) = _trained(_plain), _trained(_wrapped)
        (step,) = [c.plan for c in program.plans.values() if c.plan.updates]
        assert dict(step.kernels())["adam_flat"] == "fast"
    for a, b in zip(plain, found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_checkpoints_may_be_names_and_must_exist() -> None:
    with static.program_guard(static.Program()), paddle.utils.unique_name.guard():
        loss, marks = _net()
        with pytest.raises(ArgumentError, match="checkpoints has 'nowhere', which is not in the Program"):
            static.append_backward(loss, checkpoints=["nowhere"])
        static.append_backward(loss, checkpoints=[v.name for v in marks])
        again = [o for o in loss.block.ops if o.replay]
        assert again
        assert not {f"{v.name}@again" for v in marks} & {v.name for o in again for v in writes(o)}
        *_, last = [o for o in loss.block.ops if o.segment]
        assert last.outputs[0] is marks[-1]


def test_blocks_of_recompute_are_computed_again_in_a_program() -> None:
    with static.program_guard(static.Program()):
        x = static.data("x", [4, WIDTH])
        line = paddle.nn.Linear(WIDTH, WIDTH)
        h = fleet.utils.recompute(lambda value: paddle.tanh(paddle.exp(line(value))), x)
        static.append_backward(paddle.mean(h))
        assert {o.opdef.name for o in h.block.ops if o.replay} >= {"exp"}
