"""Paddle's ``fluid.backward``: gradients in Programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.program.backward import append_backward as modern
from engine.program.backward import gradients as others
from engine.program.graph.program import reads, writes
from engine.program.graph.variable import Variable

__all__ = ["append_backward", "calc_gradient", "gradients"]

gradients = calc_gradient = others.gradients


def append_backward(
    loss: Any,
    parameter_list: Iterable[Any] | None = None,
    no_grad_set: Iterable[Any] | None = None,
    callbacks: object = None,
    checkpoints: Iterable[Any] | None = None,
) -> list[tuple[Variable, Variable]]:
    """Append the operators that compute the gradients of ``loss``; see ``static.append_backward``.

    As in 1.x ``parameter_list`` may also have values that an operator computes, those of data too.
    """
    chosen = None if parameter_list is None else list(parameter_list)
    if chosen is not None and isinstance(loss, Variable):
        _with_gradients(loss, chosen)
    return modern.append_backward(loss, chosen, no_grad_set, callbacks, checkpoints)


def _with_gradients(loss: Variable, chosen: list[Any]) -> None:
    """Let gradients flow to the computed values among ``chosen``: in 1.x those of data have gradients too."""
    known = loss.block.program.global_block().vars
    wanted = [known.get(each) if isinstance(each, str) else each for each in chosen]
    reached = {id(v) for v in wanted if isinstance(v, Variable) and not v.is_data and not v.is_parameter}
    for operator in loss.block.ops:
        if operator.opdef.differentiable and any(id(v) in reached for v in reads(operator)):
            reached |= {id(v) for v in writes(operator)}
        for v in writes(operator):
            if id(v) in reached and v.dtype.is_floating_point:
                v.stop_gradient = False
