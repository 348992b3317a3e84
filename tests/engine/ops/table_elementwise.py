"""Rows of the elementwise operators, comparisons, reductions and activations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, binary_shapes, bools, ints, pos, row, s, unary_shapes, v


def _both(*shape: int, seed: int = 0) -> Any:
    """Integers with many equal elements."""
    return ints(*shape, seed=seed)


def _round(x: Any) -> Any:
    return np.array([math.floor(abs(e) + 0.5) * (1 if e >= 0 else -1) for e in x.reshape(-1)]).reshape(
        x.shape
    )


def _scale(x: Any, scale: float = 1.0, bias: float = 0.0, bias_after_scale: bool = True) -> Any:
    return x * scale + bias if bias_after_scale else (x + bias) * scale


def _axes(axis: Any, reduce_all: bool, keepdim: bool) -> dict[str, Any]:
    return {"axis": None if reduce_all or not axis else tuple(axis), "keepdims": keepdim}


def _reduction(function: Any) -> Any:
    return lambda x, axis=(), keepdim=False, reduce_all=False: function(x, **_axes(axis, reduce_all, keepdim))


def _reduce_samples(make: Any = v, empty: bool = True) -> list[Any]:
    samples = [s(make()), s(make(4), axis=[0]), s(make(2, 3)), s(make(2, 3), axis=[1]),
        s(make(2, 3), axis=[-1], keepdim=True),
               s(make(2, 3, 2), axis=[0, 2]), s(make(2, 3), axis=[0], reduce_all=True),
               s(make(2, 3), keepdim=True)]  # fmt: skip
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


def _log_softmax(x: Any, axis: int = -1) -> Any:
    return np.log(np.exp(x) / np.exp(x).sum(axis, keepdims=True)) if x.ndim else np.zeros(())


def _inside(x: Any, min: Any = None, max: Any = None) -> Any:
    return (x > (-np.inf if min is None else min)) & (x < (np.inf if max is None else max))


def _prod_grad(g: Any, x: Any, axis: Any = (), keepdim: bool = False, reduce_all: bool = False) -> Any:
    axes = tuple(range(x.ndim)) if reduce_all or not axis else tuple(axis)
    whole = g if keepdim else np.expand_dims(g, axes)
    return whole * np.prod(x, axis=axes, keepdims=True) / x


def _count(like: Any, x: Any, axis: Any = (), reduce_all: bool = False) -> Any:
    return np.ones_like(x).sum(axis=None if reduce_all or not axis else tuple(axis)).reshape(-1)[0]


U, P = list(unary_shapes()), list(unary_shapes(pos))
SPECIAL = s(np.array([1.0, np.nan, np.inf, -np.inf, 0.0]))

CASES: list[Case] = [
    *row("elementwise_add", np.add, *binary_shapes(), s(ints(3), ints(2, 3)), grads=""),
    *row("elementwise_add", np.add, *binary_shapes(), grads="x y"),
    *row("elementwise_sub", np.subtract, *binary_shapes(), grads="x y"),
    *row("elementwise_mul", np.multiply, *binary_shapes(), grads="x y"),
    *row("elementwise_div", np.divide, *binary_shapes(), grads="x y"),
    *row("elementwise_pow", lambda x, y: np.exp(y * np.log(x)), *binary_shapes(pos, v), grads="x y"),
    *row("elementwise_pow", lambda x, y: np.array([0.0, 1.0, 4.0]),
         s(np.array([0.0, 1.0, -2.0]), np.array([2.0, 2.0, 2.0])), grads="x"),
    *row("elementwise_mod", lambda x, y: x - np.floor(x / y) * y, *binary_shapes(), grads="x y"),
    *row("elementwise_mod", lambda x, y: x % y, s(ints(5, low=-9, high=9), np.array(4))),
    *row("elementwise_floordiv", lambda x, y: np.floor(x / y), *binary_shapes(),
         s(ints(5, low=-9, high=9), np.array(4))),
    *row("elementwise_max", lambda x, y: np.where(x > y, x, y), *binary_shapes(), grads="x y"),
    *row("elementwise_max", np.maximum, s(np.array([np.nan, 1.0]), np.array([1.0, np.nan]))),
    *row("elementwise_min", lambda x, y: np.where(x < y, x, y), *binary_shapes(), grads="x y"),
    *row("elementwise_min", np.minimum, s(np.array([np.nan, 1.0]), np.array([1.0, np.nan]))),
    *row("scale", _scale, *U, s(v(2, 3), scale=-2.5), s(v(3), scale=2.0, bias=0.5),
         s(v(3), scale=2.0, bias=0.5, bias_after_scale=False), s(v(3), bias=1.5), grads="x"),
    *row("scale", _scale, s(ints(3), scale=3.0, bias=1.0)),
    *row("cast", lambda x, out_dtype: x.astype(out_dtype), s(v(2, 3), out_dtype="float64"),
         s(v(2, 3), out_dtype="float32"),
         s(v(3) * 3, out_dtype="int64"), s(ints(3), out_dtype="bool"), s(bools(3), out_dtype="float32")),
    *row("cast", lambda x, out_dtype: x, s(v(2, 3), out_dtype="float64"), grads="x"),
    *row("exp", np.exp, *U, grads="x"),
    *row("log", np.log, *P, grads="x"),
    *row("sqrt", lambda x: x**0.5, *P, grads="x"),
    *row("rsqrt", lambda x: x**-0.5, *P, grads="x"),
    *row("square", lambda x: x**2, *U, s(ints(3)), grads=""),
    *row("square", lambda x: x**2, *U, grads="x"),
    *row("reciprocal", lambda x: x**-1, *U, grads="x"),
    *row("abs", lambda x: np.where(x < 0, -x, x), *U, grads="x"),
    *row("abs", abs, s(ints(4, low=-3))),
    *row("sign", lambda x: np.where(x > 0, 1.0, -1.0), *U, grads="x"),
    *row("sin", np.sin, *U, grads="x"),
    *row("cos", lambda x: np.sin(x + math.pi / 2), *U, grads="x"),
    *row("floor", lambda x: -np.ceil(-x), *U, grads="x"),
    *row("ceil", lambda x: -np.floor(-x), *U, grads="x"),
    *row("round", _round, *U, s(np.array([0.5, 1.5, 2.5, -0.5, -2.5, 0.49])), grads=""),
    *row("round", _round, *U, grads="x"),
    *row("clip", lambda x, min=None, max=None: np.minimum(np.maximum(x, -np.inf if min is None else min),
         np.inf if max is None else max),
         *U, s(v(2, 3), min=-0.5, max=0.5), s(v(4), min=0.1), s(v(), max=0.1), grads="x"),
    *row("clip_mask", _inside, s(v(2, 3), min=-0.5, max=0.5), s(v(4), min=0.1), s(v(), max=0.1)),
    *row("gradient_where", lambda g, mask: np.where(mask, g, 0.0), s(v(2, 3), bools(2, 3)), s(v(), bools()),
         s(v(0, 3), bools(0, 3)), grads="g_in"),
    *row("gradient_where", lambda g, mask: np.array([0.0, np.inf, 0.0]),
         s(np.array([np.inf, np.inf, np.nan]), np.array([False, True, False]))),
    *row("xlogy", lambda x, y: x * np.log(y), *binary_shapes(v, pos), grads="x y"),
    *row("xlogy", lambda x, y: np.array([0.0, math.log(2)]), s(np.array([0.0, 1.0]), np.array([0.0, 2.0]))),
    *row("log_where_nonzero", lambda x, y: np.log(y) + 0 * x, *binary_shapes(v, pos), grads="y"),
    *row("log_where_nonzero", lambda x, y: np.array([0.0, math.log(2)]),
         s(np.array([0.0, 1.0]), np.array([0.0, 2.0]))),
    *row("isnan_v2", lambda x: x != x, SPECIAL, *U),
    *row("isinf_v2", lambda x: np.abs(x) == np.inf, SPECIAL, *U),
    *row("isfinite_v2", lambda x: x - x == 0, SPECIAL, *U),
    *row("sum", lambda xs: xs[0] + (xs[1] if len(xs) > 1 else 0), s([v(2, 3), v(2, 3, seed=3)]), s([v()]),
         grads="xs"),
    # -- comparisons and logic
    *row("equal", lambda x, y: x == y, *binary_shapes(_both), s(bools(3), bools(3, seed=2))),
    *row("not_equal", lambda x, y: x != y, *binary_shapes(_both), s(np.array([np.nan]), np.array([np.nan]))),
    *row("less_than", lambda x, y: x < y, *binary_shapes(_both), s(np.array([np.nan]), np.array([1.0]))),
    *row("less_equal", lambda x, y: x <= y, *binary_shapes(_both)),
    *row("greater_than", lambda x, y: x > y, *binary_shapes(_both)),
    *row("greater_equal", lambda x, y: x >= y, *binary_shapes(_both)),
    *row("logical_and", lambda x, y: x & y, *binary_shapes(bools)),
    *row("logical_or", lambda x, y: x | y, *binary_shapes(bools)),
    *row("logical_xor", lambda x, y: x ^ y, *binary_shapes(bools)),
    *row("logical_not", lambda x: ~x, *unary_shapes(bools)),
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
         s(v(2, 3), flatten=True)),
    # -- activations
    *row("relu", lambda x: np.where(x > 0, x, 0.0), *U, grads="x"),
    *row("relu", lambda x: x, s(np.array([np.nan]))),
    *row("relu_grad", lambda g, y: np.where(y > 0, g, 0.0), s(v(2, 3), v(2, 3, seed=2)), s(v(), v(seed=2)),
         grads="g_in"),
    *row("leaky_relu", lambda x, alpha=0.01: np.where(x > 0, x, alpha * x), *U, s(v(2, 3), alpha=0.3),
         grads="x"),
    *row("relu_grad", lambda g, y: np.array([0.0, np.inf]), s(np.full(2, np.inf), np.array([0.0, 1.0]))),
    *row("leaky_relu_grad", lambda g, x, alpha: np.where(x > 0, g, alpha * g),
         s(v(2, 3), v(2, 3, seed=2), alpha=0.3), grads="g_in"),
    *row("sigmoid", lambda x: 1 / (1 + np.exp(-x)), *U, grads="x"),
    *row("sigmoid", lambda x: np.array([0.0, 1.0, 0.5]), s(np.array([-1e4, 1e4, 0.0]))),
    *row("tanh", lambda x: (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x)), *U, grads="x"),
    *row("softmax", lambda x, axis=-1: np.exp(_log_softmax(x, axis)), s(v()), s(v(4)), s(v(2, 3)),
         s(v(2, 3, 2), axis=1), s(v(0, 3)), grads="x"),
    *row("softmax", lambda x: np.array([0.5, 0.5, 0.0]), s(np.array([1e4, 1e4, -1e4]))),
    *row("log_softmax", _log_softmax, s(v()), s(v(4)), s(v(2, 3)), s(v(2, 3, 2), axis=1), s(v(0, 3)),
         grads="x"),
    *row("log_softmax", lambda x: np.array([0.0, -2e4]), s(np.array([1e4, -1e4]))),
]  # fmt: skip
