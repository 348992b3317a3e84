"""The network and the Program behind the golden state dict and the golden static files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import engine as paddle
from engine import nn, static

ROWS: NDArray[np.float32] = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(3, 4)
TURNS = 3


def small_network() -> tuple[nn.Layer, Any]:
    """A network with running statistics, and an optimizer with two moments."""
    with paddle.utils.unique_name.guard():
        network = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1D(3, weight_attr=False, bias_attr=False))
        scheduler = paddle.optimizer.lr.StepDecay(0.1, step_size=2)
        return network, paddle.optimizer.Adam(scheduler, parameters=network.parameters())


def train(network: nn.Layer, optimizer: Any, steps: int) -> list[float]:
    """The losses of a few steps."""
    network.train()
    losses = []
    for _ in range(steps):
        loss = ((network(paddle.to_tensor(ROWS)) - 1.0) ** 4).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        optimizer._learning_rate.step()
        losses.append(float(loss))
    return losses


def outputs(network: nn.Layer) -> list[list[float]]:
    """The network's results in evaluation."""
    network.eval()
    with paddle.no_grad():
        rows: list[list[float]] = network(paddle.to_tensor(ROWS)).numpy().tolist()
    return rows


def build_program() -> tuple[static.Program, static.Program, Any]:
    """A training Program with what only its backward part replays: a random key, and a loop's iterations.

    Static mode is on. Returns the Program, its startup Program and the loss.
    """
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        x, turns = static.data("x", [-1, 4]), static.data("turns", [1], "int64")
        hidden = static.nn.fc(x, 4)
        _, hidden = static.nn.while_loop(
            lambda i, value: i < turns,
            lambda i, value: (i + 1, nn.functional.dropout(value, 0.2)),
            [paddle.zeros([1], "int64"), hidden],
        )
        loss = (hidden * hidden).mean()
        paddle.optimizer.SGD(0.05).minimize(loss)
    return main, startup, loss


def program_losses(program: static.Program, loss: Any) -> list[float]:
    """The losses of three steps of a Program whose parameters are in the global scope."""
    executor = static.Executor()
    feed = {"x": ROWS, "turns": np.array([TURNS])}
    return [float(executor.run(program, feed=feed, fetch_list=[loss])[0]) for _ in range(3)]
