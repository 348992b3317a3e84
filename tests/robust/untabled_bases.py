"""Operators that the walk over attributes needs rows for: the operator table has none, or others.

``UNTABLED`` are rows. ``PROGRAMS`` are functions that build a Program from ``x`` [1, 1, 4, 4] and the integer
``n`` in static mode: its last operator is the one that is changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import engine as paddle
from tests.engine.ops.case import Case, ints, pos, row, s, v

SQUARE = pos(3, 3) @ pos(3, 3).T + 3.0 * np.eye(3)
COMPLEX = v(2, 4) + 1j * v(2, 4, seed=1)
_FFT = {"axes": [1], "normalization": "backward", "forward": True}

UNTABLED: list[Case] = [
    *row("cholesky", None, s(SQUARE, upper=False)),
    *row("svd", None, s(v(2, 3, 4), full_matrices=False)),
    *row("eigh", None, s(SQUARE, UPLO="L")),
    *row("eig", None, s(SQUARE)),
    *row("eig_grad", None, s(SQUARE, COMPLEX[0, :3], SQUARE + 0j, COMPLEX[1, :3], None)),
    *row("eigvals", None, s(SQUARE)),
    *row("qr", None, s(v(3, 2), mode="reduced")),
    *row("lstsq", None, s(v(4, 2), v(4, 1), rcond=None, driver="gelsd")),
    *row("matrix_rank", None, s(v(3, 4), None, tolerance=None, hermitian=False)),
    *row("cholesky_solve", None, s(v(3, 1), SQUARE, upper=False)),
    *row("lu_unpack", None, s(SQUARE, np.array([1, 2, 3], np.int32), unpack_pivots=True)),
    *(case for name in ("real", "imag", "conj", "angle", "as_real") for case in row(name, None, s(COMPLEX))),
    *row("complex", None, s(v(2, 4), v(2, 4, seed=1))),
    *row("as_complex", None, s(v(2, 2))),
    *row("fft_c2c", None, s(COMPLEX, **_FFT)),
    *row("fft_r2c", None, s(v(2, 4), **_FFT, onesided=True)),
    *row("fft_r2c_grad", None, s(v(2, 4), COMPLEX[:, :3], **_FFT, onesided=True)),
    *row("fft_c2r", None, s(COMPLEX, **_FFT, last_dim_size=6)),
    *row("fft_c2r_grad", None, s(v(2, 6), **_FFT, last_dim_size=6)),
    *row(
        "auc",
        None,
        s(pos(4, 2) / 4, ints(4, 1, high=2), ints(1, 22), ints(1, 22), num_thresholds=10, slide_steps=1),
    ),
    *row("check_numerics", None, s(v(2, 3), check_nan_inf_level=0)),
    # LAPACK, of complex values, which it searches differently.
    *row("svd", None, s(COMPLEX, full_matrices=True)),
    *row("eigh", None, s(SQUARE + 0j, UPLO="U")),
    *row("eig", None, s(SQUARE + 0j)),
    *row("qr", None, s(COMPLEX, mode="complete")),
    *row("pinv", None, s(COMPLEX, rcond=1e-15, hermitian=False)),
    *row("matrix_rank", None, s(COMPLEX, None, tolerance=None, hermitian=False)),
    # Numbers where the rows of the table have lists, and windows of several sizes.
    *row("split", None, s(v(4, 3), axis=0, sections=2)),
    *row("pool2d", None, s(v(1, 1, 4, 4), ksize=(2, 3), adaptive=True, pooling_type="max")),
    *row("pool2d", None, s(v(1, 1, 4, 4), ksize=(2, 3), adaptive=True, pooling_type="avg")),
    *row("max_pool2d_with_index", None, s(v(1, 1, 4, 4), ksize=(2, 3), adaptive=True)),
]


def _gradient(function: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """The gradient of a function as one operator, whose attributes hold those of the function's."""

    def build(x: Any, n: Any) -> Any:
        x.stop_gradient = False
        return paddle.static.gradients(paddle.sum(function(x)), x)

    return build


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "gradient of tile": _gradient(lambda x: paddle.tile(x, [1, 1, 2, 3])),
    "gradient of split": _gradient(lambda x: paddle.split(x, 2, axis=2)[0]),
    "gradient of max_pool2d": _gradient(lambda x: paddle.nn.functional.max_pool2d(x, 2)),
    "gradient of interpolate": _gradient(lambda x: paddle.nn.functional.interpolate(x, size=[8, 8])),
    "gradient of repeat_interleave": _gradient(lambda x: paddle.repeat_interleave(x, 3, axis=1)),
    "with_values of sum": lambda x, n: paddle.sum(x, axis=n),
    "with_values of topk": lambda x, n: paddle.topk(x, n)[0],
    "with_values of one_hot": lambda x, n: paddle.nn.functional.one_hot(n, n + 1),
    "with_values of tile": lambda x, n: paddle.tile(x, [1, 1, 2, n]),
    "with_values of unsqueeze": lambda x, n: paddle.unsqueeze(x, axis=n),
    "with_values of cumsum": lambda x, n: paddle.cumsum(x, axis=n),
}

# Operators without a base, and why.
WITHOUT = {
    **dict.fromkeys(("conditional_block", "while", "while_again", "while_grad"), "see hostile_models.py"),
    "py_layer": "no file holds Python functions",
    **dict.fromkeys(("send_v2", "recv_v2"), "they wait for another process"),
    **dict.fromkeys(("print", "assert", "print_tensor"), "their effect is text"),
    "with_lengths": "it has no attributes, and gives its input",
}
