"""Operators that have no row, with the reason."""

from __future__ import annotations

_COMPLEX = "runtimes of ONNX have no complex values"
_DECOMPOSITION = "ONNX has no decompositions of matrices"
_GRADIENT = "appears in gradients only"
_SOLVER = "ONNX has no solver of linear systems"

WITHOUT: dict[str, str] = {
    "angle": _COMPLEX,
    "as_complex": _COMPLEX,
    "as_real": _COMPLEX,
    "cholesky": _DECOMPOSITION,
    "cholesky_solve": _SOLVER,
    "class_center_sample": "draws at random, as training does",
    "clip_mask": _GRADIENT,
    "complex": _COMPLEX,
    "conj": _COMPLEX,
    "dirichlet": "ONNX draws evenly and normally distributed numbers only",
    "eig": _DECOMPOSITION,
    "eigh": _DECOMPOSITION,
    "eigvals": _DECOMPOSITION,
    "fft_c2c": _COMPLEX,
    "fft_c2r": _COMPLEX,
    "fft_r2c": _COMPLEX,
    "fused_elementwise": "files hold the operators that it combines",
    "graph_sample_neighbors": "draws at random, as training does",
    "imag": _COMPLEX,
    "inverse": _SOLVER,
    "logcumsumexp_jvp": _GRADIENT,
    "lstsq": _SOLVER,
    "lu": _DECOMPOSITION,
    "lu_unpack": _DECOMPOSITION,
    "matrix_rank": _DECOMPOSITION,
    "nextafter": "ONNX has no operator that reads bytes as another dtype",
    "pinv": _DECOMPOSITION,
    "poisson": "ONNX draws evenly and normally distributed numbers only",
    "put_along_axis_zeros": _GRADIENT,
    "qr": _DECOMPOSITION,
    "real": _COMPLEX,
    "roi_pool_pick": _GRADIENT,
    "slogdeterminant": "the determinant itself, which ONNX has, overflows for matrices of usual sizes",
    "solve": _SOLVER,
    "svd": _DECOMPOSITION,
    "tile_like": _GRADIENT,
    "triangular_solve": _SOLVER,
    "view_dtype": "ONNX has no operator that reads bytes as another dtype",
    "warpctc": "a loss of training: ONNX has none over alignments",
    "warprnnt": "a loss of training: ONNX has none over alignments",
    "yolov3_loss": "a loss of training",
    "yolov3_loss_weights": "a loss of training",
}
