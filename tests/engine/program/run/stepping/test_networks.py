"""Networks of tutorials and of the model zoo, whole trainings and static Programs give the same bits step by
step as by plans: forward, backward and updates."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.jit.static_function import StaticFunction
from engine.program.passes.pipeline import level
from engine.vision import models
from tests.engine.networks.trainings import TRAININGS
from tests.engine.program.run.stepping.shadow import Shadow
from tests.engine.vision.models import table
from tests.scripts.test_tutorials import ROOT, SCRIPTS

# The sides of images for networks that take no small ones.
SIDES = {"alexnet": 64, "inception_v3": 75, "squeezenet1_0": 64, "squeezenet1_1": 64, "googlenet": 192}
HEADLESS = ("alexnet", "vgg")  # a hundred million weights in the head


@pytest.mark.parametrize("name", table.FACTORIES)
def test_the_model_zoo(name: str) -> None:
    paddle.seed(3)
    side = SIDES.get(name, 32)
    network = getattr(models, name)(num_classes=0 if name.startswith(HEADLESS) else 4)
    x = paddle.to_tensor(np.random.default_rng(1).normal(size=(2, 3, side, side)).astype(np.float32))
    shadow = Shadow()
    concrete, _ = StaticFunction(type(network).forward, None, network).get_concrete_program(x)
    shadow.check(concrete, [x])
    assert shadow.operators > len(network.sublayers())


def test_lenet() -> None:
    network, shadow = models.LeNet(), Shadow()
    x = paddle.randn([2, 1, 28, 28])
    concrete, _ = StaticFunction(type(network).forward, None, network).get_concrete_program(x)
    shadow.check(concrete, [x])
    assert shadow.operators > 35


@pytest.mark.parametrize("name", TRAININGS)
def test_trainings(name: str) -> None:
    paddle.seed(7)
    shadow = Shadow()
    with level.guard(0), shadow.of_plans():
        TRAININGS[name](paddle.jit.to_static, 2)
    assert shadow.plans >= 4


@pytest.mark.parametrize("optimizer", ["SGD", "Momentum", "Adam", "AdamW", "Lamb"])
def test_a_program_that_minimizes(optimizer: str, static: Any) -> None:
    paddle.seed(7)
    shadow = Shadow()
    x, label = static.data("x", [None, 1, 12, 12]), static.data("label", [None, 1], "int64")
    h = static.nn.batch_norm(static.nn.conv2d(x, 4, 3, act="relu"))
    h = paddle.nn.functional.dropout(static.nn.fc(h, 8, activation="relu"), 0.3)
    loss = paddle.nn.functional.cross_entropy(static.nn.fc(h, 3), label)
    getattr(paddle.optimizer, optimizer)(0.01).minimize(loss)
    random = np.random.default_rng(2)
    feed = {
        "x": random.normal(size=(5, 1, 12, 12)).astype(np.float32),
        "label": random.integers(0, 3, (5, 1)),
    }
    with level.guard(0), shadow.of_plans():
        executor = static.Executor()
        executor.run(static.default_startup_program())
        losses = [executor.run(feed=feed, fetch_list=[loss])[0] for _ in range(4)]
    assert losses[-1] < losses[0]
    assert shadow.plans == 5


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_tutorials(script: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.program.run.stepping.shadow", str(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = re.search(r"shadow: (\d+) plans, (\d+) layers, (\d+) operators", done.stderr)
    assert found is not None
    plans, layers, operators = map(int, found.groups())
    if script.stem not in ("data_pipeline", "tensor_habits"):  # which have no networks
        assert plans + layers > 0
        assert operators > 0
