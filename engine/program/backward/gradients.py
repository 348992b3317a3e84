"""``gradients``: those of some Variables with respect to others, under Paddle's names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from engine.core.containers.identity import IdentitySet
from engine.core.errors import ArgumentError, DTypeError, GradientError
from engine.core.operators.operator import Operator
from engine.ops.arrays import creation
from engine.program.backward.gradient_operator import GRADIENT, lowered
from engine.program.backward.named import Named, extending, free_name, stopped
from engine.program.backward.walk import depends_on, walk_back
from engine.program.build.annotate import note_attrs
from engine.program.graph.program import BACKWARD, Block, Variable, writes


def gradients(
    targets: Variable | Sequence[Variable],
    inputs: Variable | Sequence[Variable],
    target_gradients: Variable | Sequence[Variable | None] | None = None,
    no_grad_set: Iterable[Any] | None = None,
) -> list[Variable | None]:
    """Append the operators that compute the gradients of ``targets`` with respect to ``inputs``.

    Returns one Variable an input, None where no target depends on it. ``target_gradients`` are the gradients
    of the targets to start from, 1 where not given. Gradients of gradients work: gradient operators that are
    there already are replaced by the operators of their rules. Raises DTypeError or ArgumentError for wrong
    arguments.
    """
    wanted = _listed("inputs", inputs)
    results = _listed("targets", targets)
    starts = (
        [None] * len(results) if target_gradients is None else _listed("target_gradients", target_gradients)
    )
    if len(starts) != len(results):
        raise ArgumentError(
            f"gradients: {len(results)} targets and {len(starts)} target_gradients; give one a target, or "
            "None"
        )
    for target, start in zip(results, starts, strict=True):
        if start is not None and list(start.spec.shape) != list(target.spec.shape):
            raise ArgumentError(
                f"gradients: the gradient given for {target.name!r} {target.spec} is {start.spec}; "
                "make their shapes equal"
            )
    block = results[0].block
    _expand_gradients(block)
    ops = list(block.ops)
    stops = stopped(ops, no_grad_set)
    with extending(block):
        begun = [
            (target, _append_ones_like(block, target) if start is None else start)
            for target, start in zip(results, starts, strict=True)
        ]
        return walk_back(ops, begun, wanted, Named(block), depends_on(ops, wanted, stops), stops)


def _listed(what: str, value: Any) -> list[Any]:
    listed = list(value) if isinstance(value, (list, tuple)) else [value]
    for item in listed:
        if not isinstance(item, Variable) and not (what == "target_gradients" and item is None):
            raise DTypeError(
                f"gradients: {what} are Variables of a Program: got {type(item).__name__}; in eager mode use "
                "paddle.grad()"
            )
    if not listed:
        raise GradientError(f"gradients: {what} is empty; pass at least one Variable")
    return listed


def _expand_gradients(block: Block) -> None:
    """Replace gradient operators by those of their rules, so that they can be differentiated themselves."""
    if not any(o.opdef is GRADIENT for o in block.ops):
        return
    expanded = lowered(block.program, block.ops)
    known = IdentitySet(block.vars.values())
    for variable in (v for o in expanded for v in writes(o)):
        if variable not in known and variable.block.idx == 0 and variable.block is not block:
            variable.name = block.program.unique_name("gradient_part")
            variable.block = block
            block.vars[variable.name] = variable
    block.ops[:] = expanded
    block.program.changed()


def _append_ones_like(block: Block, target: Variable) -> Variable:
    """The gradient of ``target`` with respect to itself."""
    made = block.create_var(free_name(block, f"{target.name}@GRAD"), target.spec, stop_gradient=False)
    opdef = creation.fill_like.opdef
    operator = Operator(opdef, (target,), opdef.with_defaults({"value": 1.0}))
    operator.outputs = (made,)
    note_attrs(operator, op_role=BACKWARD, op_namescope="")
    block.append(operator)
    return made
