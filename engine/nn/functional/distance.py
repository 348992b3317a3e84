"""Distances between vectors, with Paddle's signatures."""

from __future__ import annotations

from typing import Any

from engine.ops.elementwise import arithmetic
from engine.ops.reductions import vector_norm
from engine.program.build.calls import takes_name
from engine.tensor.arguments.factories import require_one_dtype
from engine.tensor.tensor_like import AnyTensor


@takes_name
def pairwise_distance(
    x: AnyTensor,
    y: AnyTensor,
    p: float = 2.0,
    epsilon: float = 1e-6,
    keepdim: bool = False,
    name: str | None = None,
) -> Any:
    """The p-norm of x - y + epsilon along the last dimension; p may be inf, -inf or 0.

    Differs from Paddle: where the difference is exactly 0 the gradient is 0, not NaN.
    """
    require_one_dtype("pairwise_distance", x=x, y=y)
    difference = arithmetic.subtract(x, y)
    if epsilon != 0.0:
        difference = arithmetic.scale(difference, bias=float(epsilon))
    return vector_norm.p_norm(difference, porder=float(p), axis=-1, keepdim=bool(keepdim))
