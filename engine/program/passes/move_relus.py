"""Relus behind poolings: fewer elements, and none where the values are positive already."""

from __future__ import annotations

from engine.core.containers.identity import IdentityMap
from engine.core.operators.operator import Operator
from engine.ops.activations.piecewise import relu
from engine.ops.images.pooling import pool2d
from engine.program.graph.liveness import Liveness
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.passes.pattern import Uses, each
from engine.program.passes.rewriter import Rewriter


def move_relus(program: Program) -> None:
    """Cut the maxima of windows instead of all elements, and only once.

    ::

        a = relu(x)
        b = pool2d(a, max)     ->    a = pool2d(x, max)
        c = relu(b)                  return relu(a)
        return c

    The result is the same, NaN included; ties may give their gradient to another element, so this is for
    prediction. A window that may be entirely in the padding (``ceil_mode``) keeps its order.
    """
    for _, pool in each(program, "pool2d"):
        uses, unstable = Uses(program), Liveness.of(program).unstable
        before = uses.maker(pool.inputs[0], "relu")
        maximum = pool.attrs["pooling_type"] == "max" and not pool.attrs["ceil_mode"]
        if before is None or not maximum or uses.only_reader(before.outputs[0], "pool2d") is None:
            continue
        if before.inputs[0] in unstable or pool.outputs[0] in unstable:
            continue
        block = pool.outputs[0].block
        if before not in block.ops:
            continue
        rewriter = Rewriter(program)
        with rewriter.before(pool, block, before):
            made = relu(pool2d(before.inputs[0], **pool.attrs))
        made.stop_gradient = pool.outputs[0].stop_gradient
        again = uses.only_reader(pool.outputs[0], "relu")
        gone: list[Operator] = [before, pool]
        found: IdentityMap[Variable, Variable] = IdentityMap()
        found[pool.outputs[0]] = made
        if again is not None and again in block.ops:
            found[again.outputs[0]] = made
            gone.append(again)
        rewriter.substitute(found)
        rewriter.erase(gone)
