"""Whole training steps inside converted functions: as the same lines run eagerly, and Paddle's losses."""

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ConversionError, GradientError, ModeError
from engine.jit import to_static
from engine.nn import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from engine.optimizer import (
    LBFGS,
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Lamb,
    Momentum,
    RMSProp,
    lr,
)


def filled(net, seed=1):
    random = np.random.RandomState(seed)
    for p in net.parameters():
        p.set_value(random.uniform(-0.5, 0.5, p.shape).astype("float32"))
    return net


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.unused = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(2, 2)

    def forward(self, x):
        return self.b(paddle.tanh(self.a(x)))


def data(n, rows=5):
    random = np.random.RandomState(n)
    x, y = random.randn(rows, 4), random.randn(rows, 1)
    return paddle.to_tensor(x.astype("float32")), paddle.to_tensor(y.astype("float32"))


def error_of(net, x, y):
    return ((net(x) - y) ** 2).mean()


def plain(net, **_):
    opt = Adam(0.01, parameters=net.parameters())

    def step(x, y):
        loss = error_of(net, x, y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return step


def nothing_cleared(net):
    opt = Adam(0.01, parameters=net.parameters())

    def step(x, y):
        loss = error_of(net, x, y)
        loss.backward()
        opt.step()
        return loss

    return step


def cleared_first(net):
    opt = Adam(0.01, parameters=net.parameters())

    def step(x, y):
        opt.clear_grad()
        loss = error_of(net, x, y)
        loss.backward()
        opt.step()
        return loss

    return step


def backward_only(net):
    def step(x, y):
        loss = error_of(net, x, y)
        loss.backward()
        return loss

    return step


def dropped(net):
    opt = Momentum(0.01, parameters=net.parameters())

    def step(x, y):
        loss = error_of(net, x, y)
        loss.backward()
        opt.step()
        opt.clear_grad(set_to_zero=False)
        return loss

    return step


def minimized(net):
    opt = Adam(0.01, parameters=net.parameters())

    def step(x, y):
        loss = error_of(net, x, y)
        loss.backward()
        opt.minimize(loss)
        net.clear_gradients()
        return loss

    return step


def in_groups(net):
    groups = [
        {"params": net.a.parameters()},
        {"params": net.b.parameters(), "learning_rate": 0.1, "weight_decay": 0.1},
    ]
    opt = Adam(0.01, parameters=groups, weight_decay=0.01)

    def step(x, y):
        loss = error_of(net, x, y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return step


def schedule_inside(net):
    rate = lr.StepDecay(0.1, 2, 0.5)
    opt = SGD(rate, parameters=net.parameters())

    def step(x, y):
        loss = error_of(net, x, y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        rate.step()
        return loss

    return step


def schedule_first(net):
    rate = lr.NoamDecay(64, 10)
    opt = SGD(rate, parameters=net.parameters())

    def step(x, y):
        rate.step()
        loss = error_of(net, x, y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return step


def several_steps(net):
    opt = Adam(0.01, parameters=net.parameters())

    def step(x, y):
        for n in range(3):
            loss = error_of(net, x, y) * (n + 1)
            loss.backward()
            opt.step()
            opt.clear_grad()
        return loss

    return step


def accumulated(net):
    opt = Adam(0.01, parameters=net.parameters())

    def step(x, y):
        for n in range(3):
            loss = error_of(net, x * (n + 1), y)
            loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return step


def penalty(net):
    opt = Adam(0.01, parameters=net.parameters())

    def step(x, y):
        loss = error_of(net, x, y)
        (g,) = paddle.grad(loss, [net.a.weight], create_graph=True)
        loss = loss + (g**2).sum()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return step


def read_gradients(net):
    opt = SGD(0.01, parameters=net.parameters())

    def step(x, y):
        loss = error_of(net, x, y)
        loss.backward()
        norm = paddle.sqrt(sum([(p.grad**2).sum() for p in net.parameters() if p.grad is not None]))
        opt.step()
        opt.clear_grad()
        return loss + norm

    return step


def hooked(net):
    opt = SGD(0.01, parameters=net.parameters())
    net.a.weight.register_hook(lambda g: g * 0.5)

    def step(x, y):
        loss = error_of(net, x, y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return step


def frozen(net):
    net.a.weight.stop_gradient = True
    return plain(net)


def branching(net):
    opt = Adam(0.01, parameters=net.parameters())

    def step(x, y):
        out = net(x)
        if out.mean() > 0:
            loss = ((out - y) ** 2).mean()
        else:
            loss = (out - y).abs().mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return step


def adversarial(net):
    opt = Adam(0.01, parameters=net.parameters())

    def step(x, y):
        x.stop_gradient = False
        error_of(net, x, y).backward()
        moved = x + 0.1 * paddle.sign(x.grad)
        opt.clear_grad()
        loss = error_of(net, moved, y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return step


# The losses of five calls that Paddle 2.6.2 gives for the same lines run eagerly.
RECORDED = {
    plain: [3.387815, 1.858708, 0.371890, 0.715064, 2.121394],
    nothing_cleared: [3.387815, 1.858708, 0.373681, 0.741848, 2.146409],
    cleared_first: [3.387815, 1.858708, 0.371890, 0.715064, 2.121394],
    backward_only: [3.387815, 2.043146, 0.387127, 0.574425, 2.208918],
    dropped: [3.387815, 1.980534, 0.378483, 0.688414, 2.058675],
    minimized: [3.387815, 1.858708, 0.371890, 0.715064, 2.121394],
    in_groups: [3.387815, 1.896347, 0.373946, 0.676238, 2.150578],
    schedule_inside: [3.387815, 1.572342, 0.525648, 1.131658, 1.880339],
    schedule_first: [3.387815, 2.017953, 0.377145, 0.609053, 2.155988],
    several_steps: [9.291466, 3.945956, 1.302124, 3.467675, 5.855242],
    accumulated: [3.791370, 2.029647, 0.488580, 0.464939, 2.639854],
    penalty: [7.112083, 9.381378, 0.670891, 2.061067, 4.693323],
    read_gradients: [6.288250, 6.379896, 1.331267, 2.114227, 4.505154],
    hooked: [3.387815, 1.992482, 0.383160, 0.601988, 2.154520],
    frozen: [3.387815, 1.962738, 0.394167, 0.591026, 2.141657],
    branching: [1.571161, 1.334383, 0.513669, 0.715632, 1.055206],
    adversarial: [3.575538, 2.000330, 0.418638, 0.791750, 2.199368],
}


def trained(make, static):
    net = filled(Net())
    step = make(net)
    losses = [float(f(*data(n))) for f in [to_static(step) if static else step] for n in range(5)]
    grads = [None if p.grad is None else p.grad.numpy() for p in net.parameters()]
    return losses, [p.numpy() for p in net.parameters()], grads


def same(ones, others):
    for one, other in zip(ones, others, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("make", RECORDED, ids=lambda make: make.__name__)
def test_a_step_inside_gives_what_it_gives_eagerly_and_in_paddle(make):
    losses, parameters, grads = trained(make, static=True)
    eager = trained(make, static=False)
    same(losses, eager[0])
    same(parameters, eager[1])
    same(grads, eager[2])
    np.testing.assert_allclose(losses, RECORDED[make], rtol=5e-6, atol=1e-6)


OPTIMIZERS = {
    "sgd": SGD,
    "momentum": Momentum,
    "nesterov": lambda rate, **k: Momentum(rate, use_nesterov=True, **k),
    "adam": Adam,
    "adamw": AdamW,
    "adamax": Adamax,
    "adagrad": Adagrad,
    "adadelta": Adadelta,
    "rmsprop": lambda rate, **k: RMSProp(rate, centered=True, momentum=0.5, **k),
    "lamb": lambda rate, weight_decay=0.01, **k: Lamb(rate, lamb_weight_decay=weight_decay, **k),
}
RATES = {
    "number": lambda: 0.05,
    "steps": lambda: lr.StepDecay(0.05, 2),
    "warmup": lambda: lr.LinearWarmup(0.05, 3, 0.0, 0.05),
}
CLIPS = {
    "number": lambda: None,
    "steps": lambda: ClipGradByGlobalNorm(0.5),
    "warmup": lambda: ClipGradByNorm(0.3),
}


@pytest.mark.parametrize(
    ("name", "schedule"),
    [
        *((name, "number") for name in OPTIMIZERS),
        *((name, "steps") for name in OPTIMIZERS),
        ("sgd", "warmup"),
    ],
)
def test_every_optimizer_with_schedules_and_clips(name, schedule):
    found = []
    for static in (False, True):
        net, rate = (
            filled(nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1D(6), nn.Linear(6, 1))),
            RATES[schedule](),
        )
        decay = {} if schedule == "number" else {"weight_decay": 0.1}
        opt = OPTIMIZERS[name](rate, parameters=net.parameters(), grad_clip=CLIPS[schedule](), **decay)

        def step(x, y, net=net, opt=opt):
            loss = error_of(net, x, y)
            loss.backward()
            opt.step()
            opt.clear_grad()
            return loss

        function = to_static(step) if static else step
        losses = []
        for n in range(3):
            losses.append(float(function(*data(n))))
            if isinstance(rate, lr.LRScheduler):
                rate.step()
        state = [v.numpy() for k, v in opt.state_dict().items() if k != "LR_Scheduler"]
        found.append((losses, [v.numpy() for v in net.state_dict().values()], state))
        if static:
            assert len(function.program_cache) == 1
    for one, other in zip(*found, strict=True):
        same(one, other)


def test_clip_by_value_and_half_precision_with_a_copy():
    found = []
    for static in (False, True):
        net = filled(nn.Linear(4, 1))
        net.to(dtype="float16")
        opt = Adam(0.01, parameters=net.parameters(), multi_precision=True, grad_clip=ClipGradByValue(0.1))

        def step(x, y, net=net, opt=opt):
            loss = error_of(net, x.astype("float16"), y.astype("float16"))
            loss.backward()
            opt.step()
            opt.clear_grad()
            return loss

        function = to_static(step) if static else step
        losses = [float(function(*data(n))) for n in range(3)]
        masters = [v.numpy() for v in opt.state_dict()["master_weights"].values()]
        found.append((losses, [p.numpy() for p in net.parameters()], masters))
    for one, other in zip(*found, strict=True):
        same(one, other)


def test_two_networks_train_in_turns_and_the_gradients_of_one_reach_the_other():
    found = []
    for static in (False, True):
        g = filled(nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2)))
        d = filled(nn.Sequential(nn.Linear(2, 6), nn.LeakyReLU(), nn.Linear(6, 1)), 2)
        of_g, of_d = Adam(0.01, parameters=g.parameters()), Adam(0.02, parameters=d.parameters())
        loss_of = nn.BCEWithLogitsLoss()

        def d_step(real, z, g=g, d=d, opt=of_d, loss_of=loss_of):
            made = g(z).detach()
            loss = loss_of(d(real), paddle.ones([5, 1])) + loss_of(d(made), paddle.zeros([5, 1]))
            loss.backward()
            opt.step()
            opt.clear_grad()
            return loss

        def g_step(z, g=g, d=d, opt=of_g, loss_of=loss_of):
            loss = loss_of(d(g(z)), paddle.ones([5, 1]))
            loss.backward()  # d keeps its gradients: its next step begins with them
            opt.step()
            opt.clear_grad()
            return loss

        steps = [to_static(d_step), to_static(g_step)] if static else [d_step, g_step]
        losses = []
        for n in range(4):
            z = data(n)[0]
            losses += [float(steps[0](z[:, :2], z)), float(steps[1](z))]
        found.append((losses, [p.numpy() for p in (*g.parameters(), *d.parameters())]))
    same(found[0][0], found[1][0])
    same(found[0][1], found[1][1])


def test_state_is_that_of_the_eager_objects():
    net = filled(Net())
    opt = Adam(lr.CosineAnnealingDecay(0.05, 7), parameters=net.parameters())
    function = to_static(plain_step(net, opt))

    def three(first):
        losses = []
        for n in range(first, first + 3):
            losses.append(float(function(*data(n))))
            opt._learning_rate.step()
        return losses

    three(0)
    copied = {k: v.numpy().copy() if hasattr(v, "numpy") else v for k, v in opt.state_dict().items()}
    weights = {k: v.numpy().copy() for k, v in net.state_dict().items()}
    once = three(3)
    opt.set_state_dict(copied)
    net.set_state_dict(weights)
    assert three(3) == once
    before = net.a.weight.numpy().copy()
    error_of(net, *data(9)).backward()  # a step outside continues with the same state
    opt.step()
    assert not np.array_equal(before, net.a.weight.numpy())
    assert len(function.program_cache) == 1


def plain_step(net, opt):
    def step(x, y):
        loss = error_of(net, x, y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return step


def test_set_lr_holds_for_the_next_call():
    net = filled(Net())
    opt = SGD(0.0, parameters=net.parameters())
    function = to_static(plain_step(net, opt))
    before = net.a.weight.numpy().copy()
    function(*data(0))
    np.testing.assert_array_equal(net.a.weight.numpy(), before)
    opt.set_lr(0.1)
    function(*data(0))
    assert not np.array_equal(net.a.weight.numpy(), before)


class Trainer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.net = filled(nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.5), nn.Linear(6, 1)))
        self.opt = SGD(0.1, parameters=self.net.parameters())

    @to_static
    def fit(self, x, y):
        loss = ((self.net(x) - y) ** 2).mean()
        loss.backward()
        self.opt.step()
        self.opt.clear_grad()
        return loss

    @to_static
    def forward(self, x):
        return self.net(x)


def test_methods_modes_and_batches_of_another_size():
    trainer = Trainer()
    for n in range(4):
        trainer.fit(*data(n, rows=5 - n % 2))
    trainer.eval()
    x, y = data(7)
    expected = float(error_of(trainer.net, x, y))  # without dropout, before the step
    assert float(trainer.fit(x, y)) == expected
    np.testing.assert_array_equal(trainer(x).numpy(), trainer(x).numpy())


def test_gradients_flow_on_into_what_was_computed_outside():
    results = []
    for static in (False, True):
        net = filled(nn.Linear(4, 1))
        w = paddle.to_tensor(np.ones([4], "float32"), stop_gradient=False)
        x, y = data(1)

        def step(x, y, net=net):
            loss = error_of(net, x, y)
            loss.backward()
            return loss

        (to_static(step) if static else step)(x * w, y)
        results.append(w.grad.numpy())
    np.testing.assert_array_equal(*results)


def test_a_held_gradient_sees_what_is_added():
    net = filled(Net())
    function = to_static(backward_only(net))
    function(*data(0))
    held = net.a.weight.grad
    before = held.numpy().copy()
    function(*data(0))
    np.testing.assert_allclose(held.numpy(), 2 * before, rtol=1e-6)


def test_retained_gradients_inside():
    def step(x):
        x.stop_gradient = False
        h = x * 2.0
        h.retain_grads()
        (h * h).sum().backward()
        return h.grad, x.grad

    x = paddle.to_tensor([1.0, 3.0])
    of_h, of_x = to_static(step)(x)
    np.testing.assert_array_equal(of_h.numpy(), [4.0, 12.0])
    np.testing.assert_array_equal(of_x.numpy(), [8.0, 24.0])


def test_the_graph_of_a_result_was_freed():
    loss = to_static(plain(filled(Net())))(*data(0))
    assert not loss.stop_gradient
    with pytest.raises(GradientError, match="freed"):
        loss.backward()


def test_steps_that_a_tensor_decides_are_refused():
    net = filled(Net())
    opt = SGD(0.1, parameters=net.parameters())

    def step(x, y):
        loss = error_of(net, x, y)
        if loss > 0:
            loss.backward()
            opt.step()
        return loss

    with pytest.raises(ConversionError, match=r"backward\(\): it stands in a branch"):
        to_static(step, full_graph=True)(*data(0))


def test_lbfgs_inside_is_refused():
    net = filled(Net())
    opt = LBFGS(parameters=net.parameters())

    def step(x, y):
        opt.step(lambda: error_of(net, x, y))

    with pytest.raises(ModeError, match="LBFGS"):
        to_static(step)(*data(0))
