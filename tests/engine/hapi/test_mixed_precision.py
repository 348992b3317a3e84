"""``Model.prepare(amp_configs=...)``: no effect but warnings on the CPU, as in Paddle; else in both modes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import amp, nn
from engine.core import names
from engine.static import InputSpec

X = np.linspace(-1, 1, 24).reshape(6, 4).astype("float32")
Y = np.array([[0], [1], [2], [1], [0], [2]])
CONFIGS = {"level": "O1", "init_loss_scaling": 64.0, "custom_black_list": {"relu"}}


@pytest.fixture(params=["eager", "static"])
def mode(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "static":
        paddle.enable_static()
    yield request.param
    paddle.disable_static()


def losses(mode: str, configs: Any) -> list[float]:
    main, startup = paddle.static.Program(), paddle.static.Program()
    guard = paddle.static.program_guard(main, startup) if mode == "static" else names.guard()
    with paddle.static.scope_guard(paddle.static.Scope()), names.guard(), guard:
        paddle.seed(3)
        network = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
        specs = [InputSpec([None, 4], "float32", "x")], [InputSpec([None, 1], "int64", "y")]
        model = paddle.Model(network, *specs)
        optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
        model.prepare(optimizer, nn.CrossEntropyLoss(), amp_configs=configs)
        return [float(np.asarray(model.train_batch([X], [Y])[0]).astype("float32")) for _ in range(4)]


def test_on_the_cpu_the_numbers_are_those_of_float32(mode: str) -> None:
    plain = losses(mode, None)
    with pytest.warns(UserWarning, match="so it makes no effect|is not supported for operators"):
        assert losses(mode, CONFIGS) == plain
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert losses(mode, "O0") == plain


def test_fit_in_mixed_precision_is_close_to_float32(mode: str) -> None:
    plain = losses(mode, None)
    with amp.on_cpu():
        found = losses(mode, CONFIGS)
        low = losses(mode, {"level": "O2", "init_loss_scaling": 64.0, "use_fp16_guard": False})
    assert found != plain
    np.testing.assert_allclose(found, plain, rtol=5e-3)
    np.testing.assert_allclose(low, plain, rtol=5e-2)
