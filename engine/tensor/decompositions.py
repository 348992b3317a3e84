"""Decompositions, systems of equations, inverses, determinants: ``paddle.linalg``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, GradientError, ShapeError
from engine.core.strictness import tolerate
from engine.eager.tensor import Tensor
from engine.ops.arrays import creation as creation_ops
from engine.ops.arrays import index as index_ops
from engine.ops.arrays import shape as shape_ops
from engine.ops.arrays.triangles import tril_triu
from engine.ops.elementwise import arithmetic as arithmetic_ops
from engine.ops.linalg import decompositions as ops
from engine.ops.linalg import lu as lu_ops
from engine.ops.linalg import products as product_ops
from engine.ops.linalg import systems
from engine.ops.linalg.matrices import swapped
from engine.ops.random import draws as random_ops
from engine.ops.reductions import reduce as reduce_ops
from engine.program.build.calls import takes_name
from engine.tensor.arguments.factories import require_tensor
from engine.tensor.arguments.sizes import whole
from engine.tensor.creation import eye
from engine.tensor.linalg import norm
from engine.tensor.math import divide
from engine.tensor.tensor_like import AnyTensor, IntegerLike


@takes_name
def cholesky(x: AnyTensor, upper: bool = False, name: str | None = None) -> Any:
    """The lower triangular L with x = L L^T (its transpose with ``upper``) of symmetric positive definite x.

    Raises ArgumentError where a matrix is not positive definite.
    """
    return ops.cholesky(x, upper=bool(upper))


@takes_name
def cholesky_solve(x: AnyTensor, y: AnyTensor, upper: bool = False, name: str | None = None) -> Any:
    """The solution of A @ out = x [..., n, k], where y is the factor that ``cholesky`` gives of A."""
    return systems.cholesky_solve(x, y, upper=bool(upper))


@takes_name
def det(x: AnyTensor, name: str | None = None) -> Any:
    """The determinants of square matrices."""
    return systems.determinant(x)


@takes_name
def slogdet(x: AnyTensor, name: str | None = None) -> Any:
    """Sign and logarithm of the absolute value of determinants, along a new first dimension of 2."""
    return systems.slogdet(x)


@takes_name
def inv(x: AnyTensor, name: str | None = None) -> Any:
    """The inverse of square matrices. Raises ArgumentError for a singular one."""
    return systems.inverse(x)


inverse = inv


@takes_name
def solve(x: AnyTensor, y: AnyTensor, name: str | None = None) -> Any:
    """The solution of x @ out = y for square x; y is a matrix, or a vector (one dimension less than x).

    Raises ArgumentError for a singular x.
    """
    require_tensor("solve", x=x, y=y)
    if y.ndim != 1 and y.ndim != x.ndim - 1:
        return systems.solve(x, y)
    found = systems.solve(x, shape_ops.unsqueeze(y, axes=[y.ndim]))
    return shape_ops.squeeze(found, axes=[found.ndim - 1])


@takes_name
def triangular_solve(
    x: AnyTensor,
    y: AnyTensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    name: str | None = None,
) -> Any:
    """The solution of x @ out = y (of the transposed x with ``transpose``) for triangular x.

    Only the triangle of x that ``upper`` names is read, without its diagonal, taken for ones, if
    ``unitriangular``.
    """
    return systems.triangular_solve(
        x, y, upper=bool(upper), transpose=bool(transpose), unitriangular=bool(unitriangular)
    )


@takes_name
def eigh(x: AnyTensor, UPLO: str = "L", name: str | None = None) -> tuple[Any, Any]:
    """Eigenvalues, in ascending order, and eigenvectors (columns) of symmetric matrices.

    Only the lower triangle is read ('U': the upper one); the gradient is that of a symmetric matrix.
    """
    values, vectors = ops.eigh(x, UPLO=UPLO)
    return values, vectors


@takes_name
def eigvalsh(x: AnyTensor, UPLO: str = "L", name: str | None = None) -> Any:
    """Eigenvalues of symmetric matrices, in ascending order."""
    return ops.eigh(x, UPLO=UPLO)[0]


@takes_name
def eig(x: AnyTensor, name: str | None = None) -> tuple[Any, Any]:
    """Eigenvalues and eigenvectors (columns) of square matrices, always complex."""
    values, vectors = ops.eig(x)
    return values, vectors


@takes_name
def eigvals(x: AnyTensor, name: str | None = None) -> Any:
    """Eigenvalues of square matrices, always complex; no gradient flows back: ``eig`` has one."""
    if not x.stop_gradient and modes.current().grad:
        tolerate(GradientError("eigvals: no gradient flows back to x; take the eigenvalues of eig()"))
    return ops.eigvals(x)


@takes_name
def svd(x: AnyTensor, full_matrices: bool = False, name: str | None = None) -> tuple[Any, Any, Any]:
    """U, S and V^H with x = U diag(S) V^H, S in descending order."""
    u, s, vh = ops.svd(x, full_matrices=bool(full_matrices))
    return u, s, vh


@takes_name
def qr(x: AnyTensor, mode: str = "reduced", name: str | None = None) -> Any:
    """Q and R with x = Q R, orthonormal columns of Q and upper triangular R; R alone for mode 'r'."""
    if mode == "r":
        return ops.qr(x, mode="reduced")[1]
    q, r = ops.qr(x, mode=mode)
    return q, r


@takes_name
def lu(x: AnyTensor, pivot: bool = True, get_infos: bool = False, name: str | None = None) -> tuple[Any, ...]:
    """L and U in one matrix, and the exchanges of rows (from 1, int32); with ``get_infos`` infos as well."""
    packed, pivots, infos = lu_ops.lu(x, pivot=bool(pivot))
    return (packed, pivots, infos) if get_infos else (packed, pivots)


@takes_name
def lu_unpack(
    x: AnyTensor,
    y: AnyTensor,
    unpack_ludata: bool = True,
    unpack_pivots: bool = True,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """P, L and U from the results of ``lu``; None for those that are not requested."""
    permutation, low, high = lu_ops.lu_unpack(
        x, y, unpack_ludata=bool(unpack_ludata), unpack_pivots=bool(unpack_pivots)
    )
    return permutation, low, high


@takes_name
def pinv(
    x: AnyTensor, rcond: float | Tensor = 1e-15, hermitian: bool = False, name: str | None = None
) -> Any:
    """The pseudo-inverse; singular values up to ``rcond`` times the largest count as 0."""
    rcond = rcond.item() if isinstance(rcond, Tensor) else rcond
    return systems.pinv(x, rcond=float(rcond), hermitian=bool(hermitian))


@takes_name
def lstsq(
    x: AnyTensor, y: AnyTensor, rcond: float | None = None, driver: str | None = None, name: str | None = None
) -> tuple[Any, Any, Any, Any]:
    """The solution for which x @ solution is nearest to y, squared distances, rank and singular values of x.

    The distances are given for more rows than columns, the rank by the drivers other than 'gels', the
    singular values by 'gelsd' and 'gelss'; empty tensors else. The solution has a gradient where x has full
    rank.
    """
    solution, residuals, rank, values = systems.lstsq(
        x, y, rcond=None if rcond is None else float(rcond), driver="gelsy" if driver is None else driver
    )
    return solution, residuals, rank, values


@takes_name
def matrix_rank(
    x: AnyTensor, tol: AnyTensor | float | None = None, hermitian: bool = False, name: str | None = None
) -> Any:
    """How many singular values are above ``tol`` (a number or tensor), as int32.

    By default the machine's precision times the largest singular value times the larger side.
    """
    if tol is None or not hasattr(tol, "dtype"):
        return systems.matrix_rank(
            x, None, tolerance=None if tol is None else float(tol), hermitian=bool(hermitian)
        )
    return systems.matrix_rank(x, tol, hermitian=bool(hermitian))


@takes_name
def matrix_power(x: AnyTensor, n: IntegerLike, name: str | None = None) -> Any:
    """Square matrices to the whole power n; of their inverse for n below 0."""
    require_tensor("matrix_power", x=x)
    power = whole("matrix_power", n)
    if x.ndim < 2 or (x.shape[-1] != x.shape[-2] and -1 not in tuple(x.shape[-2:])):
        raise ShapeError(f"matrix_power: x has shape {list(x.shape)}; it must be square matrices")
    if power == 0:
        ones = creation_ops.fill_like(shape_ops.detach(x), value=1.0)
        unit = tril_triu(tril_triu(ones, diagonal=0, lower=True), diagonal=0, lower=False)
        return arithmetic_ops.add(arithmetic_ops.scale(x, scale=0.0), unit)
    base = systems.inverse(x) if power < 0 else x
    found = None
    left = abs(power)
    while left:
        if left & 1:
            found = base if found is None else product_ops.matmul(found, base)
        left >>= 1
        if left:
            base = product_ops.matmul(base, base)
    return found if abs(power) > 1 or power < 0 else shape_ops.assign(found)


@takes_name
def cond(x: AnyTensor, p: float | str | None = None, name: str | None = None) -> Any:
    """The condition number in the norm ``p``: 2 (None), -2, 'fro', 'nuc', 1, -1, inf or -inf.

    All but 2 and -2 take square matrices. Raises ArgumentError for a singular one.
    """
    require_tensor("cond", x=x)
    if p is None or p in (2, -2):
        values = ops.svd(x)[1]
        large = reduce_ops.max(values, axis=[values.ndim - 1])
        small = reduce_ops.min(values, axis=[values.ndim - 1])
        return divide(small, large) if p == -2 else divide(large, small)
    if p not in ("fro", "nuc", 1, -1, float("inf"), float("-inf")):
        raise ArgumentError(f"cond: p is {p!r}; use None, 2, -2, 'fro', 'nuc', 1, -1, inf or -inf")
    return arithmetic_ops.multiply(_matrix_norm(x, p), _matrix_norm(systems.inverse(x), p))


def _matrix_norm(x: Any, p: Any) -> Any:
    if p == "fro":
        return norm(x, "fro", [x.ndim - 2, x.ndim - 1])
    if p == "nuc":
        values = ops.svd(x)[1]
        return reduce_ops.sum(values, axis=[values.ndim - 1])
    across = x.ndim - 2 if abs(p) == 1 else x.ndim - 1
    sums = reduce_ops.sum(arithmetic_ops.absolute(x), axis=[across])
    return (reduce_ops.max if p > 0 else reduce_ops.min)(sums, axis=[sums.ndim - 1])


@takes_name
def householder_product(x: AnyTensor, tau: AnyTensor, name: str | None = None) -> Any:
    """The first columns of the product of the reflections 1 - tau[i] v v^T.

    v is column i of x [..., m, n] below its diagonal, with a one on it; m is at least n, tau is [..., k].
    """
    require_tensor("householder_product", x=x, tau=tau)
    if x.dtype is not tau.dtype:
        raise DTypeError(f"householder_product: x is {x.dtype.name}, tau {tau.dtype.name}; cast one")
    if x.ndim < 2 or tau.ndim != x.ndim - 1 or not x.shape[-2] >= x.shape[-1] >= tau.shape[-1]:
        raise ShapeError(
            f"householder_product: x has shape {list(x.shape)}, tau {list(tau.shape)}; x [..., m, n] needs "
            "m >= n, tau [..., k] one dimension less and n >= k"
        )
    rows, columns, count = int(x.shape[-2]), int(x.shape[-1]), int(tau.shape[-1])
    unit = eye(rows, columns, dtype=x.dtype.name)
    vectors = arithmetic_ops.add(tril_triu(x, diagonal=-1, lower=True), unit)
    every = ("slice", None, None, None)
    found = arithmetic_ops.add(arithmetic_ops.scale(x, scale=0.0), unit)
    for k in reversed(range(count)):
        v = index_ops.slice_view(vectors, index=("...", every, ("slice", k, k + 1, None)))
        t = shape_ops.unsqueeze(
            index_ops.slice_view(tau, index=("...", ("slice", k, k + 1, None))), axes=[x.ndim - 2]
        )
        along = product_ops.matmul(v, found, trans_x=True)
        found = arithmetic_ops.subtract(found, arithmetic_ops.multiply(t, product_ops.matmul(v, along)))
    return found


@takes_name
def pca_lowrank(
    x: AnyTensor, q: int | None = None, center: bool = True, niter: int = 2, name: str | None = None
) -> tuple[Any, Any, Any]:
    """U, S and V of the ``q`` (6, or all if fewer) largest principal components of the rows of x.

    A randomized method with ``niter`` steps of subspace iteration (N. Halko, P. G. Martinsson and J. A.
    Tropp, Finding structure with randomness, 2009); ``center`` takes the mean of the columns off first.
    """
    require_tensor("pca_lowrank", x=x)
    if x.ndim < 2 or not x.dtype.is_floating_point:
        raise ArgumentError(
            f"pca_lowrank: x must be a floating matrix: got {x.dtype.name} of shape {list(x.shape)}"
        )
    rows, columns = int(x.shape[-2]), int(x.shape[-1])
    count = min(6, rows, columns) if q is None else q
    if not 0 <= count <= min(rows, columns):
        raise ArgumentError(
            f"pca_lowrank: q must be between 0 and the smaller side, {min(rows, columns)}: got {q}"
        )
    if niter < 0:
        raise ArgumentError(f"pca_lowrank: niter must be at least 0: got {niter}")
    if center:
        x = arithmetic_ops.subtract(x, reduce_ops.mean(x, axis=[x.ndim - 2], keepdim=True))
    return principal_parts(
        lambda right: product_ops.matmul(x, right),
        lambda left: product_ops.matmul(x, left, trans_x=True),
        [int(d) for d in x.shape],
        count,
        niter,
        x.dtype.name,
    )


def principal_parts(
    times: Callable[[Any], Any],
    turned_times: Callable[[Any], Any],
    shape: Sequence[int],
    count: int,
    niter: int,
    dtype: str,
) -> tuple[Any, Any, Any]:
    """U, S and V of ``count`` principal parts of matrices of a shape, known by their products.

    ``times(right)`` multiplies them by columns, ``turned_times(left)`` their transposes.
    """
    wide = shape[-2] < shape[-1]
    tall, across = (turned_times, times) if wide else (times, turned_times)
    drawn = random_ops.gaussian(shape=[*shape[:-2], min(shape[-2:]), count], dtype=dtype)
    basis = ops.qr(tall(drawn))[0]
    for _ in range(niter):
        basis = ops.qr(across(basis))[0]
        basis = ops.qr(tall(basis))[0]
    u, s, vh = ops.svd(swapped(across(basis)))
    u, v = product_ops.matmul(basis, u), swapped(vh)
    return (v, s, u) if wide else (u, s, v)
