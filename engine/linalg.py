"""``paddle.linalg``: matrix decompositions, systems of equations, norms."""

from engine.tensor.arguments.caught import explain_public as _explain_public
from engine.tensor.decompositions import (
    cholesky,
    cholesky_solve,
    cond,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    householder_product,
    inv,
    lstsq,
    lu,
    lu_unpack,
    matrix_power,
    matrix_rank,
    pca_lowrank,
    pinv,
    qr,
    slogdet,
    solve,
    svd,
    triangular_solve,
)
from engine.tensor.linalg import multi_dot, norm
from engine.tensor.reductions.statistics import corrcoef, cov

_explain_public(globals())

__all__ = [
    "cholesky",
    "cholesky_solve",
    "cond",
    "corrcoef",
    "cov",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "lstsq",
    "lu",
    "lu_unpack",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pca_lowrank",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "triangular_solve",
]
