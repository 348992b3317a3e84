"""Checks of data-parallel training that each rank of an MPI job runs; test_data_parallel.py starts them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import distributed as dist
from engine import nn
from engine.core.errors import ArgumentError, ConditionError, GradientError, ModeError
from engine.distributed import gradient_buckets
from resources.models.lenet import LeNet

RANK, SIZE = dist.get_rank(), dist.get_world_size()


def gathered(value: Any) -> list[Any]:
    found: list[Any] = []
    dist.all_gather_object(found, value)
    return found


def same_everywhere(layer: Any) -> None:
    flat = np.concatenate([each.numpy().reshape(-1) for each in layer.parameters()])
    for other in gathered(flat):
        np.testing.assert_array_equal(flat, other)


def sums(layer: Any) -> list[float | None]:
    return [None if p.grad is None else float(p.grad.numpy().sum()) for p in layer.parameters()]


class Three(nn.Layer):
    """Linear layers a, b, c of 2 to 2, of which a call takes some."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = (nn.Linear(2, 2) for _ in range(3))

    def forward(self, x: Any, way: str) -> Any:
        if way == "apart":
            return self.a(x), self.b(x), self.c(x)
        for name in way:
            x = getattr(self, name)(x)
        return x


def joining() -> None:
    with pytest.raises(ModeError, match=r"call paddle\.distributed\.init_parallel_env"):
        paddle.DataParallel(nn.Linear(1, 1))
    dist.init_parallel_env()
    assert paddle.DataParallel is dist.DataParallel is dist.parallel.DataParallel


def parameters_and_buffers_are_those_of_rank_0() -> None:
    paddle.seed(10 + RANK)
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.Linear(4, 2))
    net[0].weight.stop_gradient = True
    net[2].bias.no_sync = True
    net[1]._variance.set_value(np.full(4, 2.0 + RANK, np.float32))
    net.register_buffer("extra", paddle.full([2], float(RANK)))
    net[2].bias.set_value(np.full(2, float(RANK), np.float32))
    before = gathered({name: each.numpy() for name, each in net.to_static_state_dict().items()})
    wrapped = paddle.DataParallel(net)
    for name, value in wrapped.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[RANK if name == "2.bias" else 0][name])
    np.testing.assert_array_equal(net.extra.numpy(), np.zeros(2, np.float32))
    wrapped(paddle.full([2, 3], RANK + 1.0)).sum().backward()
    assert len({float(bias.sum()) for bias in gathered(net[2].bias.grad.numpy())}) == 1  # 2.0 in all
    wrapped(paddle.full([2, 3], RANK + 1.0)).sum().backward()
    assert net[0].weight.grad is None
    with pytest.raises(ConditionError, match="does not have any parameters to train"):
        paddle.DataParallel(nn.ReLU())
    with pytest.raises(ArgumentError, match=r"rank 0 has \('weight', \[2, 1\].*, rank 1 \('weight', \[2, 2"):
        paddle.DataParallel(nn.Linear(2, 1 + (RANK == 1)))


# Sums of the gradients of a, b, c (weight and bias), after the steps of two gloo processes in Paddle 2.6.2:
# paddle.seed(1 + rank), x = full([1, 2], rank + 1), SGD(0.1), clear_grad() after each step.
TWICE: list[list[float | None]] = [
    [7.109977722167969, 2.369992733001709, 0.3175950050354004, -0.1746450662612915, -5.737846374511719, 4.0],
    [16.939687728881836, 5.646562576293945, -3.0374817848205566, 0.9729243516921997, -9.922256469726562, 4.0],
]
PADDLE: dict[str, list[list[float | None]]] = {
    "unused": [
        [4.595033645629883, 1.5316779613494873, -3.637033224105835, 2.0, None, None],
        [5.68614387512207, 1.895381212234497, -5.3218793869018555, 2.0, None, None],
    ],
    "in pieces": [[6.0, 2.0] * 3] * 2,
    "added up": TWICE,
    "not synced at first": TWICE,
    "forward twice": TWICE,
    "backward in no_sync": [
        [
            3.5549888610839844,
            1.1849963665008545,
            0.1587975025177002,
            -0.08732253313064575,
            -2.8689231872558594,
            2.0,
        ],
        [
            5.868171215057373,
            1.956057071685791,
            -0.4929901361465454,
            0.19956976175308228,
            -3.9277243614196777,
            2.0,
        ],
    ],
    "by rank, find": [
        [1.3570328950881958, 0.7221777439117432, -1.2123444080352783, 1.0, -2.4246888160705566, 1.0],
        [1.9632054567337036, 0.9040294885635376, -1.4202654361724854, 1.0, -2.768312692642212, 1.0],
    ],
    "by step, find": [
        [4.595033645629883, 1.5316779613494873, -3.637033224105835, 2.0, None, None],
        [-0.26196765899658203, -0.08732253313064575, 0.0, 0.0, -5.3218793869018555, 2.0],
        [5.68614387512207, 1.895381212234497, -5.225824356079102, 2.0, 0.0, 0.0],
    ],
}


def run(case: str, wrapped: Any, x: Any, step: int) -> None:
    if case == "in pieces":
        for part in wrapped(x, "apart"):
            part.sum().backward()
    elif case == "added up":
        wrapped(x, "abc").sum().backward()
        wrapped(x, "abc").sum().backward()
    elif case == "not synced at first":
        with wrapped.no_sync():
            loss = wrapped(x, "abc").sum()
        loss.backward()  # forward decides
        assert not wrapped._buckets.active
        assert len({tuple(each) for each in gathered(sums(wrapped))}) == SIZE
        wrapped(x, "abc").sum().backward()
    elif case == "forward twice":
        (wrapped(x, "abc").sum() + wrapped(x, "abc").sum()).backward()
    elif case == "backward in no_sync":
        wrapped(x, "abc")
        loss = wrapped(x, "abc").sum()
        with wrapped.no_sync():
            loss.backward()
    elif case == "unused":
        wrapped(x, "ab").sum().backward()
    else:
        which = RANK if case.startswith("by rank") else step
        wrapped(x, "ac" if which % 2 else "ab").sum().backward()


def gradients_are_paddles() -> None:
    if SIZE != 2:
        return
    for case, expected in PADDLE.items():
        paddle.seed(RANK + 1)
        wrapped = paddle.DataParallel(Three(), find_unused_parameters=case.endswith("find"))
        sgd = paddle.optimizer.SGD(0.1, parameters=wrapped.parameters())
        x = paddle.full([1, 2], RANK + 1.0)
        for step, values in enumerate(expected):
            run(case, wrapped, x, step)
            for found, value in zip(sums(wrapped), values, strict=True):
                assert found == (None if value is None else pytest.approx(value, rel=1e-5, abs=1e-6)), case
            sgd.step()
            sgd.clear_grad()
        same_everywhere(wrapped)


def parameters_without_a_gradient_are_named() -> None:
    x = paddle.ones([1, 2])
    wrapped = paddle.DataParallel(Three())
    with pytest.raises(GradientError, match=r"none for b\.weight \(linear_\d+\.w_0\) in rank 1.*c\.bias"):
        wrapped(x, "ac" if RANK == 1 else "ab").sum().backward()
    assert sums(wrapped) == [None] * 6
    wrapped = paddle.DataParallel(Three())
    wrapped(x, "apart")[0].sum().backward()
    with pytest.raises(GradientError, match=r"got no gradient: b\.weight \(.*\), b\.bias .*find_unused"):
        wrapped(x, "apart")
    for _ in range(2):  # a parameter that is frozen later is not waited for
        wrapped = paddle.DataParallel(Three())
        wrapped(x, "abc").sum().backward()
        wrapped._layers.c.weight.stop_gradient = wrapped._layers.c.bias.stop_gradient = True
        wrapped(x, "abc").sum().backward()


def both_backward_passes_of_one_forward_are_averaged() -> None:
    paddle.seed(3)
    wrapped = paddle.DataParallel(Three())
    out = wrapped(paddle.full([1, 2], RANK + 1.0), "ab")
    out.sum().backward(retain_graph=True)
    out.square().sum().backward()
    rows = np.arange(1.0, SIZE + 1, dtype=np.float32)[:, None].repeat(2, 1)
    alone = Three()
    alone.set_state_dict(wrapped.state_dict())
    y = alone(paddle.to_tensor(rows), "ab")
    ((y + y.square()).sum() / SIZE).backward()
    for mine, other in zip(wrapped.parameters()[:4], alone.parameters()[:4], strict=True):
        np.testing.assert_allclose(mine.grad.numpy(), other.grad.numpy(), rtol=1e-5)


def buckets_start_in_reverse_order_as_they_fill() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 5), nn.Linear(5, 7))
    log: list[Any] = []
    original = gradient_buckets.all_reduced

    def recorded(group: Any, array: Any, op: int, where: str) -> Any:
        log.append(array.size)
        return original(group, array, op, where)

    def started() -> list[Any]:
        log.clear()
        h = paddle.ones([1, 2])
        h.stop_gradient = False
        for n, layer in enumerate(net):
            h.register_hook(lambda g, n=n: log.append(f"through {n}"))
            h = layer(h)
        h.sum().backward()
        net.clear_gradients()
        return list(log)

    byte = 1 / 1024 / 1024
    gradient_buckets.all_reduced = recorded
    try:
        wrapped = paddle.DataParallel(net, comm_buffer_size=byte, last_comm_buffer_size=byte)
        assert started() == [7, 35, "through 2", 5, 15, "through 1", 3, 6, "through 0"]
        wrapped = paddle.DataParallel(net, comm_buffer_size=100 * byte, last_comm_buffer_size=30 * byte)
        assert started() == [7, "through 2", 35 + 5 + 15, "through 1", 3 + 6, "through 0"]
        wrapped = paddle.DataParallel(net)
        assert started() == ["through 2", "through 1", 71, "through 0"]
        del wrapped  # without it nothing is averaged
        assert started() == ["through 2", "through 1", "through 0"]
    finally:
        gradient_buckets.all_reduced = original


def optimizers() -> dict[str, Callable[[Any], Any]]:
    made = paddle.optimizer
    return {
        "SGD": lambda p: made.SGD(0.05, p),
        "Momentum": lambda p: made.Momentum(0.02, 0.9, p),
        "Adam": lambda p: made.Adam(0.001, parameters=p),
    }


def train(net: Any, call: Any, optimizer: Any, batches: list[Any], check: Callable[[], None]) -> None:
    for x, y in batches:
        loss = nn.functional.cross_entropy(call(paddle.to_tensor(x)), paddle.to_tensor(y))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        check()


def images(count: int, dtype: str = "float32") -> list[Any]:
    rng, size = np.random.default_rng(5), 12 // SIZE * SIZE
    return [(rng.random((size, 1, 28, 28)).astype(dtype), rng.integers(0, 10, size)) for _ in range(count)]


def mine(batches: list[Any]) -> list[Any]:
    return [tuple(part[RANK::SIZE] for part in batch) for batch in batches]


def close(found: Any, expected: Any, limit: float) -> None:
    for a, b in zip(found.parameters(), expected.parameters(), strict=True):
        assert np.abs(a.numpy() - b.numpy()).max() <= limit * np.abs(b.numpy()).max(), a.name


def many_processes_train_as_one() -> None:
    # In float64: in float32 two values that max pooling compares may change places by rounding alone.
    paddle.set_default_dtype("float64")
    batches = images(50, "float64")
    for make in optimizers().values():
        paddle.seed(7 + RANK)
        net = LeNet()
        wrapped = paddle.DataParallel(net)
        alone = LeNet()
        alone.set_state_dict(net.state_dict())
        train(net, wrapped, make(net.parameters()), mine(batches), lambda net=net: same_everywhere(net))
        train(alone, alone, make(alone.parameters()), batches, lambda: None)
        close(net, alone, 1e-9)
    paddle.set_default_dtype("float32")


def buckets_change_no_bit() -> None:
    batches = mine(images(8))
    results = []
    for size in (25, 1e-6, 0.05):
        paddle.seed(7 + RANK)
        net = LeNet()
        wrapped = paddle.DataParallel(net, comm_buffer_size=size, last_comm_buffer_size=size)
        optimizer = paddle.optimizer.Adam(0.001, parameters=net.parameters())
        train(net, wrapped, optimizer, batches, lambda net=net: same_everywhere(net))
        results.append(net)
    for other in results[1:]:
        for a, b in zip(results[0].parameters(), other.parameters(), strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())


def converted_networks_train_alike() -> None:
    batches = mine(images(5))
    results = []
    for how in (
        lambda net: paddle.DataParallel(net),
        lambda net: paddle.DataParallel(paddle.jit.to_static(net)),
        lambda net: paddle.jit.to_static(paddle.DataParallel(net)),
    ):
        paddle.seed(11)
        net = LeNet()
        train(net, how(net), paddle.optimizer.Adam(0.001, parameters=net.parameters()), batches, lambda: None)
        same_everywhere(net)
        results.append(net)
    for other in results[1:]:
        close(other, results[0], 1e-5)


class Normed(nn.Layer):
    """Two batch norms, in float64: of channels, and of features."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(1, 3, 3, bias_attr=False)  # the batch norm takes a bias out again
        self.first = nn.BatchNorm2D(3, momentum=0.7)
        self.hidden = nn.Linear(48, 8, bias_attr=False)
        self.second = nn.BatchNorm1D(8, weight_attr=False)
        self.last = nn.Linear(8, 10)

    def forward(self, x: Any) -> Any:
        x = paddle.tanh(self.first(self.conv(x)))
        return self.last(self.second(self.hidden(paddle.flatten(x, 1))))


def train_uneven(call: Any, net: Any, parts: list[Any], scale: float) -> None:
    """The loss is the mean over the samples of all processes, which have different numbers of them."""
    momentum = paddle.optimizer.Momentum(0.05, 0.9, net.parameters())
    for x, y in parts:
        loss = nn.functional.cross_entropy(call(paddle.to_tensor(x)), paddle.to_tensor(y), reduction="sum")
        (loss * scale).backward()
        momentum.step()
        momentum.clear_grad()


def batch_norm_over_all_processes() -> None:
    paddle.set_default_dtype("float64")
    edges = np.cumsum([0] + [2 + 3 * rank for rank in range(SIZE)])  # batches of 2, 5, 8 ... samples
    total = int(edges[-1])
    rng = np.random.default_rng(9)
    whole = [(rng.random((total, 1, 6, 6)), rng.integers(0, 10, total)) for _ in range(50)]
    parts = [tuple(each[edges[RANK] : edges[RANK + 1]] for each in batch) for batch in whole]
    paddle.seed(3)
    alone = Normed()
    start = {name: value.numpy() for name, value in alone.state_dict().items()}
    train_uneven(alone, alone, whole, 1 / total)
    for convert in (False, True):
        net = nn.SyncBatchNorm.convert_sync_batchnorm(Normed())
        assert (type(net.first), type(net.second)) == (nn.SyncBatchNorm, nn.SyncBatchNorm)
        net.set_state_dict(start | {"second.weight": net.second.weight.numpy()})
        call = paddle.DataParallel(paddle.jit.to_static(net) if convert else net)
        train_uneven(call, net, parts, SIZE / total)
        same_everywhere(net)  # the running statistics too
        expected = alone.state_dict()
        for name, value in net.state_dict().items():
            if name in expected:
                limit = 1e-9 * np.abs(expected[name].numpy()).max()
                assert np.abs(value.numpy() - expected[name].numpy()).max() <= limit, name
        net.eval()
        alone.eval()
        x = paddle.to_tensor(whole[0][0][: 1 + RANK])  # without the others
        np.testing.assert_allclose(net(x).numpy(), alone(x).numpy(), rtol=1e-7, atol=1e-9)
        alone.train()
    paddle.set_default_dtype("float32")


def batch_norm_with_an_empty_batch() -> None:
    norm = nn.SyncBatchNorm(2)
    rows = np.array([[1.0, 2.0], [3.0, 6.0]], np.float32)[: 2 if RANK == 0 else 0]
    x = paddle.to_tensor(rows, stop_gradient=False)
    out = norm(x)
    (out * out * out).sum().backward()
    np.testing.assert_allclose(norm._mean.numpy(), [0.2, 0.4], rtol=1e-6)
    np.testing.assert_allclose(norm._variance.numpy(), [0.9 + 0.1, 0.9 + 0.4], rtol=1e-6)
    assert out.shape == x.grad.shape == list(rows.shape)
    if RANK == 0:
        np.testing.assert_allclose(out.numpy(), [[-1, -1], [1, 1]], rtol=1e-5)


def clipping_and_loss_scaling_see_the_averages() -> None:
    paddle.seed(4)
    wrapped = paddle.DataParallel(nn.Linear(2, 2))
    clip = nn.ClipGradByGlobalNorm(0.5)
    sgd = paddle.optimizer.SGD(1.0, wrapped.parameters(), grad_clip=clip)
    before = [each.numpy() for each in wrapped.parameters()]
    with paddle.amp.on_cpu(), paddle.amp.auto_cast(dtype="float16", level="O0"):
        scaler = paddle.amp.GradScaler(init_loss_scaling=8.0, decr_every_n_nan_or_inf=1)
        scaler.scale(wrapped(paddle.full([1, 2], float("inf") if RANK == 1 else 1.0)).sum()).backward()
        scaler.step(sgd)
        scaler.update()
        sgd.clear_grad()
        for a, b in zip(before, wrapped.parameters(), strict=True):  # one process saw inf: all skip the step
            np.testing.assert_array_equal(a, b.numpy())
        assert scaler._scale.item() == 4.0
        scaler.scale(wrapped(paddle.full([1, 2], RANK + 1.0)).sum()).backward()
        scaler.step(sgd)
    mean = (SIZE + 1) / 2
    norm = np.sqrt(4 * mean**2 + 2)
    steps = [np.full((2, 2), 0.5 * mean / norm), np.full(2, 0.5 / norm)]
    for a, b, step in zip(before, wrapped.parameters(), steps, strict=True):
        np.testing.assert_allclose(a - b.numpy(), step, rtol=1e-5)


def narrow_parameters_are_averaged_in_float32() -> None:
    for dtype in ("bfloat16", "float16"):
        net = nn.Linear(3, 2).to(dtype=dtype)
        wrapped = paddle.DataParallel(net)
        for _ in range(2):
            out = wrapped(paddle.full([1, 3], 1.0 + RANK).astype(dtype))
            out.sum().backward()
        assert net.weight.grad.dtype.name == dtype
        np.testing.assert_array_equal(
            net.weight.grad.astype("float32").numpy(), np.full((3, 2), 2 * (SIZE + 1) / 2, np.float32)
        )


def a_group_of_some() -> None:
    if SIZE < 3:
        return
    pair = dist.new_group([0, 1])
    net = nn.Linear(1, 1)
    if RANK >= 2:
        with pytest.warns(UserWarning, match="single-card operation"):
            paddle.DataParallel(net, group=pair)
        return
    wrapped = paddle.DataParallel(net, group=pair)
    wrapped(paddle.full([1, 1], RANK + 1.0)).sum().backward()
    assert net.weight.grad.item() == 1.5


def fleet_sets_training_up() -> None:
    fleet = dist.fleet
    strategy = fleet.DistributedStrategy()
    strategy.sync_batch_norm = strategy.find_unused_parameters = True
    strategy.fuse_grad_size_in_MB = 3
    fleet.init(is_collective=True, strategy=strategy)
    assert (fleet.worker_index(), fleet.worker_num(), fleet.is_first_worker()) == (RANK, SIZE, RANK == 0)
    assert len(fleet.worker_endpoints()) == SIZE
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1D(3))
    wrapped = fleet.distributed_model(net)
    assert isinstance(wrapped, paddle.DataParallel)
    assert isinstance(net[1], nn.SyncBatchNorm)
    assert wrapped._buckets.find_unused
    sgd = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, net.parameters()))
    wrapped(paddle.full([2 + RANK, 2], RANK + 1.0)).square().sum().backward()
    sgd.step()
    same_everywhere(net)
    np.testing.assert_array_equal(fleet.all_reduce(RANK + 1), SIZE * (SIZE + 1) // 2)
    fleet.barrier_worker()
    with wrapped.no_sync():
        wrapped(paddle.full([2, 2], RANK + 1.0)).sum().backward()
    fleet.utils.hybrid_parallel_util.fused_allreduce_gradients(list(wrapped.parameters()), None)
    assert len({float(each.sum()) for each in gathered(net[1].bias.grad.numpy())}) == 1


def fleet_trains_programs() -> None:
    fleet = dist.fleet
    fleet.init(is_collective=True)
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [None, 2], "float32")
            layer = nn.Linear(2, 1)
            loss = layer(x).mean()
            fleet.distributed_optimizer(paddle.optimizer.SGD(1.0)).minimize(loss)
        executor, scope = paddle.static.Executor(), paddle.static.Scope()
        with paddle.static.scope_guard(scope):
            paddle.seed(30 + RANK)
            executor.run(startup)
            names = [each.name for each in main.all_parameters()]
            before = [np.array(scope.find_var(name).get_tensor()) for name in names]
            feed = {"x": np.full((2, 2), RANK + 1.0, np.float32)}
            executor.run(main, feed=feed, fetch_list=[loss])
            after = [np.array(scope.find_var(name).get_tensor()) for name in names]
    finally:
        paddle.disable_static()
    for other in gathered(before):
        for a, b in zip(before, other, strict=True):
            np.testing.assert_array_equal(a, b)
    for a, b, step in zip(before, after, [(SIZE + 1) / 2, 1.0], strict=True):
        np.testing.assert_allclose(a - b, np.full_like(a, step), rtol=1e-5)


def fluid_adds_up_after_backward() -> None:
    from engine import fluid

    class Net(fluid.dygraph.Layer):
        def __init__(self, name: str) -> None:
            super().__init__(name)
            self.first = fluid.dygraph.FC(self.full_name(), 3)
            self.second = fluid.dygraph.FC(self.full_name(), 2)

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x))

    with fluid.dygraph.guard():
        fluid.default_startup_program().random_seed = 20 + RANK
        strategy = fluid.dygraph.parallel.prepare_context()
        assert (strategy.nranks, strategy.local_rank) == (SIZE, RANK)
        inner = Net("net")
        net = fluid.dygraph.parallel.DataParallel(inner, strategy)
        assert not net.parameters()  # they are made at the first call, and sent then
        x = fluid.dygraph.to_variable(np.full((2, 4), RANK + 1.0, np.float32))
        loss = fluid.layers.mean(net(x))
        same_everywhere(net)
        scaled = net.scale_loss(loss)
        np.testing.assert_allclose(scaled.numpy(), loss.numpy() / SIZE, rtol=1e-6)
        scaled.backward()
        own = gathered([each.gradient() for each in net.parameters()])
        net.apply_collective_grads()
        for n, each in enumerate(net.parameters()):
            total = own[0][n]
            for other in own[1:]:
                total = total + other[n]
            np.testing.assert_array_equal(each.gradient(), total)
        fluid.optimizer.SGDOptimizer(0.1).minimize(scaled)
        same_everywhere(net)
        net.clear_gradients()
        if RANK == 0:
            fluid.layers.mean(net(x)).backward()
        with pytest.raises(GradientError, match=r"apply_collective_grads: .* in rank 1"):
            net.apply_collective_grads()


if __name__ == "__main__":
    CHECKS = (
        joining,
        parameters_and_buffers_are_those_of_rank_0,
        gradients_are_paddles,
        parameters_without_a_gradient_are_named,
        both_backward_passes_of_one_forward_are_averaged,
        buckets_start_in_reverse_order_as_they_fill,
        many_processes_train_as_one,
        buckets_change_no_bit,
        converted_networks_train_alike,
        batch_norm_over_all_processes,
        batch_norm_with_an_empty_batch,
        clipping_and_loss_scaling_see_the_averages,
        narrow_parameters_are_averaged_in_float32,
        a_group_of_some,
        fleet_sets_training_up,
        fleet_trains_programs,
        fluid_adds_up_after_backward,
    )
    for check in CHECKS:
        if len(sys.argv) < 2 or check.__name__ in sys.argv[1:] or check is joining:
            check()
            sys.stdout.write(f"rank {RANK}: {check.__name__}\n")
            sys.stdout.flush()
