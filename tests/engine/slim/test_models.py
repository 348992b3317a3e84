"""The networks of PaddleSlim's tutorials: operators, parameter names and shapes, and that they run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine
from engine import slim, static
from engine.core.errors import ArgumentError
from engine.program.run.scope import Scope
from engine.slim import models


def built(network: Any, side: int = 28, **options: Any) -> tuple[static.Program, static.Program, Any]:
    program, startup = static.Program(), static.Program()
    with engine.utils.unique_name.guard(), static.program_guard(program, startup):
        image = static.data("image", [None, 1, side, side])
        return program, startup, network.net(input=image, class_dim=10, **options)


@pytest.fixture(autouse=True)
def _static() -> Any:
    engine.enable_static()
    yield
    engine.disable_static()


def test_mobilenet_has_paddleslims_names() -> None:
    program, startup, out = built(models.MobileNet(), scale=0.25)
    counted = Counter(op.type for op in program.global_block().ops)
    assert (counted["conv2d"], counted["depthwise_conv2d"], counted["batch_norm"]) == (14, 13, 27)
    shapes = {v.name: tuple(v.shape) for v in program.all_parameters()}
    assert shapes["conv1_weights"] == (8, 1, 3, 3)
    assert shapes["conv2_1_dw_weights"] == (8, 1, 3, 3)
    assert shapes["conv2_1_sep_weights"] == (16, 8, 1, 1)
    assert shapes["conv5_6_sep_weights"] == (256, 128, 1, 1)
    assert {"conv6_sep_bn_scale", "conv6_sep_bn_offset", "fc7_weights", "fc7_offset"} <= set(shapes)
    assert {"conv1_bn_mean", "conv5_3_dw_bn_variance"} <= set(program.global_block().vars)
    executor = static.Executor()
    with static.scope_guard(Scope()):
        executor.run(startup)
        image = np.random.default_rng(0).normal(size=(2, 1, 28, 28)).astype("float32")
        (seen,) = executor.run(program.clone(for_test=True), feed={"image": image}, fetch_list=[out])
    assert seen.shape == (2, 10)
    np.testing.assert_allclose(seen.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("network", "products", "last", "some"),
    [
        (lambda: models.MobileNetV2(0.25), 53, "fc10_weights", "conv4_3_dwise_bn_mean"),
        (models.MobileNetV2_scale, 74, "fc10_weights", "conv5_7_linear_weights"),
        (models.ResNet34, 37, "fc_0.w_0", "bn2a_branch1_scale"),
        (models.ResNet50, 53, "fc_0.w_0", "res5c_branch2c_weights"),
        (lambda: models.ResNet(101, "teacher"), 104, "fc_0.w_0", "teacher_bn4b22_branch2a_variance"),
    ],
)
def test_other_networks(network: Callable[[], Any], products: int, last: str, some: str) -> None:
    program, _, out = built(network(), side=64)
    assert tuple(out.shape) == (-1, 10)
    assert sum(op.type in ("conv2d", "depthwise_conv2d") for op in program.global_block().ops) == products
    assert {last, some} <= set(program.global_block().vars)


def test_a_training_is_made_in_one_call() -> None:
    with engine.utils.unique_name.guard(), static.scope_guard(Scope()):
        executor, train, test, (image, label), names = slim.models.image_classification(
            "MobileNet", [1, 28, 28], 10
        )
        feed = {
            image.name: np.zeros((2, 1, 28, 28), "float32"),
            label.name: np.zeros((2, 1), "int64"),
        }
        seen = executor.run(train, feed=feed, fetch_list=list(names))
        assert [array.shape for array in seen] == [(), (), (), (2, 10)]
        assert not any(op.type == "momentum" for op in test.global_block().ops)


def test_unknown_networks_are_reported() -> None:
    with pytest.raises(ArgumentError, match="MobileNet, MobileNetV2, ResNet34"):
        slim.models.image_classification("Mobile", [1, 28, 28], 10)
    with pytest.raises(AssertionError, match="34, 50, 101, 152"):
        built(models.ResNet(18))
