"""GradScaler: scaling, skipped steps, the scale over time, its state, and a training with master weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import amp


@pytest.fixture
def acting() -> Iterator[None]:
    with amp.on_cpu(), amp.auto_cast(dtype="float16", level="O0"):
        yield


def parameter(value: float = 1.0) -> Any:
    return paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(value))


def test_on_the_cpu_it_passes_through() -> None:
    with pytest.warns(UserWarning, match="AmpScaler can only be enabled on CUDAPlace"):
        scaler = amp.GradScaler(init_loss_scaling=1024)
    assert not scaler.is_enable()
    p = parameter()
    optimizer = paddle.optimizer.SGD(0.5, parameters=[p])
    scaled = scaler.scale(p.sum())
    assert float(scaled) == 2.0
    scaled.backward()
    _, pairs = scaler.minimize(optimizer, scaled)
    assert pairs[0][0] is p
    np.testing.assert_array_equal(p.numpy(), [0.5, 0.5])
    assert scaler.state_dict() == {}
    scaler.update()


def test_steps_skipped_steps_and_the_scale(acting: None, capsys: pytest.CaptureFixture[str]) -> None:
    p = parameter()
    optimizer = paddle.optimizer.SGD(0.5, parameters=[p])
    scaler = amp.GradScaler(init_loss_scaling=4.0, incr_every_n_steps=2)
    scales = []
    for factor in (1.0, 1.0, float("inf"), 1.0):
        scaler.scale((p * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        scales.append(float(scaler.state_dict()["scale"][0]))
    assert scales == [4.0, 8.0, 4.0, 4.0]
    np.testing.assert_array_equal(p.numpy(), [-0.5, -0.5])
    assert capsys.readouterr().out == "Found inf or nan, current scale is: 8.0, decrease to: 8.0*0.5\n"


def test_unscale_before_the_step(acting: None) -> None:
    p = parameter()
    optimizer = paddle.optimizer.SGD(0.5, parameters=[p])
    scaler = amp.GradScaler(init_loss_scaling=16.0)
    scaler.scale(p.sum()).backward()
    np.testing.assert_array_equal(p.grad.numpy(), [16.0, 16.0])
    scaler.unscale_(optimizer)
    np.testing.assert_array_equal(p.grad.numpy(), [1.0, 1.0])
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    np.testing.assert_array_equal(p.numpy(), [0.5, 0.5])
    with pytest.raises(RuntimeError, match="since the last update"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="after step"):
        scaler.unscale_(optimizer)


def test_settings_and_state(acting: None) -> None:
    scaler = amp.GradScaler(True, 8.0, 3.0, 0.25, 7, 2, True)
    values = (
        scaler.get_init_loss_scaling(),
        scaler.get_incr_ratio(),
        scaler.get_decr_ratio(),
        scaler.get_incr_every_n_steps(),
        scaler.get_decr_every_n_nan_or_inf(),
        scaler.is_use_dynamic_loss_scaling(),
    )
    assert values == (8.0, 3.0, 0.25, 7, 2, True)
    scaler.set_init_loss_scaling(32.0)
    scaler.set_incr_ratio(4.0)
    scaler.set_decr_ratio(0.5)
    scaler.set_incr_every_n_steps(9)
    scaler.set_decr_every_n_nan_or_inf(3)
    other = amp.GradScaler()
    other.load_state_dict(scaler.state_dict())
    assert str(other.state_dict()) == str(scaler.state_dict())
    assert other.state_dict()["scale"].dtype == np.float32
    with pytest.raises(AssertionError, match="incr_ratio"):
        scaler.set_incr_ratio(1.0)
    with pytest.raises(AssertionError, match="decr_ratio"):
        amp.GradScaler(decr_ratio=1.5)
    with pytest.raises(RuntimeError, match="empty"):
        other.load_state_dict({})


def test_dynamic_scaling_is_for_float16(acting: None) -> None:
    scaler = amp.GradScaler()
    with amp.auto_cast(dtype="bfloat16", level="O0"):
        pass
    with pytest.warns(UserWarning, match="not recommended to use dynamic loss scaling for bfloat16"):
        assert float(scaler.scale(paddle.to_tensor(2.0))) == 2.0
    assert not scaler.is_enable()


def train(within: str, **options: Any) -> list[float]:
    paddle.seed(3)
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.LayerNorm(8), paddle.nn.Linear(8, 1))
    optimizer = paddle.optimizer.Adam(0.05, parameters=net.parameters())
    if options.get("level"):
        net, optimizer = amp.decorate(net, optimizer, **options)
        assert net[0].weight.dtype == "float16"
        assert net[1].weight.dtype == "float32"
    scaler = amp.GradScaler(init_loss_scaling=256.0)
    x = paddle.to_tensor(np.linspace(-1, 1, 24).reshape(6, 4).astype("float32"))
    losses = []
    for _ in range(6):
        with amp.auto_cast(level=within):
            loss = (net(x).astype("float32") - 0.5).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        losses.append(float(loss))
    if options.get("level"):
        state = optimizer.state_dict()
        assert {v.dtype.name for v in state["master_weights"].values()} == {"float32"}
        assert {v.dtype.name for v in net.state_dict().values()} == {options.get("save_dtype", "float16")}
    return losses


def test_mixed_training_follows_that_in_float32() -> None:
    with amp.on_cpu():
        plain = train("O0")
        np.testing.assert_allclose(train("O1"), plain, rtol=0.02)
        for more in ({}, {"master_grad": True}):
            low = train("O2", level="O2", save_dtype="float32", **more)
            np.testing.assert_allclose(low, plain, rtol=0.03)


def test_decorate() -> None:
    net = paddle.nn.Linear(2, 2)
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    assert amp.decorate(net, level="O2") is net  # no effect on the CPU
    assert net.weight.dtype == "float32"
    assert amp.decorate(3, 4) == (3, 4)
    with pytest.raises(ValueError, match="level should be O1 or O2"):
        amp.decorate(net, level="O3")
    with pytest.raises(ValueError, match="float16 or bfloat16"):
        amp.decorate(net, dtype="float32")
    with amp.on_cpu():
        with pytest.raises(TypeError, match="models must be"):
            amp.decorate(3, level="O2")
        with pytest.raises(RuntimeError, match="paddle Optimizers"):
            amp.decorate(net, [net], level="O2")
        keep = paddle.nn.Sequential(paddle.nn.Linear(2, 2), paddle.nn.Linear(2, 2), paddle.nn.BatchNorm1D(2))
        models, optimizers = amp.decorate(
            [keep], [optimizer], level="O2", master_weight=False, excluded_layers=[keep[0]]
        )
        assert models[0] is keep
        assert optimizers[0] is optimizer
        assert [layer.weight.dtype.name for layer in keep] == ["float32", "float16", "float32"]
