"""Kernels that round to bfloat16 at each step on the CPU, as Paddle's do there: sums, scaling, SGD.

They take and give float32 arrays whose numbers are bfloat16. Other operators round once, at the end.
"""

from __future__ import annotations

from typing import Any

from engine.core.values.bfloat import cut
from engine.ops.elementwise.arithmetic import scale
from engine.ops.reductions.reduce import sum
from engine.ops.training.parameter_updates import sgd

_LEAF = 1024  # longer rows are summed in halves


def _in_order(xp: Any, rows: Any) -> Any:
    """The sums of rows [n, ...] over n, added one by one."""
    total = xp.zeros(rows.shape[1:], xp.float32)
    for row in rows:
        total = cut(xp, total + row)
    return total


def _in_halves(xp: Any, rows: Any) -> Any:
    if len(rows) <= _LEAF:
        return _in_order(xp, rows)
    half = len(rows) // 2
    return cut(xp, _in_halves(xp, rows[:half]) + _in_halves(xp, rows[half:]))


def _sum(xp: Any, x: Any, *, axis: Any = (), keepdim: bool = False, reduce_all: bool = False) -> Any:
    axes = tuple(range(x.ndim)) if reduce_all or not axis else tuple(sorted(a % x.ndim for a in axis))
    rest = [n for n in range(x.ndim) if n not in axes]
    rows = x.transpose(*axes, *rest).reshape(-1, *(x.shape[n] for n in rest))
    total = _in_halves(xp, rows) if x.ndim - 1 in axes else _in_order(xp, rows)
    return total.reshape([1 if n in axes else d for n, d in enumerate(x.shape)]) if keepdim else total


def _scale(xp: Any, x: Any, *, scale: float = 1.0, bias: float = 0.0, bias_after_scale: bool = True) -> Any:
    factor, shift = (cut(xp, xp.asarray(v, xp.float32)) for v in (scale, bias))
    return cut(xp, x * factor) + shift if bias_after_scale else cut(xp, x + shift) * factor


def _sgd(xp: Any, param: Any, learning_rate: Any, grad: Any) -> Any:
    return param - cut(xp, cut(xp, learning_rate) * grad)


for _opdef, _kernel in ((sum.opdef, _sum), (scale.opdef, _scale), (sgd.opdef, _sgd)):
    _opdef.override("bfloat16", _kernel)
