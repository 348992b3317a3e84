"""Attention as one operator, and its gradient as one: plans build them from several operators.

    softmax(x @ y.T * times + masks) @ v    with x * factor for x

x is [..., rows, size], y [..., columns, size], or [..., size, columns] where it is ``turned``, v is
[..., columns, width]; their leading dimensions are the same. A mask is an array that can be added to the
scores [..., rows, columns].
Where ``lies`` is True, the dimension before the last two follows the rows in a result's memory, so that heads
are adjacent as a projection reads and writes them.
"""

from __future__ import annotations

from typing import Any

from engine.core.errors import ShapeError
from engine.core.operators import traits
from engine.core.operators.infer import require_floating
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec


def _infer(x: Spec, y: Spec, v: Spec, masks: list[Spec], *, turned: bool = False, **_: Any) -> list[Spec]:
    _check("fused_attention", x, y, v)
    columns = y.shape[-1 if turned else -2]
    return [x.with_shape((*x.shape[:-1], v.shape[-1])), x.with_shape((*x.shape[:-1], columns))]


def _check(where: str, x: Spec, *others: Spec) -> None:
    require_floating(where, x=x)
    if x.ndim < 3 or any(each.shape[:-2] != x.shape[:-2] or each.ndim != x.ndim for each in others):
        raise ShapeError(
            f"{where}: x is {x}, then come {', '.join(map(str, others))}: the dimensions before their last "
            "two must be the same, at least one"
        )


# Opaque: files and untrusted Programs contain the operators that it combines.
@traits.opaque
@op("fused_attention", infer=_infer, outputs=("out", "weights"))
def fused_attention(
    xp, x, y, v, masks: list, *, factor=None, times=None, turned=False, lies=False, keeps=True
):
    """The values that rows look at, and how much each looks at each: [..., rows, columns].

    Where nothing reads the latter, ``keeps`` is False, and it may be None.
    """
    from engine.kernels.cpu import attention  # with the first one, not with the engine

    return attention.forward(xp, x, y, v, masks, factor, times, turned, lies)


def _infer_scores(x: Spec, y: Spec, masks: list[Spec], *, turned: bool = False, **_: Any) -> Spec:
    _check("fused_scores", x, y)
    return x.with_shape((*x.shape[:-1], y.shape[-1 if turned else -2]))


@traits.opaque
@op("fused_scores", infer=_infer_scores)
def fused_scores(xp, x, y, masks: list, *, factor=None, times=None, turned=False):
    """How much each row looks at each column, if an operator is between that and the values."""
    from engine.kernels.cpu import attention

    return attention.forward(xp, x, y, None, masks, factor, times, turned, False)[1]


def _infer_grad(
    flow: Spec, weights: Spec, x: Spec, y: Spec, v: Spec, dropped: Any = None, kept: Any = None, **_: Any
) -> list[Spec]:
    _check("fused_attention_grad", x, y, v, flow, weights)
    return [x, y, v]


@traits.opaque
@op("fused_attention_grad", infer=_infer_grad, outputs=("x_grad", "y_grad", "v_grad"))
def fused_attention_grad(
    xp,
    flow,
    weights,
    x,
    y,
    v,
    dropped=None,
    kept=None,
    *,
    factor=None,
    times=None,
    after=None,
    turned=False,
    lies=(False, False, False),
    wanted=(True, True, True),
):
    """The gradients of x, y and v where ``flow`` is that of the result; None where it is not wanted.

    ``after`` is the factor of the gradient of x: ``factor`` where x was scaled. After
    dropout ``dropped`` are the weights that met the values, ``kept`` the factors of dropout for gradients.
    """
    from engine.kernels.cpu import attention

    return attention.backward(
        xp, (flow, weights, x, y, v, dropped, kept), factor, times, after, turned, lies, wanted
    )
