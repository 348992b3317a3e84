"""Formulas of fluid against what Paddle 2.6.2 computes: values, gradients, updates and learning rates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.fluid import layers
from tests.engine.fluid.kernel_cases import (
    BY_EPOCH,
    CASES,
    DECAYS,
    LOSSES,
    OPTIMIZERS,
    PLATEAUS,
    RUNS,
    UPDATED,
)

RECORDED = json.loads(Path(__file__).with_name("recorded_kernels.json").read_text(encoding="utf-8"))


def several(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (list, tuple)) else [found]


def test_they_are_of_the_version_that_the_engine_follows() -> None:
    assert RECORDED["version"] == "2.6.2"


@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients_in_a_guard(case: str) -> None:
    inputs, _, here = CASES[case]
    recorded = RECORDED[case]
    with fluid.dygraph.guard():
        values = [fluid.dygraph.to_variable(each) for each in inputs]
        for value, wanted in zip(values, recorded["gradients"], strict=True):
            value.stop_gradient = wanted is None
        made = several(here(layers, *values))
        assert len(made) == len(recorded["outputs"])
        for found, expected in zip(made, recorded["outputs"], strict=True):
            wanted = np.reshape(expected, np.shape(expected) or [1])  # fluid has no values without dimensions
            assert found.numpy().shape == wanted.shape
            np.testing.assert_allclose(found.numpy(), wanted, rtol=2e-5, atol=2e-6)
        layers.sums([layers.reduce_sum(layers.square(each)) for each in made]).backward()
        for value, wanted in zip(values, recorded["gradients"], strict=True):
            if wanted is not None:
                np.testing.assert_allclose(value.gradient(), wanted, rtol=5e-5, atol=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_values_in_a_program(case: str) -> None:
    inputs, _, here = CASES[case]
    engine.enable_static()
    try:
        main, startup = engine.static.Program(), engine.static.Program()
        with engine.static.program_guard(main, startup), engine.utils.unique_name.guard():
            given = [
                layers.data(f"x{n}", list(a.shape), append_batch_size=False, dtype=str(a.dtype))
                for n, a in enumerate(inputs)
            ]
            made = several(here(layers, *given))
        executor = engine.static.Executor()
        executor.run(startup)
        found = executor.run(main, {f"x{n}": a for n, a in enumerate(inputs)}, made)
    finally:
        engine.disable_static()
    for value, expected in zip(found, RECORDED[case]["outputs"], strict=True):
        np.testing.assert_allclose(value, np.reshape(expected, value.shape), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("case", OPTIMIZERS)
def test_updates(case: str) -> None:
    kind, options = OPTIMIZERS[case]
    with fluid.dygraph.guard():
        first = fluid.initializer.NumpyArrayInitializer(UPDATED[0])
        layer = fluid.dygraph.Layer("w")
        w = layer.create_parameter(fluid.ParamAttr(initializer=first), [3, 2], "float32")
        optimizer = getattr(fluid.optimizer, f"{kind}Optimizer")(learning_rate=0.1, **options)
        for gradient, expected in zip(UPDATED[1:], RECORDED[f"optimizer {case}"]["steps"], strict=True):
            loss = layers.reduce_sum(w * fluid.dygraph.to_variable(gradient))
            loss.backward()
            optimizer.minimize(loss)
            w.clear_gradient()
            np.testing.assert_allclose(w.numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", DECAYS)
def test_rates(case: str) -> None:
    name, arguments = DECAYS[case]
    expected = RECORDED[f"decay {case}"]["rates"]
    with fluid.dygraph.guard():
        decay = getattr(layers, name)(*arguments)
        if name == "linear_lr_warmup":
            decay.step_num = 0  # in a guard fluid counts a warmup from 1 on, in a Program from 0
        found = [float(decay().numpy()) for _ in range(RUNS)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    engine.enable_static()
    try:
        main, startup = engine.static.Program(), engine.static.Program()
        with engine.static.program_guard(main, startup):
            rate = getattr(layers, name)(*arguments)
        executor = engine.static.Executor()
        executor.run(startup)
        found = [executor.run(main, fetch_list=[rate])[0].item() for _ in range(RUNS)]
    finally:
        engine.disable_static()
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("case", BY_EPOCH)
def test_rates_by_epoch(case: str) -> None:
    name, arguments = BY_EPOCH[case]
    found = []
    with fluid.dygraph.guard():
        decay = getattr(fluid.dygraph, name)(*arguments)
        for _ in range(RUNS):
            found.append(float(decay().numpy()))
            decay.epoch()
    np.testing.assert_allclose(found, RECORDED[f"decay {case}"]["rates"], rtol=1e-5)


@pytest.mark.parametrize("case", PLATEAUS)
def test_rates_by_loss(case: str) -> None:
    found = []
    with fluid.dygraph.guard():
        decay = fluid.dygraph.ReduceLROnPlateau(0.5, decay_rate=0.7, **PLATEAUS[case])
        for loss in LOSSES:
            decay.step(fluid.dygraph.to_variable(np.array([loss], np.float32)))
            found.append(float(decay().numpy()))
    np.testing.assert_allclose(found, RECORDED[f"plateau {case}"]["rates"], rtol=1e-5)
