"""A whole step operator by operator gives the bits of the step that is trained, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ModeError, ProgramError
from engine.training.network.recomputing import recompute_blocks
from engine.training.randomness import random_state, set_random_state
from engine.training.stepper import Stepper
from engine.training.whole_step import WholeStep

Make = Callable[[Any], Any]


class Doubled(paddle.autograd.PyLayer):
    """Twice its input, whose gradient is cut."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return 2.0 * x

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensor()
        return paddle.clip(grad, -0.1, 0.1) + 0.0 * x


class Net(paddle.nn.Layer):
    """Batch norm, dropout, a PyLayer, and blocks that can be computed again."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = paddle.nn.Conv2D(1, 4, 3)
        self.norm = paddle.nn.BatchNorm2D(4)
        self.blocks = paddle.nn.Sequential(*(Block() for _ in range(3)))
        self.out = paddle.nn.Linear(4, 5)

    def forward(self, x: Any) -> Any:
        x = paddle.nn.functional.relu(self.norm(self.conv(x))).mean([2, 3])
        return self.out(Doubled.apply(self.blocks(x)))


class Block(paddle.nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.linear = paddle.nn.Linear(4, 4)
        self.drop = paddle.nn.Dropout(0.25)

    def forward(self, x: Any) -> Any:
        return x + self.drop(paddle.tanh(self.linear(x)))


def batch(seed: int) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    images = random.normal(size=(6, 1, 6, 6)).astype(np.float32)
    return paddle.to_tensor(images), paddle.to_tensor(random.integers(0, 5, (6, 1)))


def values(network: Any) -> dict[str, Any]:
    return {name: tensor.numpy().copy() for name, tensor in network.state_dict().items()}


def trained(network: Any) -> dict[str, Any]:
    return {name: p for name, p in network.named_parameters() if not p.stop_gradient}


def require_equal(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        assert found[name].tobytes() == value.tobytes(), name


def run(step: WholeStep) -> None:
    for part in step.parts:
        for _ in part.begin():
            pass


OPTIMIZERS: dict[str, Make] = {
    "sgd": lambda p: paddle.optimizer.SGD(0.1, p, weight_decay=0.01),
    "momentum": lambda p: paddle.optimizer.Momentum(
        paddle.optimizer.lr.StepDecay(0.1, 1), parameters=p, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5)
    ),
    "adamw": lambda p: paddle.optimizer.AdamW(
        0.01, parameters=p, weight_decay=0.1, apply_decay_param_fun=lambda name: not name.endswith(".b_0")
    ),
    "lbfgs": lambda p: paddle.optimizer.LBFGS(0.5, max_iter=3, parameters=p),
}


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_the_bits_are_those_of_the_training(name: str, static: bool) -> None:
    paddle.seed(11)
    network = Net()
    stepper = Stepper(network, OPTIMIZERS[name](network.parameters()), static, (1, 6, 6))
    stepper.train(*batch(0))
    before, random = values(network), random_state()
    step = stepper.whole_step(*batch(1))
    run(step)
    (loss, *_) = step.begun.outputs
    rows = {row.name: row for row in step.updates()}
    assert np.isfinite(loss)
    require_equal(values(network), before)

    set_random_state(random)
    found, _ = stepper.train(*batch(1))
    assert found == float(loss)
    after = values(network)
    assert rows.keys() == trained(network).keys()
    for path, row in rows.items():
        assert row.before.tobytes() == before[path].tobytes()
        assert row.after.tobytes() == after[path].tobytes()
        assert row.gradient.shape == row.before.shape


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_steps_that_are_kept_are_steps_of_a_training(name: str) -> None:
    found = []
    for stepped in (False, True):
        paddle.seed(11)
        with paddle.utils.unique_name.guard():
            network = Net()
            stepper = Stepper(network, OPTIMIZERS[name](network.parameters()), True, (1, 6, 6))
        for n in range(3):
            if stepped:
                step = stepper.whole_step(*batch(n))
                run(step)
                step.updates()
                step.keep()
            else:
                stepper.train(*batch(n))
        state = {k: v.numpy() for k, v in stepper.optimizer.state_dict().items() if hasattr(v, "numpy")}
        found.append(values(network) | state)
    require_equal(*found)


def test_blocks_that_are_computed_again() -> None:
    paddle.seed(11)
    network = Net()
    recompute_blocks(network)
    stepper = Stepper(network, OPTIMIZERS["sgd"](network.parameters()), True, (1, 6, 6))
    random = random_state()
    step = stepper.whole_step(*batch(1))
    forward, backward = ([m.operator.opdef.name for m in part.begin()] for part in step.parts)
    assert forward.count("tanh") == 3
    assert backward.count("tanh") == 3
    rows = {row.name: row.after for row in step.updates()}
    set_random_state(random)
    stepper.train(*batch(1))
    require_equal(rows, {name: p.numpy() for name, p in trained(network).items()})


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_values_that_are_cast_once_have_the_gradients_of_the_training(dtype: str) -> None:
    from engine.amp import auto_cast, on_cpu

    paddle.seed(11)
    network = paddle.nn.TransformerEncoderLayer(8, 2, 16, 0.1)
    optimizer = OPTIMIZERS["sgd"](network.parameters())
    x = paddle.to_tensor(np.random.default_rng(1).normal(size=(3, 6, 8)).astype(np.float32))

    def loss_of(x: Any) -> Any:
        return (network(x) ** 2).mean()

    with on_cpu(), auto_cast(dtype=dtype):
        random = random_state()
        step = WholeStep(loss_of, optimizer, (x,), network=network)
        run(step)
        rows = {row.name: row for row in step.updates()}
        set_random_state(random)
        paddle.jit.to_static(loss_of, full_graph=True)(x).backward()
    optimizer.step()
    require_equal(
        {name: row.after for name, row in rows.items()}, {n: p.numpy() for n, p in trained(network).items()}
    )


@pytest.mark.parametrize("overflows", [False, True])
def test_mixed_precision_with_a_scaled_loss(overflows: bool) -> None:
    from engine.amp import GradScaler, auto_cast, on_cpu

    paddle.seed(11)
    network = Net()
    network.eval()  # a batch norm over few values makes roundings large
    optimizer = OPTIMIZERS["sgd"](network.parameters())

    def loss_of(x: Any, label: Any) -> Any:
        return paddle.nn.functional.cross_entropy(network(x), label)

    with on_cpu():
        scaler = GradScaler(init_loss_scaling=2.0**60 if overflows else 1024.0)
        x, label = batch(1)
        with auto_cast(dtype="float16"):
            step = WholeStep(loss_of, optimizer, (x, label), scaler, network)
            run(step)
        assert any(m.made[0].dtype == np.float16 for m in step.parts[0].begin())
        run(step)
        rows = {row.name: row for row in step.updates()}
        with auto_cast(dtype="float16"):
            loss = paddle.jit.to_static(loss_of, full_graph=True)(x, label)
        scaler.scale(loss).backward()
        before = values(network)
        gradients = {name: p.grad.numpy().copy() for name, p in trained(network).items()}
        scaler.step(optimizer)
    for name, parameter in trained(network).items():
        assert rows[name].gradient.tobytes() == gradients[name].tobytes()
        assert rows[name].after.tobytes() == parameter.numpy().tobytes()
        assert (rows[name].after == before[name]).all() == overflows


def test_hooks_of_gradients_are_called() -> None:
    network = paddle.nn.Linear(3, 2)
    network.weight.register_hook(lambda gradient: gradient * 0.0)
    step = WholeStep(
        lambda x: network(x).sum(),
        OPTIMIZERS["sgd"](network.parameters()),
        (paddle.ones([4, 3]),),
        network=network,
    )
    run(step)
    rows = {row.name: row for row in step.updates()}
    assert not rows["weight"].gradient.any()
    assert rows["bias"].gradient.tolist() == [4.0, 4.0]


def test_begins_with_other_values() -> None:
    network = paddle.nn.Linear(3, 2)
    x = paddle.ones([4, 3])
    step = WholeStep(lambda x: network(x).sum(), None, (x,), network=network)
    name = network.bias.name
    forward = step.begin_forward({name: np.float32([5.0, 7.0])})
    (loss,) = forward.finish()
    np.testing.assert_allclose(
        loss, network(x).sum().numpy() - 4 * network.bias.numpy().sum() + 48.0, rtol=1e-6
    )
    assert step.updates() == []


def test_parts_out_of_order_are_refused() -> None:
    network = paddle.nn.Linear(3, 2)
    step = WholeStep(
        lambda x: network(x).sum(), OPTIMIZERS["sgd"](network.parameters()), (paddle.ones([4, 3]),)
    )
    with pytest.raises(ModeError, match="begin_forward"):
        step.begin_backward()
    step.begin_forward()
    with pytest.raises(ProgramError, match="not come to its end"):
        step.begin_backward()
    with pytest.raises(ModeError, match="begin_backward"):
        step.updates()


def test_a_function_that_trains_itself_is_refused() -> None:
    network = paddle.nn.Linear(3, 2)
    optimizer = OPTIMIZERS["sgd"](network.parameters())

    def trains(x: Any) -> Any:
        loss = network(x).sum()
        loss.backward()
        optimizer.step()
        return loss

    with pytest.raises(ModeError, match="itself"):
        WholeStep(trains, optimizer, (paddle.ones([4, 3]),))
