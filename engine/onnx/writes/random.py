"""Rows of random operators: distributions are those of the operators, the numbers are the runtime's own.

A seed other than 0 is written, so that a runtime gives the same numbers in each session.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.kernels.special.inverse_error import erfinv
from engine.onnx.writes.arrays.creation import filled, with_dims
from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.recorded import Functions, Recorded
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import joined, shape_of


def _seed(seed: int) -> float | None:
    return float(seed) if seed > 0 else None


def _drawn(g: Graph, kind: str, shape: Value, dtype: str, **attributes: Any) -> Value:
    """Numbers in a shape that is a vector of int64. The reference evaluator draws none without dimensions."""
    alone = shape.array is not None and not shape.array.size
    like = filled(g, g.constant([1]) if alone else shape, 0, dtype)
    made = g.node(kind, like, **attributes)[0]
    return g.Reshape(made, []) if alone else made


def uniform(
    g: Graph, shape: Value, dtype: str = "float32", low: float = 0.0, high: float = 1.0, seed: int = 0
) -> Value:
    """Evenly distributed over [low, high)."""
    return _drawn(g, "RandomUniformLike", shape, dtype, low=float(low), high=float(high), seed=_seed(seed))


def normal(g: Graph, shape: Value, dtype: str, mean: float, std: float, seed: int) -> Value:
    return _drawn(g, "RandomNormalLike", shape, dtype, mean=float(mean), scale=float(std), seed=_seed(seed))


@writes("uniform_random")
def _(g: Graph, dims: Any, *, shape: Any, dtype: Any, min: float, max: float, seed: int) -> Value:
    made = joined(g, with_dims(g, shape, dims))
    return uniform(g, made, g.result().dtype.name, min, max, seed)


@writes("gaussian_random")
def _(g: Graph, dims: Any, *, shape: Any, dtype: Any, mean: float, std: float, seed: int) -> Value:
    return normal(g, joined(g, with_dims(g, shape, dims)), g.result().dtype.name, mean, std, seed)


@writes("uniform_random_inplace")
def _(g: Graph, x: Value, *, min: float, max: float, seed: int) -> Value:
    return uniform(g, shape_of(g, x), x.dtype, min, max, seed)


@writes("gaussian_inplace")
def _(g: Graph, x: Value, *, mean: float, std: float, seed: int) -> Value:
    return normal(g, shape_of(g, x), x.dtype, mean, std, seed)


@writes("truncated_gaussian_random")
def _(g: Graph, *, shape: Any, dtype: Any, mean: float, std: float, seed: int) -> Value:
    """By the quantiles of the normal distribution between -2 and 2 standard deviations."""
    edge = math.erf(math.sqrt(2.0))
    drawn = uniform(g, joined(g, [int(d) for d in shape]), "float32", -edge, edge, seed)
    places = erfinv(Functions(g), Recorded(g, drawn, "float32")) * math.sqrt(2.0) * std + mean
    return places.astype(g.result().dtype.name).value  # type: ignore[no-any-return]


@writes("randint")
def _(g: Graph, dims: Any, *, low: int, high: int, shape: Any, dtype: Any, seed: int) -> Value:
    made = uniform(g, joined(g, with_dims(g, shape, dims)), "float64", low, high, seed)
    made = g.Min(g.Floor(made), np.float64(high - 1))  # by rounding a number may reach the limit
    return g.cast(made, g.result().dtype.name)


@writes("randperm")
def _(g: Graph, *, n: int, dtype: Any, seed: int) -> Value:
    drawn = uniform(g, g.constant([n]), seed=seed)
    order = g.node("TopK", drawn, [n], outputs=2, axis=0)[1]
    return g.cast(order, g.result().dtype.name)


@writes("exponential")
def _(g: Graph, x: Value, *, lam: float) -> Value:
    drawn = g.Log(g.Sub(g.like(1, x), uniform(g, shape_of(g, x), x.dtype)))
    return g.Div(drawn, g.like(-lam, x))


@writes("bernoulli")
def _(g: Graph, x: Value) -> Value:
    return g.cast(g.Less(uniform(g, shape_of(g, x), x.dtype), x), x.dtype)


@writes("multinomial")
def _(g: Graph, x: Value, *, num_samples: int, replacement: bool) -> Value:
    """The largest logarithms of probabilities with noise of Gumbel's distribution added."""
    logarithms = g.Log(x)
    shape = shape_of(g, x)
    if replacement:  # one set of noise for each sample
        logarithms = g.Unsqueeze(logarithms, [x.ndim - 1])
        shape = g.Concat(
            g.Slice(shape, [0], [-1]), g.constant([num_samples]), g.Slice(shape, [-1], [2]), axis=0
        )
    tiny = float(np.finfo(np.float32).tiny)
    noise = g.Neg(g.Log(g.Neg(g.Log(uniform(g, shape, x.dtype, tiny)))))
    ranked = g.Add(logarithms, noise)
    if replacement:
        return g.ArgMax(ranked, axis=-1, keepdims=0)
    return g.node("TopK", ranked, [num_samples], outputs=2, axis=-1)[1]


@writes("top_p_sampling")
def _(g: Graph, x: Value, ps: Value, threshold: Value | None, *, seed: int) -> tuple[Value, Value]:
    last, one = np.int64(1), g.constant([1])
    count = g.Shape(x, start=1, end=2)
    ordered, order = g.node("TopK", x, count, outputs=2, axis=1)
    before = g.CumSum(ordered, last, exclusive=1)
    valid = g.Less(before, g.Reshape(ps, [-1, 1]))
    if threshold is not None:
        valid = g.And(valid, g.GreaterOrEqual(ordered, g.Reshape(threshold, [-1, 1])))
    first = g.Equal(g.Range(np.int64(0), g.Squeeze(count, [0]), last), np.int64(0))
    shares = g.Where(g.Or(valid, first), ordered, g.like(0, x))
    bounds = g.CumSum(shares, last)
    rows = g.Concat(g.Shape(x, start=0, end=1), one, axis=0)
    drawn = g.Mul(uniform(g, rows, x.dtype, seed=seed), g.Slice(bounds, [-1], [2**63 - 1], one))
    passed = g.ReduceSum(g.cast(g.LessOrEqual(bounds, drawn), "int64"), one, keepdims=1)
    most = g.ReduceSum(g.cast(g.Or(valid, first), "int64"), one, keepdims=1)
    place = g.Min(passed, g.Sub(most, last))
    return g.GatherElements(ordered, place, axis=1), g.GatherElements(order, place, axis=1)


@writes("dropout", ignoring="is_test axis seed")
def _(g: Graph, x: Value, *, dropout_prob: float, dropout_implementation: str) -> tuple[Value, Value | None]:
    """As after training: in training networks are not exported."""
    factor = 1.0 if dropout_implementation == "upscale_in_train" else np.float32(1) - np.float32(dropout_prob)
    made = g.Identity(x) if factor == 1 else g.Mul(x, g.like(factor, x))
    mask = g.operator.outputs[1]
    return made, None if mask is None else filled(g, shape_of(g, x), float(factor), x.dtype)
