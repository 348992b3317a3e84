"""A convolution with its bias and activation as one operator, which a pass fuses from the three."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.infer import require_same_dtype
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.ops.activations.piecewise import relu_grad
from engine.ops.arrays import shape
from engine.ops.elementwise.mask import rectified
from engine.ops.images import conv
from engine.ops.images.conv_choice import plan_of
from engine.ops.images.conv_plan import DeepPlan
from engine.ops.reductions import reduce

ACTIVATIONS = ("", "relu")


def _infer(plain: Any) -> Any:
    def infer(x: Spec, weight: Spec, bias: Spec, *, activation: str, **where: Any) -> Spec:
        name = f"{plain.opdef.name}_fusion"
        if activation not in ACTIVATIONS:
            raise ArgumentError(f"{name}: activation {activation!r} is not one of {list(ACTIVATIONS)}")
        (out,) = plain.opdef.infer_specs([x, weight], where)
        require_same_dtype(name, x=x, bias=bias)
        if bias.ndim != 1 or (
            -1 not in (bias.shape[0], weight.shape[0]) and bias.shape[0] != weight.shape[0]
        ):
            raise ShapeError(f"{name}: bias is {bias}: it needs one element for each filter of {weight}")
        return out  # type: ignore[no-any-return]

    return infer


def _define(plain: Any, gradients: Any, rank: int, plan: Any, first: str) -> Any:
    """``plain``, a convolution by ``plan``, with a bias for each filter and an activation."""
    ones, zeros = (1,) * rank, (0,) * rank
    name = plain.opdef.name

    @op(
        f"{plain.opdef.name}_fusion",
        infer=_infer(plain),
        outputs=("output",),
        slots={"x": "Input", "weight": "Filter", "bias": "Bias"},
    )
    def convolution(
        xp,
        x,
        weight,
        bias,
        *,
        activation="",
        strides=ones,
        paddings=zeros,
        padding_algorithm="EXPLICIT",
        dilations=ones,
        groups=1,
        data_format=first,
    ):
        """activation(convolution + bias), written into the convolution's own memory."""
        column = bias.reshape(-1, 1)

        def finish(part: Any, filters: slice) -> None:
            part += column[filters]
            if activation:
                rectified(xp, part, part)

        return conv.convolved(
            plan,
            name,
            xp,
            x,
            weight,
            finish,
            strides,
            paddings,
            padding_algorithm,
            dilations,
            groups,
            data_format,
        )

    @convolution.grad_all("x", "weight", "bias")
    def rule(
        g: Any,
        x: Any,
        weight: Any,
        out: Any,
        wanted: frozenset[str],
        activation: str,
        data_format: str,
        **attrs: Any,
    ) -> Any:
        if activation:
            g = relu_grad(g, out)
        x_grad = weight_grad = bias_grad = None
        if "bias" in wanted:
            last = data_format[-1] == "C"
            channel = rank + 1 if last else 1
            # Over the axes that the gradient of the sum alone adds up over, for the same bits.
            axes = [n for n in range(rank + 2) if n != channel and (last or g.shape[n] != 1)]
            if axes:
                g_sum = reduce.sum(g, axis=axes, keepdim=False, reduce_all=False)
            bias_grad = shape.reshape(g_sum if axes else g, shape=[-1])
        if wanted - {"bias"}:
            need = {"need_x": "x" in wanted, "need_weight": "weight" in wanted}
            x_grad, weight_grad = gradients(x, weight, g, data_format=data_format, **need, **attrs)
        return x_grad, weight_grad, bias_grad

    return convolution


conv2d_fusion = _define(conv.conv2d, conv.conv2d_grad, 2, plan_of, "NCHW")
conv3d_fusion = _define(conv.conv3d, conv.conv3d_grad, 3, DeepPlan, "NCDHW")
depthwise_conv2d_fusion = _define(conv.depthwise_conv2d, conv.depthwise_conv2d_grad, 2, plan_of, "NCHW")

# The fused operator by the name of the convolution.
FUSED = {
    plain.opdef.name: fused
    for plain, fused in (
        (conv.conv2d, conv2d_fusion),
        (conv.conv3d, conv3d_fusion),
        (conv.depthwise_conv2d, depthwise_conv2d_fusion),
    )
}
