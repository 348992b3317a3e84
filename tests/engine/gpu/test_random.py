"""Random numbers that the GPU makes: the counter-based stream of the CPU, without a copy or a wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.draws import CounterDraws, PhiloxDraws
from engine.core.errors import UnsupportedError
from engine.core.random import Generator, GPUKey, PhiloxKey, default_generator, numpy_generator
from engine.kernels.choice import kernels
from tests.cupy_stand_in.counts import counted


@pytest.fixture(autouse=True)
def ours() -> Iterator[None]:
    """The engine's own kernels."""
    with kernels.guard("auto"):
        yield


def _made(key: GPUKey) -> Any:
    from engine.kernels.cupy.draws import GPUDraws

    with key.draws() as draws:
        assert isinstance(draws, GPUDraws)
        return draws


DRAWS: dict[str, Callable[[Any], Any]] = {
    "uniform float32": lambda d: d.uniform((3, 7), np.float32),
    "uniform float64": lambda d: d.uniform((5,), np.float64),
    "uniform float16": lambda d: d.uniform((6,), np.float16),
    "no numbers": lambda d: d.uniform((0, 3), np.float32),
    "a number": lambda d: d.uniform((), np.float32),
    "normal float32": lambda d: d.normal((3, 7), np.float32),
    "normal float64": lambda d: d.normal((1031,), np.float64),
    "normal float16": lambda d: d.normal((4,), np.float16),
    "integers": lambda d: d.integers(-3, 12, (9,)),
    "large integers": lambda d: d.integers(-(2**62), 2**62 + 12345, (9,)),
    "permutation": lambda d: d.permutation(37),
    "retained": lambda d: d.retained((4, 9), 0.3),
}


@pytest.mark.parametrize("name", DRAWS)
def test_the_gpu_makes_the_numbers_of_the_cpu(name: str) -> None:
    key = GPUKey(-5, 2**40 + 3)
    there, here = _made(key), CounterDraws(*key)
    for _ in range(2):  # the second continues where the first ended
        with counted() as counts:
            found = DRAWS[name](there)
        want = DRAWS[name](here)
        assert counts.waits == counts.to_device == 0
        assert found.dtype == want.dtype
        assert found.shape == want.shape
        if name.startswith("normal"):
            step = {2: 2e-3, 4: 2e-6, 8: 1e-14}[want.itemsize]
            np.testing.assert_allclose(found.get(), want, rtol=step, atol=step)
        else:
            np.testing.assert_array_equal(found.get(), want)


def test_uniform_numbers_and_masks_are_those_of_the_counter_based_generator() -> None:
    drawn = PhiloxDraws(numpy_generator(PhiloxKey(11, 4)))
    np.testing.assert_array_equal(CounterDraws(11, 4).uniform((50,), np.float32), drawn.uniform((50,), "f4"))
    drawn = PhiloxDraws(numpy_generator(PhiloxKey(11, 4)))
    np.testing.assert_array_equal(CounterDraws(11, 4).retained((50,), 0.7), drawn.retained((50,), 0.7))


def test_numbers_have_their_distribution() -> None:
    draws = CounterDraws(1, 2)
    normal = draws.normal((200_000,), np.float32)
    assert abs(normal.mean()) < 0.01
    assert abs(normal.std() - 1) < 0.01
    assert abs((normal**4).mean() - 3) < 0.1
    whole = draws.integers(-2, 3, (50_000,))
    assert (abs(np.bincount(whole + 2) / 10_000 - 1) < 0.05).all()
    order = draws.permutation(1000)
    assert sorted(order) == list(range(1000))
    assert abs(np.corrcoef(order, np.arange(1000))[0, 1]) < 0.1
    assert not CounterDraws(1, 2).retained((1000,), 1.0).any()
    assert CounterDraws(1, 2).retained((1000,), 0.0).all()


X = np.linspace(-2, 2, 24, dtype="float32").reshape(4, 6)

OPERATORS: dict[str, Callable[[], Any]] = {
    "rand": lambda: paddle.rand([3, 5]),
    "uniform": lambda: paddle.uniform([3, 5], min=-3.0, max=0.7),
    "uniform float64": lambda: paddle.uniform([3, 5], "float64", min=-3.1, max=0.7),
    "uniform float16": lambda: paddle.uniform([3, 5], "float16", min=-3.1, max=0.7),
    "uniform bfloat16": lambda: paddle.uniform([3, 5], "bfloat16", min=-3.1, max=0.7).astype("float32"),
    "uniform_": lambda: paddle.to_tensor(X).uniform_(0.0, 2.0),
    "randn": lambda: paddle.randn([3, 5]),
    "normal": lambda: paddle.normal(1.5, 0.3, [7]),
    "normal_": lambda: paddle.to_tensor(X).normal_(1.0, 2.0),
    "randint": lambda: paddle.randint(-4, 9, [20]),
    "randperm": lambda: paddle.randperm(11),
    "bernoulli": lambda: paddle.bernoulli(paddle.full([30], 0.4)),
    "exponential": lambda: paddle.to_tensor(X).exponential_(2.0),
    "gumbel": lambda: nn.functional.gumbel_softmax(paddle.to_tensor(X), hard=True),
    "rrelu": lambda: nn.functional.rrelu(paddle.to_tensor(X)),
    "dropout": lambda: nn.functional.dropout(paddle.to_tensor(X), 0.4),
    "dropout float64": lambda: nn.functional.dropout(paddle.to_tensor(X.astype("float64")), 0.4),
    "dropout float16": lambda: nn.functional.dropout(paddle.to_tensor(X.astype("float16")), 0.4),
    "dropout bfloat16": lambda: nn.functional.dropout(paddle.to_tensor(X, dtype="bfloat16"), 0.4).astype(
        "float32"
    ),
    "dropout of rows in bfloat16": lambda: nn.functional.dropout(
        paddle.to_tensor(X, dtype="bfloat16"), 0.4, axis=0
    ).astype("float32"),
    "dropout of columns": lambda: nn.functional.dropout(paddle.to_tensor(X).t(), 0.4),
    "dropout downgrade": lambda: nn.functional.dropout(paddle.to_tensor(X), 0.4, mode="downscale_in_infer"),
    "dropout of rows": lambda: nn.functional.dropout(paddle.to_tensor(X), 0.4, axis=0),
    "dropout of all": lambda: nn.functional.dropout(paddle.to_tensor(X), 1.0),
    "dropout of none": lambda: nn.functional.dropout(paddle.to_tensor([np.nan, 1.0]), 0.0),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_draws_the_same_numbers_on_the_gpu_and_the_cpu(name: str) -> None:
    OPERATORS[name]()  # compiles, and fills caches
    paddle.seed(3)
    with counted() as counts:
        found = OPERATORS[name]()
    given = 1 if "X" in OPERATORS[name].__code__.co_names or "nan" in OPERATORS[name].__code__.co_names else 0
    assert counts.to_device <= given, counts.lines("to_device")  # to_tensor(X) itself
    assert counts.waits == 0, counts.lines("waits")
    paddle.seed(3)
    with kernels.guard("numpy"):  # the same operator over numbers that the CPU makes
        want = OPERATORS[name]()
    assert found.dtype is want.dtype
    exact = not any(n in name for n in ("normal", "randn", "gumbel", "exponential"))
    step = 0 if exact else 3e-6
    np.testing.assert_allclose(found.numpy(), want.numpy(), rtol=step, atol=step)


def test_a_dropped_number_is_0_and_its_gradient_too() -> None:
    x = paddle.to_tensor(np.full(64, np.nan, "float32"), stop_gradient=False)
    y = nn.functional.dropout(x, 0.5)
    y.sum().backward()
    dropped = y.numpy() == 0
    assert 10 < dropped.sum() < 54
    np.testing.assert_array_equal(x.grad.numpy(), np.where(dropped, 0, 2).astype("float32"))


def test_one_seed_gives_the_same_numbers_again() -> None:
    def drawn() -> list[Any]:
        return [paddle.rand([4]).numpy(), paddle.randn([3]).numpy(), paddle.randperm(9).numpy()]

    paddle.seed(7)
    first = drawn()
    state = paddle.get_rng_state()
    second = drawn()
    assert not np.array_equal(first[0], second[0])
    paddle.set_rng_state(state)
    again = drawn()
    paddle.seed(7)
    for a, b, c, d in zip(drawn(), first, again, second, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(c, d)


def test_draws_of_the_gpu_leave_those_of_the_cpu_alone() -> None:
    generator = Generator(5)
    want = generator.random()
    generator.manual_seed(5)
    assert [generator.reserve_on_gpu().offset for _ in range(3)] == [0, 1, 2]
    assert generator.random() == want
    state = generator.state()
    assert generator.reserve_on_gpu(4).offset == 3
    assert generator.reserve_on_gpu().offset == 7
    generator.set_state(state)
    assert generator.reserve_on_gpu().offset == 3
    del state["offset"]  # as earlier releases wrote it
    generator.set_state(state)
    assert generator.reserve_on_gpu().offset == 0


def test_one_stream_serves_cpu_and_gpu_with_the_counter_based_generator() -> None:
    x = np.ones((5, 40), "float32")
    try:
        paddle.seed(9, generator="philox")
        there = nn.functional.dropout(paddle.to_tensor(x), 0.3).numpy(), paddle.rand([7]).numpy()
        paddle.set_device("cpu")
        paddle.seed(9, generator="philox")
        here = nn.functional.dropout(paddle.to_tensor(x), 0.3).numpy(), paddle.rand([7]).numpy()
    finally:
        paddle.seed(0, generator="mt19937_64")
    np.testing.assert_array_equal(there[0], here[0])
    np.testing.assert_array_equal(there[1], here[1])


def test_stored_keys_draw_anew_when_they_are_renewed() -> None:
    from engine.core.opdef import OPS
    from engine.kernels.cupy.keys import DeviceKeys
    from engine.kernels.cupy.overrides import default

    paddle.seed(21)
    keys = DeviceKeys(3)
    kernel, _ = OPS["dropout"].kernel_for("cupy")
    x = paddle.to_tensor(X)._array
    rounds = []
    for _ in range(2):
        with counted() as counts:
            keys.renew()
            rounds.append([kernel(paddle.to_tensor, x, key=key)[1].get() for key in keys.keys])
        assert counts.to_device == 0
        assert counts.waits == 3  # to look at the masks
    paddle.seed(21)
    for each in rounds:
        for mask in each:
            key = default_generator().reserve_on_gpu()
            np.testing.assert_array_equal(mask != 0, CounterDraws(*key).retained(X.shape, 0.5))
    fixed = [kernel(paddle.to_tensor, x, key=key, seed=4)[1].get() for key in keys.keys]
    np.testing.assert_array_equal(fixed[0], fixed[1])
    with pytest.raises(UnsupportedError, match="outside of a captured graph"):
        default("poisson")(np, np.ones(3), key=keys.keys[0])
    with kernels.guard("numpy"), pytest.raises(UnsupportedError, match="draws on the CPU"):
        kernel(paddle.to_tensor, x, key=keys.keys[0])


def test_a_recomputed_block_drops_the_same_elements() -> None:
    from engine.distributed.fleet.utils import recompute

    layer = nn.Sequential(nn.Linear(6, 50), nn.Dropout(0.5), nn.Linear(50, 2))
    grads = []
    for run in (lambda x: layer(x), lambda x: recompute(layer, x)):
        paddle.seed(13)
        run(paddle.to_tensor(X)).sum().backward()
        grads.append(layer[0].weight.grad.numpy())
        layer.clear_gradients()
    np.testing.assert_array_equal(*grads)


def test_a_converted_function_draws_at_each_call() -> None:
    @paddle.jit.to_static
    def drops(x: Any) -> Any:
        return nn.functional.dropout(x, 0.5) + paddle.rand([4, 6])

    paddle.seed(2)
    first, second = drops(paddle.to_tensor(X)).numpy(), drops(paddle.to_tensor(X)).numpy()
    assert not np.array_equal(first, second)
    paddle.seed(2)
    eager = nn.functional.dropout(paddle.to_tensor(X), 0.5) + paddle.rand([4, 6])
    np.testing.assert_array_equal(eager.numpy(), first)
