"""Which way a convolution of images is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.operators.windows import Pads
from engine.core.place import Array, ArrayModule
from engine.ops.images.conv_plan import Finish, Plan
from engine.ops.images.depthwise_plan import DepthwisePlan


def plan_of(
    xp: ArrayModule,
    shape: Sequence[int],
    weight_shape: Sequence[int],
    strides: Sequence[int],
    pads: Pads,
    dilations: Sequence[int],
    groups: int,
    out: Sequence[int] | None = None,
) -> Plan | _CutPlan:
    """The plan of a convolution, without entries of the filter that meet only padding."""
    each = DepthwisePlan(xp, shape, weight_shape, strides, pads, dilations, groups, out)
    if each.suits():
        return each
    whole = Plan(xp, shape, weight_shape, strides, pads, dilations, groups, out)
    if whole.oh > 1 and whole.ow > 1:
        return whole
    cuts, inner = [], []
    for n, size in enumerate((whole.oh, whole.ow)):
        before, after = pads[n]
        kernel, dilation = weight_shape[2 + n], dilations[n]
        first, last = 0, kernel - 1
        if size == 1:
            first = before // dilation if before % dilation == 0 else 0
            last = min(kernel - 1, (before + shape[2 + n] - 1) // dilation)
        cuts.append(slice(first, last + 1))
        inner.append((before - first * dilation, after - (kernel - 1 - last) * dilation))
    if min(map(min, inner)) < 0 or all(k == slice(0, weight_shape[2 + n]) for n, k in enumerate(cuts)):
        return whole
    cut = (slice(None), slice(None), *cuts)
    small = (*weight_shape[:2], *[k.stop - k.start for k in cuts])
    return _CutPlan(Plan(xp, shape, small, strides, tuple(inner), dilations, groups, out), weight_shape, cut)


class _CutPlan:
    """A convolution with the part of the filter that meets the image."""

    def __init__(self, plan: Plan, weight_shape: Sequence[int], cut: Any) -> None:
        self.plan, self.weight_shape, self.cut = plan, tuple(weight_shape), cut

    def forward(self, x: Array, weight: Array, finish: Finish | None = None) -> Any:
        return self.plan.forward(x, weight[self.cut], finish)

    def gradients(
        self, x: Array | None, weight: Array, g: Array, need_x: bool, need_weight: bool
    ) -> tuple[Any, Any]:
        x_grad, some = self.plan.gradients(x, weight[self.cut], g, need_x, need_weight)
        if not need_weight:
            return x_grad, None
        weight_grad = self.plan.xp.zeros(self.weight_shape, some.dtype)
        weight_grad[self.cut] = some
        return x_grad, weight_grad
