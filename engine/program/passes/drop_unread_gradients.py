"""Gradients of convolutions that nothing reads: those of a network's inputs, mostly."""

from __future__ import annotations

from engine.core.containers.identity import IdentityMap
from engine.core.operators.operator import Operator
from engine.ops.images import conv
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.passes.pattern import Uses, each
from engine.program.passes.rewriter import Rewriter

_GRADIENTS = {g.opdef.name: g for g in (conv.conv2d_grad, conv.conv3d_grad, conv.depthwise_conv2d_grad)}
_FLAGS = ("need_x", "need_weight")  # in the order of the results


def drop_unread_gradients(program: Program) -> None:
    """Let a convolution's gradients be computed only as far as something reads them.

    ::

        _, b = conv2d_grad(x, w, g)    ->    b = conv2d_grad(x, w, g, need_x=False)
        return b                             return b
    """
    found = list(each(program, *_GRADIENTS))
    if not found:
        return
    uses, rewriter = Uses(program), Rewriter(program)
    gone: list[Operator] = []
    now: IdentityMap[Variable, Variable] = IdentityMap()
    for block, operator in found:
        unread = [v is not None and _is_unread(uses, v) for v in operator.outputs]
        if not any(unread) or all(unread):
            continue
        attrs = dict(operator.attrs)
        for flag, drop in zip(_FLAGS, unread, strict=True):
            attrs[flag] = attrs[flag] and not drop
        with rewriter.before(operator, block):
            made = _GRADIENTS[operator.opdef.name](*operator.inputs, **attrs)
        for old, new in zip(operator.outputs, made, strict=True):
            if new is not None:
                new.stop_gradient = old.stop_gradient
                now[old] = new
        gone.append(operator)
    rewriter.substitute(now)
    rewriter.erase(gone)


def _is_unread(uses: Uses, variable: Variable) -> bool:
    """Whether nothing reads a result."""
    held = variable.persistable or variable.name in uses.program.outputs
    return not held and variable not in uses.read_by
