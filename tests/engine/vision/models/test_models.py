"""Networks for images are Paddle's: parameters, Programs, results (``record.py`` recorded them)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core import names
from engine.core.errors import ArgumentError
from engine.nn import functional
from engine.nn.initializer import Constant, set_global_initializer
from engine.static import InputSpec, Program, data, program_guard
from engine.vision import models
from tests.engine.networks.formulas import inputs, scattered
from tests.engine.vision.models import table


@cache
def _recorded() -> Any:
    return json.loads((Path(__file__).parent / "recorded.json").read_text(encoding="utf-8"))


@pytest.fixture
def undrawn() -> Iterator[None]:
    """Parameters are zeros: drawing a hundred million numbers takes seconds."""
    set_global_initializer(Constant(0.0), Constant(0.0))
    yield
    set_global_initializer(None)


@pytest.mark.parametrize("call", table.BUILT)
def test_parameters_and_programs(call: str, static: Any) -> None:
    main, startup = Program(), Program()
    with names.guard(), program_guard(main, startup):
        network = table.made(models, call)
        side, channels = (28, 1) if call.startswith("LeNet") else (299 if "nception" in call else 224, 3)
        network(data("x", [None, channels, side, side]))
    programs = [table.digest(table.comparable(main)), table.digest(str(startup))]
    assert [*table.parameters(network), *programs] == _recorded()["built"][call]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(c, marks=pytest.mark.slow if c in table.SLOW else ())
        for c in table.RUN
        if c != table.LARGEST or os.environ.get("MODEL_STUDIO_LONG")
    ],
)
def test_results(call: str, undrawn: None) -> None:
    side = table.RUN[call]
    network = table.made(models, call)
    network.eval()
    table.filled(network, scattered)
    found = table.shown(network(paddle.to_tensor(inputs(2, 3, side, side).astype("float32"))))
    wanted = _recorded()["run"][call]
    assert len(found) == len(wanted)
    for (shape, first, total, _), (known_shape, known_first, known_total, largest) in zip(
        found, wanted, strict=True
    ):
        assert shape == known_shape
        np.testing.assert_allclose(first, known_first, rtol=0, atol=1e-4 * largest)
        assert abs(total - known_total) <= 1e-4 * largest * np.sqrt(np.prod(shape))


TRAINED = {
    "alexnet(num_classes=0)": 64,
    "vgg11(num_classes=0, with_pool=False, batch_norm=True)": 32,
    "mobilenet_v1(scale=0.25, num_classes=3)": 32,
    "mobilenet_v2(scale=0.35, num_classes=3)": 32,
    "mobilenet_v3_small(scale=0.35, num_classes=3)": 32,
    "densenet121(num_classes=3)": 32,
    "inception_v3(num_classes=3)": 75,
    "squeezenet1_1(num_classes=3)": 64,
    "googlenet(num_classes=3)": 192,
    "shufflenet_v2_x0_25(num_classes=3)": 32,
    "resnext50_32x4d(num_classes=3)": 32,
}
COSTLY = ("vgg11", "googlenet", "resnext50")  # only in --long
QUICK = ("mobilenet_v1", "mobilenet_v3_small", "squeezenet1_1", "shufflenet_v2_x0_25")


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(c, marks=() if c.startswith(QUICK) else pytest.mark.slow)
        for c in TRAINED
        if not c.startswith(COSTLY) or os.environ.get("MODEL_STUDIO_LONG")
    ],
)
def test_three_steps_of_training(call: str) -> None:
    network = table.made(models, call)
    images = paddle.to_tensor(inputs(4, 3, TRAINED[call], TRAINED[call]).astype("float32"))
    labels = paddle.to_tensor([0, 2, 1, 0])
    rule = paddle.optimizer.Momentum(1e-3, parameters=network.parameters())
    before = {name: p.numpy() for name, p in network.named_parameters()}
    for _ in range(3):
        results = network(images)
        heads = results if isinstance(results, list) else [results]
        loss = sum(functional.cross_entropy(head.flatten(1), labels) for head in heads)
        assert np.isfinite(loss.item())
        loss.backward()
        rule.step()
        rule.clear_grad()
    still = [n for n, p in network.named_parameters() if p.trainable and np.array_equal(before[n], p.numpy())]
    assert not still


@pytest.mark.parametrize("call", ["mobilenet_v3_small(scale=0.35)", "shufflenet_v2_x0_25()"])
def test_converted_networks_take_any_batch(call: str) -> None:
    network = table.made(models, call)
    network.eval()
    images = paddle.to_tensor(inputs(3, 3, 32, 32).astype("float32"))
    wanted = network(images).numpy()
    converted = paddle.jit.to_static(network, input_spec=[InputSpec([None, 3, 32, 32])])
    np.testing.assert_allclose(converted(images).numpy(), wanted, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(converted(images[:2]).numpy(), wanted[:2], rtol=1e-4, atol=1e-6)


def test_lenet_maps_images_to_classes() -> None:
    images = paddle.zeros([3, 1, 28, 28])
    assert models.LeNet()(images).shape == [3, 10]
    assert models.LeNet(num_classes=0)(images).shape == [3, 16, 5, 5]


@pytest.mark.parametrize("name", table.FACTORIES)
def test_trained_weights_are_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match=rf"{name}: .*pretrained=True.*set_state_dict\(paddle.load"):
        getattr(models, name)(pretrained=True)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: models.ResNet(models.resnet.BasicBlock, 20), ArgumentError, "choose 18, 34"),
        (lambda: models.DenseNet(layers=100), AssertionError, "choose 121, 161"),
        (lambda: models.SqueezeNet("2.0"), AssertionError, "choose '1.0'"),
        (lambda: models.SqueezeNet("1.0", num_classes=0), AssertionError, "got 0"),
        (lambda: models.ShuffleNetV2(scale=0.7), NotImplementedError, "choose 0.25"),
        (lambda: models.ShuffleNetV2(act="gelu"), RuntimeError, "got 'gelu'"),
    ],
)
def test_missing_models_and_weights_raise_errors(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()
