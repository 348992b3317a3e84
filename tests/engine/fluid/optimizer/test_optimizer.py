"""fluid.optimizer: minimize over the guard's parameters, both forms of arguments, clips, state, Programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import ArgumentError, DTypeError
from engine.fluid import optimizer as optimizers
from engine.fluid.dygraph import nn
from engine.nn.clip import ClipGradByNorm
from tests.engine.fluid.record_kernels import SHAPES, drawn

DATA = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)


def variable() -> Any:
    return fluid.dygraph.to_variable(DATA)


def steps(make: Callable[[], Any], times: int = 3, **options: Any) -> tuple[list[Any], list[Any], Any]:
    """Weights before and after each step, and the gradients, of a layer in a guard; its optimizer."""
    with fluid.dygraph.guard():
        fc = nn.FC("fc", 3, bias_attr=False)
        fc(variable())
        optimizer, weights, gradients = make(), [fc._w.numpy().astype(np.float64)], []
        for _ in range(times):
            loss = (fc(variable()) ** 2).mean()
            loss.backward()
            gradients.append(fc._w.gradient().astype(np.float64))
            assert optimizer.minimize(loss, **options)[0] == []
            fc.clear_gradients()
            weights.append(fc._w.numpy().astype(np.float64))
    return weights, gradients, optimizer


def test_momentum_of_both_forms_follows_its_formula() -> None:
    decay = fluid.regularizer.L2DecayRegularizer(regularization_coeff=0.01)
    for arguments in ((0.1, 0.9, True, decay), (0.1, 0.9, None, True, decay)):
        weights, gradients, _ = steps(partial(optimizers.Momentum, *arguments))
        w, velocity = weights[0], np.zeros_like(weights[0])
        for gradient, found in zip(gradients, weights[1:], strict=True):
            g = gradient + 0.01 * w
            velocity = 0.9 * velocity + g
            w = w - 0.1 * (g + 0.9 * velocity)
            np.testing.assert_allclose(found, w, rtol=1e-5, atol=1e-6)


def test_adam_with_a_decay_counts_once_in_each_minimize() -> None:
    decay = fluid.dygraph.PiecewiseDecay([1, 2], [0.1, 0.01, 0.001])
    weights, gradients, optimizer = steps(lambda: optimizers.Adam(decay))
    w, m, v = weights[0], 0.0, 0.0
    for t, (gradient, found, rate) in enumerate(
        zip(gradients, weights[1:], (0.1, 0.01, 0.001), strict=True), 1
    ):
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient**2
        scaled = rate * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        w = w - scaled * m / (np.sqrt(v) + 1e-8)
        np.testing.assert_allclose(found, w, rtol=1e-4, atol=1e-5)
    assert optimizer._learning_rate.step_num == 3
    np.testing.assert_allclose(optimizer._global_learning_rate().numpy(), [0.001])
    assert optimizer.state_dict()["global_step"].numpy().tolist() == [3]


def test_clips_of_minimize_and_of_the_constructor() -> None:
    sgd = partial(optimizers.SGD, 1.0)
    for make, options in (
        (sgd, {"grad_clip": fluid.dygraph_grad_clip.GradClipByGlobalNorm(0.01)}),
        (partial(optimizers.SGD, 1.0, grad_clip=fluid.clip.GradientClipByNorm(0.01)), {}),
    ):
        weights, gradients, _ = steps(make, 1, **options)
        norm = np.linalg.norm(gradients[0])
        assert norm > 0.01
        np.testing.assert_allclose(weights[0] - weights[1], gradients[0] * 0.01 / norm, rtol=1e-3, atol=1e-6)
    weights, gradients, _ = steps(sgd, 1, grad_clip=fluid.dygraph_grad_clip.GradClipByValue(-0.01, 0.02))
    expected = np.clip(gradients[0], -0.01, 0.02)
    np.testing.assert_allclose(weights[0] - weights[1], expected, rtol=1e-3, atol=1e-6)
    one_sided = fluid.dygraph_grad_clip.GradClipByValue(None, 0.5)
    assert (one_sided.min, one_sided.max) == (-0.5, 0.5)


def test_without_backward_nothing_moves_and_lists_restrict() -> None:
    with fluid.dygraph.guard():
        first, second = nn.Linear(6, 2), nn.Linear(2, 2)
        loss = second(first(variable())).mean()
        every = optimizers.SGD(0.1)
        assert every.minimize(loss) == ([], [])
        loss.backward()
        before = [p.numpy() for p in first.parameters()]
        only = optimizers.SGD(0.1, parameter_list=second.parameters())
        _, pairs = only.minimize(loss)
        assert [p for p, _ in pairs] == second.parameters()
        _, pairs = every.minimize(loss, parameter_list=[first.bias])
        assert [p for p, _ in pairs] == [first.bias]
        np.testing.assert_array_equal(first.weight.numpy(), before[0])
        assert np.any(first.bias.numpy() != before[1])
        assert len(every.minimize(loss)[1]) == 4
        assert (only._name, every._name) == ("SGDOptimizer_1", "SGDOptimizer_0")


def test_parameters_have_rates_and_regularizers_of_their_own() -> None:
    with fluid.dygraph.guard():
        attr = fluid.ParamAttr(learning_rate=0.5, regularizer=fluid.regularizer.L1Decay(0.25))
        fc = nn.FC("fc", 2, param_attr=attr, bias_attr=False)
        loss = fc(variable()).mean()
        loss.backward()
        before, gradient = fc._w.numpy(), fc._w.gradient()
        optimizers.SGD(0.1, fluid.regularizer.L2Decay(9.0)).minimize(loss)
        expected = before - 0.05 * (gradient + 0.25 * np.sign(before))
        np.testing.assert_allclose(fc._w.numpy(), expected, rtol=1e-5)


def test_state_that_is_set_before_the_first_step_waits_for_the_parameters() -> None:
    def run(times: int, state: Any, values: Any) -> Any:
        with fluid.dygraph.guard():
            fc = nn.FC("fc", 3)
            if values is not None:
                fc.load_dict(values)
            optimizer = optimizers.Adam(fluid.dygraph.NaturalExpDecay(0.1, 1, 0.5))
            if state is not None:
                optimizer.set_dict(state)
            for _ in range(times):
                loss = (fc(variable()) ** 2).mean()
                loss.backward()
                optimizer.minimize(loss)
                fc.clear_gradients()
            return fc.state_dict(), optimizer.state_dict()

    engine.seed(7)
    whole, _ = run(4, None, None)
    engine.seed(7)
    values, state = run(2, None, None)
    resumed, _ = run(2, state, values)
    for name, value in whole.items():
        np.testing.assert_array_equal(resumed[name].numpy(), value.numpy())
    with fluid.dygraph.guard(), pytest.raises(ArgumentError, match="global_step"):
        optimizers.SGD(fluid.dygraph.NaturalExpDecay(0.1, 1, 0.5)).set_dict({})


def test_load_takes_the_decay_saved_under_the_name() -> None:
    with fluid.dygraph.guard():
        optimizer, decay = optimizers.SGD(0.1), fluid.dygraph.CosineDecay(0.1, 2, 3)
        optimizer.load({"SGDOptimizer_0": decay})
        assert optimizer._learning_rate is decay
        with pytest.raises(ArgumentError, match="SGDOptimizer_0"):
            optimizer.load({})


def test_wrong_arguments_are_named() -> None:
    with fluid.dygraph.guard():
        with pytest.raises(DTypeError, match="learning rate should be float or LearningRateDecay, got"):
            optimizers.SGD("0.1")
        with pytest.raises(ArgumentError, match="momentums"):
            optimizers.Momentum(0.1, 0.9, momentums=0.9)


RULES = [
    lambda: optimizers.SGDOptimizer(learning_rate=0.1),
    lambda: optimizers.MomentumOptimizer(learning_rate=0.1, momentum=0.9, use_nesterov=True),
    lambda: optimizers.AdagradOptimizer(0.1, 1e-6, fluid.regularizer.L2Decay(0.1)),
    lambda: optimizers.AdamOptimizer(0.1, regularization=fluid.regularizer.L2Decay(0.1)),
    lambda: optimizers.AdamaxOptimizer(0.1),
    lambda: optimizers.AdadeltaOptimizer(0.1, 1e-6, 0.9),
    lambda: optimizers.RMSPropOptimizer(0.1, momentum=0.5),
    lambda: optimizers.LambOptimizer(0.1),
    lambda: optimizers.DecayedAdagrad(0.1, 0.9),
    lambda: optimizers.Ftrl(0.1, l1=0.01, l2=0.1),
    lambda: optimizers.LarsMomentum(0.1, 0.9),
]


@pytest.mark.parametrize("make", RULES)
def test_a_program_trains_as_a_guard_does(make: Callable[[], Any]) -> None:
    weights, _, _ = steps(make)
    engine.enable_static()
    try:
        main, startup = engine.static.Program(), engine.static.Program()
        with engine.static.program_guard(main, startup), engine.utils.unique_name.guard():
            init = fluid.initializer.NumpyArrayInitializer(weights[0].astype(np.float32))
            fc = nn.FC("fc", 3, param_attr=fluid.ParamAttr(initializer=init), bias_attr=False)
            loss = (fc(engine.static.data("x", [-1, 6])) ** 2).mean()
            operators, pairs = make().minimize(loss)
            assert operators
            assert [p.name for p, _ in pairs] == ["fc/FC_0.w_0"]
        executor = engine.static.Executor()
        executor.run(startup)
        for expected in weights[1:]:
            executor.run(main, feed={"x": DATA})
            found = np.asarray(engine.static.global_scope().find_var("fc/FC_0.w_0").get_tensor())
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    finally:
        engine.disable_static()


RECORDED = {
    "decayed_adagrad": lambda: optimizers.DecayedAdagrad(0.1, 0.9, 1e-4),
    "ftrl": lambda: optimizers.Ftrl(0.1, 0.05, 0.1),
    "ftrl -0.3": lambda: optimizers.Ftrl(0.1, 0.05, 0.1, lr_power=-0.3),
    "lars_momentum": lambda: optimizers.LarsMomentum(0.1, 0.9, 0.5, 0.05),
}


@pytest.mark.parametrize("case", RECORDED)
def test_rules_of_their_own_are_those_of_paddle(case: str) -> None:
    path = Path(__file__).parents[1] / "recorded_kernels.json"
    steps = json.loads(path.read_text(encoding="utf-8"))[case]["steps"]
    first, *gradients = drawn(*SHAPES[case.split()[0]])
    with fluid.dygraph.guard():
        w = fluid.dygraph.Layer("w").create_parameter(
            fluid.ParamAttr(initializer=fluid.initializer.NumpyArrayInitializer(first)),
            first.shape,
            "float32",
        )
        optimizer = RECORDED[case]()
        for gradient, expected in zip(gradients, steps, strict=True):
            loss = fluid.layers.reduce_sum(w * fluid.dygraph.to_variable(gradient))
            loss.backward()
            optimizer.minimize(loss)
            w.clear_gradient()
            np.testing.assert_allclose(w.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_the_mean_of_a_guards_parameters() -> None:
    with fluid.dygraph.guard():
        layer = nn.Linear(6, 2, bias_attr=False)
        average, sgd, seen = optimizers.ModelAverage(0.15, 2, 10), optimizers.SGD(0.1), []
        for _ in range(2):
            loss = fluid.layers.reduce_mean(layer(variable()))
            loss.backward()
            sgd.minimize(loss)
            average.minimize(loss)
            seen.append(layer.weight.numpy())
        with average.apply():
            np.testing.assert_allclose(layer.weight.numpy(), (seen[0] + seen[1]) / 2, rtol=1e-5)
        np.testing.assert_array_equal(layer.weight.numpy(), seen[1])


def test_clips_of_a_program_are_those_of_its_parameters() -> None:
    engine.enable_static()
    try:
        main, startup = engine.static.Program(), engine.static.Program()
        with engine.static.program_guard(main, startup), engine.utils.unique_name.guard():
            attr = fluid.ParamAttr(name="own", gradient_clip=ClipGradByNorm(0.001))
            x = engine.static.data("x", [-1, 6])
            first = nn.FC("fc", 3, param_attr=attr, bias_attr=False)
            second = nn.FC("fc", 3, bias_attr=False)
            loss = ((first(x) + second(x)) ** 2).mean()
            fluid.clip.set_gradient_clip(
                fluid.clip.GradientClipByGlobalNorm(0.01), param_list=["fc/FC_1.w_0"]
            )
            optimizers.SGD(1.0).minimize(loss)
            names = [p.name for p in main.all_parameters()]
            with pytest.raises(ArgumentError, match="'other'"):
                fluid.clip.set_gradient_clip(ClipGradByNorm(1.0), ["other"])
        executor = engine.static.Executor()
        executor.run(startup)
        scope = engine.static.global_scope()
        before = [np.array(scope.find_var(name).get_tensor()) for name in names]
        executor.run(main, feed={"x": DATA})
        moved = [
            np.linalg.norm(np.asarray(scope.find_var(name).get_tensor()) - old)
            for name, old in zip(names, before, strict=True)
        ]
        assert names == ["fc/FC_0.own", "fc/FC_1.w_0"]
        np.testing.assert_allclose(moved, [0.001, 0.01], rtol=1e-3)
    finally:
        engine.disable_static()


class Named(fluid.dygraph.Layer):
    """Layers of 1.8 that use one parameter create one each under the same name."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = self.create_parameter(shape=[6, 1], attr=fluid.ParamAttr(name="shared"))


def test_parameters_of_one_name_are_updated_and_not_saved() -> None:
    with fluid.dygraph.guard():
        first, second = Named(), Named()
        optimizer = optimizers.Adam(0.1, parameter_list=[first.weight, second.weight])
        before = second.weight.numpy()
        loss = fluid.layers.mean(fluid.layers.matmul(variable(), first.weight))
        loss.backward()
        optimizer.minimize(loss)
        np.testing.assert_array_equal(second.weight.numpy(), before)
        assert len([key for key in optimizer.state_dict() if key.startswith("shared_")]) == 4
        loss = fluid.layers.mean(fluid.layers.matmul(variable(), first.weight + second.weight))
        loss.backward()
        optimizer.minimize(loss)
        assert not np.array_equal(second.weight.numpy(), before)
        with pytest.raises(ArgumentError, match=r"state_dict: two parameters are called 'shared'"):
            optimizer.state_dict()
        with pytest.raises(ArgumentError, match="appears twice"):
            optimizers.SGD(0.1, parameter_list=[first.weight, first.weight])
