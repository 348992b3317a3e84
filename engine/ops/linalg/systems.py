"""Systems of linear equations, inverses and determinants, over the last two dimensions of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.attached import Attached
from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators import traits
from engine.core.operators.infer import broadcast_shapes, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.values.dtype import int32
from engine.core.values.spec import Spec
from engine.ops.arrays import index, shape
from engine.ops.arrays.triangles import tril_triu
from engine.ops.elementwise import arithmetic
from engine.ops.linalg.matrices import require_finite, require_matrices, swapped
from engine.ops.linalg.products import matmul
from engine.ops.reductions import reduce
from engine.ops.reductions.reduce import largest_of


def _singular(where: str, x: Any) -> ArgumentError:
    return ArgumentError(f"{where}: a matrix of x, shape {list(x.shape)}, is singular; use pinv() or lstsq()")


def _infer_inverse(input: Spec) -> Spec:
    require_matrices("inv", input, square=True)
    return input


@traits.holomorphic
@op("inverse", infer=_infer_inverse, slots={"input": "Input", "out": "Output"})
def inverse(xp, input):
    """The inverse of square matrices; raises ArgumentError for a singular one."""
    _infer_inverse(Spec.of(input))
    try:
        return xp.linalg.inv(input)
    except np.linalg.LinAlgError:
        raise _singular("inv", input) from None


inverse.grad(
    input=lambda g, out: arithmetic.scale(matmul(matmul(out, g, trans_x=True), out, trans_y=True), scale=-1.0)
)


def _infer_solve(x: Spec, y: Spec, **_: Any) -> Spec:
    dtype = require_same_dtype("solve", x=x, y=y)
    require_matrices("solve", x, square=True)
    require_matrices("solve", y)
    if x.shape[-1] != y.shape[-2] and -1 not in (x.shape[-1], y.shape[-2]):
        raise ShapeError(f"solve: x is {x} and y is {y}; y needs as many rows as x")
    return Spec((*broadcast_shapes("solve", x.shape[:-2], y.shape[:-2]), x.shape[-2], y.shape[-1]), dtype)


@traits.holomorphic
@traits.broadcasts
@op("solve", infer=_infer_solve)
def solve(xp, x, y):
    """The solution of x @ out = y for square x; raises ArgumentError for a singular one."""
    _infer_solve(Spec.of(x), Spec.of(y))
    try:
        return xp.linalg.solve(x, y)
    except np.linalg.LinAlgError:
        raise _singular("solve", x) from None


@solve.grad_all("x", "y")
def _solve_grad(g: Any, x: Any, out: Any) -> Any:
    back = solve(swapped(x), g)
    return arithmetic.scale(matmul(back, out, trans_y=True), scale=-1.0), back


@traits.broadcasts
@op("triangular_solve", infer=_infer_solve)
def triangular_solve(xp, x, y, *, upper=True, transpose=False, unitriangular=False):
    """The solution of x @ out = y (of x^T with ``transpose``) for a triangular x; reads only the triangle."""
    _infer_solve(Spec.of(x), Spec.of(y))
    matrix = xp.triu(x) if upper else xp.tril(x)
    if unitriangular:
        places = xp.arange(x.shape[-1])
        matrix[..., places, places] = 1
    try:
        return xp.linalg.solve(matrix.swapaxes(-1, -2) if transpose else matrix, y)
    except np.linalg.LinAlgError:
        raise _singular("triangular_solve", x) from None


@triangular_solve.grad_all("x", "y")
def _triangular_grad(g: Any, x: Any, out: Any, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    back = triangular_solve(x, g, upper=upper, transpose=not transpose, unitriangular=unitriangular)
    product = matmul(out, back, trans_y=True) if transpose else matmul(back, out, trans_y=True)
    offset = 1 if unitriangular else 0
    triangle = tril_triu(product, diagonal=offset if upper else -offset, lower=not upper)
    return arithmetic.scale(triangle, scale=-1.0), back


@traits.broadcasts
@op("cholesky_solve", infer=lambda x, y, **_: _infer_solve(y, x))
def cholesky_solve(xp, x, y, *, upper=False):
    """The solution of A @ out = x, where y is the triangular factor that ``cholesky`` gives of A."""
    _infer_solve(Spec.of(y), Spec.of(x))
    first = xp.triu(y).swapaxes(-1, -2) if upper else xp.tril(y)
    try:
        return xp.linalg.solve(first.swapaxes(-1, -2), xp.linalg.solve(first, x))
    except np.linalg.LinAlgError:
        raise _singular("cholesky_solve", y) from None


@cholesky_solve.grad_all("x", "y")
def _cholesky_solve_grad(g: Any, y: Any, out: Any, upper: bool) -> Any:
    back = cholesky_solve(g, y, upper=upper)
    product = matmul(back, out, trans_y=True)
    both = arithmetic.scale(product + swapped(product), scale=-1.0)
    along = matmul(y, both) if upper else matmul(both, y)
    return back, tril_triu(along, diagonal=0, lower=not upper)


def _infer_determinant(input: Spec) -> Spec:
    require_matrices("det", input, square=True)
    return input.with_shape(input.shape[:-2])


@op("determinant", infer=_infer_determinant, slots={"input": "Input"})
def determinant(xp, input):
    """The determinant of square matrices."""
    return xp.asarray(xp.linalg.det(input), dtype=input.dtype)


@op(
    "determinant_grad", infer=lambda g_in, x: x, slots={"g_in": "Out@GRAD", "x": "Input", "out": "Input@GRAD"}
)
def _determinant_grad(xp, g_in, x):
    """g times the matrix of cofactors, which exists for singular matrices too."""
    require_finite("det", xp, x)
    u, s, vh = xp.linalg.svd(x)
    size = s.shape[-1]
    others = xp.where(xp.eye(size, dtype=bool), x.dtype.type(1), s[..., None, :]).prod(axis=-1)
    sign = xp.linalg.det(u) * xp.linalg.det(vh)
    factor = (g_in * sign)[..., None, None]
    return (factor * xp.matmul(u * others[..., None, :], vh)).astype(x.dtype, copy=False)


def _spread(values: Any) -> Any:
    """Numbers as matrices of one element."""
    return shape.unsqueeze(values, axes=[values.ndim, values.ndim + 1])


determinant.grad(input=lambda g, input: _determinant_grad(g, input))


@_determinant_grad.grad_all("g_in", "x")
def _determinant_second(g: Any, g_in: Any, x: Any) -> Any:
    """The second derivative of the determinant; not finite for singular matrices."""
    turned = swapped(inverse(x))
    along = reduce.sum(g * turned, axis=[g.ndim - 2, g.ndim - 1])
    value = determinant(x)
    both = _spread(along) * turned - matmul(matmul(turned, g, trans_y=True), turned)
    return value * along, _spread(g_in * value) * both


def _infer_slogdet(input: Spec) -> Spec:
    require_matrices("slogdet", input, square=True)
    return input.with_shape((2, *input.shape[:-2]))


@op("slogdeterminant", infer=_infer_slogdet, slots={"input": "Input"})
def slogdet(xp, input):
    """Sign and logarithm of the absolute value of determinants, along a new first dimension."""
    sign, logarithm = xp.linalg.slogdet(input)
    return xp.stack([xp.asarray(sign), xp.asarray(logarithm)]).astype(input.dtype, copy=False)


slogdet.grad(input=lambda g, input: _spread(index.slice_view(g, index=(1,))) * swapped(inverse(input)))


def _infer_pinv(x: Spec, *, rcond: float, hermitian: bool) -> Spec:
    require_matrices("pinv", x, square=hermitian)
    return x.with_shape((*x.shape[:-2], x.shape[-1], x.shape[-2]))


@op("pinv", infer=_infer_pinv)
def pinv(xp, x, *, rcond=1e-15, hermitian=False):
    """The pseudo-inverse; singular values below ``rcond`` times the largest count as 0."""
    if not hermitian:
        require_finite("pinv", xp, x)
        return xp.linalg.pinv(x, rcond=rcond)
    values, vectors = xp.linalg.eigh(x)
    size = xp.abs(values)
    nonzero = size > rcond * largest_of(xp, size, (-1,), 0)
    inverted = xp.where(nonzero, 1 / xp.where(nonzero, values, 1), 0)
    return xp.matmul(vectors * inverted[..., None, :], vectors.conj().swapaxes(-1, -2)).astype(
        x.dtype, copy=False
    )


def pinv_gradient(g: Attached, x: Attached, inverted: Attached) -> Any:
    """The gradient of x from that of its pseudo-inverse (G. H. Golub and V. Pereyra, 1973)."""
    turned = swapped(inverted)
    middle = matmul(matmul(turned, g), turned)
    left = matmul(turned, inverted)
    outside = matmul(left, swapped(g))  # (A A^T)^+ g^T (1 - A^+ A)
    outside = outside - matmul(matmul(outside, inverted), x)
    right = matmul(swapped(g), matmul(inverted, turned))  # (1 - A A^+) g^T (A^T A)^+
    right = right - matmul(x, matmul(inverted, right))
    return outside + right - middle


pinv.grad(x=lambda g, x, out: pinv_gradient(g, x, out))


def _infer_lstsq(x: Spec, y: Spec, *, rcond: Any, driver: str) -> tuple[Spec, ...]:
    dtype = require_same_dtype("lstsq", x=x, y=y)
    require_matrices("lstsq", x)
    require_matrices("lstsq", y)
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise ArgumentError(f"lstsq: driver {driver!r} is not one of gels, gelsy, gelsd, gelss")
    if x.shape[-2] != y.shape[-2] and -1 not in (x.shape[-2], y.shape[-2]):
        raise ShapeError(f"lstsq: x is {x} and y is {y}; both need the same number of rows")
    batch = broadcast_shapes("lstsq", x.shape[:-2], y.shape[:-2])
    rows, columns = x.shape[-2:]
    unknown = -1 in (rows, columns)
    return (
        Spec((*batch, columns, y.shape[-1]), dtype),
        Spec((*batch, y.shape[-1]) if unknown or rows > columns else (0,), dtype),
        Spec(x.shape[:-2] if driver != "gels" else (0,), int32),
        Spec(
            (*x.shape[:-2], -1 if unknown else min(rows, columns)) if driver in ("gelsd", "gelss") else (0,),
            dtype,
        ),
    )


@op("lstsq", infer=_infer_lstsq, outputs=("solution", "residuals", "rank", "singular_values"))
def lstsq(xp, x, y, *, rcond=None, driver="gelsy"):
    """The least squares solution of x @ out = y, the squared residuals, rank and singular values of x."""
    specs = _infer_lstsq(Spec.of(x), Spec.of(y), rcond=rcond, driver=driver)
    limit = xp.finfo(x.dtype).eps * max(x.shape[-2:]) if rcond is None else rcond
    require_finite("lstsq", xp, x)
    u, s, vh = xp.linalg.svd(x, full_matrices=False)
    nonzero = s > limit * largest_of(xp, s, (-1,), 0)
    inverted = xp.where(nonzero, 1 / xp.where(nonzero, s, 1), 0)
    solution = xp.matmul(vh.swapaxes(-1, -2) * inverted[..., None, :], xp.matmul(u.swapaxes(-1, -2), y))
    solution = solution.astype(x.dtype, copy=False)
    rest = xp.sum(xp.square(xp.matmul(x, solution) - y), axis=-2)
    nothing = xp.zeros((0,), x.dtype)
    return (
        solution,
        rest.astype(x.dtype) if specs[1].shape != (0,) else nothing,
        nonzero.sum(axis=-1).astype(xp.int32) if driver != "gels" else xp.zeros((0,), xp.int32),
        s if driver in ("gelsd", "gelss") else nothing,
    )


@lstsq.grad_all("x", "y")
def _lstsq_grad(g_solution: Any, g_residuals: Any, x: Any, y: Any, solution: Any) -> Any:
    """The gradient of the solution for x of full rank; the other results have none."""
    if g_solution is None:
        return None, None
    inverted = pinv(x)
    return pinv_gradient(matmul(g_solution, y, trans_y=True), x, inverted), matmul(
        inverted, g_solution, trans_x=True
    )


def _infer_rank(x: Spec, tol: Spec | None = None, **_: Any) -> Spec:
    require_matrices("matrix_rank", x)
    batch = x.shape[:-2]
    if tol is not None:
        batch = broadcast_shapes("matrix_rank", batch, tol.shape)
    return Spec(batch, int32)


@op("matrix_rank", infer=_infer_rank, slots={"tol": "TolTensor"})
def matrix_rank(xp, x, tol=None, *, tolerance=None, hermitian=False):
    """How many singular values are above a tolerance, by default eps * max(rows, columns) * the largest."""
    _infer_rank(Spec.of(x))
    if hermitian:
        values = xp.abs(xp.linalg.eigvalsh(x))
    else:
        require_finite("matrix_rank", xp, x)
        values = xp.linalg.svd(x, compute_uv=False)
    if tol is not None:
        limit = tol[..., None]
    elif tolerance is not None:
        limit = xp.asarray(tolerance, values.dtype)
    else:
        limit = xp.finfo(values.dtype).eps * max(x.shape[-2:]) * largest_of(xp, values, (-1,), 0)
    return xp.sum(values > limit, axis=-1).astype(xp.int32)
