"""The operators of convolution on a GPU: from their attributes to ``convolution.py``'s sizes.

Unserved arguments (integers, indices beyond 32 bits, dtypes that differ) go to the default kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from engine.core.operators.opdef import OPS
from engine.core.operators.windows import pads_of
from engine.core.values.spec import Spec
from engine.kernels.cupy.defaults import handed_over
from engine.kernels.cupy.images import convolution, cudnn
from engine.kernels.cupy.images.convolution import Convolution
from engine.kernels.cupy.images.strides import three
from engine.kernels.cupy.source import FLOATING

# Attributes of gradients and fused operators that the convolution itself lacks.
_OTHERS = ("need_x", "need_weight", "activation")


def _sizes(name: str, x: Any, weight: Any, attrs: dict[str, Any], *more: Any) -> Convolution | None:
    """The sizes of the convolution ``name``; None where the kernels do not serve it."""
    if x.dtype.name not in FLOATING or any(x.dtype != each.dtype for each in (weight, *more)):
        return None
    given = tuple(
        [(key, tuple(v) if isinstance(v, list) else v) for key, v in attrs.items() if key not in _OTHERS]
    )
    return _found(name, x.shape, weight.shape, given)


@lru_cache(maxsize=1024)
def _found(
    name: str, x_shape: tuple[int, ...], weight_shape: tuple[int, ...], given: tuple[tuple[str, Any], ...]
) -> Convolution | None:
    opdef = OPS[name]
    attrs = opdef.with_defaults(dict(given))
    (out,) = opdef.infer_specs([Spec(x_shape, "float32"), Spec(weight_shape, "float32")], attrs)
    last = attrs["data_format"][-1] == "C"
    inner = slice(1, -1) if last else slice(2, None)
    size, kernel, strides = x_shape[inner], weight_shape[2:], attrs["strides"]
    algorithm = attrs["padding_algorithm"]
    pads = pads_of(name, size, kernel, strides, attrs["paddings"], algorithm)
    dilations = (1,) * len(size) if algorithm == "SAME" else attrs["dilations"]  # as in Paddle
    image, made = size, out.shape[inner]
    if name.endswith("_transpose"):
        image, made = made, image
    if 0 in weight_shape:
        return None
    found = Convolution(
        samples=x_shape[0],
        channels=weight_shape[1] * attrs["groups"],
        image=three(image, 1),
        filters=weight_shape[0],
        taken=weight_shape[1],
        kernel=three(kernel, 1),
        made=three(made, 1),
        strides=three(strides, 1),
        pads=three([before for before, _ in pads], 0),
        dilations=three(dilations, 1),
        groups=attrs["groups"],
        rank=len(size),
        last=last,
    )
    return found if convolution.serves(found) else None


def _best(theirs: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    """cuDNN where it is installed and serves a convolution, else the engine's own kernels."""

    def compute(sizes: Convolution, first: Any, second: Any) -> Any:
        made = theirs(sizes, first, second)
        return ours(sizes, first, second) if made is None else made

    return compute


_forward = _best(cudnn.forward, convolution.forward)
_input_gradient = _best(cudnn.input_gradient, convolution.input_gradient)
_filter_gradient = _best(cudnn.filter_gradient, convolution.filter_gradient)


def _plain(name: str) -> Callable[..., Any]:
    """The operator ``name``: a convolution, or a transposed one, which is the gradient of an image."""
    compute = _input_gradient if name.endswith("_transpose") else _forward

    def kernel(xp: Any, x: Any, weight: Any, **attrs: Any) -> Any:
        sizes = _sizes(name, x, weight, attrs)
        if sizes is None:
            return handed_over(name, xp, x, weight, **attrs)
        return compute(sizes, x, weight)

    return kernel


def _fused(name: str) -> Callable[..., Any]:
    """The convolution ``name`` with bias and activation."""

    def kernel(xp: Any, x: Any, weight: Any, bias: Any, **attrs: Any) -> Any:
        sizes = _sizes(name, x, weight, attrs, bias)
        if sizes is None:
            return handed_over(f"{name}_fusion", xp, x, weight, bias, **attrs)
        return convolution.forward(sizes, x, weight, bias, attrs.get("activation") == "relu")

    return kernel


def _gradients(name: str) -> Callable[..., Any]:
    """The gradients of the operator ``name``, each only if needed (else None)."""
    transposed = name.endswith("_transpose")
    to_x = _forward if transposed else _input_gradient

    def kernel(xp: Any, x: Any, weight: Any, g_in: Any, **attrs: Any) -> Any:
        sizes = _sizes(name, x, weight, attrs, g_in)
        if sizes is None:
            return handed_over(f"{name}_grad", xp, x, weight, g_in, **attrs)
        image, result = (g_in, x) if transposed else (x, g_in)
        return (
            to_x(sizes, g_in, weight) if attrs.get("need_x", True) else None,
            _filter_gradient(sizes, image, result) if attrs.get("need_weight", True) else None,
        )

    return kernel


conv2d, conv2d_grad, conv2d_fusion = _plain("conv2d"), _gradients("conv2d"), _fused("conv2d")
conv3d, conv3d_grad, conv3d_fusion = _plain("conv3d"), _gradients("conv3d"), _fused("conv3d")
depthwise_conv2d = _plain("depthwise_conv2d")
depthwise_conv2d_grad = _gradients("depthwise_conv2d")
depthwise_conv2d_fusion = _fused("depthwise_conv2d")
conv2d_transpose = _plain("conv2d_transpose")
conv2d_transpose_grad = _gradients("conv2d_transpose")
conv3d_transpose = _plain("conv3d_transpose")
conv3d_transpose_grad = _gradients("conv3d_transpose")
depthwise_conv2d_transpose = _plain("depthwise_conv2d_transpose")
depthwise_conv2d_transpose_grad = _gradients("depthwise_conv2d_transpose")
