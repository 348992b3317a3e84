"""Mixed-precision training on the CPU against losses and scales recorded from Paddle 2.6.2."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core import names

X = np.linspace(-1, 1, 32).reshape(4, 8).astype("float32")
Y = np.array([[0], [1], [2], [1]])
# Losses of six steps; the third is fed infinity, so that only the next ones tell what it did.
STATIC = {
    "SGD": [1.0759279728, 1.0595666170, None, 1.0445258617, 1.0306025743, 1.0176265240],
    "Momentum": [1.0759279728, 1.0595666170, None, 1.0076310635, 0.9790017009, 0.9501399994],
    "Adam": [1.0759279728, 0.9340384007, None, 0.9199201465, 0.8588649035, 0.8720315099],
    "AdamW": [1.0759279728, 0.9341357946, None, 0.9198842049, 0.8588484526, 0.8722043037],
    "Lamb": [1.0759279728, 0.9964261055, None, 0.9530090690, 0.9235655069, 0.9080476165],
}
SCALES = [1024.0, 2048.0, 1024.0, 1024.0, 2048.0, 2048.0]
EAGER = [1.0759279728, 0.9340384007, 0.9199201465, 0.8588649035]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*makes no effect|.*is not supported for operators")
        yield
    paddle.disable_static()


def weights(*shape: int) -> Any:
    values = np.linspace(-0.5, 0.6, int(np.prod(shape))).reshape(shape).astype("float32")
    return paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(values))


@pytest.mark.parametrize("kind", list(STATIC))
def test_static(kind: str) -> None:
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with names.guard(), paddle.static.program_guard(main, startup):
        x, y = paddle.static.data("x", [4, 8], "float32"), paddle.static.data("y", [4, 1], "int64")
        hidden = paddle.nn.functional.relu(paddle.static.nn.fc(x, 5, weight_attr=weights(8, 5)))
        out = paddle.static.nn.fc(hidden, 3, weight_attr=weights(5, 3))
        loss = paddle.nn.functional.cross_entropy(out, y)
        optimizer = paddle.static.amp.decorate(
            getattr(paddle.optimizer, kind)(0.1),
            init_loss_scaling=1024.0,
            incr_every_n_steps=2,
            decr_every_n_nan_or_inf=1,
        )
        optimizer.minimize(loss)
    executor = paddle.static.Executor()
    with paddle.static.scope_guard(paddle.static.Scope()):
        executor.run(startup)
        for step, (want, scale) in enumerate(zip(STATIC[kind], SCALES, strict=True)):
            fed = {"x": X * np.float32(np.inf if step == 2 else 1), "y": Y}
            got = executor.run(main, feed=fed, fetch_list=[loss, optimizer.get_loss_scaling()])
            assert want is None or float(got[0]) == pytest.approx(want, rel=3e-7)
            assert float(got[1][0]) == scale


@pytest.mark.parametrize("converted", [False, True])
def test_eager_and_converted(converted: bool) -> None:
    first = paddle.nn.Linear(8, 5, weight_attr=weights(8, 5))
    second = paddle.nn.Linear(5, 3, weight_attr=weights(5, 3))

    def network(x: Any) -> Any:
        return second(paddle.nn.functional.relu(first(x)))

    function = paddle.jit.to_static(network) if converted else network
    optimizer = paddle.optimizer.Adam(0.1, parameters=[*first.parameters(), *second.parameters()])
    scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0)
    losses = []
    for _ in EAGER:
        with paddle.amp.auto_cast():
            loss = paddle.nn.functional.cross_entropy(function(paddle.to_tensor(X)), paddle.to_tensor(Y))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        losses.append(float(loss))
    assert losses == pytest.approx(EAGER, rel=3e-7)
