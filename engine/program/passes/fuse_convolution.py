"""Fusion: a convolution, its bias and a relu as one operator."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.containers.identity import IdentityMap
from engine.core.operators.operator import Operator
from engine.ops.images.conv_bias import FUSED
from engine.program.graph.liveness import Liveness, with_sub_blocks, written
from engine.program.graph.positions import positions
from engine.program.graph.program import Block, Program, reads, writes
from engine.program.graph.variable import Variable
from engine.program.passes.pattern import Uses, channel_bias, each
from engine.program.passes.rewriter import Rewriter


def fuse_convolutions(program: Program) -> None:
    """Add the bias and apply the relu in place in the convolution's result, while it is in the cache.

    ::

        a = conv2d(x, w)
        b = reshape2(bias)
        c = elementwise_add(a, b)    ->    d = conv2d_fusion(x, w, bias)
        d = relu(c)                        return d
        return d
    """
    convolutions = list(each(program, *FUSED))
    if not convolutions:
        return
    uses, rewriter, unstable = Uses(program), Rewriter(program), Liveness.of(program).unstable
    fused: list[Operator] = []
    found: IdentityMap[Variable, Variable] = IdentityMap()
    for block, conv in convolutions:
        added = uses.only_reader(conv.outputs[0], "elementwise_add")
        bias = None if added is None else channel_bias(uses, added)
        if added is None or bias is None:
            continue
        relu = uses.only_reader(added.outputs[0], "relu")
        last = relu if relu is not None and relu in block.ops else added
        moves = any(v in unstable for v in (*reads(conv), bias))  # to where they may have another value
        if moves and _writes_between(block, (conv, uses.maker(added.inputs[1], "reshape2")), last):
            continue
        attrs = {**conv.attrs, "activation": "" if last is added else "relu"}
        with rewriter.before(last, block, conv):
            made = FUSED[conv.opdef.name](*conv.inputs, bias, **attrs)
            parts = (conv, added) if last is added else (conv, added, last)
            block.ops[-1].note("places", tuple(place for part in parts for place in positions(part)))
            block.ops[-1].note("replaced", tuple(part.outputs[0].name for part in parts))
        made.stop_gradient = last.outputs[0].stop_gradient
        found[last.outputs[0]] = made
        fused += parts
    rewriter.substitute(found)
    rewriter.erase(fused)


def _writes_between(block: Block, first: Sequence[Operator | None], last: Operator) -> bool:
    """Whether an operator changes an existing value, after one of ``first`` and before ``last``.

    Also where one of them is not in ``block``.
    """
    place = {id(operator): n for n, operator in enumerate(block.ops)}
    places = [place.get(id(operator), -1) for operator in (*first, last) if operator is not None]
    if -1 in places:
        return True
    between = list(with_sub_blocks(block.ops[min(places) : max(places)]))
    return bool(written(between)) or any(v.persistable or v.is_data for o in between for v in writes(o))
