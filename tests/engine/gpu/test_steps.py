"""Training steps on the device: no wait, and no copy besides the batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn, optimizer
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
        self.shortcut, self.pool, self.classes = nn.Conv2D(3, 4, 1), nn.AdaptiveAvgPool2D(1), nn.Linear(4, 10)

    def forward(self, x: Any) -> Any:
        h = nn.functional.relu(self.norms[0](self.first(x)))
        h = nn.functional.relu(self.norms[1](self.second(h)) + self.shortcut(x))
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


def _quiet(counts: Counts, brought: int) -> None:
    assert counts.waits == 0, counts.lines("waits")
    assert counts.to_host == 0, counts.lines("to_host")
    assert counts.to_device == brought, counts.lines("to_device")


def _masks(choice: str, name: str) -> int:
    """Without kernels of the engine's own the CPU generates random numbers: one copy for each mask."""
    return {"mlp with dropout": 1, "transformer": 4}.get(name, 0) if choice == "numpy" else 0


# The most launches a step with the engine's own kernels, eager and converted: AdamW and clipping, for
# LeNet Adam alone. With CuPy's functions LeNet takes more than 400.
LAUNCHES = {
    "lenet": (50, 60),
    "mlp with dropout": (40, 46),
    "residual block": (80, 90),
    "transformer": (142, 165),
    "lstm": (84, 92),
}


def _optimizer(net: Any) -> Any:
    rate = optimizer.lr.StepDecay(0.01, 1)
    return optimizer.AdamW(rate, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))


@pytest.mark.parametrize("static", [False, True], ids=["eager", "converted"])
@pytest.mark.parametrize("name", NETS)
def test_a_step_waits_for_nothing(name: str, static: bool, choice: str) -> None:
    make, batch = NETS[name]
    net = make()
    opt = optimizer.Adam(parameters=net.parameters()) if name == "lenet" else _optimizer(net)
    call = paddle.jit.to_static(net) if static else net
    y = paddle.to_tensor(LABELS)
    for _ in range(3):
        with counted() as counts:
            loss = nn.functional.cross_entropy(call(paddle.to_tensor(batch)), y)
            loss.backward()
            opt.step()
            opt.clear_grad()
    _quiet(counts, 1 + _masks(choice, name))
    if choice == "auto":
        assert counts.launches <= LAUNCHES[name][static], counts.launches
    with counted() as counts:
        loss.item()
    assert counts.waits == 1


def test_a_step_with_loss_scaling_asks_once_whether_the_gradients_are_finite(choice: str) -> None:
    net = _mlp()
    opt = optimizer.Adam(parameters=net.parameters())
    scaler = paddle.amp.GradScaler(init_loss_scaling=128.0)
    x, y = paddle.to_tensor(NETS["mlp with dropout"][1]), paddle.to_tensor(LABELS)
    for _ in range(3):
        with counted() as counts:
            with paddle.amp.auto_cast(dtype="float16"):
                loss = nn.functional.cross_entropy(net(x), y)
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
            opt.clear_grad()
    assert counts.waits <= 1, counts.lines("waits")
    assert counts.to_device == _masks(choice, "mlp with dropout"), counts.lines("to_device")


def test_a_run_of_an_executor_brings_the_batch_and_fetches_the_loss(choice: str) -> None:
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [None, 1, 28, 28])
            y = paddle.static.data("y", [None, 1], "int64")
            loss = nn.functional.cross_entropy(paddle.vision.models.LeNet()(x), y)
            optimizer.Adam(0.001).minimize(loss)
        executor = paddle.static.Executor(paddle.CUDAPlace(0))
        executor.run(startup)
        feed = {"x": NETS["lenet"][1], "y": LABELS}
        losses = []
        for _ in range(3):
            with counted() as counts:
                losses += executor.run(main, feed=feed, fetch_list=[loss])
    finally:
        paddle.disable_static()
    assert losses[-1] < losses[0]
    assert counts.to_device == 2
    assert counts.waits == 1, counts.lines("waits")
    assert choice == "numpy" or counts.launches <= 50


def test_fit_fetches_the_loss_and_the_metric_of_a_step(choice: str) -> None:
    model = paddle.Model(paddle.vision.models.LeNet())
    adam = optimizer.Adam(parameters=model.parameters())
    model.prepare(adam, nn.CrossEntropyLoss(), paddle.metric.Accuracy())
    rows = paddle.io.TensorDataset([_numbers(12, 1, 28, 28), np.arange(12)[:, None] % 10])
    for _ in range(2):
        with counted() as counts:
            model.fit(rows, batch_size=4, epochs=1, verbose=0, shuffle=False)
    assert counts.to_device == 3 * 2, counts.lines("to_device")
    assert counts.waits == 3 * 2, counts.lines("waits")
    assert choice == "numpy" or counts.launches <= 3 * 60


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
