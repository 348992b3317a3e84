"""The p-norm of vectors along an axis."""

from __future__ import annotations

import math as numbers
from typing import Any

from engine.core.errors import ShapeError
from engine.core.operators.infer import normal_axis, reduced_shape, require_floating
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.ops.elementwise import arithmetic
from engine.ops.reductions import reduce


def _infer(x: Spec, *, porder: float, axis: int, keepdim: bool, asvector: bool, **_: Any) -> Spec:
    require_floating("p_norm", x=x)
    axes = range(x.ndim) if asvector else [normal_axis("p_norm", axis, x.ndim)] if x.ndim else []
    if numbers.isinf(porder) and 0 in [x.shape[n] for n in axes]:
        raise ShapeError(f"p_norm: x is empty, shape {list(x.shape)}; the largest needs an element")
    return x.with_shape(reduced_shape("p_norm", x.shape, list(axes), keepdim, asvector))


@op("p_norm", infer=_infer)
def p_norm(xp, x, *, porder=2.0, axis=-1, epsilon=1e-12, keepdim=False, asvector=False):
    """(sum of |x|**p) ** (1/p) along an axis (over everything with ``asvector``).

    p may be inf (largest), -inf (smallest) and 0 (how many are not 0). ``epsilon`` is Paddle's, accepted for
    printing: the gradient at 0 is 0 without it.
    """
    where: dict[str, Any] = {"axis": None if asvector or x.ndim == 0 else axis, "keepdims": keepdim}
    size = xp.absolute(x)
    if porder == 2.0:
        found = xp.sqrt(xp.sum(xp.square(size), dtype=size.dtype, **where))
    elif porder == 1.0:
        found = xp.sum(size, dtype=size.dtype, **where)
    elif porder == 0.0:
        found = xp.sum(size != 0, dtype=size.dtype, **where)
    elif numbers.isinf(porder):
        found = (xp.max if porder > 0 else xp.min)(size, **where)
    else:
        number = size.dtype.type
        found = xp.sum(size ** number(porder), dtype=size.dtype, **where) ** number(1.0 / porder)
    return xp.asarray(found)


def _grad(g: Any, x: Any, out: Any, porder: float, axis: int, keepdim: bool, asvector: bool) -> Any:
    where = {"axis": [axis] if x.ndim and not asvector else [], "keepdim": keepdim, "reduce_all": asvector}
    if porder == 0.0:
        return arithmetic.scale(x, scale=0.0)
    spread = reduce.spread(g, x, **where)
    if porder == 1.0:
        return spread * arithmetic.sign(x)
    norm = reduce.spread(out, x, **where)
    if numbers.isinf(porder):
        return (
            spread * arithmetic.sign(x) * arithmetic.cast(arithmetic.absolute(x) == norm, out_dtype=x.dtype)
        )
    safe = norm + arithmetic.cast(norm == 0.0, out_dtype=x.dtype)
    if porder == 2.0:
        return spread * x / safe
    return spread * arithmetic.sign(x) * (arithmetic.absolute(x) / safe) ** (porder - 1.0)


p_norm.grad(x=_grad)
