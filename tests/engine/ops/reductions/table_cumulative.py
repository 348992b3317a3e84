"""Rows of the operators in ``engine/ops/reductions/cumulative.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, row, s, v
from tests.engine.ops.reductions.references import NAN, TIES


def _cumsum(
    x: Any, axis: int = -1, flatten: bool = False, exclusive: bool = False, reverse: bool = False
) -> Any:
    if x.ndim == 0:
        return x.reshape(-1) if flatten else x
    x = np.moveaxis(x.reshape(-1) if flatten else x, 0 if flatten else axis, 0)
    result = np.zeros_like(x)
    for n in range(len(x)):
        parts = x[n + exclusive :] if reverse else x[: n + 1 - exclusive]
        result[n] = sum(parts, np.zeros_like(x[0]))
    return np.moveaxis(result, 0, 0 if flatten else axis)


def _cumprod(x: Any, dim: int) -> Any:
    if x.ndim == 0:
        return x
    x = np.moveaxis(x, dim, 0)
    return np.moveaxis(np.stack([np.prod(x[: n + 1], 0) for n in range(len(x))]) if len(x) else x, 0, dim)


def _cumprod_grad(g: Any, x: Any, dim: int) -> Any:
    shape = x.shape
    g, x = (np.moveaxis(a.reshape(a.shape or (1,)), dim if shape else 0, 0) for a in (g, x))
    result = np.zeros_like(x)
    for k in range(len(x)):
        for i in range(k, len(x)):
            result[k] += g[i] * np.prod(np.delete(x[: i + 1], k, 0), 0)
    return np.moveaxis(result, 0, dim if shape else 0).reshape(shape)


def _extreme(pick: Any, later: Any) -> Any:
    def want(x: Any, axis: int = -1, dtype: str = "int64") -> Any:
        if x.ndim == 0:
            return x, np.zeros((), dtype)
        x = np.moveaxis(x, axis, 0)
        values, places = x.copy(), np.zeros(x.shape, dtype)
        for n in range(1, len(x)):
            values[n] = pick(x[n], values[n - 1])
            places[n] = np.where(later(x[n], values[n - 1]), n, places[n - 1])
        return np.moveaxis(values, 0, axis), np.moveaxis(places, 0, axis)

    return want


def _logcumsumexp(x: Any, axis: int = -1, flatten: bool = False) -> Any:
    return np.log(_cumsum(np.exp(x), axis, flatten))


def _lcse_grad(g: Any, x: Any, y: Any, axis: int = -1) -> Any:
    return np.exp(x) * _cumsum(g * np.exp(-y), axis, reverse=True)


def _lcse_jvp(step: Any, x: Any, y: Any, axis: int = -1) -> Any:
    return np.exp(-y) * _cumsum(step * np.exp(x), axis)


RUN = [s(v(), axis=-1), s(v(4), axis=0), s(v(2, 3), axis=0), s(v(2, 3), axis=-1), s(v(2, 3, 2), axis=1),
       s(v(0, 3), axis=0), s(v(0, 3), axis=1)]


FLAT = [s(v(2, 3), flatten=True), s(v(), flatten=True)]


LOGS = [s(v(2, 3), v(2, 3, seed=1), v(2, 3, seed=2), axis=0), s(v(4), v(4, seed=1), v(4, seed=2), axis=-1),
        s(v(), v(seed=1), v(seed=2), axis=0)]


CASES: list[Case] = [
    *row("cumsum", _cumsum, *RUN, *FLAT, s(v(2, 3), axis=1, reverse=True), s(v(2, 3), axis=0, exclusive=True),
         s(v(4), exclusive=True, reverse=True), grads="x"),
    *row("cumsum", _cumsum, s(ints(2, 3), axis=0)),
    *row("cumprod", _cumprod, *[s(x.inputs[0], dim=x.attrs["axis"]) for x in RUN], grads="x"),
    *row("cumprod_grad", _cumprod_grad, s(v(2, 3), v(2, 3, seed=1), dim=0), s(v(4), v(4, seed=1), dim=-1),
         s(v(), v(seed=1), dim=0), grads="g_in x"),
    *row("cumprod_grad", _cumprod_grad, s(v(5), np.array([2.0, 0.0, 3.0, 4.0, 5.0]), dim=0),
         s(v(5), np.array([2.0, 0.0, 3.0, 0.0, 5.0]), dim=0), s(v(2, 2), np.zeros((2, 2)), dim=1)),
    *row("cummax", _extreme(np.maximum, np.greater_equal), *RUN, grads="x"),
    *row("cummax", _extreme(np.maximum, np.greater_equal), s(TIES, axis=1),
         s(ints(3, 4), axis=0, dtype="int32")),
    *row("cummax", lambda x, axis: (np.array([[1, np.nan, np.nan, np.nan], [4, 4, 4, 4]]),
                                    np.array([[0, 1, 1, 1], [0, 0, 0, 0]])), s(NAN, axis=1)),
    *row("cummin", _extreme(np.minimum, np.less_equal), *RUN, grads="x"),
    *row("cummin", _extreme(np.minimum, np.less_equal), s(TIES, axis=1)),
    *row("logcumsumexp", _logcumsumexp, *RUN, *FLAT, grads="x"),
    *row("logcumsumexp", lambda x: 1e3 + np.log([1.0, 2.0, 2.0]), s(np.array([1e3, 1e3, -1e3]))),
    *row("logcumsumexp_grad", _lcse_grad, *LOGS, grads="g_in x y"),
    *row("logcumsumexp_jvp", _lcse_jvp, *LOGS, grads="step x y")
]
