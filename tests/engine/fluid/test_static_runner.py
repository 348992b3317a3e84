"""A saved Program in a guard: the same predictions, and further training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine import fluid
from engine.core.errors import DataError
from engine.fluid import layers
from engine.fluid.dygraph import to_variable
from engine.fluid.dygraph.static_runner import StaticModelRunner
from tests.engine.fresh_static import fresh_static

X = np.random.default_rng(1).normal(size=(6, 1, 8, 8)).astype(np.float32)
LABELS = np.array([[0], [1], [2], [0], [1], [2]])


def test_a_saved_network_is_trained_further(tmp_path: Path) -> None:
    folder = str(tmp_path / "model")
    with fresh_static():
        image = layers.data("image", [1, 8, 8])
        hidden = fluid.nets.simple_img_conv_pool(image, 2, 3, 2, 2, act="relu")
        out = layers.fc(layers.batch_norm(hidden), 3, act="softmax")
        executor = fluid.Executor(fluid.CPUPlace())
        executor.run(fluid.default_startup_program())
        test = fluid.default_main_program().clone(for_test=True)
        (wanted,) = executor.run(test, feed={"image": X}, fetch_list=[out])
        fluid.io.save_inference_model(folder, ["image"], [out], executor)
    with fluid.dygraph.guard():
        runner = StaticModelRunner(folder)
        runner.eval()
        np.testing.assert_allclose(runner(to_variable(X)).numpy(), wanted, rtol=1e-5)
        runner.train()
        optimizer = fluid.optimizer.SGD(0.5, parameter_list=runner.parameters())
        losses = []
        for _ in range(8):
            cost = layers.cross_entropy(runner(to_variable(X)), to_variable(LABELS))
            loss = layers.mean(cost)
            loss.backward()
            optimizer.minimize(loss)
            runner.clear_gradients()
            losses.append(float(loss.numpy()))
        assert losses[-1] < 0.6 * losses[0]
        assert {p.name for p in runner.parameters() if not p.stop_gradient} == {
            "batch_norm_0.b_0", "batch_norm_0.w_0", "conv2d_0.b_0", "conv2d_0.w_0", "fc_0.b_0", "fc_0.w_0",
        }  # fmt: skip


def test_an_absent_model(tmp_path: Path) -> None:
    with fluid.dygraph.guard(), pytest.raises(DataError, match="nothing"):
        StaticModelRunner(str(tmp_path / "nothing"))
