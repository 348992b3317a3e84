"""Gradients of branches and loops."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from engine.core import mode as modes
from engine.core.errors import GradientError
from engine.core.identity import IdentityMap
from engine.core.operator import Operator, at_line
from engine.core.spec import Spec
from engine.ops.arrays import creation, shape
from engine.ops.control import flow as ops
from engine.program.backward.inline_gradients import inline_gradients
from engine.program.backward.walk import CONTROL_GRADIENTS, Incoming
from engine.program.build.builder import Builder, current_builder
from engine.program.build.control import append_cond, append_operator, outer_reads
from engine.program.graph.liveness import keys_in, needed
from engine.program.graph.program import Block, Variable
from engine.program.passes.inline import Copier

Gradients = list[tuple[Variable, Any]]


def _builder() -> Builder:
    builder = current_builder()
    if builder is None:
        raise GradientError("append_backward: gradients of control flow are built in a Program only")
    return builder


def _zeros_like(variable: Variable) -> Any:
    return creation.fill_like(variable, value=0.0)


def cond_gradient(operator: Operator, incoming: Incoming, reached: Set[Variable]) -> Gradients:
    """The gradient of a ``cond`` is a ``cond``: each side replays its branch and goes back through it."""
    builder = _builder()
    pred, captured = operator.inputs
    sources = [v for v in captured if v in reached and not v.stop_gradient]
    if not sources:
        return []
    blocks: list[Block] = []
    per_side: list[list[Variable]] = []
    for key, names in (("true_block", "true_results"), ("false_block", "false_results")):
        original = builder.program.blocks[operator.attrs[key]]
        block = builder.program.create_block(builder.block)
        blocks.append(block)
        with modes.use(builder.in_block(block)):
            mapped: dict[int, Variable] = {}
            copies = Copier(builder, builder.program, mapped, replay=True).copy(original, block)
            grads: IdentityMap[Variable, Any] = IdentityMap()
            for name, gradient in zip(operator.attrs[names], incoming, strict=True):
                variable = original.var(name)
                variable = mapped.get(id(variable), variable)
                if gradient is not None and not variable.stop_gradient:
                    before = grads.get(variable)
                    grads[variable] = gradient if before is None else before + gradient
            found = inline_gradients(copies, grads, sources)
            per_side.append(
                [
                    _zeros_like(s) if g is None else shape.assign(g)
                    for s, g in zip(sources, found, strict=True)
                ]
            )
    results = append_cond(builder, pred, blocks[0], blocks[1], list(zip(*per_side, strict=True)))
    return list(zip(sources, results, strict=True))


def while_gradient(operator: Operator, incoming: Incoming, reached: Set[Variable]) -> Gradients:
    """Walks back over the values that the loop kept of every iteration."""
    builder = _builder()
    program = builder.program
    initial, captured = operator.inputs
    body = program.blocks[operator.attrs["body_block"]]
    loop_values = [body.var(n) for n in operator.attrs["loop_names"]]
    results = [body.var(n) for n in operator.attrs["body_results"]]
    carried = [n for n, v in enumerate(loop_values) if not v.stop_gradient or not results[n].stop_gradient]
    carried = [n for n in carried if loop_values[n].dtype.is_floating_point]
    for n in carried:
        loop_values[n].stop_gradient = False
    outside = [v for v in captured if v in reached and not v.stop_gradient]
    if not operator.attrs["steps"]:
        operator.attrs["steps"] = program.unique_name("while_steps")
        # Gradients flow through what it keeps: a second derivative must find the way and be refused.
        operator.outputs[0].block.create_var(operator.attrs["steps"], Spec((), "int64"), stop_gradient=False)
    steps = operator.outputs[0].block.var(operator.attrs["steps"])
    block = program.create_block(body.parent or builder.block)
    mapped: dict[int, Variable] = {}
    with modes.use(builder.in_block(block)):
        copies = Copier(builder, program, mapped, replay=True).copy(body, block)
        grad_names = [program.unique_name("while_grad_value") for _ in carried]
        grads: IdentityMap[Variable, Any] = IdentityMap()
        for n, name in zip(carried, grad_names, strict=True):
            placeholder = block.create_var(name, results[n].spec, stop_gradient=False, is_data=True)
            result = mapped.get(id(results[n]), results[n])
            before = grads.get(result)
            grads[result] = placeholder if before is None else before + placeholder
        found = inline_gradients(copies, grads, [*(loop_values[n] for n in carried), *outside])
        # A loop value that is handed on unchanged is its own result: its gradient is the placeholder itself.
        sources = [*(loop_values[n] for n in carried), *outside]
        made = [_zeros_like(s) if g is None else shape.assign(g) for s, g in zip(sources, found, strict=True)]
        block.ops[:] = needed(block.ops, made)  # what only the loop's results need is not computed again
    starts = [incoming[n] if incoming[n] is not None else _zeros_like(operator.outputs[n]) for n in carried]
    # The loop's own values come from what every iteration kept, not from outside.
    captured_all = {i: v for i, v in outer_reads(block).items() if v.block is not body.parent}
    captured_all.update({id(steps): steps} | {id(v): v for v in outside})
    specs = [loop_values[n].spec for n in carried] + [v.spec for v in outside]
    attrs: dict[str, Any] = {
        "body_block": block.idx,
        "loop_names": operator.attrs["loop_names"],
        "grad_names": grad_names,
        "sums": {
            "grads": [v.name for v in made[: len(carried)]],
            "captured": [v.name for v in made[len(carried) :]],
            "keys": [v.name for v in keys_in(body)],
        },
        "carried": [loop_values[n].name for n in carried] + [v.name for v in outside],
        "steps": steps.name,
        "specs": specs,
    }
    _alias_keys(block, body)
    outputs = append_operator(
        builder,
        ops.while_grad.opdef,
        (starts, list(captured_all.values())),
        attrs,
        specs,
        [False] * len(specs),
    )
    pairs: Gradients = [
        (initial[n], outputs[k]) for k, n in enumerate(carried) if not initial[n].stop_gradient
    ]
    return pairs + list(zip(outside, outputs[len(carried) :], strict=True))


def _alias_keys(block: Block, body: Block) -> None:
    """Let the gradient's block see the keys that the body drew."""
    for key in keys_in(body):
        block.vars.setdefault(key.name, key)


def _refuse_second_order(operator: Operator, incoming: Incoming, reached: Set[Variable]) -> Gradients:
    raise at_line(
        GradientError(
            "while_loop: has gradients of the first order only; call grad(create_graph=False), loop over a "
            "Python range, or run the loop eagerly"
        ),
        operator,
    )


CONTROL_GRADIENTS.update(
    {"conditional_block": cond_gradient, "while": while_gradient, "while_grad": _refuse_second_order}
)
