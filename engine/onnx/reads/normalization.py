"""Rows of ``engine.ops.normalization``."""

from __future__ import annotations

from typing import Any

from engine.eager.tensor import Parameter, Tensor
from engine.nn import functional as F
from engine.nn.functional.norm import group_norm
from engine.onnx.reads.elementwise import cast, dtype_name
from engine.onnx.reads.rows import Raw, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import like, sizes_of

MOST_EPSILON = 1e-3  # that the engine's batch norm takes


def _buffer(g: Any, value: Any) -> Any:
    """A statistic, which no optimizer trains."""
    if isinstance(value, Parameter):
        return Tensor(value.numpy(), name=value.name)
    return g.tensor(value, "statistic")


@reads("BatchNormalization")
def _(
    g: Any,
    X: Any,
    scale: Any,
    B: Any,
    input_mean: Raw,
    input_var: Raw,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
    spatial: int = 1,
) -> Any:
    mean, var = _buffer(g, input_mean), _buffer(g, input_var)
    fits = all(isinstance(v, Tensor) for v in (mean, var)) and X.ndim > 1
    if fits and not training_mode and 0 < epsilon <= MOST_EPSILON and X.dtype is mean.dtype:
        return F.batch_norm(X, mean, var, scale, B, False, momentum, epsilon)
    channels = [1, -1, *[1] * (X.ndim - 2)]
    results: tuple[Any, ...] = ()
    if training_mode:
        axes = [0, *range(2, X.ndim)]
        own_mean = T.mean(X, axis=axes)
        difference = T.subtract(X, T.reshape(own_mean, channels))
        own_var = T.mean(T.square(difference), axis=axes)
        results = tuple(
            T.add(T.multiply(old, like(momentum, old)), T.multiply(new, like(1 - momentum, new)))
            for old, new in ((mean, own_mean), (var, own_var))
        )
        mean, var = own_mean, own_var
    parts = [T.reshape(v, channels) for v in (mean, var, scale, B)]
    normal = T.divide(T.subtract(X, parts[0]), T.sqrt(T.add(parts[1], like(epsilon, parts[1]))))
    return T.add(T.multiply(cast(normal, X.dtype.name), parts[2]), parts[3]), *results


@reads("InstanceNormalization")
def _(input: Any, scale: Any, B: Any, *, epsilon: float = 1e-5) -> Any:
    channels = [1, -1, *[1] * (input.ndim - 2)]
    made = _normal(input, list(range(2, input.ndim)), epsilon)[0]
    return T.add(T.multiply(made, T.reshape(scale, channels)), T.reshape(B, channels))


def _normal(x: Any, axes: list[int], epsilon: float) -> tuple[Any, Any, Any]:
    """``x`` less its mean and divided by its deviation, the mean, and 1 / the deviation."""
    mean = T.mean(x, axis=axes, keepdim=True)
    difference = T.subtract(x, mean)
    var = T.mean(T.square(difference), axis=axes, keepdim=True)
    inverse = T.reciprocal(T.sqrt(T.add(var, like(epsilon, var))))
    return T.multiply(difference, inverse), mean, inverse


@reads("LayerNormalization")
def _(
    g: Any, X: Any, Scale: Any, B: Any = None, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Any:
    axis %= X.ndim
    shape = sizes_of(X)[axis:]
    if g.outputs == 1 and all(isinstance(d, int) for d in shape) and list(Scale.shape) == shape:
        weight, bias = (v if v is None or v.ndim == 1 else T.reshape(v, [-1]) for v in (Scale, B))
        return F.layer_norm(X, shape, weight, bias, epsilon)
    made, mean, inverse = _normal(cast(X, dtype_name(stash_type)), list(range(axis, X.ndim)), epsilon)
    made = T.multiply(cast(made, X.dtype.name), Scale)
    return made if B is None else T.add(made, B), mean, inverse


@reads("RMSNormalization")
def _(X: Any, scale: Any, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1) -> Any:
    x = cast(X, dtype_name(stash_type))
    mean = T.mean(T.square(x), axis=list(range(axis % X.ndim, X.ndim)), keepdim=True)
    made = T.multiply(x, T.reciprocal(T.sqrt(T.add(mean, like(epsilon, mean)))))
    return T.multiply(cast(made, scale.dtype.name), scale)


@reads("GroupNormalization")
def _(X: Any, scale: Any, bias: Any, *, num_groups: int, epsilon: float = 1e-5, stash_type: int = 1) -> Any:
    if X.ndim == 4 and list(scale.shape) == [int(X.shape[1])]:
        return group_norm(X, num_groups, epsilon, scale, bias)
    sizes = sizes_of(X)
    groups = T.reshape(X, [sizes[0], num_groups, -1])
    made = _normal(groups, [2], epsilon)[0]
    if list(scale.shape) == [num_groups] and num_groups != int(X.shape[1]):  # until opset 20
        made = T.add(T.multiply(made, T.reshape(scale, [1, -1, 1])), T.reshape(bias, [1, -1, 1]))
        return T.reshape(made, sizes)
    channels = [1, -1, *[1] * (X.ndim - 2)]
    return T.add(T.multiply(T.reshape(made, sizes), T.reshape(scale, channels)), T.reshape(bias, channels))


@reads("MeanVarianceNormalization")
def _(X: Any, *, axes: list[int] | None = None) -> Any:
    along = [0, 2, 3] if axes is None else axes
    mean = T.mean(X, axis=along, keepdim=True)
    difference = T.subtract(X, mean)
    deviation = T.sqrt(T.mean(T.square(difference), axis=along, keepdim=True))
    return T.divide(difference, T.add(deviation, like(1e-9, deviation)))
