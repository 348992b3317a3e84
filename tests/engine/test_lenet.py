"""LeNet as a whole: eager and static give the same losses, memory does not grow, gradients are torch's."""

import gc
import json
import resource
from pathlib import Path

import numpy as np
import pytest

import engine as paddle
import engine.nn.functional as F
from resources.models.lenet import LeNet

RECORDED = Path(__file__).parent / "recorded"


def losses(static, steps, batch=16):
    paddle.seed(2026)
    net = LeNet()
    if static:
        paddle.jit.to_static(net)
    optimizer = paddle.optimizer.Adam(learning_rate=0.001, parameters=net.parameters())
    rng = np.random.default_rng(0)
    seen = []
    for _ in range(steps):
        x = paddle.to_tensor(rng.random((batch, 1, 28, 28), dtype="float32"))
        y = paddle.to_tensor(rng.integers(0, 10, (batch, 1)))
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        seen.append(loss.item())
    return np.array(seen)


def test_static_training_gives_the_eager_losses():
    eager, static = losses(False, 50), losses(True, 50)
    assert np.abs(static - eager).max() / np.abs(eager).min() < 1e-5
    assert len(set(eager)) == 50


def test_the_same_seed_gives_the_same_bits():
    np.testing.assert_array_equal(losses(True, 5), losses(True, 5))


@pytest.mark.parametrize("static", [False, True])
def test_a_thousand_steps_with_the_cycle_collector_off_do_not_grow_the_process(static):
    net = paddle.nn.Sequential(
        paddle.nn.Conv2D(1, 2, 3),
        paddle.nn.ReLU(),
        paddle.nn.MaxPool2D(2, 2),
        paddle.nn.Flatten(),
        paddle.nn.Linear(2 * 5 * 5, 10),
    )
    if static:
        paddle.jit.to_static(net)
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    x = paddle.to_tensor(np.random.default_rng(0).random((32, 1, 12, 12), dtype="float32"))
    y = paddle.to_tensor(np.arange(32).reshape(32, 1) % 10)

    def step():
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for _ in range(50):
        step()
    gc.collect()
    gc.disable()
    try:
        before, objects = peak(), len(gc.get_objects())
        for _ in range(1000):
            step()
        grown, more = peak() - before, len(gc.get_objects()) - objects
    finally:
        gc.enable()
    # A step's arrays alone are 150 KB: a thousand kept ones would be 150 MB. What the process's other tests
    # left behind scatters new arrays over a few megabytes.
    assert grown < 16384, f"the process grew by {grown} KB"
    assert more < 200, f"{more} more objects are alive"


def formula_weights(shape, k):
    """Weights that every framework can make alike."""
    n = int(np.prod(shape))
    return (np.sin(np.arange(n) * 0.37 + k) / np.sqrt(max(n // shape[0], 1))).reshape(shape)


@pytest.mark.parametrize("static", [False, True])
def test_gradients_are_those_that_torch_gives_in_float64(static):
    recorded = json.loads((RECORDED / "lenet_gradients.json").read_text())
    before = paddle.get_default_dtype()
    paddle.set_default_dtype("float64")
    try:
        net = LeNet()
    finally:
        paddle.set_default_dtype(before)
    net.to(dtype="float64")
    for k, parameter in enumerate(net.parameters()):
        parameter.set_value(formula_weights(parameter.shape, k))
    if static:
        paddle.jit.to_static(net)
    x = paddle.to_tensor(np.cos(np.arange(4 * 784) * 0.11).reshape(4, 1, 28, 28) * 0.5 + 0.5)
    loss = F.cross_entropy(net(x), paddle.to_tensor([[3], [1], [4], [1]]))
    loss.backward()
    assert abs(loss.item() - recorded["loss"]) / recorded["loss"] < 1e-9
    for (name, parameter), expected in zip(net.named_parameters(), recorded["gradients"], strict=True):
        gradient = parameter.grad.numpy().reshape(-1)
        norm = np.linalg.norm(gradient)
        assert abs(norm - expected["norm"]) <= 1e-6 * expected["norm"], name
        picked = gradient[np.array(expected["places"])]
        np.testing.assert_allclose(
            picked, expected["values"], rtol=1e-6, atol=1e-9 * expected["norm"], err_msg=name
        )
