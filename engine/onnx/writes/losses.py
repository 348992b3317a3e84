"""Rows of losses and of accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import int64, size


def _picked(g: Graph, x: Value, label: Value, axis: int, ignore_index: int, dtype: str) -> Value:
    """The element of ``x`` at the label's class, 0 where the label is ignored."""
    label = int64(g, label)
    ignored = g.Equal(label, int(ignore_index))
    found = g.GatherElements(x, g.Where(ignored, 0, label), axis=axis % label.ndim)
    return g.Where(ignored, np.asarray(0, dtype), found)


@writes("pick_class")
def _(g: Graph, x: Value, label: Value, *, axis: int, ignore_index: int) -> Value:
    return _picked(g, x, label, axis, ignore_index, x.dtype)


@writes("kept_mean")
def _(g: Graph, x: Value, label: Value, *, ignore_index: int) -> Value:
    kept = g.Not(g.Equal(int64(g, label), int(ignore_index)))
    count = g.ReduceSum(g.cast(kept, x.dtype), keepdims=0)
    return g.Div(g.ReduceSum(x, keepdims=0), g.Max(count, g.like(1, x)))


@writes("bce_loss")
def _(g: Graph, x: Value, label: Value) -> Value:
    one, low = g.like(1, x), g.like(-100, x)
    yes = g.Mul(label, g.Max(g.Log(x), low))
    no = g.Mul(g.Sub(one, label), g.Max(g.Log(g.Sub(one, x)), low))
    return g.Neg(g.Add(yes, no))


@writes("sigmoid_cross_entropy_with_logits")
def _(g: Graph, x: Value, label: Value) -> Value:
    return g.Add(g.Sub(g.Relu(x), g.Mul(x, label)), g.Softplus(g.Neg(g.Abs(x))))


@writes("kldiv_loss", ignoring="reduction")
def _(g: Graph, x: Value, target: Value) -> Value:
    zero = g.like(0, target)
    positive = g.Greater(target, zero)
    safe = g.Where(positive, target, g.like(1, target))
    return g.Where(positive, g.Mul(target, g.Sub(g.Log(safe), x)), zero)


@writes("tolerable_log")
def _(g: Graph, x: Value) -> Value:
    return g.Max(g.Min(g.Log(x), g.like(1e20, x)), g.like(-1e20, x))


@writes("huber")
def _(g: Graph, x: Value, *, delta: float) -> Value:
    absolute = g.Abs(x)
    inner = g.Min(absolute, g.like(delta, x))
    return g.Mul(inner, g.Sub(absolute, g.Mul(inner, g.like(0.5, x))))


@writes("softmax_with_cross_entropy", ignoring="numeric_stable_mode")
def _(
    g: Graph, logits: Value, label: Value, *, soft_label: bool, ignore_index: int, axis: int
) -> tuple[Value, Value]:
    axis %= logits.ndim
    logarithms = g.LogSoftmax(logits, axis=axis)
    if soft_label:
        zero = g.like(0, label)
        each = g.Where(g.Equal(label, zero), zero, g.Neg(g.Mul(label, logarithms)))
        loss = g.ReduceSum(each, [axis], keepdims=1)
    else:
        loss = g.Neg(_picked(g, logarithms, label, axis, ignore_index, logits.dtype))
    return g.Softmax(logits, axis=axis), loss


@writes("accuracy")
def _(g: Graph, values: Value, indices: Value, label: Value) -> tuple[Value, Value, Value]:
    same = g.cast(g.Equal(int64(g, indices), int64(g, label)), "int32")
    correct = g.ReduceSum(g.ReduceMax(same, axes=[1], keepdims=0), keepdims=0)
    total: Any = size(g, indices, 0)
    if isinstance(total, int):
        total = g.constant(np.asarray(total, np.int32))
    else:
        total = g.cast(g.Squeeze(total, [0]), "int32")
    share = g.Div(g.cast(correct, "float32"), g.cast(g.Max(total, np.int32(1)), "float32"))
    return share, correct, total
