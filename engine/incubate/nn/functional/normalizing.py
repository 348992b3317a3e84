"""Normalization together with bias, dropout and the sum with a residual."""

from __future__ import annotations

from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, ConditionError, UnsupportedError
from engine.nn import functional
from engine.ops.normalization import layer_norm as layer_norm_ops
from engine.program.build.calls import takes_name
from engine.tensor import manipulation, math
from engine.tensor.elementwise import exponential
from engine.tensor.reductions import reduction
from engine.tensor.tensor_like import AnyTensor

MODES = ("upscale_in_train", "downscale_in_infer")


def require_mode(where: str, mode: str) -> None:
    """Raise ArgumentError for another way of dropout."""
    if mode not in MODES:
        raise ArgumentError(
            f"{where}: mode argument should be 'downscale_in_infer' or 'upscale_in_train': got {mode!r}"
        )


def last_normalized(
    where: str, x: AnyTensor, scale: AnyTensor | None, bias: AnyTensor | None, epsilon: float
) -> Any:
    """``x`` normalized over its last dimension, with weights [size] where they are given."""
    for name, value in (("ln_scale", scale), ("ln_bias", bias)):
        if value is not None and (value.ndim != 1 or value.shape[0] != x.shape[-1]):
            raise ConditionError(
                f"{where}: {name} has the size of the last dimension of x, {x.shape[-1]}: got "
                f"{list(value.shape)}"
            )
    return functional.layer_norm(x, [x.shape[-1]], scale, bias, epsilon)


@takes_name
def fused_dropout_add(
    x: AnyTensor,
    y: AnyTensor,
    p: float | AnyTensor = 0.5,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Any:
    """dropout(x) + y."""
    if isinstance(p, (int, float)) and not 0 <= p <= 1:
        raise ArgumentError(f"fused_dropout_add: p argument should between 0 and 1: got {p}")
    require_mode("fused_dropout_add", mode)
    return math.add(functional.dropout(x, p, training=training, mode=mode), y)


@takes_name
def fused_bias_dropout_residual_layer_norm(
    x: AnyTensor,
    residual: AnyTensor,
    bias: AnyTensor | None = None,
    ln_scale: AnyTensor | None = None,
    ln_bias: AnyTensor | None = None,
    dropout_rate: float = 0.5,
    ln_epsilon: float = 1e-5,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Any:
    """layer_norm(residual + dropout(bias + x)), all over the last dimension."""
    where = "fused_bias_dropout_residual_layer_norm"
    require_mode(where, mode)
    x = x if bias is None else math.add(x, bias)
    total = fused_dropout_add(x, residual, dropout_rate, training, mode)
    return last_normalized(where, total, ln_scale, ln_bias, ln_epsilon)


def _total(x: Any, bias: Any, residual: Any, alpha: float = 1.0) -> Any:
    x = x if bias is None else math.add(x, bias)
    return x if residual is None else math.add(x, residual if alpha == 1.0 else math.scale(residual, alpha))


def _require_plain(where: str, quant_scale: float) -> None:
    if quant_scale > 0:
        raise UnsupportedError(
            f"{where}: quantization of the result is not supported: got quant_scale {quant_scale}; "
            "leave it at -1"
        )


def fused_layer_norm(
    x: AnyTensor,
    norm_weight: AnyTensor | None,
    norm_bias: AnyTensor | None,
    epsilon: float,
    residual_alpha: float = 1.0,
    begin_norm_axis: int = 1,
    bias: AnyTensor | None = None,
    residual: AnyTensor | None = None,
    quant_scale: float = -1,
    quant_round_type: float = 0,
    quant_max_bound: float = 0,
    quant_min_bound: float = 0,
) -> Any:
    """layer_norm(bias + residual_alpha * residual + x) over the dimensions from ``begin_norm_axis`` on.

    Without weight and bias of the norm, the sum alone.

    Returns:
        eagerly (result, sum, mean, variance), as Paddle's operator gives them: the sum is None without a
        residual, mean and variance are None where nothing is normalized. In a Program the result, or
        (result, sum) with a residual.
    """
    _require_plain("fused_layer_norm", quant_scale)
    total = _total(x, bias, residual, residual_alpha)
    mean = variance = None
    out = total
    if norm_weight is not None or norm_bias is not None:
        out, mean, variance = layer_norm_ops.layer_norm(
            total, norm_weight, norm_bias, epsilon=epsilon, begin_norm_axis=begin_norm_axis
        )
    residual_out = None if residual is None else total
    if modes.is_static():
        return out if residual is None else (out, residual_out)
    return out, residual_out, mean, variance


def fused_rms_norm(
    x: AnyTensor,
    norm_weight: AnyTensor | None,
    norm_bias: AnyTensor | None,
    epsilon: float,
    begin_norm_axis: int,
    bias: AnyTensor | None = None,
    residual: AnyTensor | None = None,
    quant_scale: float = -1,
    quant_round_type: float = 0,
    quant_max_bound: float = 0,
    quant_min_bound: float = 0,
) -> Any:
    """The sum of x, bias and residual divided by its root mean square from ``begin_norm_axis`` on.

    Zhang and Sennrich, Root mean square layer normalization (2019): times ``norm_weight`` plus
    ``norm_bias``, which are flat.

    Returns:
        eagerly (result, sum), as Paddle's operator gives them, the sum None without a residual; in a
        Program the result, or both with a residual.
    """
    _require_plain("fused_rms_norm", quant_scale)
    total = _total(x, bias, residual)
    axes = list(range(begin_norm_axis % x.ndim, x.ndim))
    square = reduction.mean(math.square(total), axes, keepdim=True)
    out = math.multiply(total, exponential.rsqrt(square + epsilon))
    sizes = [int(x.shape[axis]) for axis in axes]
    for weight, combined in ((norm_weight, math.multiply), (norm_bias, math.add)):
        if weight is not None:
            out = combined(out, manipulation.reshape(weight, sizes))
    residual_out = None if residual is None else total
    if modes.is_static():
        return out if residual is None else (out, residual_out)
    return out, residual_out
