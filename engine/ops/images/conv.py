"""Convolutions of images and volumes, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from engine.core.attached import Attached
from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.infer import require_floating, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.operators.windows import AXES, channel_first, channel_last, is_last, layout, pads_of
from engine.core.place import Array, ArrayModule
from engine.core.values.spec import Spec
from engine.ops.images.conv_choice import plan_of
from engine.ops.images.conv_plan import DeepPlan, Finish


def require_images(
    where: str,
    rank: int,
    x: Spec,
    weight: Spec,
    strides: Sequence[int],
    dilations: Sequence[int],
    data_format: str,
    first: str,
) -> bool:
    """Raise where ranks or dtypes of images and filters do not fit; True where the channels come last."""
    last = is_last(where, data_format, rank)
    if x.ndim != rank + 2 or weight.ndim != rank + 2:
        raise ShapeError(
            f"{where}: x is {x} and weight {weight}: both need {rank + 2} dimensions, x {layout(rank, last)} "
            f"and weight [{first}, {', '.join(AXES[rank])}]; unsqueeze a single sample"
        )
    require_floating(where, x=x)
    require_same_dtype(where, x=x, weight=weight)
    if len(strides) != rank or len(dilations) != rank or min(*strides, *dilations) < 1:
        raise ArgumentError(
            f"{where}: strides {list(strides)} and dilations {list(dilations)} are {rank} positive numbers "
            "each"
        )
    return last


def _infer(where: str, rank: int) -> Any:
    """Inference of a convolution of images with ``rank`` dimensions."""

    def infer(
        x: Spec,
        weight: Spec,
        *,
        strides: Any,
        paddings: Any,
        padding_algorithm: str,
        dilations: Any,
        groups: int,
        data_format: str,
    ) -> Spec:
        last = require_images(
            where, rank, x, weight, strides, dilations, data_format, "out_channels, in_channels / groups"
        )
        channels = x.shape[-1] if last else x.shape[1]
        filters, taken = weight.shape[:2]
        if groups < 1 or (filters >= 0 and filters % groups):
            raise ShapeError(
                f"{where}: weight is {weight}: {filters} filters do not divide into groups={groups}; use a "
                "divisor"
            )
        if -1 not in (channels, taken) and channels != taken * groups:
            raise ShapeError(
                f"{where}: x is {x} and weight {weight}, groups={groups}: x has {channels} channels, but the "
                f"filters take {taken * groups}; make in_channels of the layer {channels}, or check "
                f"data_format={data_format!r}"
            )
        size = x.shape[1:-1] if last else x.shape[2:]
        kernel = weight.shape[2:]
        known = [max(d, 1) for d in size], [max(d, 1) for d in kernel]
        pads = pads_of(where, *known, strides, paddings, padding_algorithm)
        if min(map(min, pads)) < 0:
            raise ArgumentError(f"{where}: paddings must not be negative: got {list(paddings)}")
        out = []
        for n in range(rank):
            if -1 in (size[n], kernel[n]):
                out.append(-1)
            elif padding_algorithm == "SAME":
                out.append(-(-size[n] // strides[n]))
            else:
                span, have = dilations[n] * (kernel[n] - 1) + 1, size[n] + sum(pads[n])
                if kernel[n] < 1 or have < span:
                    raise ShapeError(
                        f"{where}: x is {x} and weight {weight}: {AXES[rank][n]} {size[n]} with padding "
                        f"{pads[n]} is {have}, smaller than the filter's {span}; use more padding or a "
                        "smaller filter"
                    )
                out.append((have - span) // strides[n] + 1)
        return Spec((x.shape[0], *out, filters) if last else (x.shape[0], filters, *out), x.dtype)

    return infer


@lru_cache(maxsize=1024)
def _cached_plan(
    plan: Any,
    where: str,
    xp: Any,
    shape: Any,
    weight_shape: Any,
    strides: Any,
    paddings: Any,
    algorithm: str,
    dilations: Any,
    groups: int,
) -> Any:
    pads = pads_of(where, shape[2:], weight_shape[2:], strides, paddings, algorithm)
    if algorithm == "SAME":
        dilations = (1,) * len(strides)  # as in Paddle
    return plan(xp, shape, weight_shape, strides, pads, dilations, groups)


def _planned(
    plan: Any,
    where: str,
    xp: Any,
    x: Any,
    weight: Any,
    strides: Any,
    paddings: Any,
    algorithm: str,
    dilations: Any,
    groups: int,
) -> Any:
    """The plan of one convolution of x [N, C, ...]; the plans used last are cached."""
    if x.dtype != weight.dtype or x.dtype.kind in "iub":
        raise TypeError("dtypes do not fit")  # inference explains the error
    return _cached_plan(
        plan,
        where,
        xp,
        x.shape,
        weight.shape,
        tuple(strides),
        tuple(paddings),
        algorithm,
        tuple(dilations),
        groups,
    )


def convolved(
    plan: Callable[..., Any],
    where: str,
    xp: ArrayModule,
    x: Array,
    weight: Array,
    finish: Finish | None,
    strides: Sequence[int],
    paddings: Sequence[int],
    algorithm: str,
    dilations: Sequence[int],
    groups: int,
    data_format: str,
) -> Any:
    """A convolution by ``plan``; ``finish`` changes parts of the result in place, see ``Plan.forward``."""
    last = data_format[-1] == "C"
    if last:
        x = channel_first(x)
    made = _planned(plan, where, xp, x, weight, strides, paddings, algorithm, dilations, groups)
    result = made.forward(x, weight, finish)
    return channel_last(result) if last else result


def _infer_grad(x: Spec, weight: Spec, g_in: Spec, *, need_x: bool, need_weight: bool, **_: Any) -> Any:
    return (x if need_x else None), (weight if need_weight else None)


GRADIENT_SLOTS = {
    "x": "Input",
    "weight": "Filter",
    "g_in": "Output@GRAD",
    "x_grad": "Input@GRAD",
    "weight_grad": "Filter@GRAD",
}


def _define(where: str, rank: int, plan: Any, first: str) -> Any:
    """The operator ``where`` and the one of its gradients, computed by ``plan``."""
    ones, zeros = (1,) * rank, (0,) * rank

    @op(where, infer=_infer(where, rank), outputs=("output",), slots={"x": "Input", "weight": "Filter"})
    def convolution(
        xp,
        x,
        weight,
        *,
        strides=ones,
        paddings=zeros,
        padding_algorithm="EXPLICIT",
        dilations=ones,
        groups=1,
        data_format=first,
    ):
        """Cross-correlation of x [N, C, ...] with weight [filters, C / groups, ...]."""
        return convolved(
            plan,
            where,
            xp,
            x,
            weight,
            None,
            strides,
            paddings,
            padding_algorithm,
            dilations,
            groups,
            data_format,
        )

    @op(f"{where}_grad", infer=_infer_grad, outputs=("x_grad", "weight_grad"), slots=GRADIENT_SLOTS)
    def gradients(
        xp,
        x,
        weight,
        g_in,
        *,
        strides=ones,
        paddings=zeros,
        padding_algorithm="EXPLICIT",
        dilations=ones,
        groups=1,
        data_format=first,
        need_x=True,
        need_weight=True,
    ):
        """The gradients of a convolution's image and filters, each only if needed (else None)."""
        last = data_format[-1] == "C"
        if last:
            x, g_in = channel_first(x), channel_first(g_in)
        made = _planned(plan, where, xp, x, weight, strides, paddings, padding_algorithm, dilations, groups)
        x_grad, weight_grad = made.gradients(x, weight, g_in, need_x, need_weight)
        return channel_last(x_grad) if last and need_x else x_grad, weight_grad

    @convolution.grad_all("x", "weight")
    def rule(g: Any, x: Any, weight: Any, wanted: frozenset[str], **attrs: Any) -> Any:
        return gradients(x, weight, g, need_x="x" in wanted, need_weight="weight" in wanted, **attrs)

    @gradients.grad_all("x", "weight", "g_in")
    def second(
        g_x_grad: Any,
        g_weight_grad: Any,
        x: Any,
        weight: Any,
        g_in: Any,
        wanted: frozenset[str],
        strides: Any,
        paddings: Any,
        padding_algorithm: str,
        dilations: Any,
        groups: int,
        data_format: str,
    ) -> Any:
        where = {
            "strides": strides,
            "paddings": paddings,
            "padding_algorithm": padding_algorithm,
            "dilations": dilations,
            "groups": groups,
            "data_format": data_format,
        }
        return bilinear(convolution, gradients, where, wanted, (x, weight, g_in), (g_x_grad, g_weight_grad))

    return convolution, gradients


def bilinear(
    forward: Callable[..., Any],
    gradients: Callable[..., Any],
    attrs: dict[str, Any],
    wanted: frozenset[str],
    values: tuple[Attached, Attached, Attached],
    grads: tuple[Attached | None, Attached | None],
) -> tuple[Any, Any, Any]:
    """Gradients of x, weight and g_in of an operator that computes the gradients of a bilinear one.

    The operator is linear in each of x, weight and g_in, so second derivatives use the same operators.
    """
    x, weight, g_in = values
    g_x_grad, g_weight_grad = grads
    to_x = to_weight = to_g = None
    if g_x_grad is not None:
        if "weight" in wanted:
            _, to_weight = gradients(g_x_grad, weight, g_in, need_x=False, need_weight=True, **attrs)
        if "g_in" in wanted:
            to_g = forward(g_x_grad, weight, **attrs)
    if g_weight_grad is not None:
        if "x" in wanted:
            to_x, _ = gradients(x, g_weight_grad, g_in, need_x=True, need_weight=False, **attrs)
        if "g_in" in wanted:
            through = forward(x, g_weight_grad, **attrs)
            to_g = through if to_g is None else to_g + through
    return to_x, to_weight, to_g


conv2d, conv2d_grad = _define("conv2d", 2, plan_of, "NCHW")
conv3d, conv3d_grad = _define("conv3d", 3, DeepPlan, "NCDHW")
# Paddle's name for a convolution with one group per channel; the computation is the same.
depthwise_conv2d, depthwise_conv2d_grad = _define("depthwise_conv2d", 2, plan_of, "NCHW")
