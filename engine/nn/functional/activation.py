"""Activation functions with Paddle's signatures."""

from __future__ import annotations

from typing import Any

from engine.core.dtype import as_dtype
from engine.ops import activation as ops
from engine.ops import math


def relu(x: Any, name: str | None = None) -> Any:
    """max(x, 0)."""
    return ops.relu(x)


def sigmoid(x: Any, name: str | None = None) -> Any:
    """1 / (1 + exp(-x))."""
    return ops.sigmoid(x)


def tanh(x: Any, name: str | None = None) -> Any:
    """Hyperbolic tangent."""
    return ops.tanh(x)


def leaky_relu(x: Any, negative_slope: float = 0.01, name: str | None = None) -> Any:
    """x where positive, else negative_slope * x."""
    return ops.leaky_relu(x, alpha=float(negative_slope))


def softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> Any:
    """exp(x) / sum(exp(x)) along ``axis``, computed in ``dtype`` where given."""
    return ops.softmax(_as(x, dtype), axis=axis)


def log_softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> Any:
    """log(softmax(x)) along ``axis``, computed in ``dtype`` where given."""
    return ops.log_softmax(_as(x, dtype), axis=axis)


def _as(x: Any, dtype: Any) -> Any:
    return x if dtype is None else math.cast(x, out_dtype=as_dtype(dtype))
