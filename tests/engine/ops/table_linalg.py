"""Rows of products of matrices and of systems of equations.

The decompositions, whose results are unique only up to signs, stand in tests/engine/tensor/test_linalg.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _square(*shape: int, seed: int = 0) -> Any:
    """Matrices far from singular."""
    return v(*shape, seed=seed) + 2.5 * np.eye(shape[-1])


def _axes(dim: Any, keep_dim: bool, reduce_all: bool) -> dict[str, Any]:
    return {"axis": None if reduce_all or not dim else tuple(dim), "keepdims": keep_dim}


def _frobenius(x: Any, dim: Any = (), keep_dim: bool = False, reduce_all: bool = False) -> Any:
    return np.sqrt((x * x).sum(**_axes(dim, keep_dim, reduce_all)))


def _addmm(input: Any, x: Any, y: Any, alpha: float = 1.0, beta: float = 1.0) -> Any:
    return beta * input + alpha * np.einsum("ij,jk->ik", x, y)


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


def _lu(x: Any, pivot: bool = True) -> Any:
    """Gauss's elimination of one matrix."""
    a, pivots = x.copy(), []
    for k in range(min(a.shape)):
        chosen = k + int(np.argmax(np.abs(a[k:, k])))
        a[[k, chosen]] = a[[chosen, k]]
        pivots.append(chosen + 1)
        for i in range(k + 1, a.shape[0]):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return a, np.array(pivots, np.int32), np.zeros(1, np.int32)


CASES: list[Case] = [
    *row("dot", lambda x, y: (x * y).sum(-1), s(v(4), v(4, seed=1)), s(v(2, 3), v(2, 3, seed=1)),
         s(v(0), v(0)),
         grads="x y"),
    *row("bmm", lambda x, y: np.einsum("bij,bjk->bik", x, y), s(v(2, 3, 2), v(2, 2, 4, seed=1)),
         s(v(0, 3, 2), v(0, 2, 4)), grads="x y"),
    *row("mv", lambda x, vec: (x * vec).sum(1), s(v(3, 4), v(4, seed=1)), s(v(0, 4), v(4)), grads="x vec"),
    *row("addmm", _addmm, s(v(3, 2), v(3, 4, seed=1), v(4, 2, seed=2)),
         s(v(2), v(3, 4, seed=1), v(4, 2, seed=2), alpha=2.0, beta=-0.5),
         s(v(1, 2), v(3, 4, seed=1), v(4, 2, seed=2), alpha=0.5), grads="input x y"),
    *row("cross", lambda x, y, dim: np.cross(x, y, axis=dim), s(v(2, 3), v(2, 3, seed=1), dim=1),
         s(v(3, 2), v(3, 2, seed=1), dim=0), s(v(0, 3), v(0, 3), dim=-1), grads="x y"),
    *row("frobenius_norm", _frobenius, s(v(2, 3)), s(v(2, 3), dim=[1]),
         s(v(2, 3, 2), dim=[0, 2], keep_dim=True),
         s(v()), s(v(0, 3), dim=[1]), s(v(2, 3), dim=[0], reduce_all=True), grads="x"),
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
         grads="x"),
    *row("lu", _lu, s(v(3, 3)), s(v(4, 2)), s(v(2, 4)), grads="x", through=(0,),
         unknown=False),
]  # fmt: skip
