"""Layer normalization and its gradients.

``y = (x - mean) / sqrt(variance + epsilon) * scale + bias``, with one mean and variance for each sample.
"""

from __future__ import annotations

from typing import Any

from engine.core.errors import ShapeError
from engine.core.operators.infer import normal_axis, require_floating, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.place import Array
from engine.core.values.spec import Spec
from engine.kernels.cpu.sums import summed
from engine.ops.arrays import shape
from engine.ops.normalization import second_order
from engine.ops.reductions import reduce


def _infer_layer_norm(
    x: Spec,
    scale: Spec | None,
    bias: Spec | None,
    *,
    epsilon: float = 1e-5,
    begin_norm_axis: int = 1,
) -> tuple[Spec, Spec, Spec]:
    require_floating("layer_norm", x=x)
    begin = normal_axis("layer_norm", begin_norm_axis, x.ndim)
    size = Spec(x.shape[begin:], x.dtype).size
    for name, spec in (("scale", scale), ("bias", bias)):
        if spec is not None:
            require_same_dtype("layer_norm", x=x, **{name: spec})
            if spec.ndim != 1 or (-1 not in (size, spec.shape[0]) and spec.shape[0] != size):
                raise ShapeError(
                    f"layer_norm: x is {x}, normalised from axis {begin} on, so {name} needs shape "
                    f"[{size}]: got {spec}; make normalized_shape of the layer {list(x.shape[begin:])}"
                )
    each = x.with_shape(x.shape[:begin])
    return x, each, each


def require_like(x: Array, *parts: Array | None) -> None:
    """Raise ValueError for parts of another dtype or rank, which NumPy would promote or broadcast."""
    if any(p is not None and (p.dtype != x.dtype or p.ndim != 1) for p in parts):
        raise ValueError("dtypes do not fit")  # inference explains the error


@op("layer_norm", infer=_infer_layer_norm, outputs=("y", "mean", "variance"))
def layer_norm(xp, x, scale=None, bias=None, *, epsilon=1e-5, begin_norm_axis=1):
    """Normalised over the axes from ``begin_norm_axis`` on; scale and bias [their size] are flat."""
    begin = normal_axis("layer_norm", begin_norm_axis, x.ndim)
    axes, trailing = tuple(range(begin, x.ndim)), x.shape[begin:]
    require_like(x, scale, bias)
    count = x.dtype.type(reduce.prod_of(trailing))
    mean = summed(xp, x, axes, True) / count
    y = x - mean
    variance = summed(xp, y * y, axes, True) / count
    y *= 1 / xp.sqrt(variance + x.dtype.type(epsilon))
    if scale is not None:
        y *= scale.reshape(trailing)
    if bias is not None:
        y += bias.reshape(trailing)
    return y, mean.reshape(x.shape[:begin]), variance.reshape(x.shape[:begin])


def _infer_layer_norm_grad(
    x: Spec, g_in: Spec, mean: Spec, variance: Spec, scale: Spec | None, *, begin_norm_axis: int = 1, **_: Any
) -> Any:
    begin = normal_axis("layer_norm", begin_norm_axis, x.ndim)
    return x, scale, x.with_shape((Spec(x.shape[begin:], x.dtype).size,))


@op(
    "layer_norm_grad",
    infer=_infer_layer_norm_grad,
    outputs=("x_grad", "scale_grad", "bias_grad"),
    slots={"g_in": "Y@GRAD", "x_grad": "X@GRAD", "scale_grad": "Scale@GRAD", "bias_grad": "Bias@GRAD"},
)
def layer_norm_grad(xp, x, g_in, mean, variance, scale=None, *, epsilon=1e-5, begin_norm_axis=1):
    """The gradients of layer_norm's x, scale (None without one) and bias."""
    begin = normal_axis("layer_norm", begin_norm_axis, x.ndim)
    axes, leading, trailing = tuple(range(begin, x.ndim)), tuple(range(begin)), x.shape[begin:]
    count = x.dtype.type(reduce.prod_of(trailing))
    across = x.shape[:begin] + (1,) * len(trailing)
    inverse = (1 / xp.sqrt(variance + x.dtype.type(epsilon))).reshape(across)
    normal = x - mean.reshape(across)
    normal *= inverse
    bias_grad = summed(xp, g_in, leading).reshape(-1) if leading else g_in.reshape(-1).copy()
    scale_grad = None
    if scale is not None:
        both = g_in * normal
        scale_grad = (summed(xp, both, leading) if leading else both).reshape(-1)
    g = g_in if scale is None else g_in * scale.reshape(trailing)
    normal *= summed(xp, g * normal, axes, True) / count
    normal += summed(xp, g, axes, True) / count
    x_grad = xp.subtract(g, normal, out=normal)
    x_grad *= inverse
    return x_grad, scale_grad, bias_grad


@layer_norm.grad_all("x", "scale", "bias")
def _layer_norm_rule(g: Any, x: Any, scale: Any, mean: Any, variance: Any, **attrs: Any) -> Any:
    return layer_norm_grad(x, g, mean, variance, scale, **attrs)


@layer_norm_grad.grad_all("x", "g_in", "scale")
def _layer_norm_grad_rule(
    g_x_grad: Any,
    g_scale_grad: Any,
    g_bias_grad: Any,
    x: Any,
    g_in: Any,
    scale: Any,
    epsilon: float,
    begin_norm_axis: int,
) -> Any:
    begin = normal_axis("layer_norm", begin_norm_axis, x.ndim)
    across = [1] * begin + list(x.shape[begin:])

    def spread(value: Any) -> Any:
        return None if value is None else shape.reshape(value, shape=across)

    to_x, to_scale, to_g = second_order.second_order(
        x,
        spread(scale),
        g_in,
        (g_x_grad, spread(g_scale_grad), spread(g_bias_grad)),
        list(range(begin, x.ndim)),
        epsilon,
        None,
    )
    if to_scale is not None:
        to_scale = shape.reshape(
            reduce.sum(to_scale, axis=list(range(begin))) if begin else to_scale, shape=[-1]
        )
    return to_x, to_g, to_scale
