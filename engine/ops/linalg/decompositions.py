"""Decompositions of matrices, over the last two dimensions of a batch.

Gradients: M. B. Giles, An extended collection of matrix derivative results for forward and reverse mode
algorithmic differentiation (2008); S. F. Walter and L. Lehmann, Algorithmic differentiation of linear algebra
functions (2010).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, GradientError
from engine.core.operators import traits
from engine.core.operators.infer import part_dtype
from engine.core.operators.opdef import op
from engine.core.values.dtype import complex64, complex128, float32
from engine.core.values.spec import Spec
from engine.ops.arrays import creation, index, shape
from engine.ops.arrays.triangles import tril_triu
from engine.ops.elementwise import arithmetic
from engine.ops.linalg.diagonal import diag_embed
from engine.ops.linalg.matrices import as_row, column, known_sides, require_finite, require_matrices, swapped
from engine.ops.linalg.products import matmul
from engine.ops.linalg.systems import triangular_solve


def _symmetric(x: Any) -> Any:
    return arithmetic.scale(x + swapped(x), scale=0.5)


def _half_triangle(x: Any) -> Any:
    """The lower triangle with half the diagonal."""
    return arithmetic.scale(
        tril_triu(x, diagonal=0, lower=True) + tril_triu(x, diagonal=-1, lower=True), scale=0.5
    )


def _inverse_gaps(values: Any) -> Any:
    """1 / (values[j] - values[i]) at [i, j], 0 where they are equal."""
    gaps = as_row(values) - column(values)
    equal = gaps == 0.0
    one = creation.fill_like(gaps, value=1.0)
    return index.where(equal, creation.fill_like(gaps, value=0.0), one / index.where(equal, one, gaps))


def _infer_cholesky(x: Spec, *, upper: bool) -> Spec:
    require_matrices("cholesky", x, square=True)
    return x


@op("cholesky", infer=_infer_cholesky)
def cholesky(xp, x, *, upper=False):
    """The lower triangular L with x = L L^T (or its transpose), of a symmetric positive definite x.

    Only the lower triangle of x is read (the upper one with ``upper``).
    """
    source = x.swapaxes(-1, -2) if upper else x
    try:
        lower = xp.linalg.cholesky(source)
    except np.linalg.LinAlgError:
        _infer_cholesky(Spec(x.shape, x.dtype.name), upper=upper)
        raise ArgumentError(
            f"cholesky: a matrix of x, shape {list(x.shape)}, is not positive definite; "
            "add a small multiple of the unit matrix, or use eigh() or qr()"
        ) from None
    return xp.ascontiguousarray(lower.swapaxes(-1, -2)) if upper else lower


def _cholesky_grad(g: Any, out: Any, upper: bool) -> Any:
    lower, g = (swapped(out), swapped(g)) if upper else (out, g)
    inner = _half_triangle(matmul(lower, tril_triu(g, diagonal=0, lower=True), trans_x=True))
    left = triangular_solve(lower, inner, upper=False, transpose=True)
    return _symmetric(swapped(triangular_solve(lower, swapped(left), upper=False, transpose=True)))


cholesky.grad(x=_cholesky_grad)


def _infer_eigh(x: Spec, *, UPLO: str = "L") -> tuple[Spec, Spec]:
    require_matrices("eigh", x, square=True)
    if UPLO not in ("L", "U"):
        raise ArgumentError(f"eigh: UPLO selects the triangle of x to read, 'L' or 'U': got {UPLO!r}")
    return Spec(x.shape[:-1], part_dtype(x.dtype)), x


@op(
    "eigh",
    infer=_infer_eigh,
    outputs=("eigenvalues", "eigenvectors"),
    slots={"eigenvalues": "Eigenvalues", "eigenvectors": "Eigenvectors"},
)
def eigh(xp, x, *, UPLO="L"):
    """Eigenvalues in ascending order and eigenvectors (columns) of symmetric matrices."""
    values, vectors = xp.linalg.eigh(x, UPLO)
    return values, vectors


def _eigh_grad(g_eigenvalues: Any, g_eigenvectors: Any, eigenvalues: Any, eigenvectors: Any) -> Any:
    inner = None if g_eigenvalues is None else _on_diagonal(g_eigenvalues)
    if g_eigenvectors is not None:
        turned = _inverse_gaps(eigenvalues) * matmul(eigenvectors, g_eigenvectors, trans_x=True)
        inner = turned if inner is None else inner + turned
    return _symmetric(matmul(matmul(eigenvectors, inner), eigenvectors, trans_y=True))


def _on_diagonal(values: Any) -> Any:
    return diag_embed(values, offset=0, dim1=-2, dim2=-1)


eigh.grad(x=_eigh_grad)


def _infer_eig(x: Spec) -> tuple[Spec, Spec]:
    require_matrices("eig", x, square=True)
    made = x.with_dtype({float32: complex64, complex64: complex64}.get(x.dtype, complex128))
    return made.with_shape(x.shape[:-1]), made


@traits.complex_gradient
@op(
    "eig",
    infer=_infer_eig,
    outputs=("eigenvalues", "eigenvectors"),
    slots={"eigenvalues": "Eigenvalues", "eigenvectors": "Eigenvectors"},
)
def eig(xp, x):
    """Eigenvalues and eigenvectors (columns, of length 1) of square matrices, always complex."""
    values, vectors = xp.linalg.eig(x)
    dtype = xp.complex64 if x.dtype in (xp.float32, xp.complex64) else xp.complex128
    return values.astype(dtype), vectors.astype(dtype)


@traits.complex_gradient
@traits.order(0)
@op("eig_grad", infer=lambda x, *rest: x)
def _eig_grad(xp, x, eigenvalues, eigenvectors, g_values=None, g_vectors=None):
    """The gradient of ``eig``: L. Boeddeker et al., On the computation of complex-valued gradients (2017)."""
    transposed = xp.conj(eigenvectors).swapaxes(-1, -2)
    unit = xp.eye(x.shape[-1], dtype=bool)
    inner = xp.zeros_like(eigenvectors)
    if g_vectors is not None:
        turned = transposed @ g_vectors
        lengths = xp.where(unit, turned.real, 0)  # the vectors keep their length
        gaps = xp.conj(eigenvalues[..., None, :] - eigenvalues[..., :, None])
        inner = xp.where(unit, 0, turned - transposed @ eigenvectors @ lengths) / xp.where(unit, 1, gaps)
    if g_values is not None:
        inner = xp.where(unit, g_values[..., None], inner)
    found = xp.linalg.solve(transposed, inner.astype(eigenvectors.dtype) @ transposed)
    return (found if x.dtype.kind == "c" else found.real).astype(x.dtype, copy=False)


@eig.grad_all("x")
def _eig_rule(g_eigenvalues: Any, g_eigenvectors: Any, x: Any, eigenvalues: Any, eigenvectors: Any) -> Any:
    return _eig_grad(x, eigenvalues, eigenvectors, g_eigenvalues, g_eigenvectors)


@traits.complex_gradient
@op("eigvals", infer=lambda x: _infer_eig(x)[0])
def eigvals(xp, x):
    """Eigenvalues of square matrices, always complex; without gradient, as in Paddle.

    Their order is that of the transposed matrix, which Paddle hands to LAPACK here, but not for ``eig``.
    """
    dtype = xp.complex64 if x.dtype in (xp.float32, xp.complex64) else xp.complex128
    return xp.linalg.eigvals(xp.swapaxes(x, -1, -2)).astype(dtype)


def _infer_svd(x: Spec, *, full_matrices: bool = False) -> tuple[Spec, Spec, Spec]:
    require_matrices("svd", x)
    rows, columns = x.shape[-2:]
    least = -1 if -1 in (rows, columns) else min(rows, columns)
    batch = x.shape[:-2]
    return (
        x.with_shape((*batch, rows, rows if full_matrices else least)),
        Spec((*batch, least), part_dtype(x.dtype)),
        x.with_shape((*batch, columns if full_matrices else least, columns)),
    )


@op("svd", infer=_infer_svd, outputs=("u", "s", "vh"), slots={"vh": "VH"})
def svd(xp, x, *, full_matrices=False):
    """x = u diag(s) vh with orthogonal u and vh, and s in descending order."""
    require_finite("svd", xp, x)
    u, s, vh = xp.linalg.svd(x, full_matrices=full_matrices)
    return u, s, vh


def _svd_grad(g_u: Any, g_s: Any, g_vh: Any, u: Any, s: Any, vh: Any, full_matrices: bool) -> Any:
    if full_matrices and (g_u is not None or g_vh is not None) and u.shape[-1] != vh.shape[-1]:
        raise GradientError(
            "svd: with full_matrices=True only the singular values have a gradient; use full_matrices=False"
        )
    if full_matrices:
        u = index.slice_view(u, index=("...", ("slice", None, s.shape[-1], None)))
        vh = index.slice_view(
            vh, index=("...", ("slice", None, s.shape[-1], None), ("slice", None, None, None))
        )
    if g_u is None and g_vh is None:
        return matmul(u * as_row(g_s), vh)
    squares = _inverse_gaps(s * s)
    inner = creation.fill_like(squares, value=0.0) if g_s is None else _on_diagonal(g_s)
    outside = None
    if g_u is not None:
        turned = matmul(u, g_u, trans_x=True)
        once = squares * turned
        inner = inner + (once + swapped(once)) * as_row(s)
        outside = matmul((g_u - matmul(u, turned)) / as_row(s), vh)
    if g_vh is not None:
        g_v = swapped(g_vh)
        turned = matmul(vh, g_v)
        once = squares * turned
        inner = inner + column(s) * (once + swapped(once))
        rest = swapped(g_v - matmul(vh, turned, trans_x=True))
        more = matmul(u / as_row(s), rest)
        outside = more if outside is None else outside + more
    return matmul(matmul(u, inner), vh) + outside


svd.grad(x=_svd_grad)


def _infer_qr(x: Spec, *, mode: str = "reduced") -> tuple[Spec, Spec]:
    require_matrices("qr", x)
    if mode not in ("reduced", "complete"):
        raise ArgumentError(f"qr: mode {mode!r} is not one of reduced, complete, r")
    rows, columns = x.shape[-2:]
    least = rows if mode == "complete" else -1 if -1 in (rows, columns) else min(rows, columns)
    return x.with_shape((*x.shape[:-1], least)), x.with_shape((*x.shape[:-2], least, columns))


@op("qr", infer=_infer_qr, outputs=("q", "r"))
def qr(xp, x, *, mode="reduced"):
    """x = q r with orthonormal columns of q and upper triangular r."""
    _infer_qr(Spec(x.shape, x.dtype.name), mode=mode)
    q, r = xp.linalg.qr(x, mode)
    return q, r


def _qr_grad(g_q: Any, g_r: Any, x: Any, q: Any, r: Any, mode: str) -> Any:
    rows, columns = known_sides("qr", x)
    if mode == "complete" and rows > columns:
        raise GradientError(
            "qr: mode 'complete' has a gradient for square and wide matrices only; use 'reduced'"
        )
    if rows >= columns:
        return _square_qr_grad(q, r, g_q, g_r)
    first = ("...", ("slice", None, rows, None))
    rest = ("...", ("slice", rows, None, None))
    g_first, from_rest = None, None
    if g_r is not None:
        g_first = index.slice_view(g_r, index=first)
        from_rest = matmul(index.slice_view(x, index=rest), index.slice_view(g_r, index=rest), trans_y=True)
    inner = from_rest if g_q is None else g_q if from_rest is None else g_q + from_rest
    left = _square_qr_grad(q, index.slice_view(r, index=first), inner, g_first)
    right = index.slice_view(creation.fill_like(x, value=0.0), index=rest)
    if g_r is not None:
        right = matmul(q, index.slice_view(g_r, index=rest))
    return shape.concat([left, right], axis=x.ndim - 1)


def _square_qr_grad(q: Any, r: Any, g_q: Any, g_r: Any) -> Any:
    """The gradient of a matrix with at least as many rows as columns."""
    inner = None if g_r is None else matmul(r, g_r, trans_y=True)
    if g_q is not None:
        turned = matmul(g_q, q, trans_x=True)
        inner = arithmetic.scale(turned, scale=-1.0) if inner is None else inner - turned
    low = tril_triu(inner, diagonal=0, lower=True)
    total = matmul(q, low + swapped(tril_triu(inner, diagonal=-1, lower=True)))
    total = total if g_q is None else g_q + total
    # total r^-T is the transpose of r^-1 total^T.
    return swapped(triangular_solve(r, swapped(total), upper=True, transpose=False))


qr.grad(x=_qr_grad)
