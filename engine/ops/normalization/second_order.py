"""The second derivatives of batch_norm, layer_norm and their relatives.

The operators differ in the axes of mean and variance and in those of scale and bias only.
"""

from __future__ import annotations

from typing import Any

from engine.core.attached import Attached
from engine.ops.arrays import creation
from engine.ops.elementwise import arithmetic, power
from engine.ops.reductions import reduce


def second_order(
    x: Attached,
    scale: Attached | None,
    g: Attached,
    grads: tuple[Any, Any, Any],
    axes: list[int],
    epsilon: float,
    given: tuple[Attached, Attached] | None,
) -> tuple[Any, Any, Any]:
    """The gradients of the first gradients by x, scale (not yet summed to its shape) and g.

    With the normalised ``n = (x - mean) * r``, the first gradients are ``D(g * scale)``, the sums of
    ``g * n`` and those of ``g``, where ``D(u) = r * (u - mean(u) - n * mean(u * n))``, or ``r * u`` for
    ``given`` mean and r.
    ``grads`` are the gradients a, b, c that flow into these three; scale, b and c are shaped to broadcast.
    Everything is written in operators, so that higher orders can be derived.
    """

    def mean(value: Any) -> Any:
        return reduce.mean(value, axis=axes, keepdim=True)

    if given is None:
        centred = arithmetic.subtract(x, mean(x))
        r = power.rsqrt(arithmetic.scale(mean(power.square(centred)), scale=1.0, bias=epsilon))
    else:
        centred, r = arithmetic.subtract(x, given[0]), given[1]
    n = arithmetic.multiply(centred, r)

    def first(u: Any) -> Any:
        if given is None:
            u = arithmetic.subtract(
                arithmetic.subtract(u, mean(u)), arithmetic.multiply(n, mean(arithmetic.multiply(u, n)))
            )
        return arithmetic.multiply(r, u)

    a, b, c = grads
    to_x = to_scale = to_g = None
    if a is not None:
        back = first(a)
        to_g = back if scale is None else arithmetic.multiply(back, scale)
        to_scale = None if scale is None else arithmetic.multiply(g, back)
        if given is None:
            u = g if scale is None else arithmetic.multiply(g, scale)
            a_n, u_n = mean(arithmetic.multiply(a, n)), mean(arithmetic.multiply(u, n))
            to_n = arithmetic.multiply(
                r, arithmetic.add(arithmetic.multiply(a_n, u), arithmetic.multiply(u_n, a))
            )
            to_r = arithmetic.subtract(
                arithmetic.subtract(mean(arithmetic.multiply(a, u)), arithmetic.multiply(mean(a), mean(u))),
                arithmetic.multiply(a_n, u_n),
            )
            to_x = arithmetic.add(
                first(to_n), arithmetic.multiply(arithmetic.multiply(power.square(r), n), to_r)
            )
            to_x = arithmetic.scale(to_x, scale=-1.0)
    if b is not None:
        to_g = _plus(to_g, arithmetic.multiply(b, n))
        to_x = _plus(to_x, first(arithmetic.multiply(b, g)))
    if c is not None:
        to_g = _plus(to_g, arithmetic.add(c, creation.fill_like(g, value=0.0)))
    return to_x, to_scale, to_g


def _plus(total: Any, more: Any) -> Any:
    return more if total is None else arithmetic.add(total, more)
