"""Rows of the operators in ``engine/ops/reductions/reduce.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, bools, ints, row, s, v


def _axes(axis: Any, reduce_all: bool, keepdim: bool) -> dict[str, Any]:
    return {"axis": None if reduce_all or not axis else tuple(axis), "keepdims": keepdim}


def _reduction(function: Any) -> Any:
    return lambda x, axis=(), keepdim=False, reduce_all=False: function(x, **_axes(axis, reduce_all, keepdim))


def _reduce_samples(make: Any = v, empty: bool = True) -> list[Any]:
    samples = [s(make()), s(make(4), axis=[0]), s(make(2, 3)), s(make(2, 3), axis=[1]),
        s(make(2, 3), axis=[-1], keepdim=True),
               s(make(2, 3, 2), axis=[0, 2]), s(make(2, 3), axis=[0], reduce_all=True),
               s(make(2, 3), keepdim=True)]
    return [*samples, s(make(0, 3)), s(make(0, 3), axis=[0]), s(make(0, 3), axis=[1])] if empty else samples


def _expand(
    x: Any,
    like: Any = None,
    shape: Any = None,
    axis: Any = (),
    keepdim: bool = False,
    reduce_all: bool = False,
) -> Any:
    target = tuple(shape) if like is None else like.shape
    if not keepdim:
        axes = range(len(target)) if reduce_all or not axis else [a % len(target) for a in axis]
        for a in sorted(axes):
            x = np.expand_dims(x, a)
    return np.ones(target) * x


def _arg(function: Any) -> Any:
    def want(
        x: Any, axis: int = 0, keepdims: bool = False, flatten: bool = False, dtype: str = "int64"
    ) -> Any:
        return np.asarray(function(x, axis=None if flatten else axis, keepdims=keepdims)).astype(dtype)

    return want


def _prod_grad(g: Any, x: Any, axis: Any = (), keepdim: bool = False, reduce_all: bool = False) -> Any:
    axes = tuple(range(x.ndim)) if reduce_all or not axis else tuple(axis)
    whole = g if keepdim else np.expand_dims(g, axes)
    return whole * np.prod(x, axis=axes, keepdims=True) / x


def _count(like: Any, x: Any, axis: Any = (), reduce_all: bool = False) -> Any:
    return np.ones_like(x).sum(axis=None if reduce_all or not axis else tuple(axis)).reshape(-1)[0]


CASES: list[Case] = [
    # -- reductions
    *row("reduce_sum", _reduction(np.sum), *_reduce_samples(), grads="x"),
    *row("reduce_sum", _reduction(np.sum), s(ints(2, 3), axis=[0])),
    *row("reduce_mean", _reduction(lambda x, **a: np.sum(x, **a) / (x.size / np.sum(x, **a).size)),
         *_reduce_samples(empty=False), grads="x"),
    *row("reduce_mean", lambda x, axis: np.full(3, np.nan), s(v(0, 3), axis=[0])),
    *row("reduce_max", _reduction(np.amax), *_reduce_samples(empty=False), s(v(0, 3), axis=[1]), grads=""),
    *row("reduce_max", _reduction(np.amax), *_reduce_samples(empty=False), grads="x"),
    *row("reduce_min", _reduction(np.amin), *_reduce_samples(empty=False), grads="x"),
    *row("reduce_prod", _reduction(lambda x, **a: np.prod(x, **a)), *_reduce_samples(), grads="x"),
    *row("reduce_prod_grad", _prod_grad, s(v(), v(2, 3)), s(v(2), v(2, 3), axis=[1]),
         s(v(2, 1), v(2, 3), axis=[1], keepdim=True), s(v(3), v(2, 3, 2), axis=[0, 2]), s(v(), v()),
         grads="g_in x"),
    *row("reduce_prod_grad", lambda g, x, axis: np.array([[0.0, 6, 0], [0, 0, 0], [2, 4, 4]]),
         s(np.array([3.0, 3, 2]), np.array([[2.0, 0, 1], [0, 0, 5], [2, 1, 1]]), axis=[1])),
    *row("reduce_amax", _reduction(np.amax), *_reduce_samples(empty=False), s(v(0, 3), axis=[1]), grads=""),
    *row("reduce_amax", _reduction(np.amax), *_reduce_samples(empty=False), grads="x"),
    *row("reduce_amin", _reduction(np.amin), *_reduce_samples(empty=False), grads="x"),
    *row("logsumexp", _reduction(lambda x, **a: np.log(np.sum(np.exp(x), **a))), *_reduce_samples(),
         grads="x"),
    *row("logsumexp", lambda x: np.array(1e4 + np.log(2)), s(np.array([1e4, 1e4, -1e4]))),
    *row("logsumexp", lambda x, axis: np.array([-np.inf, np.inf]),
         s(np.array([[-np.inf, -np.inf], [np.inf, 1.0]]), axis=[1])),
    *row("reduce_all", _reduction(np.all), *_reduce_samples(bools)),
    *row("reduce_any", _reduction(np.any), *_reduce_samples(bools)),
    *row("reduce_expand", _expand, s(v(), None, shape=[2, 3]), s(v(2), None, shape=[2, 3], axis=[1]),
         s(v(2, 1), None, shape=[2, 3], axis=[1], keepdim=True), s(v(3), v(2, 3), axis=[0]),
         s(v(), v(4), reduce_all=True), grads="x"),
    *row("reduce_count", _count, s(v(), v(2, 3)), s(v(), v(2, 3), axis=[1]),
         s(v(), v(2, 3), axis=[0], reduce_all=True)),
    *row("arg_max", _arg(np.argmax), s(v(4)), s(v(2, 3), axis=1), s(v(2, 3), axis=-1, keepdims=True),
         s(v(2, 3), flatten=True),
         s(ints(3, 4), axis=1, dtype="int32"), s(ints(2, 3), flatten=True, keepdims=True)),
    *row("arg_min", _arg(np.argmin), s(v(4)), s(v(2, 3), axis=1), s(v(2, 3), axis=-1, keepdims=True),
         s(v(2, 3), flatten=True))
]
