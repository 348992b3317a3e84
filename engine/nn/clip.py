"""Gradient clipping, as the optimizers' ``grad_clip`` takes it."""

from __future__ import annotations

from typing import Any, TypeAlias

from engine.core.errors import ArgumentError, ConditionError
from engine.core.values.dtype import float32, float64
from engine.ops.arrays import creation, shape
from engine.ops.elementwise import arithmetic, extremes, power
from engine.ops.linalg import products as linalg
from engine.ops.reductions import reduce
from engine.tensor.arguments.sizes import number_of

Pairs: TypeAlias = list[tuple[Any, Any]]


class ClipGradBase:
    """Base of the clips: called with pairs of parameter and gradient, gives pairs with new gradients.

    Parameters with ``need_clip=False`` keep their gradients, and gradients that are None are omitted.
    """

    def __call__(self, params_grads: Pairs) -> Pairs:
        pairs = [(p, g) for p, g in params_grads if g is not None]
        chosen = [n for n, (p, _) in enumerate(pairs) if getattr(p, "need_clip", True)]
        for n, clipped in zip(chosen, self._clip([pairs[n][1] for n in chosen]), strict=True):
            pairs[n] = (pairs[n][0], clipped)
        return pairs

    def _clip(self, grads: list[Any]) -> list[Any]:
        raise ArgumentError(
            f"{type(self).__name__}: is abstract; use ClipGradByValue, ClipGradByNorm or ClipGradByGlobalNorm"
        )


class ClipGradByValue(ClipGradBase):
    """Each element limited to [min, max]; min is -max by default."""

    def __init__(self, max: float, min: float | None = None) -> None:
        if min is None and not max > 0:
            raise ConditionError(
                f"ClipGradByValue: max must be positive where min is omitted: got {max}; give both"
            )
        self.max = float(number_of(max))
        self.min = -self.max if min is None else float(number_of(min))

    def _clip(self, grads: list[Any]) -> list[Any]:
        if not self.min <= self.max:
            raise ArgumentError(
                f"ClipGradByValue: min {self.min} is above max {self.max}, or one is NaN; give min <= max"
            ).set_kind("InvalidArgument")
        return [extremes.clip(g, min=self.min, max=self.max) for g in grads]

    def __str__(self) -> str:
        return f"Clip Gradient By Value, min = {self.min:f}, max={self.max:f}"


class ClipGradByNorm(ClipGradBase):
    """Each gradient scaled down to the Euclidean norm ``clip_norm`` where its own is larger."""

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = float(number_of(clip_norm))

    def _clip(self, grads: list[Any]) -> list[Any]:
        if grads and not self.clip_norm > 0:
            raise ArgumentError(
                f"ClipGradByNorm: clip_norm must be above 0: got {self.clip_norm}; pass e.g. 1.0"
            ).set_kind("InvalidArgument")
        return [arithmetic.multiply(g, _share([linalg.squared_l2_norm(g)], self.clip_norm)) for g in grads]

    def __str__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"


class ClipGradByGlobalNorm(ClipGradBase):
    """All gradients scaled down by one factor where their common norm is larger than ``clip_norm``."""

    def __init__(
        self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False
    ) -> None:
        if not isinstance(auto_skip_clip, bool):
            raise ArgumentError(
                f"ClipGradByGlobalNorm: auto_skip_clip is True or False: got {auto_skip_clip!r}"
            )
        self.clip_norm = float(number_of(clip_norm))
        self.group_name = group_name
        self.auto_skip_clip = auto_skip_clip

    def _clip(self, grads: list[Any]) -> list[Any]:
        if not grads:
            return []
        common = float64 if any(g.dtype is float64 for g in grads) else float32
        squares = [linalg.squared_l2_norm(_as(g, common)) for g in grads]
        factor = _share(squares, self.clip_norm)
        return [arithmetic.multiply(g, _as(factor, g.dtype)) for g in grads]

    def __str__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"


def _as(value: Any, dtype: Any) -> Any:
    return value if value.dtype is dtype else arithmetic.cast(value, out_dtype=dtype)


def _share(squares: list[Any], limit: float) -> Any:
    """``limit / max(norm, limit)`` for sums of squares [1]: 1 where nothing is to be clipped."""
    total = reduce.sum(shape.concat(squares, axis=0), axis=[0])
    top = creation.fill_like(total, value=limit)
    return arithmetic.divide(top, extremes.maximum(power.sqrt(total), top))
