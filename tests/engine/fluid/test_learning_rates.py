"""Learning rates of fluid: formulas, one step for each minimize, the same in a guard and in a Program."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import ArgumentError, DTypeError, ModeError
from engine.fluid import layers

STEPS = range(7)


def _polynomial(step: int, cycle: bool) -> float:
    length = 3 * max(1, math.ceil(step / 3)) if cycle else 3
    return (0.5 - 0.1) * (1 - min(step, length) / length) ** 2 + 0.1


CASES: list[tuple[str, tuple[Any, ...], Callable[[int], float]]] = [
    ("piecewise_decay", ([2, 4], [0.5, 0.25, 0.1]), lambda n: 0.5 if n < 2 else 0.25 if n < 4 else 0.1),
    ("exponential_decay", (0.5, 3, 0.5), lambda n: 0.5 * 0.5 ** (n / 3)),
    ("exponential_decay", (0.5, 3, 0.5, True), lambda n: 0.5 * 0.5 ** (n // 3)),
    ("natural_exp_decay", (0.5, 3, 0.5), lambda n: 0.5 * math.exp(-0.5 * n / 3)),
    ("natural_exp_decay", (0.5, 3, 0.5, True), lambda n: 0.5 * math.exp(-0.5 * (n // 3))),
    ("inverse_time_decay", (0.5, 3, 0.5), lambda n: 0.5 / (1 + 0.5 * n / 3)),
    ("inverse_time_decay", (0.5, 3, 0.5, True), lambda n: 0.5 / (1 + 0.5 * (n // 3))),
    ("polynomial_decay", (0.5, 3, 0.1, 2.0), lambda n: _polynomial(n, False)),
    ("polynomial_decay", (0.5, 3, 0.1, 2.0, True), lambda n: _polynomial(n, True)),
    ("cosine_decay", (0.5, 2, 4), lambda n: 0.25 * (math.cos(n // 2 * math.pi / 4) + 1)),
    ("noam_decay", (64, 4), lambda n: 64**-0.5 * min((n + 1) ** -0.5, (n + 1) * 4**-1.5)),
]


@pytest.mark.parametrize(("name", "arguments", "formula"), CASES)
def test_each_follows_its_formula_in_both_modes(
    name: str, arguments: tuple[Any, ...], formula: Callable[[int], float]
) -> None:
    expected = [formula(n) for n in STEPS]
    make = getattr(layers, name)
    with fluid.dygraph.guard():
        decay = make(*arguments)
        assert isinstance(decay, fluid.dygraph.LearningRateDecay)
        rates = [decay() for _ in STEPS]
        assert rates[0].shape == [1]
        np.testing.assert_allclose(np.concatenate([rate.numpy() for rate in rates]), expected, rtol=1e-6)
    np.testing.assert_allclose(run(lambda: make(*arguments)), expected, rtol=1e-5)


def run(make: Callable[[], Any]) -> list[float]:
    """What the rate is in each run of a Program with an optimizer: how far a parameter of gradient 1 goes."""
    engine.enable_static()
    try:
        main, startup = engine.static.Program(), engine.static.Program()
        with engine.static.program_guard(main, startup), engine.utils.unique_name.guard():
            w = layers.create_parameter([1], "float32", name="w")
            rate = make()
            optimizer = fluid.optimizer.SGD(rate)
            optimizer.minimize(w)
            assert optimizer._global_learning_rate() is rate
        executor = engine.static.Executor()
        executor.run(startup)
        (kept,) = executor.run(main.clone(for_test=True), fetch_list=["w"])
        found, before = [], float(kept[0])
        for _ in STEPS:
            value, now = executor.run(main, fetch_list=[rate, "w"])
            np.testing.assert_allclose(before - now[0], value[0], atol=1e-6)
            found.append(float(value[0]))
            before = float(now[0])
        return found
    finally:
        engine.disable_static()


def test_a_warmup_goes_over_into_its_rate() -> None:
    def make() -> Any:
        return layers.linear_lr_warmup(layers.piecewise_decay([5], [0.5, 0.25]), 4, 0.1, 0.3)

    np.testing.assert_allclose(run(make), [0.1, 0.15, 0.2, 0.25, 0.5, 0.25, 0.25], rtol=1e-6)
    with fluid.dygraph.guard():
        warmup = make()
        found = [float(warmup().numpy()[0]) for _ in range(6)]
        np.testing.assert_allclose(found, [0.15, 0.2, 0.25, 0.5, 0.5, 0.25], rtol=1e-6)
        with pytest.raises(ArgumentError, match="end_lr"):
            fluid.dygraph.LinearLrWarmup(0.1, 4, 0.3, 0.1)


def test_a_counter_of_a_program_counts_once_in_each_run() -> None:
    engine.enable_static()
    try:
        main, startup = engine.static.Program(), engine.static.Program()
        with engine.static.program_guard(main, startup):
            first = layers.autoincreased_step_counter(begin=3, step=2)
            assert layers.autoincreased_step_counter(begin=3, step=2) is first
        executor = engine.static.Executor()
        executor.run(startup)
        assert [executor.run(main, fetch_list=[first])[0].tolist() for _ in range(3)] == [[3], [5], [7]]
    finally:
        engine.disable_static()
    with pytest.raises(ModeError, match="autoincreased_step_counter"):
        layers.autoincreased_step_counter()


def test_rates_of_ones_own_define_step() -> None:
    class Halved(fluid.dygraph.LearningRateDecay):
        def step(self) -> float:
            return 0.5**self.step_num

    decay = Halved(begin=2, step=2)
    assert [float(decay().numpy()[0]) for _ in range(2)] == [0.25, 0.0625]
    with pytest.raises(ModeError, match="define step"):
        fluid.dygraph.LearningRateDecay()()
    with pytest.raises(ArgumentError, match="should be 1"):
        layers.piecewise_decay([1, 2], [0.1, 0.2])


@pytest.mark.parametrize(
    ("make", "formula"),
    [
        (lambda: fluid.dygraph.StepDecay(0.5, 2, 0.5), lambda n: 0.5 * 0.5 ** (n // 2)),
        (
            lambda: fluid.dygraph.MultiStepDecay(0.5, [1, 4], 0.5),
            lambda n: 0.5 * 0.5 ** ((n >= 1) + (n >= 4)),
        ),
        (lambda: fluid.dygraph.LambdaDecay(0.5, lambda n: 1 / (n + 1)), lambda n: 0.5 / (n + 1)),
    ],
)
def test_rates_by_epoch_change_when_the_script_says_so(make: Any, formula: Any) -> None:
    with fluid.dygraph.guard():
        decay = make()
        for epoch in range(6):
            assert decay.epoch_num == epoch
            for _ in range(2):  # steps change nothing
                assert decay().numpy()[0] == pytest.approx(formula(epoch))
            decay.epoch()
        decay.epoch(3)
        layer = fluid.dygraph.Linear(2, 1, bias_attr=False)
        before = layer.weight.numpy()
        sgd = fluid.optimizer.SGD(decay, parameter_list=layer.parameters())
        layers.reduce_sum(layer(fluid.dygraph.to_variable(np.ones((1, 2), np.float32)))).backward()
        sgd.minimize(layers.zeros([1], "float32"))
        np.testing.assert_allclose(before - layer.weight.numpy(), formula(3), rtol=1e-5)
        state = sgd.state_dict()
        again = fluid.optimizer.SGD(make(), parameter_list=layer.parameters())
        again.set_dict(state)
        assert again.current_step_lr() == pytest.approx(formula(3))


@pytest.mark.parametrize(
    ("options", "losses", "expected"),
    [
        ({}, [3, 3, 3, 3], [1, 1, 1, 0.5]),
        ({"cooldown": 1}, [3, 3, 3, 3, 3, 3, 3, 3], [1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25]),
        ({"mode": "max"}, [1, 2, 3, 3, 3, 3], [1, 1, 1, 1, 1, 0.5]),
        ({"threshold": 0.1}, [10, 9.5, 9.2, 9.1], [1, 1, 1, 0.5]),
        ({"threshold": 0.1, "threshold_mode": "abs"}, [10, 9.5, 9.2, 9.05], [1, 1, 1, 1]),
        ({"min_lr": 0.8, "patience": 0}, [1, 1, 1], [1, 0.8, 0.8]),
    ],
)
def test_a_plateau_lowers_the_rate(options: Any, losses: list[float], expected: list[float]) -> None:
    with fluid.dygraph.guard():
        decay = fluid.dygraph.ReduceLROnPlateau(1.0, decay_rate=0.5, **{"patience": 2, **options})
        found = []
        for loss in losses:
            decay.step(fluid.dygraph.to_variable(np.array([loss], np.float32)))
            found.append(float(decay().numpy()[0]))
        assert found == pytest.approx(expected)
        with pytest.raises(ArgumentError, match=r"loss is a Variable \[1\]"):
            decay.step(1.0)


def test_a_plateau_says_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    with fluid.dygraph.guard():
        decay = fluid.dygraph.ReduceLROnPlateau(1.0, decay_rate=0.5, patience=0, verbose=True)
        for _ in range(2):
            decay.step(fluid.dygraph.to_variable(np.ones(1, np.float32)))
    assert capsys.readouterr().out == "Epoch 2: reducing learning rate from 1.0 to 0.5.\n"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: fluid.dygraph.StepDecay(0.1, 2.5), "step_size is an integer"),
        (lambda: fluid.dygraph.StepDecay("0.1", 2), "must be 'float'"),
        (lambda: fluid.dygraph.MultiStepDecay(0.1, [3, 2]), "must be incremented"),
        (lambda: fluid.dygraph.LambdaDecay(0.1, 2), "is a function"),
        (lambda: fluid.dygraph.ReduceLROnPlateau(0.1, "least"), "'min' or 'max'"),
    ],
)
def test_wrong_rates_by_epoch_are_refused(make: Any, said: str) -> None:
    with pytest.raises((ArgumentError, DTypeError), match=said):
        make()


def test_current_step_lr_is_that_of_the_last_step() -> None:
    """The example in the documentation of 1.8."""
    with fluid.dygraph.guard():
        layer = fluid.dygraph.Linear(2, 1)
        rate = fluid.dygraph.PiecewiseDecay([2, 4], [0.2, 0.4, 0.6], 0)
        adam = fluid.optimizer.Adam(rate, parameter_list=layer.parameters())
        assert adam.current_step_lr() == pytest.approx(0.2)
        loss = layers.reduce_mean(layer(fluid.dygraph.to_variable(np.ones((1, 2), np.float32))))
        loss.backward()
        found = []
        for _ in range(6):
            adam.minimize(loss)
            found.append(adam.current_step_lr())
        assert found == pytest.approx([0.2, 0.2, 0.4, 0.4, 0.6, 0.6])
