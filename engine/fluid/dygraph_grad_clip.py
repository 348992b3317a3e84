"""``fluid.dygraph_grad_clip``: what ``minimize(grad_clip=...)`` takes in a guard."""

from __future__ import annotations

from engine.core.errors import ArgumentError
from engine.nn.clip import ClipGradBase, ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue

__all__ = ["GradClipBase", "GradClipByGlobalNorm", "GradClipByNorm", "GradClipByValue"]

GradClipBase = ClipGradBase
GradClipByNorm = ClipGradByNorm


class GradClipByValue(ClipGradByValue):
    """Each element limited to [min_value, max_value]; with one of them only, to the same on both sides."""

    def __init__(self, min_value: float | None, max_value: float | None = None) -> None:
        if min_value is None and max_value is None:
            raise ArgumentError("GradClipByValue: no limit is given; pass min_value and max_value")
        limit = abs(float(min_value)) if max_value is None and min_value is not None else max_value
        assert limit is not None
        low = -abs(float(limit)) if min_value is None or max_value is None else float(min_value)
        super().__init__(float(limit), low)


class GradClipByGlobalNorm(ClipGradByGlobalNorm):
    """All gradients scaled down by one factor where their common norm is larger than ``max_global_norm``."""

    def __init__(self, max_global_norm: float) -> None:
        super().__init__(max_global_norm)
