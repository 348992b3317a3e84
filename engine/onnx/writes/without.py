"""Operators that have no row, with the reason."""

from __future__ import annotations

_DECOMPOSITION = "ONNX has no decompositions of matrices"
_COMPLEX = "runtimes of ONNX have no complex values"
_GRADIENT = "appears in gradients only"
_SOLVER = "ONNX has no solver of linear systems"

WITHOUT: dict[str, str] = {
    "cholesky": _DECOMPOSITION,
    "cholesky_solve": _SOLVER,
    "eig": _DECOMPOSITION,
    "eigh": _DECOMPOSITION,
    "eigvals": _DECOMPOSITION,
    "fft_c2c": _COMPLEX,
    "fft_c2r": _COMPLEX,
    "fft_r2c": _COMPLEX,
    "graph_sample_neighbors": "draws at random, as training does",
    "inverse": _SOLVER,
    "logcumsumexp_jvp": _GRADIENT,
    "lstsq": _SOLVER,
    "lu": _DECOMPOSITION,
    "lu_unpack": _DECOMPOSITION,
    "matrix_rank": _DECOMPOSITION,
    "pinv": _DECOMPOSITION,
    "qr": _DECOMPOSITION,
    "slogdeterminant": "the determinant itself, which ONNX has, overflows for matrices of usual sizes",
    "solve": _SOLVER,
    "svd": _DECOMPOSITION,
    "triangular_solve": _SOLVER,
    "view_dtype": "ONNX has no operator that reads bytes as another dtype",
    "warpctc": "a loss of training: ONNX has none over alignments",
    "warprnnt": "a loss of training: ONNX has none over alignments",
}
