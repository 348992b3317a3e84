"""Products with sparse matrices, which Paddle 2.6 computes on a GPU only: against dense ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, ShapeError, UnsupportedError

RNG = np.random.default_rng(0)


def _matrix(shape: tuple[int, ...], seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) * (rng.random(shape) < 0.4)


def _sparse(array: Any, layout: str, gradient: bool = True) -> Any:
    x = paddle.to_tensor(array)
    made = x.to_sparse_coo(array.ndim) if layout == "coo" else x.to_sparse_csr()
    made.stop_gradient = not gradient
    return made


@pytest.mark.parametrize("layout", ["coo", "csr"])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_sparse_times_dense(layout: str, batch: tuple[int, ...]) -> None:
    a, b = _matrix((*batch, 4, 5)), RNG.standard_normal((*batch, 5, 3))
    x, y = _sparse(a, layout), paddle.to_tensor(b, stop_gradient=False)
    out = paddle.sparse.matmul(x, y)
    np.testing.assert_allclose(out.numpy(), a @ b)
    weight = RNG.standard_normal(out.shape)
    (out * paddle.to_tensor(weight)).sum().backward()
    np.testing.assert_allclose(y.grad.numpy(), np.swapaxes(a, -1, -2) @ weight, atol=1e-12)
    np.testing.assert_allclose(x.grad.to_dense().numpy(), (weight @ np.swapaxes(b, -1, -2)) * (a != 0))


@pytest.mark.parametrize("layout", ["coo", "csr"])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_sparse_times_sparse(layout: str, batch: tuple[int, ...]) -> None:
    a, b = _matrix((*batch, 4, 5)), _matrix((*batch, 5, 3), 1)
    x, y = _sparse(a, layout), _sparse(b, layout)
    out = x @ y
    assert out.is_sparse_csr() == (layout == "csr")
    np.testing.assert_allclose(out.to_dense().numpy(), a @ b, atol=1e-12)
    weight = RNG.standard_normal(out.shape)
    (out.to_dense() * paddle.to_tensor(weight)).sum().backward()
    met = (a != 0).astype(float) @ (b != 0) > 0
    want = ((weight * met) @ np.swapaxes(b, -1, -2)) * (a != 0)
    np.testing.assert_allclose(x.grad.to_dense().numpy(), want, atol=1e-12)
    want = (np.swapaxes(a, -1, -2) @ (weight * met)) * (b != 0)
    np.testing.assert_allclose(y.grad.to_dense().numpy(), want, atol=1e-12)


@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_masked_matmul(layout: str) -> None:
    for batch in ((), (2,)):
        a, b, mask = (
            RNG.standard_normal((*batch, 4, 5)),
            RNG.standard_normal((*batch, 5, 3)),
            _matrix((*batch, 4, 3)),
        )
        x, y = paddle.to_tensor(a, stop_gradient=False), paddle.to_tensor(b, stop_gradient=False)
        out = paddle.sparse.masked_matmul(x, y, _sparse(mask, layout))
        np.testing.assert_allclose(out.to_dense().numpy(), (a @ b) * (mask != 0))
        weight = RNG.standard_normal(out.shape) * (mask != 0)
        (out.to_dense() * paddle.to_tensor(weight)).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), weight @ np.swapaxes(b, -1, -2), atol=1e-12)
        np.testing.assert_allclose(y.grad.numpy(), np.swapaxes(a, -1, -2) @ weight, atol=1e-12)


@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_mv_and_addmm(layout: str) -> None:
    a, v, b, c = (
        _matrix((4, 5)),
        RNG.standard_normal(5),
        RNG.standard_normal((5, 3)),
        RNG.standard_normal((4, 3)),
    )
    x, vector = _sparse(a, layout), paddle.to_tensor(v, stop_gradient=False)
    out = paddle.sparse.mv(x, vector)
    np.testing.assert_allclose(out.numpy(), a @ v)
    out.sum().backward()
    np.testing.assert_allclose(vector.grad.numpy(), a.sum(axis=0))
    np.testing.assert_allclose(x.grad.to_dense().numpy(), (a != 0) * v)
    added = paddle.sparse.addmm(paddle.to_tensor(c), x, paddle.to_tensor(b), 2.0, 0.5)
    np.testing.assert_allclose(added.numpy(), 2 * c + 0.5 * (a @ b))
    square = _matrix((4, 4), 2)
    found = paddle.sparse.addmm(
        _sparse(square, layout), _sparse(square, layout), _sparse(square, layout), 3.0
    )
    np.testing.assert_allclose(found.to_dense().numpy(), 3 * square + square @ square, atol=1e-12)


def test_many_elements_are_multiplied_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.ops.sparse import products

    a, b = _matrix((30, 20)), RNG.standard_normal((20, 6))
    monkeypatch.setattr(products, "BLOCK", 50)
    x = _sparse(a, "csr")
    np.testing.assert_allclose(paddle.sparse.matmul(x, paddle.to_tensor(b)).numpy(), a @ b)
    found = paddle.sparse.masked_matmul(
        paddle.to_tensor(a), paddle.to_tensor(b), _sparse(_matrix((30, 6)), "coo")
    )
    np.testing.assert_allclose(found.to_dense().numpy(), (a @ b) * (_matrix((30, 6)) != 0))


@pytest.mark.parametrize("shape", [(9, 5), (5, 9)])
@pytest.mark.parametrize("center", [True, False])
def test_pca_lowrank(shape: tuple[int, int], center: bool) -> None:
    a = _matrix(shape)
    u, s, v = paddle.sparse.pca_lowrank(_sparse(a, "csr" if center else "coo", gradient=False), 5, center)
    want = a - a.mean(axis=0) if center else a
    np.testing.assert_allclose(s.numpy(), np.linalg.svd(want)[1][:5], atol=1e-9)
    np.testing.assert_allclose((u.numpy() * s.numpy()) @ v.numpy().T, want, atol=1e-9)
    with pytest.raises(ArgumentError, match="between 0 and"):
        paddle.sparse.pca_lowrank(_sparse(a, "coo"), 6)


def test_refusals() -> None:
    x = _sparse(_matrix((4, 5)), "coo")
    with pytest.raises(ShapeError, match=r"\[m, k\]"):
        paddle.sparse.matmul(x, paddle.ones([4, 2], "float64"))
    with pytest.raises(UnsupportedError, match="both be COO"):
        paddle.sparse.matmul(x, _sparse(_matrix((5, 2)), "csr"))
    with pytest.raises(UnsupportedError, match="dense one"):
        paddle.sparse.matmul(paddle.ones([2, 4], "float64"), x)
    with pytest.raises(UnsupportedError, match="all dimensions"):
        paddle.sparse.matmul(paddle.ones([2, 4]).to_sparse_coo(1), paddle.ones([4, 2]))
    with pytest.raises(ShapeError, match="must be"):
        paddle.sparse.addmm(paddle.ones([2, 2], "float64"), x, paddle.ones([5, 2], "float64"))


@pytest.mark.parametrize("masked", [False, True])
def test_attention(masked: bool) -> None:
    batch, heads, length, size = 2, 2, 4, 3
    q, k, v = (RNG.standard_normal((batch, heads, length, size)) for _ in range(3))
    seen = RNG.random((batch * heads, length, length)) < 0.7
    seen[:, range(length), range(length)] = True
    padding, attention = np.ones((batch, length)), np.ones((length, length))
    if masked:
        padding[0, 3], attention[1, 0] = 0, 0
    tensors = [paddle.to_tensor(m, stop_gradient=False) for m in (q, k, v)]
    out = paddle.sparse.nn.functional.attention(
        *tensors,
        paddle.to_tensor(seen.astype("float64")).to_sparse_csr(),
        paddle.to_tensor(padding) if masked else None,
        paddle.to_tensor(attention) if masked else None,
    )
    allowed = seen.reshape(batch, heads, length, length) * padding[:, None, None] * attention
    scores = np.exp(q @ np.swapaxes(k, -1, -2) / np.sqrt(size)) * allowed
    totals = scores.sum(-1, keepdims=True)
    np.testing.assert_allclose(out.numpy(), (scores / np.where(totals > 0, totals, 1)) @ v, atol=1e-9)
    out.sum().backward()
    assert all(np.isfinite(t.grad.numpy()).all() for t in tensors)
