"""Prediction under the names of 1.x gives what the saved Program computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.core.errors import DTypeError
from engine.fluid import core, layers
from tests.engine.fresh_static import fresh_static

X, IDS = np.random.default_rng(2).normal(size=(3, 4)).astype(np.float32), np.array([[1], [2], [0]])


@pytest.fixture
def model(tmp_path: Path) -> tuple[str, Any]:
    """The folder of a saved model with two inputs, and its output for ``X`` and ``IDS``."""
    folder = str(tmp_path / "model")
    with fresh_static():
        x, ids = layers.data("x", [4]), layers.data("ids", [1], dtype="int64")
        out = layers.fc(layers.concat([x, layers.embedding(ids, [3, 2])], 1), 5, act="softmax")
        executor = fluid.Executor(fluid.CPUPlace())
        executor.run(fluid.default_startup_program())
        (wanted,) = executor.run(feed={"x": X, "ids": IDS}, fetch_list=[out])
        fluid.io.save_inference_model(folder, ["x", "ids"], [out], executor)
    return folder, wanted


def settings(folder: str) -> Any:
    config = core.AnalysisConfig(folder)
    config.disable_gpu()
    config.switch_use_feed_fetch_ops(False)
    config.switch_specify_input_names(True)
    return config


def test_lists_of_tensors(model: tuple[str, Any]) -> None:
    predictor = core.create_paddle_predictor(settings(model[0]))
    ids = core.PaddleTensor()
    ids.name, ids.shape, ids.dtype = "ids", [3, 1], core.PaddleDType.INT64
    ids.data = core.PaddleBuf([1, 2, 0])
    (found,) = predictor.run([ids, core.PaddleTensor(X, "x")])
    np.testing.assert_allclose(found.as_ndarray(), model[1], rtol=1e-6)
    assert (found.shape, found.dtype) == ([3, 5], core.PaddleDType.FLOAT32)
    np.testing.assert_allclose(found.data.float_data(), model[1].reshape(-1), rtol=1e-6)
    (again,) = predictor.run([core.PaddleTensor(X), core.PaddleTensor(IDS)])
    np.testing.assert_array_equal(again.as_ndarray(), found.as_ndarray())
    with pytest.raises(DTypeError, match="takes PaddleTensors: got list"):
        predictor.run([[1.0]])


def test_handles(model: tuple[str, Any]) -> None:
    predictor = core.create_paddle_predictor(settings(model[0]))
    assert predictor.get_input_names() == ["x", "ids"]
    for name, value in (("x", X), ("ids", IDS)):
        predictor.get_input_tensor(name).copy_from_cpu(value)
    assert predictor.zero_copy_run()
    [name] = predictor.get_output_names()
    np.testing.assert_allclose(predictor.get_output_tensor(name).copy_to_cpu(), model[1], rtol=1e-6)
