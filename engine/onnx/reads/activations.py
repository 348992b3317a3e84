"""Rows of ``engine.ops.activations``."""

from __future__ import annotations

from typing import Any

from engine.nn import functional as F
from engine.onnx.reads.rows import Known, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import like, sizes_of

reads("Relu")(lambda x: F.relu(x))
reads("Sigmoid")(lambda x: F.sigmoid(x))
reads("Softsign")(lambda x: F.softsign(x))
reads("Mish")(lambda x: F.mish(x))


@reads("HardSwish")
def _(x: Any) -> Any:
    return F.hardswish(x)


@reads("Softplus")
def _(x: Any) -> Any:
    """The engine's is the identity above a threshold."""
    zero = like(0, x)
    return T.add(T.maximum(x, zero), T.log1p(T.exp(T.neg(T.abs(x)))))


@reads("LeakyRelu")
def _(x: Any, *, alpha: float = 0.01) -> Any:
    return F.leaky_relu(x, alpha)


@reads("Elu")
def _(x: Any, *, alpha: float = 1.0) -> Any:
    return F.elu(x, alpha)


@reads("Celu")
def _(x: Any, *, alpha: float = 1.0) -> Any:
    return F.celu(x, alpha)


@reads("Selu")
def _(x: Any, *, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875) -> Any:
    negative = T.multiply(like(alpha * gamma, x), T.expm1(T.minimum(x, like(0, x))))
    return T.where(T.greater_than(x, like(0, x)), T.multiply(like(gamma, x), x), negative)


@reads("ThresholdedRelu")
def _(x: Any, *, alpha: float = 1.0) -> Any:
    return F.thresholded_relu(x, alpha)


@reads("HardSigmoid")
def _(x: Any, *, alpha: float = 0.2, beta: float = 0.5) -> Any:
    return F.hardsigmoid(x, alpha, beta)


@reads("Shrink")
def _(input: Any, *, bias: float = 0.0, lambd: float = 0.5) -> Any:
    x = input
    above, below = T.subtract(x, like(bias, x)), T.add(x, like(bias, x))
    rest = T.where(T.less_than(x, like(-lambd, x)), below, like(0, x))
    return T.where(T.greater_than(x, like(lambd, x)), above, rest)


@reads("Gelu")
def _(x: Any, *, approximate: str = "none") -> Any:
    return F.gelu(x, approximate == "tanh")


@reads("Swish")
def _(x: Any, *, alpha: float = 1.0) -> Any:
    return T.multiply(x, F.sigmoid(T.multiply(like(alpha, x), x))) if alpha != 1.0 else F.silu(x)


@reads("PRelu")
def _(x: Any, slope: Any) -> Any:
    return T.where(T.less_than(x, like(0, x)), T.multiply(slope, x), x)


@reads("Softmax")
def _(input: Any, *, axis: int = -1) -> Any:
    return F.softmax(input, axis)


@reads("LogSoftmax")
def _(input: Any, *, axis: int = -1) -> Any:
    return F.log_softmax(input, axis)


@reads("Hardmax")
def _(input: Any, *, axis: int = -1) -> Any:
    """1 at the first of the largest elements."""
    axis %= input.ndim
    count = input.shape[axis]
    at = T.argmax(input, axis=axis, keepdim=True)
    shape = [1] * input.ndim
    shape[axis] = -1
    places = T.reshape(T.arange(0, count, 1, "int64"), shape)
    return T.cast(T.equal(places, at), input.dtype.name)


@reads("Dropout")
def _(g: Any, data: Any, ratio: Known = None, training_mode: Known = None, *, seed: int = 0) -> Any:
    """Outside of training it does nothing, but a Layer that is trained further drops elements again."""
    share = 0.5 if ratio is None else float(ratio.reshape(-1)[0])
    if training_mode is not None and bool(training_mode.reshape(-1)[0]) and share:
        kept = T.greater_equal(T.uniform(sizes_of(data), data.dtype.name, 0.0, 1.0), like(share, data))
        return T.where(kept, T.divide(data, like(1 - share, data)), like(0, data)), kept
    if g.outputs == 1 and 0 < share < 1:
        return F.dropout(data, share, training=False)
    return data, T.full_like(data, True, "bool")
