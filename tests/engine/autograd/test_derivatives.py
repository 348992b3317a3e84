"""Jacobians and Hessians against derivatives by hand."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine.autograd import hessian, jacobian
from engine.core.errors import OutOfRangeError, ShapeError


def leaf(values):
    return paddle.to_tensor(np.array(values), stop_gradient=False)


def test_rows_are_computed_when_indexed():
    x = leaf([1.0, 2.0, 3.0])
    matrix = jacobian(x * x, x)
    assert matrix.shape == [3, 3]
    assert matrix[-1, 2].item() == 6.0
    assert list(matrix._rows) == [2]
    np.testing.assert_allclose(matrix[0:2, 1:].numpy(), [[0, 0], [4, 0]])
    np.testing.assert_allclose(matrix[:].numpy(), np.diag([2.0, 4.0, 6.0]))
    np.testing.assert_allclose(matrix[:, 1].numpy(), [0, 4, 0])
    assert matrix[1:1].shape == [0, 3]


def test_the_whole_matrix_in_arithmetic_and_methods():
    x = leaf([1.0, 2.0])
    matrix = jacobian(x * x, x)
    np.testing.assert_allclose((matrix + matrix).numpy(), np.diag([4.0, 8.0]))
    np.testing.assert_allclose(matrix.sum().numpy(), 6.0)
    assert (matrix == matrix).all()


def test_values_without_dimensions():
    x = leaf(2.0)
    assert jacobian(x * x, x).numpy() == 4.0
    v = leaf([1.0, 2.0])
    assert jacobian((v * v).sum(), v).shape == [2]
    assert jacobian(x * paddle.ones([3], "float64"), x)[:].tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(OutOfRangeError, match="can't be indexed"):
        jacobian(x * x, x)[:]


def test_tuples_and_independent_inputs():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0, 5.0])
    matrices = jacobian((x * x, x.sum() * y), (x, y))
    assert [[m.shape for m in row] for row in matrices] == [[[2, 2], [2, 3]], [[3, 2], [3, 3]]]
    np.testing.assert_allclose(matrices[0][1][:].numpy(), np.zeros((2, 3)))
    np.testing.assert_allclose(matrices[1][0][:].numpy(), [[3, 3], [4, 4], [5, 5]])


def test_batches():
    x = leaf([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    matrix = jacobian(x * x, x, batch_axis=0)
    assert matrix.shape == [3, 2, 2]
    np.testing.assert_allclose(matrix[:, 1].numpy(), [[0, 4], [0, 8], [0, 12]])
    second = hessian((x * x * x).sum(-1), x, batch_axis=0)
    np.testing.assert_allclose(second[:].numpy(), [np.diag(6 * row) for row in x.numpy()])


def test_hessian():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    whole = hessian(((x * y) ** 2).sum(), (x, y))
    np.testing.assert_allclose(whole[0][0][:].numpy(), np.diag([18.0, 32.0]))
    np.testing.assert_allclose(whole[0][1][:].numpy(), np.diag([12.0, 32.0]))
    np.testing.assert_allclose(hessian((x**3).sum(), x)[1].numpy(), [0.0, 12.0])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: jacobian(x, x), ShapeError, r"got shape \[2, 2\]"),
        (lambda x: jacobian(x[0], x[0])[5], OutOfRangeError, "index 5"),
        (lambda x: jacobian(x[0], x[0])[...], OutOfRangeError, "integer or a slice"),
        (lambda x: jacobian(x[0], x[0])[0, 0, 0], OutOfRangeError, "3 indexes"),
        (lambda x: jacobian(x[0], x[0], batch_axis=1), ValueError, "batch_axis is None or 0"),
        (lambda x: hessian(x[0], x[0]), ShapeError, "ys is one number"),
        (lambda x: jacobian(3, x), TypeError, "is a Tensor"),
    ],
)
def test_wrong_use(call, error, text):
    with pytest.raises(error, match=text):
        call(leaf([[1.0, 2.0], [3.0, 4.0]]))
