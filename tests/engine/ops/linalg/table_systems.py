"""Rows of the operators in ``engine/ops/linalg/systems.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _square(*shape: int, seed: int = 0) -> Any:
    """Matrices far from singular."""
    return v(*shape, seed=seed) + 2.5 * np.eye(shape[-1])


def _triangular(
    x: Any, y: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    matrix = np.triu(x) if upper else np.tril(x)
    if unitriangular:
        matrix = matrix * (1 - np.eye(x.shape[-1])) + np.eye(x.shape[-1])
    return np.linalg.inv(matrix.swapaxes(-1, -2) if transpose else matrix) @ y


def _cofactors(g: Any, x: Any) -> Any:
    result = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        *batch, i, j = place
        minor = np.delete(np.delete(x[tuple(batch)], i, 0), j, 1)
        result[place] = g[tuple(batch)] * (-1) ** (i + j) * np.linalg.det(minor)
    return result


CASES: list[Case] = [
    *row("inverse", lambda x: np.linalg.solve(x, np.broadcast_to(np.eye(x.shape[-1]), x.shape)),
         s(_square(3, 3)), s(_square(2, 2, 2)), s(np.zeros((0, 2, 2))), grads="input"),
    *row("solve", lambda x, y: np.linalg.inv(x) @ y, s(_square(3, 3), v(3, 2)), s(_square(2, 3, 3), v(3, 2)),
         s(_square(3, 3), v(2, 3, 1)), grads="x y"),
    *row("triangular_solve", _triangular, s(_square(3, 3), v(3, 2)),
         s(_square(3, 3), v(2, 3, 2), upper=False),
         s(_square(2, 3, 3), v(3, 2), transpose=True), s(_square(3, 3), v(3, 2), unitriangular=True),
         grads="x y"),
    *row("determinant", lambda x: np.prod(np.linalg.eigvals(x), -1).real, s(_square(3, 3)),
         s(_square(2, 2, 2)),
         s(np.zeros((0, 2, 2))), grads="input"),
    *row("determinant_grad", _cofactors, s(v(), _square(3, 3)), s(v(2), _square(2, 2, 2)), grads="g_in x"),
    *row("determinant_grad", _cofactors, s(v(), np.array([[1.0, 2.0], [2.0, 4.0]]))),
    *row("slogdeterminant", lambda x: np.stack([np.sign(np.linalg.det(x)), np.log(np.abs(np.linalg.det(x)))]),
         s(_square(3, 3)), s(_square(2, 2, 2)), grads="input"),
    *row("pinv", lambda x: np.linalg.inv(x.swapaxes(-1, -2) @ x) @ x.swapaxes(-1, -2), s(v(4, 2)),
         s(v(2, 3, 2)),
         grads="x")
]
