"""Running averages of parameters: the schedule of the decay, and averages that continue after loading."""

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ProgramError

ONE = {"x": np.ones((1, 1), "float32")}


def build(static, **options):
    """A weight that is 0 at first and falls by 1 a step, with its averages."""
    x = static.data("x", [1, 1])
    zero = paddle.ParamAttr(name="w", initializer=paddle.nn.initializer.Constant(0.0))
    paddle.optimizer.SGD(1.0).minimize(static.nn.fc(x, 1, weight_attr=zero, bias_attr=False).sum())
    average = static.ExponentialMovingAverage(**options)
    average.update()
    return average


def weight(static):
    return static.default_main_program().global_block().var("w").get_value().item()


def test_the_decay_is_small_at_first(static):
    steps = static.create_global_var([1], 0.0, "float32", persistable=True, name="steps")
    paddle.increment(steps)
    average = build(static, decay=0.9, thres_steps=steps)
    executor = static.Executor()
    executor.run(static.default_startup_program())
    expected, power = 0.0, 1.0
    for step in range(1, 5):
        executor.run(feed=ONE)
        decay = min(0.9, (1 + step) / (10 + step))
        expected, power = decay * expected + (1 - decay) * -step, power * decay
        with average.apply(executor):
            assert weight(static) == pytest.approx(expected / (1 - power), rel=1e-6)
        assert weight(static) == -step


def test_averages_go_on_after_loading(static, tmp_path):
    average = build(static, decay=0.9)
    executor = static.Executor()
    executor.run(static.default_startup_program())
    program = static.default_main_program()
    seen = []
    for step in range(5):
        if step == 3:
            static.save(program, str(tmp_path / "state"))
        executor.run(feed=ONE)
    with average.apply(executor):
        seen.append(weight(static))
    with static.scope_guard(static.Scope()):
        static.load(program, str(tmp_path / "state"))
        executor.run(feed=ONE)
        executor.run(feed=ONE)
        with average.apply(executor):
            seen.append(weight(static))
    assert seen[0] == seen[1]


def test_averages_are_not_applied_twice(static):
    average = build(static, decay=0.9)
    executor = static.Executor()
    executor.run(static.default_startup_program())
    executor.run(feed=ONE)
    with average.apply(executor), pytest.raises(ProgramError, match="already"), average.apply(executor):
        pass
    assert weight(static) == -1


def test_an_error_within_brings_the_parameters_back(static):
    average = build(static, decay=0.5)
    executor = static.Executor()
    executor.run(static.default_startup_program())
    for _ in range(2):
        executor.run(feed=ONE)
    with pytest.raises(ZeroDivisionError), average.apply(executor):
        1 / (weight(static) == -2)  # which it is not, within
    assert weight(static) == -2
