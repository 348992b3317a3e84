"""Training on a GPU agrees with the CPU: optimizers, mixed precision, the tape, quantization."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn, optimizer
from engine.core.place import is_cupy
from engine.kernels.choice import kernels
from engine.vision.datasets import Digits

RNG = np.random.default_rng(1)
X, Y = RNG.standard_normal((8, 4)).astype("float32"), np.arange(8)[:, None] % 3


@pytest.fixture(params=["auto", "numpy"], autouse=True)
def choice(request: pytest.FixtureRequest) -> Iterator[str]:
    """With the engine's own kernels, and with CuPy's functions."""
    with kernels.guard(request.param):
        yield request.param


def _on(place: str, run: Callable[[], Any]) -> Any:
    """The result of ``run`` on a place, from one seed; the CPU computes with NumPy."""
    paddle.set_device(place)
    paddle.seed(4)
    if place != "cpu":
        return run()
    with kernels.guard("numpy"):
        return run()


def _both(run: Callable[[], Any], step: float = 1e-5) -> None:
    there, here = _on("gpu:0", run), _on("cpu", run)
    assert len(there) == len(here)
    for a, b in zip(there, here, strict=True):
        np.testing.assert_allclose(a, b, rtol=step, atol=step)


def _mlp() -> Any:
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))


OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: optimizer.SGD(0.1, parameters=p),
    "Momentum": lambda p: optimizer.Momentum(0.1, parameters=p, use_nesterov=True, weight_decay=0.01),
    "Adam": lambda p: optimizer.Adam(0.01, parameters=p),
    "AdamW": lambda p: optimizer.AdamW(0.01, parameters=p, weight_decay=0.02),
    "Adamax": lambda p: optimizer.Adamax(0.01, parameters=p),
    "Adagrad": lambda p: optimizer.Adagrad(0.1, parameters=p),
    "Adadelta": lambda p: optimizer.Adadelta(0.1, parameters=p),
    "RMSProp": lambda p: optimizer.RMSProp(0.01, parameters=p, momentum=0.5, centered=True),
    "Lamb": lambda p: optimizer.Lamb(0.01, parameters=p),
    "clipped by norm": lambda p: optimizer.SGD(0.1, parameters=p, grad_clip=nn.ClipGradByNorm(0.05)),
    "clipped by value": lambda p: optimizer.SGD(0.1, parameters=p, grad_clip=nn.ClipGradByValue(0.05)),
    "clipped together": lambda p: optimizer.AdamW(
        optimizer.lr.CosineAnnealingDecay(0.1, 4), parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.05)
    ),
}


def _steps(net: Any, opt: Any, count: int = 3) -> list[Any]:
    losses = []
    for _ in range(count):
        loss = nn.functional.cross_entropy(net(paddle.to_tensor(X)), paddle.to_tensor(Y))
        loss.backward()
        opt.step()
        opt.clear_grad()
        if isinstance(opt._learning_rate, optimizer.lr.LRScheduler):
            opt._learning_rate.step()
        losses.append(loss)
    state = [v for v in opt.state_dict().values() if isinstance(v, paddle.Tensor)]
    assert len({is_cupy(t._array) for t in [*net.parameters(), *state]}) == 1
    return [t.numpy() for t in [*losses, *net.parameters(), *state]]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_makes_the_steps_of_the_cpu(name: str) -> None:
    def run() -> list[Any]:
        net = _mlp()
        return _steps(net, OPTIMIZERS[name](net.parameters()))

    _both(run)


def test_lbfgs_makes_the_steps_of_the_cpu() -> None:
    def run() -> list[Any]:
        net = _mlp()
        opt = optimizer.LBFGS(0.5, max_iter=3, parameters=net.parameters(), line_search_fn="strong_wolfe")

        def closure() -> Any:
            opt.clear_grad()
            loss = nn.functional.cross_entropy(net(paddle.to_tensor(X)), paddle.to_tensor(Y))
            loss.backward()
            return loss

        return [float(opt.step(closure)) for _ in range(2)] + [p.numpy() for p in net.parameters()]

    _both(run, 1e-4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("level", ["O1", "O2"])
def test_mixed_precision_trains_as_float32_does(dtype: str, level: str) -> None:
    def run(mixed: bool) -> list[Any]:
        net = nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.ReLU(), nn.Linear(6, 3))
        opt = optimizer.Adam(0.02, parameters=net.parameters(), multi_precision=level == "O2")
        if mixed and level == "O2":
            net, opt = paddle.amp.decorate(net, opt, level="O2", dtype=dtype)
        scaler = paddle.amp.GradScaler(enable=mixed and dtype == "float16", init_loss_scaling=128.0)
        losses = []
        for _ in range(5):
            with paddle.amp.auto_cast(enable=mixed, level=level, dtype=dtype):
                out = net(paddle.to_tensor(X))
                loss = nn.functional.cross_entropy(out, paddle.to_tensor(Y))
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
            opt.clear_grad()
            losses.append(float(loss))
        return losses

    there, here = _on("gpu:0", lambda: run(True)), _on("gpu:0", lambda: run(False))
    np.testing.assert_allclose(there, here, rtol=0.03 if dtype == "bfloat16" else 0.005)
    assert there[-1] < there[0]


BFLOAT16: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: optimizer.SGD(0.1, parameters=p),
    "Adam": lambda p: optimizer.Adam(0.1, parameters=p),
    "Adam with copies": lambda p: optimizer.Adam(0.1, parameters=p, multi_precision=True),
    "Momentum, clipped": lambda p: optimizer.Momentum(
        0.1, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.5), weight_decay=0.01
    ),
}


@pytest.mark.parametrize("name", BFLOAT16)
def test_bits_of_bfloat16_are_not_taken_for_numbers(name: str) -> None:
    def run() -> list[Any]:
        net = nn.Linear(4, 3)
        net.to(dtype="bfloat16")
        opt = BFLOAT16[name](net.parameters())
        x = paddle.to_tensor(X).astype("bfloat16")
        for _ in range(3):
            for _ in range(2):  # gradients are added up
                net(x).square().mean().backward()
            found = net.weight.grad.astype("float32").numpy()
            opt.step()
            opt.clear_grad()
        return [found, net.weight.astype("float32").numpy()]

    _both(run, 0.05)


def test_a_nan_of_bfloat16_is_found() -> None:
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        zero = paddle.zeros([2]).astype("bfloat16")
        with pytest.raises(
            paddle.core.errors.NotFiniteError, match=r"holds 2 nan and 0 infinite .* bfloat16"
        ):
            zero / zero
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": False})


class _Cube(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensor()
        return g * 3.0 * x * x


def _second_order() -> list[Any]:
    x = paddle.to_tensor(X, stop_gradient=False)
    w = paddle.to_tensor(X.T.copy(), stop_gradient=False)
    y = paddle.nn.functional.softmax(paddle.tanh(x @ w)).sum() + (x**3).sum()
    (first,) = paddle.grad([y], [x], create_graph=True)
    (first * first).sum().backward()
    return [first.numpy(), x.grad.numpy(), w.grad.numpy()]


def _py_layer() -> list[Any]:
    x = paddle.to_tensor(X, stop_gradient=False)
    _Cube.apply(x).sum().backward()
    return [x.grad.numpy()]


def _hooks() -> list[Any]:
    seen: list[Any] = []
    x = paddle.to_tensor(X, stop_gradient=False)
    y = x * 2
    y.register_hook(lambda g: g * 3)
    x.register_hook(lambda g: seen.append(g.numpy()))
    y.retain_grads()
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return [x.grad.numpy(), y.grad.numpy(), *seen]


def _saved_hooks() -> list[Any]:
    x = paddle.to_tensor(X, stop_gradient=False)
    with paddle.autograd.saved_tensors_hooks(lambda t: t.numpy(), lambda a: paddle.to_tensor(a)):
        y = (x * x).exp()
    y.sum().backward()
    return [x.grad.numpy()]


def _in_place_and_views() -> list[Any]:
    x = paddle.to_tensor(X, stop_gradient=False)
    y = x * 2
    rows = y.reshape([4, 8])
    y[0] = 5.0
    y[:, 1] = x[:, 0] * 3
    rows = rows + y.reshape([4, 8]).t().reshape([4, 8])
    z = paddle.to_tensor(X.copy())
    view = z[2:4]
    z.add_(paddle.ones([1]))
    z.scale_(2.0)
    rows.sum().backward()
    return [x.grad.numpy(), view.numpy(), z.numpy()]


def _in_place_is_refused() -> list[Any]:
    x = paddle.to_tensor(X, stop_gradient=False)
    y = x * 1
    z = (y * y).sum()
    y[0] = 0.0
    with pytest.raises(paddle.core.errors.GradientError):
        z.backward()
    return []


def _control_flow() -> list[Any]:
    @paddle.jit.to_static
    def looped(x: Any) -> Any:
        total = paddle.zeros_like(x)
        n = paddle.to_tensor(0)
        while n < 3:
            total = total + x * x if total.sum() < 100 else total - x
            n = n + 1
        return total

    x = paddle.to_tensor(X, stop_gradient=False)
    looped(x).sum().backward()
    return [x.grad.numpy()]


TAPE = [
    _second_order,
    _py_layer,
    _hooks,
    _saved_hooks,
    _in_place_and_views,
    _in_place_is_refused,
    _control_flow,
]


@pytest.mark.parametrize("run", TAPE, ids=lambda run: run.__name__)
def test_the_tape(run: Callable[[], Any]) -> None:
    _both(run)


def test_quantize_aware_training() -> None:
    def run() -> list[Any]:
        from engine.quantization import QAT, QuantConfig
        from engine.quantization.quanters import FakeQuanterWithAbsMaxObserver

        quanter = FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
        net = QAT(QuantConfig(activation=quanter, weight=quanter)).quantize(_mlp())
        return _steps(net, optimizer.Adam(0.01, parameters=net.parameters()))

    _both(run, 1e-4)


def test_post_training_quantization() -> None:
    def run() -> list[Any]:
        from engine.quantization import PTQ, QuantConfig
        from engine.quantization.observers import AbsmaxObserver

        ptq = PTQ(QuantConfig(activation=AbsmaxObserver(), weight=AbsmaxObserver()))
        net = _mlp()
        net.eval()
        observed = ptq.quantize(net)
        observed(paddle.to_tensor(X))
        return [ptq.convert(observed)(paddle.to_tensor(X)).numpy()]

    _both(run, 1e-5)


def test_the_first_ten_losses_of_lenet(choice: str) -> None:
    """From the same first weights and batches, within 1e-4 of the CPU's; converted with our own kernels."""
    digits = Digits("train", 40, transform=lambda image: np.float32(image)[None] / 127.5 - 1)

    def run() -> list[Any]:
        net = paddle.vision.models.LeNet()
        call = paddle.jit.to_static(net) if choice == "auto" else net
        opt = optimizer.Adam(0.002, parameters=net.parameters())
        losses = []
        for images, labels in paddle.io.DataLoader(digits, batch_size=4):
            loss = nn.functional.cross_entropy(call(images), labels)
            loss.backward()
            opt.step()
            opt.clear_grad()
            losses.append(loss.item())
        return losses

    there, here = _on("gpu:0", run), _on("cpu", run)
    assert len(there) == 10
    np.testing.assert_allclose(there, here, atol=1e-4)
