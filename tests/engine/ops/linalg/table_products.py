"""Rows of the operators in ``engine/ops/linalg/products.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _axes(dim: Any, keep_dim: bool, reduce_all: bool) -> dict[str, Any]:
    return {"axis": None if reduce_all or not dim else tuple(dim), "keepdims": keep_dim}


def _frobenius(x: Any, dim: Any = (), keep_dim: bool = False, reduce_all: bool = False) -> Any:
    return np.sqrt((x * x).sum(**_axes(dim, keep_dim, reduce_all)))


def _addmm(input: Any, x: Any, y: Any, alpha: float = 1.0, beta: float = 1.0) -> Any:
    return beta * input + alpha * np.einsum("ij,jk->ik", x, y)


def _mul(x, y, x_num_col_dims=1, y_num_col_dims=1):
    inner = int(np.prod(y.shape[:y_num_col_dims]))
    left = x.reshape(*x.shape[:x_num_col_dims], inner)
    return np.tensordot(left, y.reshape(inner, *y.shape[y_num_col_dims:]), axes=1)


def _matmul(x: Any, y: Any, trans_x: bool = False, trans_y: bool = False) -> Any:
    x = np.moveaxis(x, -1, -2) if trans_x and x.ndim > 1 else x
    y = np.moveaxis(y, -1, -2) if trans_y and y.ndim > 1 else y
    if x.ndim == 1 and y.ndim == 1:
        return (x * y).sum()
    if x.ndim == 1:
        return (x[:, None] * y).sum(-2)
    if y.ndim == 1:
        return (x * y).sum(-1)
    return (x[..., :, :, None] * y[..., None, :, :]).sum(-2)


def _linear_grad(g: Any, x: Any, y: Any) -> Any:
    return np.einsum("ro,io->ri", g, y), np.einsum("ri,ro->io", x, g), g.sum(0)


CASES: list[Case] = [
    *row("linear", lambda x, y, bias: np.einsum("ij,jk->ik", x, y) + bias,
         s(v(3, 4), v(4, 2, seed=1), v(2, seed=2)), s(v(1, 2), v(2, 1), v(1)), s(v(0, 2), v(2, 3), v(3)),
         grads="x y bias"),
    *row("linear_grad", _linear_grad, s(v(3, 2), v(3, 4, seed=1), v(4, 2, seed=2)),
         s(v(1, 1), v(1, 2), v(2, 1)), grads="g_in x y"),
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
    *row(
    "mul", _mul, s(v(2, 3), v(3, 4)), s(v(0, 3), v(3, 4)), s(v(2, 3, 2), v(6, 4)),
    s(v(2, 3, 4), v(4, 5), x_num_col_dims=2), s(v(3, 4), v(2, 2, 5), y_num_col_dims=2),
    s(v(2, 3, 1), v(1, 3, 2, 2), x_num_col_dims=1, y_num_col_dims=2), grads="x y",
),
    *row("matmul_v2", _matmul, s(v(2, 3), v(3, 4)), s(v(3, 2), v(3, 4), trans_x=True),
         s(v(2, 3), v(4, 3), trans_y=True),
         s(v(3, 2), v(4, 3), trans_x=True, trans_y=True), s(v(3), v(3, seed=2)), s(v(3), v(3, 2)),
         s(v(2, 3), v(3)), s(v(3), v(2, 3), trans_y=True),
         s(v(3, 2), v(3), trans_x=True), s(v(2, 2, 3), v(2, 3, 2)), s(v(2, 2, 3), v(3, 2)),
         s(v(2, 1, 2, 3), v(3, 3, 2)), s(v(2, 2, 3), v(3)),
         s(v(3), v(2, 3, 2)), s(v(2, 3, 2), v(3, 2), trans_x=True), s(v(0, 3), v(3, 2)), s(v(2, 0), v(0, 2)),
         grads="x y"),
    *row("product_of_rows", lambda x, y: np.tensordot(x, y, axes=[range(x.ndim - 1)] * 2),
         s(v(3, 2), v(3, 4, seed=1)), s(v(2, 3, 2), v(2, 3, 4, seed=1)), s(v(0, 2), v(0, 3)), grads="x y"),
    *row("squared_l2_norm", lambda x: np.array([(x**2).sum()]), s(v(2, 3)), s(v()), s(v(0, 2)), grads="x")
]
