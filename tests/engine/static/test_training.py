"""Training by an Executor gives the losses and the weights of eager training, step by step."""

import numpy as np
import pytest

import engine as paddle
from engine import nn, optimizer
from engine.core.errors import ArgumentError, ProgramError, ShapeError
from engine.nn import functional as F
from engine.optimizer import lr
from engine.vision.models import LeNet

RANDOM = np.random.RandomState(0)
IMAGES = RANDOM.uniform(0, 1, (16, 1, 28, 28)).astype("float32")
LABELS = RANDOM.randint(0, 10, (16, 1)).astype("int64")
ROWS = RANDOM.uniform(-1, 1, (16, 8)).astype("float32")


def mlp():
    return nn.Sequential(nn.Linear(8, 12), nn.Tanh(), nn.LayerNorm(12), nn.Linear(12, 10))


def eager(make, inputs, optimizing, steps, seed=3):
    """Losses of eager training, and the parameters at its end."""
    paddle.disable_static()
    paddle.seed(seed)
    net = make()
    stepper, schedule = optimizing(net.parameters())
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(net(paddle.to_tensor(inputs)), paddle.to_tensor(LABELS))
        loss.backward()
        stepper.step()
        stepper.clear_grad()
        if schedule is not None:
            schedule.step()
        losses.append(float(loss))
    return losses, [p.numpy() for p in net.parameters()]


def by_executor(static, make, inputs, optimizing, steps, seed=3):
    """The same, in static mode."""
    x = static.data("x", [None, *inputs.shape[1:]])
    label = static.data("label", [None, 1], "int64")
    net = make()
    loss = F.cross_entropy(net(x), label)
    stepper, schedule = optimizing(None)
    stepper.minimize(loss)
    executor = static.Executor()
    paddle.seed(seed)
    executor.run(static.default_startup_program())
    losses = []
    for _ in range(steps):
        (value,) = executor.run(feed={"x": inputs, "label": LABELS}, fetch_list=[loss])
        if schedule is not None:
            schedule.step()
        losses.append(float(value))
    return losses, [p.get_value().numpy() for p in net.parameters()]


def compare(static, make, inputs, optimizing, steps, tolerance=2e-6):
    static_losses, static_weights = by_executor(static, make, inputs, optimizing, steps)
    losses, weights = eager(make, inputs, optimizing, steps)
    assert len(set(losses)) > 1
    np.testing.assert_allclose(static_losses, losses, rtol=tolerance)
    for one, other in zip(static_weights, weights, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def test_lenet_over_twenty_steps(static):
    compare(static, LeNet, IMAGES, lambda p: (optimizer.Adam(0.001, parameters=p), None), 20, 2e-5)


def test_mlp_over_twenty_steps(static):
    compare(static, mlp, ROWS, lambda p: (optimizer.SGD(0.1, parameters=p), None), 20)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: optimizer.Momentum(0.1, 0.9, parameters=p, weight_decay=1e-3, use_nesterov=True),
        lambda p: optimizer.Adagrad(0.1, parameters=p),
        lambda p: optimizer.RMSProp(0.01, parameters=p, momentum=0.5, centered=True),
        lambda p: optimizer.Adadelta(1.0, parameters=p),
        lambda p: optimizer.Adam(0.01, parameters=p, weight_decay=0.01),
        lambda p: optimizer.AdamW(0.01, parameters=p, apply_decay_param_fun=lambda n: n.endswith("w_0")),
        lambda p: optimizer.Adamax(0.01, parameters=p),
        lambda p: optimizer.Lamb(0.01, parameters=p),
        lambda p: optimizer.SGD(0.1, parameters=p, weight_decay=paddle.regularizer.L1Decay(1e-3)),
        lambda p: optimizer.SGD(1.0, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.1)),
        lambda p: optimizer.SGD(1.0, parameters=p, grad_clip=nn.ClipGradByNorm(0.05)),
        lambda p: optimizer.SGD(1.0, parameters=p, grad_clip=nn.ClipGradByValue(0.01)),
    ],
    ids=lambda make: make.__code__.co_names[1],
)
def test_every_optimizer(static, make):
    compare(static, mlp, ROWS, lambda p: (make(p), None), 5)


def test_a_schedule_changes_the_next_run(static):
    def optimizing(parameters):
        schedule = lr.StepDecay(0.5, step_size=2, gamma=0.1)
        return optimizer.SGD(schedule, parameters=parameters), schedule

    compare(static, mlp, ROWS, optimizing, 6)


def test_a_rate_that_is_set_changes_the_next_run(static):
    x = static.data("x", [None, 2])
    loss = static.nn.fc(x, 1, bias_attr=False, weight_attr=nn.initializer.Constant(0.0)).sum()
    stepper = optimizer.SGD(1.0)
    stepper.minimize(loss)
    executor = static.Executor()
    executor.run(static.default_startup_program())
    feed = {"x": np.ones((1, 2), "float32")}
    executor.run(feed=feed)
    stepper.set_lr(0.25)
    executor.run(feed=feed)
    (weight,) = static.default_main_program().all_parameters()
    np.testing.assert_array_equal(weight.get_value().numpy(), [[-1.25], [-1.25]])


def test_parameters_of_their_own_rate(static):
    x = static.data("x", [None, 2])
    attr = paddle.ParamAttr(initializer=nn.initializer.Constant(0.0), learning_rate=0.5)
    loss = static.nn.fc(x, 1, bias_attr=False, weight_attr=attr).sum()
    optimizer.SGD(1.0).minimize(loss)
    executor = static.Executor()
    executor.run(static.default_startup_program())
    executor.run(feed={"x": np.ones((1, 2), "float32")})
    (weight,) = static.default_main_program().all_parameters()
    np.testing.assert_array_equal(weight.get_value().numpy(), [[-0.5], [-0.5]])


def test_the_state_of_an_optimizer_continues_elsewhere(static):
    x = static.data("x", [None, 8])
    label = static.data("label", [None, 1], "int64")
    loss = F.cross_entropy(mlp()(x), label)
    stepper = optimizer.Adam(0.01)
    stepper.minimize(loss)
    main, startup = static.default_main_program(), static.default_startup_program()
    executor, feed = static.Executor(), {"x": ROWS, "label": LABELS}
    executor.run(startup)
    for _ in range(3):
        executor.run(main, feed, [loss])
    saved = {k: v.numpy() for k, v in stepper.state_dict().items()}
    state = {k: v.numpy() for k, v in main.state_dict("param").items()}
    expected = [executor.run(main, feed, [loss])[0] for _ in range(3)]
    with static.scope_guard(static.Scope()):
        executor.run(startup)
        main.set_state_dict(state)
        stepper.set_state_dict(saved)
        assert [executor.run(main, feed, [loss])[0] for _ in range(3)] == expected


def test_a_clone_for_testing_learns_nothing(static):
    x = static.data("x", [None, 8])
    hidden = F.dropout(static.nn.batch_norm(static.nn.fc(x, 4)), 0.5)
    loss = static.nn.fc(hidden, 1).mean()
    optimizer.SGD(0.1).minimize(loss)
    main = static.default_main_program()
    test = main.clone(for_test=True)
    assert {o.type for o in test.global_block().ops} == {
        "mul",
        "elementwise_add",
        "batch_norm",
        "dropout",
        "reduce_mean",
    }
    executor = static.Executor()
    executor.run(static.default_startup_program())
    before = {k: v.numpy() for k, v in main.state_dict().items()}
    first = executor.run(test, {"x": ROWS}, [loss.name])[0]
    assert executor.run(test, {"x": ROWS}, [loss.name])[0] == first
    assert all(np.array_equal(v.numpy(), before[k]) for k, v in main.state_dict().items())
    executor.run(main, {"x": ROWS}, [loss])
    assert not np.array_equal(main.state_dict()["fc_0.w_0"].numpy(), before["fc_0.w_0"])
    assert executor.run(test, {"x": ROWS}, [loss.name])[0] != first


def test_a_loss_without_parameters_is_refused(static):
    x = static.data("x", [None, 8])
    with pytest.raises(ArgumentError, match="depends on no parameter"):
        optimizer.SGD(0.1).minimize(x.mean())


def test_running_before_the_startup_program_is_refused(static):
    x = static.data("x", [None, 8])
    out = static.nn.fc(x, 4)
    with pytest.raises(ProgramError, match=r"fc_0.*startup program"):
        static.Executor().run(feed={"x": ROWS}, fetch_list=[out])


def test_values_of_another_network_are_refused(static):
    x = static.data("x", [None, 8])
    out = static.nn.fc(x, 4)
    executor = static.Executor()
    executor.run(static.default_startup_program())
    static.global_scope().find_var("fc_0.w_0").get_tensor().set(np.zeros((3, 4), "float32"))
    with pytest.raises(ShapeError, match=r"fc_0.w_0.*\[3, 4\].*\[8, 4\]"):
        executor.run(feed={"x": ROWS}, fetch_list=[out])


def test_parameters_with_one_name_are_one(static):
    x = static.data("x", [None, 8])
    one, two = (static.nn.fc(x, 8, weight_attr="shared", bias_attr=False) for _ in range(2))
    assert [p.name for p in static.default_main_program().all_parameters()] == ["shared"]
    executor = static.Executor()
    executor.run(static.default_startup_program())
    a, b = executor.run(feed={"x": ROWS}, fetch_list=[one, two])
    np.testing.assert_array_equal(a, b)
    with pytest.raises(ArgumentError, match=r"shared.*\[8, 8\]"):
        static.nn.fc(x, 9, weight_attr="shared")
