"""Mixed precision on a GPU, on the stand-in for CuPy: where casts happen, what waits, converted as eager."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn, optimizer
from engine.core.place import place_guard
from engine.eager.mode import unwatch, watch
from engine.kernels.choice import kernels
from tests.cupy_stand_in.counts import Counts, counted
from tests.cupy_stand_in.module import installed

HALF = pytest.mark.parametrize(("dtype", "waits"), [("float16", 1), ("bfloat16", 0)])


@pytest.fixture(autouse=True)
def gpu() -> Iterator[None]:
    with installed(), place_guard("gpu:0"), kernels.guard("auto"):
        yield


class Trained:
    """Four steps of a small network at a level: losses, and what the last one asked of the device."""

    def __init__(self, level: str, dtype: str, converted: bool = False, scale: float = 128.0) -> None:
        draw = np.random.default_rng(0).standard_normal
        self.net: Any = nn.Sequential(nn.Conv2D(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))
        for parameter in self.net.parameters():
            parameter.set_value((0.3 * draw(parameter.shape)).astype(np.float32))
        opt: Any = optimizer.Adam(0.05, parameters=self.net.parameters(), multi_precision=True)
        if level == "O2":
            self.net, opt = paddle.amp.decorate(self.net, opt, level="O2", dtype=dtype)
        self.scaler = paddle.amp.GradScaler(init_loss_scaling=scale, enable=dtype == "float16")
        call = paddle.jit.to_static(self.net) if converted else self.net
        x, y = (
            paddle.to_tensor(draw((6, 1, 4, 4)).astype(np.float32)),
            paddle.to_tensor(np.arange(6)[:, None] % 3),
        )
        self.losses: list[float] = []
        self.counts = Counts()
        for _ in range(4):
            with counted() as self.counts:
                with paddle.amp.auto_cast(level=level, dtype=dtype):
                    loss = nn.functional.cross_entropy(call(x), y)
                self.scaler.scale(loss).backward()
                self.scaler.step(opt)
                self.scaler.update()
                opt.clear_grad()
            self.losses.append(float(loss))


@HALF
@pytest.mark.parametrize("level", ["O1", "O2"])
def test_it_learns_and_the_host_waits_for_the_scaler_alone(level: str, dtype: str, waits: int) -> None:
    eager, converted = Trained(level, dtype), Trained(level, dtype, converted=True)
    for trained in (eager, converted):
        assert (trained.counts.waits, trained.counts.to_device) == (waits, 0), trained.counts.lines("waits")
        assert trained.losses[-1] < trained.losses[0]
        assert trained.net.parameters()[0].dtype.name == (dtype if level == "O2" else "float32")
    np.testing.assert_allclose(converted.losses, eager.losses, rtol=0.02)
    with place_guard("cpu"), pytest.warns(UserWarning, match="only be enabled on"):
        plain = Trained("O1", dtype)  # as in Paddle, the CPU computes in float32
    np.testing.assert_allclose(eager.losses, plain.losses, rtol=0.05, atol=0.02)


@HALF
def test_the_lists_say_what_is_cast(dtype: str, waits: int) -> None:
    seen: dict[str, str] = {}

    def note(opdef: Any, inputs: Any, attrs: Any, results: Any) -> None:
        seen[opdef.name] = results[0].dtype.name

    watch(note)
    try:
        with paddle.amp.auto_cast(dtype=dtype, custom_black_list={"tanh"}):
            x = paddle.ones([2, 3])
            y = paddle.matmul(x, paddle.ones([3, 4]))
            paddle.tanh(y)
            nn.functional.softmax(y)
            nn.functional.relu(y)
    finally:
        unwatch(note)
    assert (seen["matmul_v2"], seen["relu"]) == (dtype, dtype)
    assert (seen["tanh"], seen["softmax"]) == ("float32", "float32")


def test_a_step_with_infinite_gradients_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    trained = Trained("O1", "float16", scale=1e38)
    assert np.isfinite(trained.losses).all()
    assert trained.losses[0] == trained.losses[1], "the first step changed nothing"
    assert "Found inf or nan, current scale is" in capsys.readouterr().out
