"""Products, norms, distances, decompositions, systems: values, gradients to second order, Programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import linalg
from engine.core.errors import (
    ArgumentError,
    DTypeError,
    EngineError,
    GradientError,
    OutOfRangeError,
    ShapeError,
)
from engine.core.strictness import LeniencyWarning, strict
from tests.engine.tensor.function_checks import (
    check,
    check_gradients,
    check_single,
    check_static,
    check_values,
)


def _matrix(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def _symmetric(x: Any) -> Any:
    """A function of any square matrix that passes on a symmetric one: its derivative is that of eigh."""
    order = [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]
    return x + x.transpose(order)


def _definite(x: Any) -> Any:
    size = x.shape[-1]
    order = [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]
    return paddle.matmul(x, x.transpose(order)) + paddle.eye(size, dtype=x.dtype)


def _spd(*shape: int) -> Any:
    x = _matrix(*shape)
    return x @ x.swapaxes(-1, -2) + np.eye(shape[-1])


A, B, C = _matrix(3, 4), _matrix(4, 2, seed=1), _matrix(2, 3, seed=2)
S = _matrix(3, 3, seed=3)
BATCH = _matrix(2, 3, 3, seed=4)
V, W = _matrix(4, seed=5), _matrix(4, seed=6)
EMPTY = np.zeros((0, 3))

Row = tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]
PRODUCTS: dict[str, Row] = {
    "mm": (paddle.mm, np.matmul, (A, B)),
    "bmm": (paddle.bmm, np.matmul, (_matrix(2, 3, 4), _matrix(2, 4, 5))),
    "bmm empty": (paddle.bmm, np.matmul, (np.zeros((0, 3, 4)), np.zeros((0, 4, 5)))),
    "mv": (paddle.mv, np.matmul, (A, V)),
    "dot": (paddle.dot, np.dot, (V, W)),
    "dot rows": (paddle.dot, lambda x, y: (x * y).sum(-1), (A, _matrix(3, 4, seed=9))),
    "inner": (paddle.inner, np.inner, (A, _matrix(5, 4))),
    "inner vector": (paddle.inner, np.inner, (A, V)),
    "inner 3d": (paddle.inner, np.inner, (_matrix(2, 3, 4), _matrix(5, 2, 4))),
    "inner number": (paddle.inner, np.multiply, (np.array(2.0), V)),
    "outer": (paddle.outer, np.outer, (V, _matrix(3))),
    "outer number": (paddle.outer, np.outer, (np.array(2.0), V)),
    "addmm": (
        lambda i, x, y: paddle.addmm(i, x, y, beta=0.5, alpha=2.0),
        lambda i, x, y: 0.5 * i + 2.0 * (x @ y),
        (_matrix(3, 2), A, B),
    ),
    "addmm broadcast": (paddle.addmm, lambda i, x, y: i + x @ y, (_matrix(2), A, B)),
    "cross": (paddle.cross, np.cross, (_matrix(2, 3), _matrix(2, 3, seed=8))),
    "cross axis": (
        lambda x, y: paddle.cross(x, y, axis=0),
        lambda x, y: np.cross(x, y, axis=0),
        (_matrix(3, 3), _matrix(3, 3, seed=8)),
    ),
    "kron": (paddle.kron, np.kron, (C, _matrix(2, 2))),
    "kron empty": (paddle.kron, np.kron, (EMPTY, _matrix(2, 2))),
    "kron ranks": (paddle.kron, np.kron, (C, _matrix(2))),
    "trace": (paddle.trace, np.trace, (A,)),
    "trace offset": (
        lambda x: paddle.trace(x, offset=1, axis1=0, axis2=2),
        lambda x: np.trace(x, offset=1, axis1=0, axis2=2),
        (_matrix(2, 3, 4),),
    ),
    "multi_dot": (lambda *m: linalg.multi_dot(m), lambda *m: np.linalg.multi_dot(m), (A, B, C, S)),
    "multi_dot vectors": (
        lambda *m: linalg.multi_dot(m),
        lambda *m: np.linalg.multi_dot(m),
        (_matrix(3), A, V),
    ),
    "dist": (paddle.dist, lambda x, y: np.linalg.norm((x - y).ravel()), (A, V)),
    "dist 3": (
        lambda x, y: paddle.dist(x, y, 3),
        lambda x, y: np.linalg.norm((x - y).ravel(), 3),
        (A, A[::-1] * 2),
    ),
    "dist inf": (
        lambda x, y: paddle.dist(x, y, float("inf")),
        lambda x, y: np.abs(x - y).max(),
        (A, V),
    ),
    "cdist": (
        paddle.cdist,
        lambda x, y: np.sqrt(((x[..., :, None, :] - y[..., None, :, :]) ** 2).sum(-1)),
        (_matrix(2, 3, 4), _matrix(5, 4)),
    ),
    "cdist by product": (
        lambda x, y: paddle.cdist(x, y, compute_mode="use_mm_for_euclid_dist"),
        lambda x, y: np.sqrt(((x[:, None] - y) ** 2).sum(-1)),
        (A, _matrix(5, 4)),
    ),
    "cdist 1": (
        lambda x, y: paddle.cdist(x, y, p=1.0),
        lambda x, y: np.abs(x[:, None] - y).sum(-1),
        (A, _matrix(5, 4)),
    ),
    "vander": (paddle.vander, np.vander, (_matrix(3),)),
    "vander with 0": (
        lambda x: paddle.vander(x, 4, increasing=True),
        lambda x: np.vander(x, 4, increasing=True),
        (np.array([0.0, 2.0]),),
    ),
    "renorm": (
        lambda x: paddle.renorm(x, 2.0, 0, 1.5),
        lambda x: x * np.minimum(1, 1.5 / np.linalg.norm(x, axis=1, keepdims=True)),
        (np.array([[3.0, 4.0], [0.1, 0.2], [0.0, 2.0]]),),
    ),
}
UNKNOWN_FIRST = {"mm", "mv", "dot rows", "addmm", "bmm", "inner vector", "cross", "trace"}
ONE_ORDER = {"vander with 0"}  # the second derivative of a running product is not finite at 0


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str) -> None:
    function, want, arrays = PRODUCTS[name]
    check(function, want(*arrays), *arrays, second=name not in ONE_ORDER)
    if name in UNKNOWN_FIRST:
        check_static(function, *arrays, unknown=[0])


NORMS = [
    ("fro", None, lambda x: np.sqrt((x**2).sum())),
    (2, None, lambda x: np.sqrt((x**2).sum())),
    ("fro", [0, 1], lambda x: np.sqrt((x**2).sum())),
    ("fro", 1, lambda x: np.linalg.norm(x, axis=1)),
    (1, None, lambda x: np.abs(x).sum()),
    (3, [0, 1], lambda x: (np.abs(x) ** 3).sum() ** (1 / 3)),
    (float("inf"), None, lambda x: np.abs(x).max()),
    (float("-inf"), 0, lambda x: np.abs(x).min(0)),
    (float("inf"), [0, 1], lambda x: np.abs(x).max()),
    (0.5, 1, lambda x: (np.abs(x) ** 0.5).sum(1) ** 2),
    (1, -1, lambda x: np.abs(x).sum(1)),
    (0, 1, lambda x: (x != 0).sum(1).astype(float)),
]


@pytest.mark.parametrize(("p", "axis", "want"), NORMS, ids=lambda v: str(v) if not callable(v) else "")
def test_norm(p: Any, axis: Any, want: Any) -> None:
    check(lambda x: paddle.norm(x, p, axis), want(A), A, unknown=[0])
    same_rank = paddle.norm(paddle.to_tensor(A), p, axis, keepdim=True)
    assert same_rank.ndim == 2


def test_norm_at_zero_has_gradient_zero() -> None:
    for p, axis in (("fro", None), (2, 1), (3, [0, 1]), (1, None)):
        x = paddle.zeros([2, 2])
        x.stop_gradient = False
        paddle.norm(x, p, axis).sum().backward()
        assert not x.grad.numpy().any()


SOLVES: dict[str, Row] = {
    "det": (linalg.det, np.linalg.det, (S,)),
    "det batch": (linalg.det, np.linalg.det, (BATCH,)),
    "slogdet": (linalg.slogdet, lambda x: np.stack(np.linalg.slogdet(x)), (BATCH,)),
    "inv": (linalg.inv, np.linalg.inv, (S,)),
    "inv batch": (linalg.inv, np.linalg.inv, (BATCH,)),
    "solve": (linalg.solve, np.linalg.solve, (S, _matrix(3, 2))),
    "solve vector": (linalg.solve, np.linalg.solve, (S, _matrix(3))),
    "solve batch of vectors": (
        linalg.solve,
        lambda x, y: np.linalg.solve(x, y[..., None])[..., 0],
        (BATCH, _matrix(2, 3)),
    ),
    "solve broadcast": (linalg.solve, np.linalg.solve, (S, _matrix(2, 3, 2))),
    "pinv tall": (linalg.pinv, np.linalg.pinv, (B,)),
    "pinv wide": (linalg.pinv, np.linalg.pinv, (A,)),
    "pinv rank": (linalg.pinv, np.linalg.pinv, (np.ones((2, 2)) * 2.0,)),
    "lstsq": (
        lambda x, y: linalg.lstsq(x, y)[0],
        lambda x, y: np.linalg.lstsq(x, y)[0],
        (B, _matrix(4, 2, seed=3)),
    ),
    "matrix_power 3": (
        lambda x: linalg.matrix_power(x, 3),
        lambda x: np.linalg.matrix_power(x, 3),
        (S,),
    ),
    "matrix_power 0": (lambda x: linalg.matrix_power(x, 0), lambda x: np.eye(3) + 0 * x, (BATCH,)),
    "matrix_power 1": (lambda x: linalg.matrix_power(x, 1), lambda x: x, (S,)),
    "matrix_power -2": (
        lambda x: linalg.matrix_power(x, -2),
        lambda x: np.linalg.matrix_power(x, -2),
        (S,),
    ),
    "cond": (linalg.cond, np.linalg.cond, (A,)),
    "cond fro": (lambda x: linalg.cond(x, "fro"), lambda x: np.linalg.cond(x, "fro"), (S,)),
    "cond nuc": (lambda x: linalg.cond(x, "nuc"), lambda x: np.linalg.cond(x, "nuc"), (S,)),
    "cond 1": (lambda x: linalg.cond(x, 1), lambda x: np.linalg.cond(x, 1), (S,)),
    "cond -inf": (
        lambda x: linalg.cond(x, float("-inf")),
        lambda x: np.linalg.cond(x, -np.inf),
        (S,),
    ),
    "cov": (linalg.cov, np.cov, (A,)),
    "cov columns": (lambda x: linalg.cov(x, rowvar=False), lambda x: np.cov(x, rowvar=False), (A,)),
    "cov weights": (
        lambda x, w: linalg.cov(x, aweights=w),
        lambda x, w: np.cov(x, aweights=w),
        (A, np.abs(V)),
    ),
    "cov counts": (
        lambda x, n: linalg.cov(x, fweights=n, ddof=False),
        lambda x, n: np.cov(x, fweights=n, ddof=0),
        (A, np.array([1, 3, 2, 1])),
    ),
    "corrcoef": (linalg.corrcoef, np.corrcoef, (A,)),
    "eigvalsh": (lambda x: linalg.eigvalsh(_symmetric(x)), lambda x: np.linalg.eigvalsh(x + x.T), (S,)),
    "cholesky": (
        lambda x: linalg.cholesky(_definite(x)),
        lambda x: np.linalg.cholesky(x @ x.T + np.eye(3)),
        (S,),
    ),
    "cholesky upper": (
        lambda x: linalg.cholesky(_definite(x), upper=True),
        lambda x: np.linalg.cholesky(x @ x.T + np.eye(3)).T,
        (S,),
    ),
    "cholesky_solve": (
        lambda x, y: linalg.cholesky_solve(x, linalg.cholesky(_definite(y))),
        lambda x, y: np.linalg.solve(y @ y.T + np.eye(3), x),
        (_matrix(3, 2), S),
    ),
    "cholesky_solve upper": (
        lambda x, y: linalg.cholesky_solve(x, linalg.cholesky(_definite(y), upper=True), upper=True),
        lambda x, y: np.linalg.solve(y @ y.T + np.eye(3), x),
        (_matrix(3, 2), S),
    ),
}
ONE_ORDER |= {"corrcoef"}  # limited to 1 at the diagonal, where rounding decides


@pytest.mark.parametrize("name", SOLVES)
def test_systems(name: str) -> None:
    function, want, arrays = SOLVES[name]
    gradients = name != "pinv rank"  # where the rank changes the inverse jumps
    check(function, want(*arrays), *arrays, second=name not in ONE_ORDER, gradients=gradients)


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("unit", [True, False])
def test_triangular_solve(upper: bool, transpose: bool, unit: bool) -> None:
    x = S + 3 * np.eye(3)
    matrix = np.triu(x) if upper else np.tril(x)
    if unit:
        matrix = matrix - np.diag(np.diag(matrix)) + np.eye(3)
    y = _matrix(2, 3, 2)
    check(
        lambda x, y: linalg.triangular_solve(x, y, upper, transpose, unit),
        np.linalg.solve(matrix.T if transpose else matrix, y),
        x,
        y,
    )


def test_determinants_of_singular_matrices_have_gradients() -> None:
    x = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
    check_gradients(linalg.det, x, second=False)
    check_values(linalg.slogdet, np.array([0.0, -np.inf]), np.zeros((2, 2)))


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 3), (0, 2, 2)])
def test_svd(shape: tuple[int, ...]) -> None:
    x = _matrix(*shape)
    u, s, vh = (t.numpy() for t in linalg.svd(paddle.to_tensor(x)))
    np.testing.assert_allclose(u * s[..., None, :] @ vh, x, atol=1e-12)
    np.testing.assert_allclose(s, np.linalg.svd(x, compute_uv=False), atol=1e-12)
    assert [t.shape for t in linalg.svd(paddle.to_tensor(x), full_matrices=True)] == [
        [*shape[:-1], shape[-2]],
        [*shape[:-2], min(shape[-2:])],
        [*shape[:-2], shape[-1], shape[-1]],
    ]

    def signless(x: Any) -> Any:
        u, s, vh = linalg.svd(x)
        return u * u, s, vh * vh

    check_gradients(signless, x)
    check_gradients(lambda x: linalg.svd(x)[1], x)
    check_gradients(lambda x: linalg.svd(x, full_matrices=True)[1], x, second=False)
    check_static(linalg.svd, x)
    check_single(lambda x: linalg.svd(x)[1], x)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
def test_qr(shape: tuple[int, ...]) -> None:
    x = _matrix(*shape)
    q, r = (t.numpy() for t in linalg.qr(paddle.to_tensor(x)))
    np.testing.assert_allclose(q @ r, x, atol=1e-12)
    np.testing.assert_allclose(np.triu(r), r)
    np.testing.assert_array_equal(linalg.qr(paddle.to_tensor(x), mode="r").numpy(), r)
    whole = [t.numpy() for t in linalg.qr(paddle.to_tensor(x), mode="complete")]
    assert whole[0].shape == (*shape[:-1], shape[-2])
    np.testing.assert_allclose(whole[0] @ whole[1], x, atol=1e-12)
    check_gradients(linalg.qr, x)
    check_gradients(lambda x: linalg.qr(x)[0], x)
    check_gradients(lambda x: linalg.qr(x, mode="r"), x)
    check_static(linalg.qr, x)
    check_single(linalg.qr, x)


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3)])
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_eigh(shape: tuple[int, ...], triangle: str) -> None:
    x = _matrix(*shape)
    x = x + x.swapaxes(-1, -2)
    values, vectors = (t.numpy() for t in linalg.eigh(paddle.to_tensor(x), triangle))
    np.testing.assert_allclose(vectors * values[..., None, :] @ vectors.swapaxes(-1, -2), x, atol=1e-12)
    broken = np.triu(x) if triangle == "U" else np.tril(x)
    alone = linalg.eigvalsh(paddle.to_tensor(broken), triangle).numpy()
    np.testing.assert_allclose(alone, values, atol=1e-12)

    def signless(x: Any) -> Any:
        values, vectors = linalg.eigh(_symmetric(x), triangle)
        return values, vectors * vectors

    check_gradients(signless, x)
    check_gradients(lambda x: linalg.eigh(_symmetric(x), triangle)[1] ** 2, x)
    check_static(linalg.eigh, x)
    check_single(lambda x: linalg.eigvalsh(x), x)


def test_gradients_of_symmetric_matrices_are_symmetric() -> None:
    for function in (linalg.eigvalsh, linalg.cholesky):
        x = paddle.to_tensor(_spd(3, 3), stop_gradient=False)
        (function(x) * paddle.to_tensor(_matrix(3, seed=9))).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), x.grad.numpy().T, atol=1e-12)


def test_eig() -> None:
    x = _matrix(2, 3, 3)
    values, vectors = (t.numpy() for t in linalg.eig(paddle.to_tensor(x)))
    np.testing.assert_allclose(x @ vectors, vectors * values[..., None, :], atol=1e-12)
    # Those of the transposed matrix, whose order they have.
    turned = np.linalg.eigvals(np.swapaxes(x, 1, 2))
    np.testing.assert_allclose(linalg.eigvals(paddle.to_tensor(x)).numpy(), turned, atol=1e-12)
    np.testing.assert_allclose(np.sort_complex(turned), np.sort_complex(values), atol=1e-12)
    assert linalg.eigvals(paddle.to_tensor(x.astype("float32"))).dtype == paddle.complex64
    check_static(linalg.eig, x)
    check_static(linalg.eigvals, x)
    leaf = paddle.to_tensor(x, stop_gradient=False)
    with pytest.warns(LeniencyWarning, match="no gradient flows back"):
        assert linalg.eigvals(leaf).stop_gradient
    with strict(), pytest.raises(GradientError, match="no gradient flows back"):
        linalg.eigvals(leaf)


def test_gradient_of_eig() -> None:
    """The op eig_grad against numeric gradients."""
    x = np.array([[2.0, 1.0, 0.3], [0.5, 3.0, -0.2], [0.1, 0.4, -1.0]])
    weights = paddle.to_tensor(np.arange(9.0).reshape(3, 3) - 3.5)
    check_gradients(lambda x: (paddle.abs(linalg.eig(x)[0]) ** 2).sum(), x, second=False)
    check_gradients(lambda x: (paddle.abs(linalg.eig(x)[1]) * weights).sum(), x, second=False)
    check_gradients(lambda x: paddle.abs(linalg.eig(x)[1]).sum() * paddle.abs(x).sum(), x, second=False)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 3), (2, 2, 3, 2)])
def test_lu(shape: tuple[int, ...]) -> None:
    x = _matrix(*shape)
    packed, pivots, infos = linalg.lu(paddle.to_tensor(x), get_infos=True)
    assert pivots.dtype == paddle.int32
    assert pivots.shape == [*shape[:-2], min(shape[-2:])]
    assert infos.shape == list(shape[:-2] or (1,))
    assert not infos.numpy().any()
    permutation, low, high = (t.numpy() for t in linalg.lu_unpack(packed, pivots))
    np.testing.assert_allclose(permutation @ low @ high, x, atol=1e-12)
    np.testing.assert_array_equal(np.tril(low), low)
    assert np.abs(low).max() <= 1.0
    check_gradients(lambda x: linalg.lu(x)[0], x)
    check_gradients(lambda x: linalg.lu_unpack(*linalg.lu(x))[1:], x)
    check_static(lambda x: linalg.lu_unpack(*linalg.lu(x)), x)
    check_single(lambda x: linalg.lu(x)[0], x)
    assert linalg.lu_unpack(packed, pivots, unpack_pivots=False)[0] is None
    assert linalg.lu_unpack(packed, pivots, unpack_ludata=False)[1:] == (None, None)


def test_lu_of_a_singular_matrix_names_the_pivot() -> None:
    x = paddle.to_tensor([[1.0, 2.0], [2.0, 4.0]])
    assert linalg.lu(x, get_infos=True)[2].tolist() == [2]


def test_householder_product() -> None:
    x = _matrix(2, 4, 3)
    tau = _matrix(2, 2)

    def want(x: Any, tau: Any) -> Any:
        made = np.eye(4)
        for i in range(len(tau)):
            v = np.concatenate([np.zeros(i), [1.0], x[i + 1 :, i]])
            made = made @ (np.eye(4) - tau[i] * np.outer(v, v))
        return made[:, : x.shape[1]]

    check(linalg.householder_product, np.stack([want(x[n], tau[n]) for n in range(2)]), x, tau)


def test_matrix_rank() -> None:
    x = np.stack([np.ones((3, 3)), np.eye(3), np.zeros((3, 3))])
    check_values(linalg.matrix_rank, np.array([1, 3, 0], np.int32), x)
    check_values(lambda x: linalg.matrix_rank(x, hermitian=True), np.array([1, 3, 0], np.int32), x)
    check_values(lambda x: linalg.matrix_rank(x, tol=2.0), np.array([1, 0, 0], np.int32), x)
    check_values(linalg.matrix_rank, np.array([0, 3, 0], np.int32), x, np.array([4.0, 0.5, 1.0]))
    check_static(linalg.matrix_rank, x, unknown=[0])


def test_lstsq_results() -> None:
    x, y = B, _matrix(4, 2, seed=3)
    solution, residuals, rank, values = linalg.lstsq(paddle.to_tensor(x), paddle.to_tensor(y), driver="gelsd")
    want = np.linalg.lstsq(x, y)
    np.testing.assert_allclose(solution.numpy(), want[0], atol=1e-12)
    np.testing.assert_allclose(residuals.numpy(), want[1], atol=1e-12)
    assert rank.item() == 2
    np.testing.assert_allclose(values.numpy(), want[3], atol=1e-12)
    gels = linalg.lstsq(paddle.to_tensor(x), paddle.to_tensor(y), driver="gels")
    assert [t.shape for t in gels[1:]] == [[2], [0], [0]]
    check_static(lambda x, y: linalg.lstsq(x, y), x, y)


def test_pca_lowrank_finds_the_components() -> None:
    x = _matrix(6, 2) @ _matrix(2, 5, seed=1)
    for data in (x, x.T):
        u, s, v = (t.numpy() for t in linalg.pca_lowrank(paddle.to_tensor(data), q=2))
        centred = data - data.mean(0)
        np.testing.assert_allclose(u * s @ v.T, centred, atol=1e-10)
        np.testing.assert_allclose(s, np.linalg.svd(centred, compute_uv=False)[:2], atol=1e-10)


M = paddle.to_tensor(A.astype("float32"))
SQUARE = paddle.to_tensor(S.astype("float32"))
REFUSED: list[tuple[str, Callable[[], Any], type[EngineError], str]] = [
    ("dot", lambda: paddle.dot(M, SQUARE), ShapeError, "both must be vectors"),
    ("bmm", lambda: paddle.bmm(M, M), ShapeError, "both must have 3 dimensions"),
    ("mv", lambda: paddle.mv(M, M), ShapeError, "x must be a matrix, vec a vector"),
    ("addmm", lambda: paddle.addmm(paddle.ones([5]), SQUARE, SQUARE), ShapeError, "do not broadcast"),
    (
        "addmm larger",
        lambda: paddle.addmm(paddle.ones([3, 3]), M[:1], paddle.ones([4, 3])),
        ShapeError,
        "input must be broadcast",
    ),
    ("cross", lambda: paddle.cross(M[:2], M[:2]), ShapeError, "no dimension of x"),
    ("trace", lambda: paddle.trace(paddle.ones([3])), OutOfRangeError, "needs 2 dimensions or more"),
    ("norm name", lambda: paddle.norm(M, "nuc"), ArgumentError, "is not a norm"),
    ("norm axis", lambda: paddle.norm(M, 2, axis=2), OutOfRangeError, "axis 2 is out of range"),
    ("norm 0", lambda: paddle.norm(M, 0, axis=[0, 1]), ArgumentError, "p=0 counts along one axis"),
    ("cdist", lambda: paddle.cdist(M, SQUARE), ShapeError, "the last of one size"),
    ("cdist p", lambda: paddle.cdist(M, M, p=-1.0), ArgumentError, "p must be at least 0"),
    ("multi_dot", lambda: linalg.multi_dot([M]), ArgumentError, "two matrices or more"),
    ("cholesky", lambda: linalg.cholesky(M), ShapeError, "its matrices must be square"),
    (
        "cholesky indefinite",
        lambda: linalg.cholesky(paddle.to_tensor([[1.0, 2.0], [2.0, 1.0]])),
        ArgumentError,
        "is not positive definite",
    ),
    ("cholesky integer", lambda: linalg.cholesky(paddle.ones([2, 2], "int64")), DTypeError, "be floating"),
    ("inv", lambda: linalg.inv(paddle.ones([2, 2])), ArgumentError, "is singular"),
    ("inv wide", lambda: linalg.inv(M), ShapeError, "must be square"),
    ("solve", lambda: linalg.solve(paddle.ones([2, 2]), paddle.ones([2])), ArgumentError, "is singular"),
    ("solve rows", lambda: linalg.solve(SQUARE, paddle.ones([2, 1])), ShapeError, "as many rows as x"),
    ("det", lambda: linalg.det(paddle.ones([3])), ShapeError, "must be a matrix"),
    ("eigh", lambda: linalg.eigh(SQUARE, "X"), ArgumentError, "'L' or 'U'"),
    ("qr", lambda: linalg.qr(M, mode="x"), ArgumentError, "not one of reduced, complete, r"),
    ("lu", lambda: linalg.lu(SQUARE, pivot=False), ArgumentError, "pivot=False is not supported"),
    ("matrix_power", lambda: linalg.matrix_power(SQUARE, 1.5), DTypeError, "needs an integer"),
    ("cond", lambda: linalg.cond(SQUARE, 3), ArgumentError, "use None, 2, -2"),
    ("lstsq", lambda: linalg.lstsq(SQUARE, SQUARE, driver="x"), ArgumentError, "not one of gels"),
    ("pca_lowrank", lambda: linalg.pca_lowrank(SQUARE, q=9), ArgumentError, "q must be between 0"),
    ("householder", lambda: linalg.householder_product(M, paddle.ones([4])), ShapeError, "needs m >= n"),
    ("cov", lambda: linalg.cov(paddle.ones([2, 2, 2])), ShapeError, "1 or 2 dimensions"),
    ("cov weights", lambda: linalg.cov(M, fweights=paddle.ones([4])), DTypeError, "count observations"),
    ("cov number", lambda: linalg.cov(M, aweights=paddle.ones([3])), ShapeError, "give one each"),
    ("vander", lambda: paddle.vander(M), ShapeError, "must be a vector"),
    ("renorm", lambda: paddle.renorm(M, -1.0, 0, 1.0), ArgumentError, "p must be above 0"),
    ("renorm axis", lambda: paddle.renorm(M, 1.0, 5, 1.0), OutOfRangeError, "axis 5 is out of range"),
]


@pytest.mark.parametrize(("call", "kind", "words"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_errors_name_the_argument(call: Callable[[], Any], kind: type[EngineError], words: str) -> None:
    with pytest.raises(kind, match=words):
        call()


def test_gradients_that_do_not_exist_are_refused() -> None:
    x = paddle.to_tensor(B, stop_gradient=False)
    with pytest.raises(GradientError, match="only the singular values have a gradient"):
        linalg.svd(x, full_matrices=True)[0].sum().backward()
    with pytest.raises(GradientError, match="'complete' has a gradient for square and wide"):
        linalg.qr(x, mode="complete")[0].sum().backward()


MIXED = {
    "dot": paddle.dot,
    "mv": lambda x, y: paddle.mv(x, y[0]),
    "bmm": lambda x, y: paddle.bmm(x[None], y[None]),
    "addmm": lambda x, y: paddle.addmm(x, y, y),
    "cross": paddle.cross,
    "outer": paddle.outer,
    "dist": paddle.dist,
    "cdist": paddle.cdist,
    "lerp": lambda x, y: paddle.lerp(x, y, x),
    "stack": lambda x, y: paddle.stack([x, y]),
    "add_n": lambda x, y: paddle.add_n([x, y]),
    "cosine_similarity": paddle.nn.functional.cosine_similarity,
    "pairwise_distance": paddle.nn.functional.pairwise_distance,
    "smooth_l1_loss": paddle.nn.functional.smooth_l1_loss,
    "log_loss": paddle.nn.functional.log_loss,
}


@pytest.mark.parametrize("other", ["float64", "int64"])
@pytest.mark.parametrize("name", MIXED)
def test_dtypes_are_not_widened_without_a_word(name: str, other: str) -> None:
    """In eager mode as in a Program, and as in Paddle; the operators + - * ... @ take the wider one."""
    x, y = paddle.ones([3, 3]), paddle.ones([3, 3]).astype(other)
    with pytest.raises(DTypeError, match=rf"float32.*{other}"):
        MIXED[name](x, y)


def test_the_error_of_norm_shows_the_shape_not_the_elements() -> None:
    with pytest.raises(DTypeError, match=r"norm: x must be floating: got int32\[100, 100\]; cast") as raised:
        linalg.norm(paddle.ones([100, 100], "int32"))
    assert len(str(raised.value)) < 120
