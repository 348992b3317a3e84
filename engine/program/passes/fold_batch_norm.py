"""Batch norm in inference becomes part of the convolution before it."""

from __future__ import annotations

import numpy as np

from engine.core.containers.identity import IdentityMap
from engine.core.mode import current
from engine.core.operators.operator import Operator
from engine.ops.arrays import shape
from engine.ops.elementwise import arithmetic, power
from engine.program.graph.program import Program
from engine.program.graph.variable import Variable
from engine.program.passes.pattern import Uses, channel_bias, each, outermost
from engine.program.passes.rewriter import Rewriter

CONVOLUTIONS = ("conv2d", "depthwise_conv2d", "conv3d")
TRANSPOSED = ("conv2d_transpose", "conv3d_transpose")
READERS = ("elementwise_add", "batch_norm")


def fold_batch_norms(program: Program) -> None:
    """Scale the filters and add a bias; folding of weights then computes both once.

    ::

        a = conv2d(x, w)                                  f = scale / sqrt(variance + epsilon)
        b = batch_norm(a, scale, bias,              ->    a = conv2d(x, w * f)
                       mean, variance, is_test)           b = a + (bias - mean * f)
        return b                                          return b
    """
    if program.foreign:  # whose weights are not folded: each run would scale the filters again
        return
    uses, rewriter, outer = Uses(program), Rewriter(program), outermost(program)
    found: IdentityMap[Variable, Variable] = IdentityMap()
    folded: list[Operator] = []
    for block, norm in each(program, "batch_norm"):
        x = norm.inputs[0]
        added = uses.maker(x, "elementwise_add")
        own = None if added is None else channel_bias(uses, added)
        conv = uses.maker(x if added is None or own is None else added.inputs[0], *CONVOLUTIONS, *TRANSPOSED)
        chain = [o for o in (conv, added if own is not None else None) if o is not None]
        if conv is None or not _is_fixed(norm, [conv.inputs[1], own], conv):
            continue
        if not all(o in block.ops and uses.only_reader(o.outputs[0], *READERS) for o in chain):
            continue
        scale, bias, mean, variance = norm.inputs[1:]
        rank = conv.inputs[1].spec.ndim
        with rewriter.before(outer[norm], program.global_block(), conv):  # once, not in each turn of a loop
            deviation = power.sqrt(arithmetic.scale(variance, scale=1.0, bias=norm.attrs["epsilon"]))
            factor = arithmetic.divide(scale, deviation)
            sizes = [1] * rank
            sizes[1 if conv.opdef.name in TRANSPOSED else 0] = -1
            filters = arithmetic.multiply(conv.inputs[1], shape.reshape(factor, shape=sizes))
            centre = mean if own is None else arithmetic.subtract(mean, own)
            shift = arithmetic.subtract(bias, arithmetic.multiply(centre, factor))
            if conv.attrs["data_format"][-1] != "C":
                shift = shape.reshape(shift, shape=[1, -1, *[1] * (rank - 2)])
        with rewriter.before(norm, block, conv):
            made = current().apply(conv.opdef, (conv.inputs[0], filters), conv.attrs)
            made = arithmetic.add(made, shift)
        found[norm.outputs[0]] = made
        folded += [norm, *chain]
    rewriter.substitute(found)
    rewriter.erase(folded)


def _is_fixed(norm: Operator, more: list[Variable | None], conv: Operator) -> bool:
    """Whether the statistics are given, all folded inputs are weights on the CPU, where they are folded, and
    both layouts are the same."""
    attrs = norm.attrs
    if conv.opdef.name in TRANSPOSED and conv.attrs["groups"] > 1:
        return False  # the channels of the groups share their places in the filters
    given = attrs["use_global_stats"] or (attrs["is_test"] and not attrs["trainable_statistics"])
    weights: list[Variable] = [*norm.inputs[1:], *(v for v in more if v is not None)]
    return bool(
        given
        and all(v.tensor is not None and isinstance(v.tensor._array, np.ndarray) for v in weights)
        and len({v.dtype.name for v in weights}) == 1
        and (attrs["data_layout"][-1] == "C") == (conv.attrs["data_format"][-1] == "C")
    )
