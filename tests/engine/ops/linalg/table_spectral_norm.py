"""Rows of the operators in ``engine/ops/linalg/spectral_norm.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _spectral(weight: Any, u: Any, v: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12) -> Any:
    u, v = _vectors(weight, u, v, dim, power_iters, eps)
    return weight / np.einsum("i,ij,j", u, np.moveaxis(weight, dim, 0).reshape(u.size, v.size), v)


def _vectors(weight: Any, u: Any, v: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12) -> Any:
    rows = np.moveaxis(weight, dim, 0).reshape(u.size, v.size)
    for _ in range(power_iters):
        v = (rows * u[:, None]).sum(0)
        v = v / (np.linalg.norm(v) + eps)
        u = (rows * v).sum(1)
        u = u / (np.linalg.norm(u) + eps)
    return u, v


WEIGHTS = [
    s(v(3, 4), v(3, seed=1), v(4, seed=2), power_iters=0),
    s(v(2, 3, 2), v(3, seed=1), v(4, seed=2), dim=1, power_iters=0),
]


TURNED = [
    s(v(3, 4), v(3, seed=1), v(4, seed=2)),
    s(v(2, 3, 2), v(3, seed=1), v(4, seed=2), dim=1, power_iters=3),
]


CASES: list[Case] = [
    # u and v count as constants, which they are without steps.
    *row("spectral_norm", _spectral, *WEIGHTS, grads="weight"),
    *row("spectral_norm", _spectral, *TURNED),
    *row("spectral_norm_vectors", _vectors, *TURNED)
]
