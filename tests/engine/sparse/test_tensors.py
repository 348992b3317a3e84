"""Sparse tensors beyond the recorded calls of Paddle: operators, gradients, copies, refusals."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError

INDICES = [[0, 0, 1, 2], [0, 2, 1, 0]]
VALUES = [1.5, -2.0, 3.0, 0.25]


def coo(gradient: bool = False, values: Any = VALUES, dtype: str = "float64") -> Any:
    made = paddle.sparse.sparse_coo_tensor(INDICES, values, [3, 4], dtype)
    made.stop_gradient = not gradient
    return made


def other() -> Any:
    return paddle.sparse.sparse_coo_tensor(
        [[0, 1, 1, 2], [2, 0, 1, 3]], [2.0, 5.0, -4.0, 0.5], [3, 4], "float64"
    )


def test_operators_are_the_functions() -> None:
    x, y = coo(), other()
    dense_x, dense_y = x.to_dense().numpy(), y.to_dense().numpy()
    np.testing.assert_array_equal((x + y).to_dense().numpy(), dense_x + dense_y)
    np.testing.assert_array_equal((x - y).to_dense().numpy(), dense_x - dense_y)
    np.testing.assert_array_equal((x * y).to_dense().numpy(), dense_x * dense_y)
    np.testing.assert_array_equal((x / y).to_dense().numpy(), dense_x / dense_y)
    np.testing.assert_array_equal((2 * x / 4).to_dense().numpy(), dense_x / 2)
    np.testing.assert_array_equal((x @ y.T).to_dense().numpy(), dense_x @ dense_y.T)
    np.testing.assert_array_equal((-(x**2)).to_dense().numpy(), -(dense_x**2))
    np.testing.assert_array_equal(abs(x).to_dense().numpy(), abs(dense_x))
    np.testing.assert_array_equal(x.sin().to_dense().numpy(), np.sin(dense_x))
    assert x.astype("float32").dtype == paddle.float32
    assert x.astype("float32").nnz() == 4


def test_positions_in_any_order_and_twice() -> None:
    mixed = paddle.sparse.sparse_coo_tensor(
        [[2, 0, 1, 0], [0, 2, 1, 0]], [0.25, -2.0, 3.0, 1.5], [3, 4], "float64"
    )
    np.testing.assert_array_equal((mixed + coo()).to_dense().numpy(), 2 * coo().to_dense().numpy())
    assert str(mixed.to_sparse_csr()) == str(coo().to_sparse_csr())
    twice = paddle.sparse.sparse_coo_tensor([[1, 1, 0], [1, 1, 0]], [1.0, 2.0, 3.0], [3, 4], "float64")
    want = coo().to_dense().numpy() + np.array([[3.0, 0, 0, 0], [0, 3, 0, 0], [0, 0, 0, 0]])
    np.testing.assert_array_equal((twice + coo()).to_dense().numpy(), want)


def test_gradient_of_subtract_has_the_positions_of_the_argument() -> None:
    x, y = coo(gradient=True), other()
    y.stop_gradient = False
    weight = paddle.to_tensor(np.arange(12.0).reshape(3, 4))
    ((x - y).to_dense() * weight).sum().backward()
    np.testing.assert_array_equal(x.grad.values().numpy(), [0, 2, 5, 8])
    np.testing.assert_array_equal(y.grad.values().numpy(), [-2, -4, -5, -11])
    np.testing.assert_array_equal(y.grad.indices().numpy(), y.indices().numpy())


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.to_sparse_csr(),
        lambda x: x.coalesce(),
        lambda x: x.to_sparse_csr().to_sparse_coo(2),
        lambda x: paddle.sparse.sum(x.to_sparse_csr(), -1),
        lambda x: paddle.sparse.sum(x, [0, 1], keepdim=True),
        lambda x: paddle.sparse.nn.functional.softmax(x.to_sparse_csr()),
        lambda x: paddle.sparse.slice(x, [1], [1], [3]),
        lambda x: paddle.sparse.transpose(x.to_sparse_csr(), [1, 0]),
    ],
)
def test_gradients_to_second_order(function: Any) -> None:
    """Gradients that Paddle lacks or gets wrong: against differences of the dense result."""

    def loss(values: Any) -> Any:
        x = paddle.sparse.sparse_coo_tensor(INDICES, values, [3, 4], stop_gradient=values.stop_gradient)
        made = function(x).values()
        return (made * made * paddle.arange(1.0, made.size + 1, dtype="float64").reshape(made.shape)).sum()

    def differences(of: Any) -> Any:
        step = 1e-6
        rows = []
        for n in range(4):
            moved = [paddle.to_tensor(np.asarray(VALUES) + sign * step * np.eye(4)[n]) for sign in (1, -1)]
            rows.append((of(moved[0]) - of(moved[1])) / (2 * step))
        return np.stack(rows)

    def slope(values: Any, create: bool = False) -> Any:
        values.stop_gradient = False
        return paddle.grad(loss(values), values, create_graph=create)[0]

    values = paddle.to_tensor(np.asarray(VALUES))
    np.testing.assert_allclose(
        slope(values).numpy(), differences(lambda v: loss(v).numpy()), rtol=1e-6, atol=1e-6
    )
    values = paddle.to_tensor(np.asarray(VALUES))
    first = slope(values, create=True)
    if not first.stop_gradient:
        second = paddle.grad(first.sum(), values, allow_unused=True)[0]
        want = differences(lambda v: slope(v).numpy()).sum(axis=1)
        got = np.zeros(4) if second is None else second.numpy()
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_gradients_that_are_set_and_cleared() -> None:
    x = coo(gradient=True)
    (x * x).to_dense().sum().backward()
    np.testing.assert_array_equal(x.grad.values().numpy(), [3, -4, 6, 0.5])
    x.clear_grad()
    np.testing.assert_array_equal(x.grad.values().numpy(), np.zeros(4))
    x.clear_gradient(set_to_zero=False)
    assert x.grad is None
    x.grad = other()  # its elements at the positions of x
    np.testing.assert_array_equal(x.grad.values().numpy(), [0, 2, -4, 0])
    assert x.gradient().shape == (4,)
    with pytest.raises(ShapeError, match="its tensor's shape"):
        x.grad = paddle.ones([2, 2])


def test_backward_from_dense_and_from_other_positions() -> None:
    weight = np.arange(12.0).reshape(3, 4)
    for start in (paddle.to_tensor(weight), paddle.to_tensor(weight).to_sparse_coo(2)):
        x = coo(gradient=True)
        (x * 2.0).backward(start)
        np.testing.assert_array_equal(x.grad.values().numpy(), 2 * weight[tuple(INDICES)])


def test_grad_of_intermediate_values_and_hooks() -> None:
    x = coo(gradient=True)
    y = paddle.sparse.square(x)
    seen: list[Any] = []
    handle = y.register_hook(lambda g: seen.append(g))
    y.retain_grads()
    paddle.autograd.backward([paddle.sparse.square(y)], [None])
    assert seen[0].is_sparse_coo()
    np.testing.assert_allclose(y.grad.values().numpy(), 2 * np.square(VALUES))
    assert handle.remove()
    with pytest.raises(DTypeError, match="callable"):
        y.register_hook(3)


def test_dense_functions_refuse_sparse_tensors() -> None:
    x = coo()
    for call in (
        lambda: paddle.exp(x),
        lambda: paddle.nn.functional.relu(x),
        lambda: paddle.concat([x, x]),
        lambda: x.numpy(),
        lambda: x.tolist(),
        lambda: paddle.matmul(x, paddle.ones([4, 2])),
        lambda: x + 1.0,
        lambda: 1.0 - x,
        lambda: x[0],
    ):
        with pytest.raises(UnsupportedError, match=r"sparse|zero"):
            call()
    assert not hasattr(x, "no_such_attribute")


def test_dense_tensors_have_no_parts() -> None:
    with pytest.raises(UnsupportedError, match="to_sparse_coo"):
        paddle.ones([2]).values()
    with pytest.raises(UnsupportedError, match="dense one"):
        paddle.sparse.sin(paddle.ones([2]))
    with pytest.raises(DTypeError, match="got list"):
        paddle.sparse.sin([1.0])


def test_copies() -> None:
    x = coo(gradient=True)
    cloned = x.clone()
    cloned.values().detach().zero_()
    np.testing.assert_array_equal(x.values().numpy(), VALUES)
    assert not cloned.stop_gradient
    assert not cloned.is_leaf
    assert copy.copy(x).values().numpy() is not None
    assert copy.deepcopy({"a": x})["a"].is_leaf
    other_process = pickle.loads(pickle.dumps(coo().to_sparse_csr()))
    assert str(other_process) == str(coo().to_sparse_csr())
    detached = x.detach_()
    assert detached is x
    assert x.stop_gradient


@pytest.mark.parametrize("axes", [[0], [2], [0, 1], [1, 2], [0, 1, 2], [0, 2]])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_sums_over_sparse_and_dense_dimensions(axes: list[int], depth: int) -> None:
    array = np.where(np.random.default_rng(0).random((3, 4, 2)) < 0.5, np.arange(1.0, 25).reshape(3, 4, 2), 0)
    x = paddle.to_tensor(array).to_sparse_coo(depth)
    same_rank = paddle.sparse.sum(x, axes, keepdim=True)
    np.testing.assert_array_equal(same_rank.to_dense().numpy(), array.sum(axis=tuple(axes), keepdims=True))
    plain = paddle.sparse.sum(x, axes).to_dense().numpy()
    # If no sparse dimension is left, one of length 1 stays, as in Paddle.
    want = array.sum(axis=tuple(axes))
    assert plain.shape == (want.shape if set(range(depth)) - set(axes) else (1, *want.shape))
    np.testing.assert_array_equal(plain.reshape(want.shape), want)


def test_invalid_positions_are_refused() -> None:
    with pytest.raises(ShapeError, match="at least"):
        paddle.sparse.sparse_coo_tensor([[0, 1], [2, 3]], [1.0, 2.0], [3, 1])
    with pytest.raises(ArgumentError, match="from 0"):
        paddle.sparse.sparse_coo_tensor([[0, -1]], [1.0, 2.0], [3])
    with pytest.raises(ArgumentError, match="must not fall"):
        paddle.sparse.sparse_csr_tensor([0, 2, 1, 2], [0, 1], [1.0, 2.0], [3, 2])
    empty = paddle.sparse.sparse_coo_tensor(paddle.zeros([2, 0], "int64"), paddle.zeros([0]), [2, 3])
    np.testing.assert_array_equal((empty + empty).to_dense().numpy(), np.zeros((2, 3)))
    assert paddle.sparse.sum(empty, 0).nnz() == 0
    with pytest.raises(UnsupportedError, match="mixes"):
        paddle.sparse.transpose(paddle.ones([2, 2, 2]).to_sparse_coo(1), [1, 0, 2])
    deep = paddle.to_tensor(np.arange(24.0).reshape(2, 3, 4)).to_sparse_coo(1)
    turned = paddle.sparse.transpose(deep, [0, 2, 1])
    np.testing.assert_array_equal(
        turned.to_dense().numpy(), np.arange(24.0).reshape(2, 3, 4).transpose(0, 2, 1)
    )
    cut = paddle.sparse.slice(deep, [0, 2], [1, 1], [2, 3])
    np.testing.assert_array_equal(cut.to_dense().numpy(), np.arange(24.0).reshape(2, 3, 4)[1:2, :, 1:3])


def _empty() -> Any:
    return paddle.sparse.sparse_coo_tensor(np.zeros((2, 0), "int64"), np.zeros(0, "float32"), [2, 3])


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda x: x, np.zeros((2, 3))),
        (lambda x: x.coalesce(), np.zeros((2, 3))),
        (lambda x: x.to_sparse_csr(), np.zeros((2, 3))),
        (lambda x: x.to_sparse_csr().to_sparse_coo(2), np.zeros((2, 3))),
        (lambda x: paddle.sparse.add(x, paddle.eye(2, 3).to_sparse_coo(2)), np.eye(2, 3)),
        (lambda x: paddle.sparse.multiply(paddle.eye(2, 3).to_sparse_coo(2), x), np.zeros((2, 3))),
        (lambda x: paddle.sparse.transpose(x, [1, 0]), np.zeros((3, 2))),
        (lambda x: paddle.sparse.reshape(x, [3, 2]), np.zeros((3, 2))),
        (lambda x: paddle.sparse.slice(x, [0], [0], [1]), np.zeros((1, 3))),
        (lambda x: paddle.sparse.sum(x, 0), np.zeros(3)),
        (lambda x: paddle.sparse.matmul(x, paddle.ones([3, 2])), np.zeros((2, 2))),
        (lambda x: paddle.sparse.mv(x, paddle.ones([3])), np.zeros(2)),
        (lambda x: paddle.sparse.nn.functional.softmax(x.to_sparse_csr()), np.zeros((2, 3))),
    ],
)
def test_a_tensor_without_values(function: Any, wanted: Any) -> None:
    """Paddle refuses most of these: it looks for the largest position."""
    made = function(_empty())
    np.testing.assert_array_equal((made.to_dense() if made.is_sparse() else made).numpy(), wanted)


def test_convolution_of_a_tensor_without_values() -> None:
    points = paddle.sparse.sparse_coo_tensor(
        np.zeros((4, 0), "int64"), np.zeros((0, 1), "float32"), [1, 3, 3, 3, 1]
    )
    made = paddle.sparse.nn.Conv3D(1, 2, 2)(points)
    assert (made.shape, made.nnz()) == ([1, 2, 2, 2, 2], 0)
