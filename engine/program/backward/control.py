"""Gradients of branches and loops: the rules of operators with regions."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from engine.core import mode as modes
from engine.core.errors import GradientError
from engine.core.operators.operator import Operator, at_line
from engine.ops.arrays import creation, shape
from engine.ops.control import flow as ops
from engine.ops.elementwise import arithmetic
from engine.program.backward.inline_gradients import inline_gradients
from engine.program.backward.walk import Incoming
from engine.program.build.builder import Builder, current_builder
from engine.program.build.control import append_cond, append_operator
from engine.program.graph.liveness import needed, outer_reads
from engine.program.graph.program import Block, Variable
from engine.program.graph.region import Region
from engine.program.graph.replay_state import iteration_state, store_state
from engine.program.passes.inline import Inliner

Gradients = list[tuple[Variable, Any]]


def _builder() -> Builder:
    builder = current_builder()
    if builder is None:
        raise GradientError(
            "append_backward: gradients of branches and loops are operators of a Program: none is being "
            "built; call it under program_guard()"
        )
    return builder


def _zeros_like(variable: Variable) -> Any:
    return creation.fill_like(variable, value=0.0)


def _as_gradient_of(result: Variable, g: Any) -> Any:
    """``g`` declared with the rank and dtype of ``result``, which another side's result may not have.

    Where this side runs, the arrays agree already: nothing changes.
    """
    if result.ndim != g.ndim:
        g = shape.reshape_as(g, result)
    return g if result.dtype is g.dtype else arithmetic.cast(g, out_dtype=result.dtype.name)


@ops.cond.opdef.grad_regions
def cond_gradient(operator: Operator, incoming: Incoming, reached: Set[Variable]) -> Gradients:
    """The gradient of a ``cond`` is a ``cond``: each side replays its branch, then walks back through it."""
    builder = _builder()
    pred, captured = operator.inputs
    sources = [v for v in captured if v in reached and not v.stop_gradient]
    if not sources:
        return []
    blocks: list[Block] = []
    per_side: list[list[Variable]] = []
    for region in operator.regions:
        block = builder.program.create_block(builder.block)
        blocks.append(block)
        with modes.use(builder.in_block(block)):
            inliner = Inliner(builder, replay=True)
            copies = inliner.copy_block(region.block, block)
            results = [inliner.mapped.get(v, v) for v in region.results]
            starts = [
                (v, _as_gradient_of(v, g))
                for v, g in zip(results, incoming, strict=True)
                if g is not None and not v.stop_gradient and v.dtype.is_inexact
            ]
            found = inline_gradients(copies, starts, sources)
            per_side.append(
                [
                    _zeros_like(s) if g is None else shape.assign(g)
                    for s, g in zip(sources, found, strict=True)
                ]
            )
    outputs = append_cond(builder, pred, blocks[0], blocks[1], list(zip(*per_side, strict=True)))
    return list(zip(sources, outputs, strict=True))


@ops.while_loop.opdef.grad_regions
@ops.while_again.opdef.grad_regions
def loop_gradient(operator: Operator, incoming: Incoming, reached: Set[Variable]) -> Gradients:
    """The gradient of a loop is a ``while_grad`` over the values that the loop stores for each iteration.

    Its region replays one iteration and walks back through it.
    """
    builder = _builder()
    program = builder.program
    initial, captured = operator.inputs
    region = operator.regions[-1]
    body, loop_values, results = region.block, region.arguments[: len(initial)], region.results
    carried = [n for n, v in enumerate(loop_values) if not v.stop_gradient or not results[n].stop_gradient]
    carried = [n for n in carried if loop_values[n].dtype.is_inexact]
    for n in carried:
        loop_values[n].stop_gradient = False
    outside = [v for v in captured if v in reached and not v.stop_gradient]
    block = program.create_block(body.parent or builder.block)
    with modes.use(builder.in_block(block)):
        inliner = Inliner(builder, replay=True)
        copies = inliner.copy_block(body, block)
        after = [results[n] for n in carried]
        incoming_after = [
            block.create_var(
                program.unique_name("while_grad_value"), v.spec, stop_gradient=False, is_data=True
            )
            for v in after
        ]
        sources = [*(loop_values[n] for n in carried), *outside]
        starts = zip((inliner.mapped.get(v, v) for v in after), incoming_after, strict=True)
        # A loop value that is passed on unchanged is its own result: its gradient is the incoming one itself.
        found = inline_gradients(copies, starts, sources)
        made = [_zeros_like(s) if g is None else shape.assign(g) for s, g in zip(sources, found, strict=True)]
        block.ops[:] = needed(block.ops, made)  # the replay omits operators that only the loop's results need
    last = [incoming[n] if incoming[n] is not None else _zeros_like(operator.outputs[n]) for n in carried]
    # The loop's own values come from the stored iterations, not from outside.
    captured_all = [v for v in outer_reads((block,)) if v.block is not body.parent]
    specs = [loop_values[n].spec for n in carried] + [v.spec for v in outside]
    outputs = append_operator(
        builder,
        ops.while_grad.opdef,
        (last, outside, captured_all, store_state(operator)),
        [Region(block, (*loop_values, *iteration_state(operator), *incoming_after), made)],
        specs,
        [not builder.grad] * len(specs),
        values=len(loop_values),
    )
    pairs: Gradients = [
        (initial[n], outputs[k]) for k, n in enumerate(carried) if not initial[n].stop_gradient
    ]
    return pairs + list(zip(outside, outputs[len(carried) :], strict=True))


@ops.while_grad.opdef.grad_regions
def _refuse_second_order(operator: Operator, incoming: Incoming, reached: Set[Variable]) -> Gradients:
    raise at_line(
        GradientError(
            "while_loop: has gradients of the first order only; call grad(create_graph=False), loop over a "
            "Python range, or run the loop eagerly"
        ),
        operator,
    )
