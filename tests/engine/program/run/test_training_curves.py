"""Compiled kernels train as NumPy's do: their curves of the loss are as near as rounding lets them be.

Another seed gives other weights and other batches, so the curves of seeds are apart. Compiled kernels round
otherwise, which a training lets grow; a kernel that computes something else would show as more than that.
"""

from collections.abc import Callable

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.kernels.choice import settled_as
from engine.vision.datasets import Digits
from engine.vision.models import LeNet, resnet18

pytest.importorskip("llvmlite", reason="llvmlite is not installed")
pytestmark = pytest.mark.timeout(600)
SEEDS = (1, 2, 3)
Array = np.ndarray


def digits() -> tuple[Array, Array]:
    """1,000 digits [N, 1, 28, 28] from 0 to 1, and their labels [N, 1]."""
    data = Digits(count=1000)
    images = np.asarray(data.images, np.float32).reshape(-1, 1, 28, 28) / 255
    return images, np.asarray(data.labels, np.int64).reshape(-1, 1)


def coloured_digits() -> tuple[Array, Array]:
    """The digits in three colours, [N, 3, 32, 32]."""
    images, labels = digits()
    padded = np.pad(images, [(0, 0), (0, 0), (2, 2), (2, 2)])
    return np.concatenate([padded, 1 - padded, padded**2], 1), labels


def curve(
    network: Callable[[], nn.Layer],
    data: tuple[Array, Array],
    batch: int,
    steps: int,
    seed: int,
    kernels: str,
) -> Array:
    """The loss of each step of a converted step."""
    images, labels = data
    with settled_as(kernels):
        paddle.seed(seed)
        net = network()
        rule = paddle.optimizer.Adam(1e-3, parameters=net.parameters())

        @paddle.jit.to_static
        def step(x, label):
            loss = nn.functional.cross_entropy(net(x), label)
            loss.backward()
            rule.step()
            rule.clear_grad()
            return loss

        random = np.random.default_rng(seed)
        chosen = [random.integers(0, len(images), batch) for _ in range(steps)]
        found = [step(*(paddle.to_tensor(part[rows]) for part in (images, labels))) for rows in chosen]
        return np.array([float(loss) for loss in found])


@pytest.mark.parametrize(
    ("network", "data", "batch", "steps"),
    [
        pytest.param(LeNet, digits, 64, 120, id="LeNet"),
        pytest.param(lambda: resnet18(num_classes=10), coloured_digits, 16, 30, id="ResNet-18"),
    ],
)
def test_curves_of_compiled_kernels_lie_within_the_spread_of_seeds(network, data, batch, steps):
    given = data()
    plain, compiled = (
        np.array([curve(network, given, batch, steps, seed, kernels) for seed in SEEDS])
        for kernels in ("numpy", "fast")
    )
    np.testing.assert_allclose(compiled[:, 0], plain[:, 0], rtol=1e-5)  # before rounding has grown
    # The means of ten steps: a single batch is luck.
    plain, compiled = (values.reshape(len(SEEDS), -1, 10).mean(2) for values in (plain, compiled))
    assert (plain[:, -1] < 0.9 * plain[:, 0]).all(), "it does not train"
    spread = plain.std(axis=0, ddof=1)
    apart = np.abs(compiled - plain).mean(axis=0)
    print(f"apart by {apart}, seeds by {spread}")
    np.testing.assert_array_less(apart, spread)
