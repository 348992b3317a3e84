"""What optimizers share: rates, groups, state that resumes bit-equal, gradients, errors."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine import nn, optimizer
from engine.core import names
from engine.core.errors import ArgumentError, DTypeError, ModeError, ShapeError
from engine.nn.regularizer import L2Decay
from engine.optimizer import lr
from engine.program.build.builder import building
from engine.program.graph.program import Program
from engine.tensor import to_tensor

CLASSES = [optimizer.SGD, optimizer.Momentum, optimizer.Adam, optimizer.AdamW]


def model() -> nn.Layer:
    with names.guard():
        return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def train(net: nn.Layer, rule: optimizer.Optimizer, steps: range, clear: bool = True) -> None:
    for number in steps:
        random = np.random.RandomState(number)
        x, y = (to_tensor(random.randn(5, n).astype("float32")) for n in (3, 2))
        nn.functional.mse_loss(net(x), y).backward()
        rule.step()
        if isinstance(rule._learning_rate, lr.LRScheduler):
            rule._learning_rate.step()
        rule.clear_grad(clear)


def arrays(state: dict) -> dict:
    return {key: value.numpy() if hasattr(value, "numpy") else dict(value) for key, value in state.items()}


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("scheduled", [False, True])
def test_resumes_bit_equal(kind: type, scheduled: bool) -> None:
    def make(net: nn.Layer) -> optimizer.Optimizer:
        return kind(lr.CosineAnnealingDecay(0.05, 7) if scheduled else 0.05, parameters=net.parameters())

    whole = model()
    start = arrays(whole.state_dict())
    rule = make(whole)
    train(whole, rule, range(5))
    weights, state = arrays(whole.state_dict()), arrays(rule.state_dict())
    train(whole, rule, range(5, 12))

    again = model()
    again.set_state_dict(weights)
    resumed = make(again)
    resumed.set_state_dict(state)
    assert arrays(resumed.state_dict()).keys() == state.keys(), (
        "what was loaded is there before the first step"
    )
    train(again, resumed, range(5, 12))
    for key, value in whole.state_dict().items():
        assert (value.numpy() != start[key]).any()
        np.testing.assert_array_equal(value.numpy(), again.state_dict()[key].numpy())
    for key, value in arrays(rule.state_dict()).items():
        np.testing.assert_equal(arrays(resumed.state_dict())[key], value)

    # An optimizer that has already run goes back too.
    again.set_state_dict(weights)
    resumed.set_state_dict(state)
    train(again, resumed, range(5, 12))
    np.testing.assert_array_equal(whole[0].weight.numpy(), again[0].weight.numpy())


def test_keys_are_paddles() -> None:
    net = model()
    rule = optimizer.Adam(lr.StepDecay(0.1, 3), parameters=net.parameters())
    assert list(rule.state_dict()) == ["LR_Scheduler"]
    train(net, rule, range(1))
    # Printed by PaddlePaddle 2.6.2 for the same model in a fresh process.
    expected = {
        f"{parameter}_{slot}_0"
        for parameter in ("linear_0.w_0", "linear_0.b_0", "linear_1.w_0", "linear_1.b_0")
        for slot in ("moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc")
    }
    assert set(rule.state_dict()) == expected | {"LR_Scheduler"}
    assert rule.state_dict()["linear_1.b_0_beta2_pow_acc_0"].shape == [1]
    assert rule.state_dict()["LR_Scheduler"] == {"last_epoch": 1, "last_lr": 0.1}
    momentum = optimizer.Momentum(0.1, parameters=net.parameters(), name="own")
    train(net, momentum, range(1))
    assert "linear_0.w_0_own_velocity_0" in momentum.state_dict()
    assert optimizer.SGD(0.1, net.parameters()).state_dict() == {}


def test_state_of_something_else() -> None:
    net = model()
    rule = optimizer.Adam(0.1, parameters=net.parameters())
    train(net, rule, range(1))
    state = arrays(rule.state_dict())
    with names.guard():
        nn.Linear(1, 1)
        nn.Linear(1, 1)
        other = nn.Linear(3, 4)
    fresh = optimizer.Adam(0.1, parameters=other.parameters())
    with pytest.raises(ArgumentError, match="no key belongs to a parameter of this Adam"):
        fresh.set_state_dict(state)
    with pytest.warns(UserWarning, match=r"'more'.* belong to no parameter"):
        rule.set_state_dict({**state, "more": np.ones(1)})
    with pytest.raises(ShapeError, match=r"'linear_0\.w_0_moment1_0' has shape"):
        rule.set_state_dict({**state, "linear_0.w_0_moment1_0": np.ones(3, "float32")})
    with pytest.raises(DTypeError, match="is float64: the optimizer needs float32"):
        rule.set_state_dict({**state, "linear_0.w_0_moment1_0": np.ones((3, 4))})
    part = dict(state)
    del part["linear_1.w_0_moment2_0"]
    with pytest.raises(ArgumentError, match=r"\['linear_1\.w_0_moment2_0'\] of parameter"):
        rule.set_state_dict(part)
    late = optimizer.Adam(0.1, parameters=net.parameters())
    with pytest.raises(ArgumentError, match=r"\['linear_1\.w_0_moment2_0'\] of parameter 'linear_1"):
        late.set_state_dict(part)
    assert late.state_dict() == {}
    scheduled = optimizer.Adam(lr.StepDecay(0.1, 3), parameters=net.parameters())
    with pytest.raises(ArgumentError, match="has no 'LR_Scheduler'"):
        scheduled.set_state_dict(state)


def test_rate_is_set_scheduled_and_scaled() -> None:
    layer = nn.Layer()
    plain = layer.create_parameter([1], nn.ParamAttr(initializer=nn.initializer.Constant(0.0)))
    scaled = layer.create_parameter(
        [1], nn.ParamAttr(initializer=nn.initializer.Constant(0.0), learning_rate=0.5)
    )
    rule = optimizer.SGD(1.0, [plain, scaled])

    def step() -> list[float]:
        before = plain.item(), scaled.item()
        plain.grad = scaled.grad = to_tensor(np.ones(1, "float32"))
        rule.step()
        return [before[0] - plain.item(), before[1] - scaled.item()]

    assert step() == [1.0, 0.5]
    rule.set_lr(0.25)
    assert rule.get_lr() == 0.25
    assert step() == [0.25, 0.125]
    rule.set_lr_scheduler(lr.PiecewiseDecay([1], [2.0, 4.0]))
    assert step() == [2.0, 1.0]
    rule._learning_rate.step()
    assert step() == [4.0, 2.0]
    with pytest.raises(ModeError, match="follows PiecewiseDecay"):
        rule.set_lr(1.0)


def test_groups() -> None:
    layer = nn.Layer()
    first, second = (layer.create_parameter([1], nn.initializer.Constant(1.0)) for _ in range(2))
    rule = optimizer.SGD(
        0.5,
        [
            {"params": [first]},
            {"params": second, "learning_rate": 0.1, "weight_decay": 1.0, "grad_clip": None},
        ],
        grad_clip=nn.ClipGradByValue(0.5),
    )
    first.grad = second.grad = to_tensor(np.full(1, 2.0, "float32"))
    rule.step()
    assert first.item() == pytest.approx(1 - 0.5 * 0.5)
    assert second.item() == pytest.approx(1 - 0.05 * (2 + 1))
    with pytest.raises(ArgumentError, match=r"parameters\[0\]: unknown options \['beta1'\]"):
        optimizer.SGD(0.1, [{"params": [first], "beta1": 0.5}])
    with pytest.raises(ArgumentError, match=r"parameters\[1\]: every group is a dict"):
        optimizer.SGD(0.1, [{"params": [first]}, second])
    with pytest.raises(ArgumentError, match="appears twice"):
        optimizer.SGD(0.1, [{"params": [first]}, {"params": [first]}])


def test_own_regularizer_goes_before_the_optimizers() -> None:
    layer = nn.Layer()
    one = nn.initializer.Constant(1.0)
    own = layer.create_parameter([1], nn.ParamAttr(initializer=one, regularizer=L2Decay(3.0)))
    other = layer.create_parameter([1], one)
    for kind in (optimizer.SGD, optimizer.Momentum):
        for parameter in (own, other):
            parameter.set_value(np.ones(1, "float32"))
            parameter.grad = to_tensor(np.zeros(1, "float32"))
        kind(0.1, parameters=[own, other], weight_decay=1.0).step()
        assert own.item() == pytest.approx(0.7)
        assert other.item() == pytest.approx(0.9)


def test_only_parameters_with_gradients_move() -> None:
    net = model()
    net[0].weight.stop_gradient = True
    before = {n: p.numpy() for n, p in net.named_parameters()}
    rule = optimizer.Adam(0.1, parameters=net.parameters())
    net[2].bias.grad = to_tensor(np.ones(2, "float32"))
    rule.step()
    assert [n for n, p in net.named_parameters() if (p.numpy() != before[n]).any()] == ["2.bias"]
    assert len(rule.state_dict()) == 4


def test_minimize_and_clear() -> None:
    net = model()
    rule = optimizer.SGD(0.1, net.parameters())
    before = net[0].weight.numpy()
    loss = nn.functional.mse_loss(
        net(to_tensor(np.ones((2, 3), "float32"))), to_tensor(np.ones((2, 2), "float32"))
    )
    loss.backward()
    gradient = net[0].weight.grad.numpy()
    ops, pairs = rule.minimize(loss)
    assert ops == []
    assert [p.name for p, _ in pairs] == [p.name for p in net.parameters()]
    np.testing.assert_allclose(net[0].weight.numpy(), before - np.float32(0.1) * gradient, rtol=1e-6)
    rule.clear_grad()
    assert not net[0].weight.grad.numpy().any()
    rule.clear_grad(set_to_zero=False)
    assert net[0].weight.grad is None
    with pytest.raises(ArgumentError, match="are not parameters of this optimizer"):
        rule.apply_gradients([(nn.Linear(1, 1).weight, to_tensor(np.ones((1, 1), "float32")))])


def test_step_records_nothing() -> None:
    net = model()
    rule = optimizer.Adam(
        0.1, parameters=net.parameters(), weight_decay=0.1, grad_clip=nn.ClipGradByGlobalNorm(1.0)
    )
    train(net, rule, range(2))
    assert all(parameter.is_leaf for parameter in net.parameters())
    assert all(value.stop_gradient for value in rule.state_dict().values())


def test_not_while_building() -> None:
    rule = optimizer.SGD(0.1, model().parameters())
    with building(Program()), pytest.raises(ModeError, match=r"call minimize\(\)"):
        rule.step()


def test_arguments_refused() -> None:
    parameters = model().parameters()
    with pytest.raises(DTypeError, match="learning_rate is a number or an LRScheduler: got str"):
        optimizer.SGD("fast", parameters)
    with pytest.raises(ArgumentError, match=r"pass parameters=model\.parameters"):
        optimizer.Adam(0.1)
    with pytest.raises(DTypeError, match="a list of parameters, or of dicts: got Parameter"):
        optimizer.SGD(0.1, parameters[0])
    with pytest.raises(DTypeError, match=r"of dicts: got method; pass model\.parameters\(\)"):
        optimizer.SGD(0.1, model().parameters)
    with pytest.raises(DTypeError, match=r"parameters\[0\] is not a parameter: got str"):
        optimizer.SGD(0.1, "ab")
    with pytest.raises(DTypeError, match="grad_clip is one of"):
        optimizer.SGD(0.1, parameters, grad_clip=1.0)
    with pytest.raises(DTypeError, match="weight_decay is a number or a regularizer"):
        optimizer.SGD(0.1, parameters, weight_decay="l2")
    with pytest.raises(DTypeError, match="AdamW: weight_decay is a number"):
        optimizer.AdamW(0.1, parameters=parameters, weight_decay=None)
    with pytest.raises(ArgumentError, match=r"beta1 must be in \[0, 1\): got 1.0"):
        optimizer.Adam(0.1, 1.0, parameters=parameters)
    with pytest.raises(ArgumentError, match="two parameters are called"):
        optimizer.SGD(0.1, [*model().parameters(), *model().parameters()])
    parameters[0].grad = parameters[0]
    with pytest.raises(ModeError, match="no update rule"):
        optimizer.Optimizer(0.1, parameters).step()


def test_options_under_the_names_that_paddle_stores_them_by():
    parameters = paddle.nn.Linear(1, 1).parameters()
    adam = paddle.optimizer.Adam(parameters=parameters)
    assert (adam._beta1, adam._beta2, adam._epsilon) == (0.9, 0.999, 1e-8)
    decayed = paddle.optimizer.AdamW(beta1=0.5, parameters=parameters)
    assert (decayed._beta1, decayed._beta2) == (0.5, 0.999)
    momentum = paddle.optimizer.Momentum(momentum=0.8, use_nesterov=True, parameters=parameters)
    assert (momentum._momentum, momentum._use_nesterov) == (0.8, True)
    assert momentum._global_learning_rate() is None


def test_the_variable_of_the_learning_rate():
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            loss = paddle.static.nn.fc(paddle.static.data("x", [2, 3]), 1).mean()
            momentum = paddle.optimizer.Momentum(0.25)
            assert momentum._global_learning_rate() is None
            momentum.minimize(loss)
            rate = momentum._global_learning_rate()
            assert rate.name.startswith("learning_rate")
            executor = paddle.static.Executor()
            executor.run(startup)
            assert executor.run(main, {"x": np.ones([2, 3], "float32")}, [rate])[0].item() == 0.25
        assert momentum._global_learning_rate(main) is rate
    finally:
        paddle.disable_static()
