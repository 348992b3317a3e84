"""bfloat16 on the CPU: storage, conversions, operators and Programs, with the bits of Paddle 2.6.2."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import amp
from engine.core.values import bfloat
from engine.eager.tensor import Tensor

BITS = [16320, 16403, 49260, 0]


@pytest.fixture
def a() -> Tensor:
    made: Tensor = paddle.to_tensor([1.5, 2.3, -3.7, 0.0]).astype("bfloat16")
    return made


def values(tensor: Tensor) -> Any:
    assert tensor.dtype is paddle.bfloat16
    return tensor.astype("float32").numpy().tolist()


def test_a_tensor_shows_numbers_and_gives_bits(a: Tensor) -> None:
    assert str(a).endswith(
        "dtype=bfloat16, place=Place(cpu), stop_gradient=True,\n"
        "       [ 1.50000000,  2.29687500, -3.68750000,  0.        ])"
    )
    assert a.numpy().dtype == np.uint16
    assert a.numpy().tolist() == a.tolist() == BITS
    assert (a[0].item(), float(a[1]), int(a[2]), bool(a[3])) == (1.5, 2.296875, -3, False)
    assert a.element_size() == 2
    assert paddle.is_floating_point(a)
    assert a.dtype == "bfloat16"


def test_conversions(a: Tensor) -> None:
    again = paddle.to_tensor(np.array(BITS, np.uint16))
    assert values(again) == values(a) == [1.5, 2.296875, -3.6875, 0.0]
    assert a.astype("int32").tolist() == [1, 2, -3, 0]
    assert a.astype("float16").tolist() == a.astype("float64").tolist() == values(a)
    assert values(a.astype("uint16")) == values(a)
    for dtype in ("float64", "float16"):
        assert values(paddle.to_tensor([1.7], dtype=dtype).astype("bfloat16")) == [1.6953125]
    assert values(paddle.to_tensor([257, 1001]).astype("bfloat16")) == [256, 1000]
    odd = paddle.to_tensor([float("nan"), float("inf"), 3.4e38, 1e-40]).astype("bfloat16")
    assert odd.tolist() == [32704, 32640, 32639, 1]
    assert values(paddle.to_tensor([1.7, 2], dtype="bfloat16")) == [1.6953125, 2]


def test_making(a: Tensor) -> None:
    assert values(paddle.full([2], 1.7, "bfloat16")) == [1.6953125] * 2
    assert values(paddle.full_like(a, 2.3)) == [2.296875] * 4
    assert values(paddle.ones_like(a)) == [1.0] * 4
    assert values(paddle.zeros([2], "bfloat16")) == [0.0] * 2
    assert values(paddle.eye(2, dtype="bfloat16")) == [[1.0, 0.0], [0.0, 1.0]]
    assert values(paddle.arange(0, 3, 1, "bfloat16")) == [0, 1, 2]
    paddle.seed(1)
    drawn = values(paddle.uniform([50], "bfloat16"))
    assert min(drawn) < -0.5
    assert max(drawn) > 0.5
    paddle.set_default_dtype("bfloat16")
    try:
        assert values(paddle.to_tensor([1.7])) == [1.6953125]
        assert paddle.nn.Linear(2, 2).weight.dtype is paddle.bfloat16
    finally:
        paddle.set_default_dtype("float32")


OPERATORS: list[tuple[str, Any, Any]] = [
    ("a + 1", lambda a: a + 1, [2.5, 3.296875, -2.6875, 1.0]),
    ("a - 0.3", lambda a: a - 0.3, [1.1953125, 1.9921875, -3.984375, -0.298828125]),
    ("a * 2.3", lambda a: a * 2.3, [3.4375, 5.25, -8.4375, 0.0]),
    ("a / 3", lambda a: a / 3.0, [0.498046875, 0.76171875, -1.21875, 0.0]),
    ("1 - a", lambda a: 1.0 - a, [-0.5, -1.296875, 4.6875, 1.0]),
    ("a * a", lambda a: a * a, [2.25, 5.25, 13.5625, 0.0]),
    ("a - a * 0.3", lambda a: a - a * 0.3, [1.046875, 1.609375, -2.578125, 0.0]),
    ("maximum", lambda a: paddle.maximum(a, a * 2), [3.0, 4.59375, -3.6875, 0.0]),
    ("log", lambda a: paddle.log(a[:2]), [0.404296875, 0.828125]),
    ("pow", lambda a: paddle.pow(a[:2], a[:2]), [1.8359375, 6.75]),
    ("add_n", lambda a: paddle.add_n([a, a, a]), [4.5, 6.875, -11.0625, 0.0]),
    ("concat", lambda a: paddle.concat([a[:1], a[2:]]), [1.5, -3.6875, 0.0]),
    ("sum", lambda a: paddle.full([1000], 0.1).astype("bfloat16").sum(), 16.0),
    ("sum of rows", lambda a: paddle.full([3, 333], 0.1).astype("bfloat16").sum(1), [16.0] * 3),
    ("transpose", lambda a: a.reshape([2, 2]).t()[0], [1.5, -3.6875]),
    (
        "embedding",
        lambda a: paddle.nn.functional.embedding(paddle.to_tensor(1), a.reshape([2, 2])),
        [-3.6875, 0.0],
    ),
]


@pytest.mark.parametrize(("name", "function", "want"), OPERATORS, ids=[o[0] for o in OPERATORS])
def test_operators_compute_paddles_bits(a: Tensor, name: str, function: Any, want: Any) -> None:
    assert values(function(a)) == want


def test_bfloat16_with_other_dtypes(a: Tensor) -> None:
    single = paddle.to_tensor([1.1, 2.2, 3.3, 4.4])
    assert (a * single).dtype == (single * a).dtype == "float32"
    assert (a * single.astype("float64")).dtype == "float64"
    assert (a < 1).tolist() == [False, False, True, True]
    assert (a == a).all()
    assert paddle.isnan(a).tolist() == [False] * 4


def test_operators_without_a_kernel_in_paddle(a: Tensor) -> None:
    assert values(a**2) == [2.25, 5.25, 13.5625, 0.0]
    assert values(a.reshape([2, 2]) @ a.reshape([2, 2])) == [[-6.21875, 3.4375], [-5.53125, -8.4375]]
    assert values(paddle.nn.functional.relu(a)) == [1.5, 2.296875, 0.0, 0.0]


def test_changes_in_place_and_views(a: Tensor) -> None:
    a[0], a[3] = 2.3, 5
    assert values(a) == [2.296875, 2.296875, -3.6875, 5.0]
    a[3] = 0
    view = a[1:3]
    view.set_value(np.array([16320, 16320], np.uint16))
    assert values(a) == [2.296875, 1.5, 1.5, 0.0]
    a.set_value([1.0, 2.0, 3.0, 1.7])
    assert values(a) == [1.0, 2.0, 3.0, 1.6953125]
    assert values(copy.deepcopy(a)) == values(pickle.loads(pickle.dumps(a))) == values(a)


def test_gradients_and_sgd() -> None:
    x = paddle.to_tensor([1.5, 2.3]).astype("bfloat16")
    x.stop_gradient = False
    (x * x * x).sum().backward()
    assert values(x.grad) == [6.75, 15.75]
    (x * 2).sum().backward()
    assert values(x.grad) == [8.75, 17.75]
    x.clear_grad()
    assert values(x.grad) == [0.0, 0.0]
    constant = paddle.nn.initializer.Constant(1.7)
    p = paddle.create_parameter([2], "bfloat16", default_initializer=constant)
    optimizer = paddle.optimizer.SGD(0.1, parameters=[p])
    (p * p).sum().backward()
    optimizer.step()
    assert values(p) == [1.359375] * 2
    assert values(p.grad) == [3.390625] * 2


def test_master_weights() -> None:
    constant = paddle.nn.initializer.Constant(1.7)
    for kind in (paddle.optimizer.Adam, paddle.optimizer.Momentum, paddle.optimizer.SGD):
        p = paddle.create_parameter([2], "bfloat16", default_initializer=constant)
        optimizer = kind(0.001, parameters=[p], multi_precision=True)
        for _ in range(3):  # each step is too small for bfloat16 to see
            p.sum().backward()
            optimizer.step()
            optimizer.clear_grad()
        (master,) = optimizer.state_dict()["master_weights"].values()
        assert master.dtype == "float32"
        assert 1.689 < float(master[0]) < 1.693
        assert values(p) == [1.6875] * 2


def test_programs_compute_the_same_bits(tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        y = x.astype("bfloat16")
        z = y * y - y * 0.3
        return z.sum(), paddle.concat([z, y]), z.reshape([-1]) * paddle.full([1], 1.7, "bfloat16")

    x = paddle.to_tensor(np.linspace(-2, 2, 6).reshape(2, 3).astype("float32"))
    x.stop_gradient = False
    eager = f(x)
    eager[0].backward()
    gradient = x.grad.numpy()
    x.clear_grad()
    static = paddle.jit.to_static(f)
    found = static(x)
    found[0].backward()
    for one, other in zip(eager, found, strict=True):
        assert one.dtype is other.dtype is paddle.bfloat16
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    np.testing.assert_array_equal(gradient, x.grad.numpy())
    assert values(eager[0]) == 11.0625

    class Net(paddle.nn.Layer):
        def forward(self, x: Tensor) -> Any:
            return f(x)[1]

    spec = paddle.static.InputSpec([2, 3], "float32")
    paddle.jit.save(Net(), str(tmp_path / "net"), input_spec=[spec])
    np.testing.assert_array_equal(paddle.jit.load(str(tmp_path / "net"))(x).numpy(), eager[1].numpy())
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            fed = paddle.static.data("u", [2], "bfloat16")
            out = paddle.full([2], 1.7, "bfloat16") * fed
        (got,) = paddle.static.Executor().run(
            main, feed={"u": np.array([16320, 16403], np.uint16)}, fetch_list=[out]
        )
    finally:
        paddle.disable_static()
    assert got.dtype == np.uint16
    assert bfloat.widen(np, got).tolist() == [2.53125, 3.890625]


def test_files(a: Tensor, tmp_path: Path) -> None:
    net = paddle.nn.Linear(2, 2)
    net.to(dtype="bfloat16")
    paddle.save({"a": a, **net.state_dict()}, str(tmp_path / "state"))
    found = paddle.load(str(tmp_path / "state"))
    assert values(found["a"]) == values(a)
    other = paddle.nn.Linear(2, 2)
    other.astype("bfloat16")
    other.set_state_dict({k: v for k, v in found.items() if k != "a"})
    np.testing.assert_array_equal(other.weight.numpy(), net.weight.numpy())
    assert paddle.load(str(tmp_path / "state"), return_numpy=True)["a"].dtype == np.uint16


def test_mixed_precision_with_bfloat16() -> None:
    paddle.seed(5)
    net = paddle.nn.Sequential(
        paddle.nn.Conv2D(1, 2, 3), paddle.nn.ReLU(), paddle.nn.Flatten(), paddle.nn.Linear(8, 1)
    )
    x = paddle.to_tensor(np.linspace(-1, 1, 32).reshape(2, 1, 4, 4).astype("float32"))
    plain = float(net(x).mean())
    with amp.on_cpu():
        with amp.auto_cast(dtype="bfloat16"):
            assert net[0](x).dtype == "float32"  # the bias is added in float32
            assert paddle.matmul(x, x).dtype is paddle.bfloat16
            low = net(x).mean()
        low.backward()
        assert net[3].weight.grad.dtype == "float32"
        assert abs(float(low) - plain) < 0.02
        net, optimizer = amp.decorate(
            net, paddle.optimizer.AdamW(0.01, parameters=net.parameters()), level="O2", dtype="bfloat16"
        )
        static = paddle.jit.to_static(lambda v: (net(v).astype("float32") ** 2).mean())
        losses = []
        for step in (net_loss(net), static, static, net_loss(net)):
            with amp.auto_cast(level="O2", dtype="bfloat16"):
                loss = step(x)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
    assert losses == sorted(losses, reverse=True)
    assert net[0].weight.dtype is paddle.bfloat16
    assert len(optimizer.state_dict()["master_weights"]) == 4


def net_loss(net: Any) -> Any:
    return lambda v: (net(v).astype("float32") ** 2).mean()
