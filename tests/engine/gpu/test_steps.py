"""What a training step asks of the device: no wait, and no copy besides the batch that is brought."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.kernels.choice import kernels
from tests.cupy_stand_in.counts import Counts, counted

RNG = np.random.default_rng(0)


def _numbers(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype("float32")


class _Residual(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2D(3, 4, 3, padding=1), nn.Conv2D(4, 4, 3, padding=1)
        self.norms = nn.LayerList([nn.BatchNorm2D(4), nn.BatchNorm2D(4)])
        self.beside, self.pool, self.classes = nn.Conv2D(3, 4, 1), nn.AdaptiveAvgPool2D(1), nn.Linear(4, 10)

    def forward(self, x: Any) -> Any:
        h = nn.functional.relu(self.norms[0](self.first(x)))
        h = nn.functional.relu(self.norms[1](self.second(h)) + self.beside(x))
        return self.classes(self.pool(h).flatten(1))


class _Words(nn.Layer):
    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.rows, self.inner, self.classes = nn.Embedding(20, 8), inner, nn.Linear(8, 10)

    def forward(self, x: Any) -> Any:
        found = self.inner(self.rows(x))
        return self.classes((found[0] if isinstance(found, tuple) else found).mean(1))


def _transformer() -> Any:
    return _Words(nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1), 1))


def _mlp() -> Any:
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 10))


IDS = RNG.integers(0, 20, (8, 5))
NETS: dict[str, tuple[Callable[[], Any], Any]] = {
    "lenet": (paddle.vision.models.LeNet, _numbers(8, 1, 28, 28)),
    "mlp with dropout": (_mlp, _numbers(8, 6)),
    "residual block": (_Residual, _numbers(8, 3, 6, 6)),
    "transformer": (_transformer, IDS),
    "lstm": (lambda: _Words(nn.LSTM(8, 8)), IDS),
}
LABELS = np.arange(8)[:, None]


@pytest.fixture(params=["auto", "numpy"])
def choice(request: pytest.FixtureRequest) -> Iterator[str]:
    """With the engine's own kernels, and with CuPy's functions."""
    with kernels.guard(request.param):
        yield request.param


def _quiet(counts: Counts, brought: int = 0) -> None:
    assert counts.waits == 0, counts.told("waits")
    assert counts.to_host == 0, counts.told("to_host")
    assert counts.to_device == brought, counts.told("to_device")


def _masks(choice: str, name: str) -> int:
    """Without kernels of the engine's own the CPU makes random numbers: one copy for each mask."""
    return {"mlp with dropout": 1, "transformer": 4}.get(name, 0) if choice == "numpy" else 0


@pytest.mark.parametrize("static", [False, True], ids=["eager", "converted"])
@pytest.mark.parametrize("name", NETS)
def test_loss_and_gradients_wait_for_nothing(name: str, static: bool, choice: str) -> None:
    make, batch = NETS[name]
    net = make()
    call = paddle.jit.to_static(net) if static else net
    labels = paddle.to_tensor(LABELS)
    for _ in range(2):
        with counted() as counts:
            loss = nn.functional.cross_entropy(call(paddle.to_tensor(batch)), labels)
            loss.backward()
        net.clear_gradients()
    _quiet(counts, 1 + _masks(choice, name))
    assert np.isfinite(loss.item())


def test_a_label_that_does_not_exist_shows_in_the_loss(choice: str) -> None:
    x, y = paddle.to_tensor(_numbers(3, 4)), paddle.to_tensor([[1], [7], [2]])
    with counted() as counts:
        loss = nn.functional.cross_entropy(x, y, reduction="none")
    assert counts.waits == 0
    if choice == "numpy":
        assert np.isnan(loss.numpy()).reshape(-1).tolist() == [False, True, False]
    else:
        with pytest.raises(paddle.core.errors.OutOfRangeError, match="label 7 is not a class number"):
            loss.numpy()


def test_a_row_that_does_not_exist_is_not_a_number() -> None:
    with counted() as counts:
        found = nn.functional.embedding(paddle.to_tensor([0, 5]), paddle.ones([3, 2]), padding_idx=1)
    assert counts.waits == 0
    assert np.isnan(found.numpy()).tolist() == [[False, False], [True, True]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("labels", [[1, 2, -100, 0, -100], [-100] * 5, []])
def test_the_mean_over_labels_that_count(dtype: str, labels: list[int], choice: str) -> None:
    numbers = np.linspace(0.5, 3, len(labels)).astype("float64")
    found = []
    for place in ("gpu:0", "cpu"):
        paddle.set_device(place)
        x = paddle.to_tensor(numbers).astype(dtype)
        x.stop_gradient = False
        y = paddle.to_tensor(np.array(labels, "int64"))
        from engine.ops.training.losses import kept_mean

        mean = kept_mean(x, y)
        mean.backward()
        found.append((mean.astype("float64").numpy(), x.grad.astype("float64").numpy()))
    step = {"float64": 1e-12, "float32": 1e-6, "float16": 2e-3, "bfloat16": 1e-2}[dtype]
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=step)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=step)
