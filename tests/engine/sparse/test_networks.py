"""Sparse layers: against dense ones, trained, in Programs and in converted code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ShapeError, UnsupportedError
from engine.core.strictness import LeniencyWarning
from tests.engine.ops.sparse.references import convolved, dense, places

SHAPE = (2, 4, 3, 4)
INDICES = places(SHAPE, 11)
VALUES = np.random.default_rng(0).standard_normal((11, 2))


def images(gradient: bool = False) -> Any:
    made = paddle.sparse.sparse_coo_tensor(INDICES, VALUES, [*SHAPE, 2])
    made.stop_gradient = not gradient
    return made


def test_convolution_is_the_dense_one() -> None:
    weight = np.random.default_rng(1).standard_normal((3, 2, 2, 2, 3))
    image = dense(VALUES, INDICES, (*SHAPE, 2))
    for stride, padding, dilation in (([1, 1, 1], [0, 0, 0], [1, 1, 1]), ([2, 1, 2], [1, 1, 0], [1, 2, 1])):
        out = paddle.sparse.nn.functional.conv3d(
            images(), paddle.to_tensor(weight), None, stride, padding, dilation
        )
        want = convolved(image, weight, stride, padding, dilation)
        np.testing.assert_allclose(out.to_dense().numpy(), want, atol=1e-12)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("dilation", [1, 2])
def test_submanifold_convolution_keeps_the_positions(size: int, dilation: int) -> None:
    weight = np.random.default_rng(1).standard_normal((size, size, size, 2, 3))
    out = paddle.sparse.nn.functional.subm_conv3d(images(), paddle.to_tensor(weight), dilation=dilation)
    np.testing.assert_array_equal(out.indices().numpy(), INDICES)
    image = dense(VALUES, INDICES, (*SHAPE, 2))
    around = [dilation * (size // 2)] * 3
    full = convolved(image, weight, [1] * 3, around, [dilation] * 3)
    np.testing.assert_allclose(out.values().numpy(), full[tuple(INDICES)], atol=1e-12)


def test_paddings_that_paddle_misreads_warn() -> None:
    weight = paddle.ones([2, 2, 2, 2, 1], "float64")
    plain = paddle.sparse.nn.functional.conv3d(images(), weight)
    with pytest.warns(LeniencyWarning, match="'SAME' counts as"):
        same = paddle.sparse.nn.functional.conv3d(images(), weight, padding="SAME")
    assert str(same) == str(plain)
    with pytest.warns(LeniencyWarning, match="counts as"):
        paddle.sparse.nn.functional.conv3d(images(), weight, padding=[1, 0, 1, 0, 0, 1])


def test_convolutions_refuse_invalid_arguments() -> None:
    functional = paddle.sparse.nn.functional
    with pytest.raises(ShapeError, match="2 channels"):
        functional.conv3d(images(), paddle.ones([2, 2, 2, 3, 1], "float64"))
    with pytest.raises(UnsupportedError, match="channels are dense"):
        functional.conv3d(images().to_dense().to_sparse_coo(5), paddle.ones([2, 2, 2, 2, 1], "float64"))


def _network() -> Any:
    layers = paddle.sparse.nn
    return paddle.nn.Sequential(
        layers.SubmConv3D(2, 4, 3),
        layers.BatchNorm(4),
        layers.ReLU(),
        layers.MaxPool3D(2, 1),
        layers.Conv3D(4, 2, 2),
        layers.LeakyReLU(0.1),
    )


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_training_lowers_the_loss(optimizer: str) -> None:
    paddle.seed(1)
    network = _network()
    step = getattr(paddle.optimizer, optimizer)(0.02, parameters=network.parameters())
    x = paddle.sparse.cast(images(), None, "float32")
    losses = []
    for _ in range(8):
        loss = ((network(x).to_dense() - 1) ** 2).mean()
        loss.backward()
        step.step()
        step.clear_grad()
        losses.append(float(loss))
    assert losses[-1] < 0.95 * losses[0]
    network.eval()
    assert network(x).is_sparse_coo()
    again = _network()
    again.set_state_dict(network.state_dict())
    again.eval()
    np.testing.assert_array_equal(again(x).values().numpy(), network(x).values().numpy())


def test_batch_norm_switches_its_statistics() -> None:
    norm = paddle.sparse.nn.BatchNorm(2, momentum=0.5)
    x = paddle.sparse.cast(images(), None, "float32")
    norm(x)
    norm.eval()
    before = norm._mean.numpy()
    out = norm(x)
    np.testing.assert_array_equal(norm._mean.numpy(), before)
    want = (VALUES - before) / np.sqrt(norm._variance.numpy() + 1e-5)
    np.testing.assert_allclose(out.values().numpy(), want, rtol=1e-4, atol=1e-4)
    norm.train()
    assert abs(norm(x).values().numpy().mean()) < 1e-4


def test_sync_batch_norm() -> None:
    layers = paddle.sparse.nn
    network = paddle.nn.Sequential(layers.BatchNorm(2), paddle.nn.Sequential(paddle.nn.BatchNorm2D(3)))
    made = layers.SyncBatchNorm.convert_sync_batchnorm(network)
    assert [type(m).__module__.split(".")[1] for m in (made[0], made[1][0])] == ["sparse", "nn"]
    assert made[0].weight is network[0].weight
    x = paddle.sparse.cast(images(), None, "float32")
    np.testing.assert_allclose(
        made[0](x).values().numpy(), layers.BatchNorm(2)(x).values().numpy(), rtol=1e-5
    )


def test_trained_in_a_program() -> None:
    """Gradients reach the weights of sparse layers in static mode; the losses are those of eager training."""

    def start() -> Any:
        return paddle.nn.initializer.Constant(0.1)

    def losses_of(run: Any) -> list[float]:
        return [float(run()) for _ in range(3)]

    values = VALUES.astype("float32")
    eager = paddle.sparse.nn.Conv3D(2, 3, 2, weight_attr=start())
    step = paddle.optimizer.SGD(0.1, parameters=eager.parameters())

    def eager_step() -> Any:
        loss = (eager(paddle.sparse.sparse_coo_tensor(INDICES, values, [*SHAPE, 2])).to_dense() ** 2).mean()
        loss.backward()
        step.step()
        step.clear_grad()
        return loss

    want = losses_of(eager_step)
    paddle.enable_static()
    try:
        main, begin = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, begin):
            i = paddle.static.data("i", [4, -1], "int64")
            v = paddle.static.data("v", [-1, 2], "float32")
            x = paddle.sparse.sparse_coo_tensor(i, v, shape=[*SHAPE, 2], dtype="float32")
            loss = (paddle.sparse.nn.Conv3D(2, 3, 2, weight_attr=start())(x).to_dense() ** 2).mean()
            paddle.optimizer.SGD(0.1).minimize(loss)
        executor = paddle.static.Executor()
        executor.run(begin)
        got = losses_of(lambda: executor.run(main, {"i": INDICES, "v": values}, [loss])[0])
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_converted_code() -> None:
    def through(indices: Any, values: Any) -> Any:
        x = paddle.sparse.sparse_coo_tensor(indices, values, [3, 4], "float32", stop_gradient=False)
        y = paddle.sparse.nn.functional.softmax(paddle.sparse.multiply(x, x))
        scale = y.values().sum()
        if scale > 0:
            scale = scale * 2
        y = y.with_values(y.values() * scale)
        return paddle.sparse.sum(y, 0).to_dense(), paddle.sparse.matmul(x, paddle.ones([4, 2]))

    indices = paddle.to_tensor([[0, 0, 1, 2], [0, 2, 1, 0]])
    results = []
    for function in (through, paddle.jit.to_static(through)):
        values = paddle.to_tensor([1.5, -2.0, 3.0, 0.25], stop_gradient=False)
        first, second = function(indices, values.clone())
        (first.sum() + second.sum()).backward()
        results.append([first.numpy(), second.numpy(), values.grad.numpy()])
    for eager, converted in zip(*results, strict=True):
        np.testing.assert_allclose(converted, eager, rtol=1e-6)
