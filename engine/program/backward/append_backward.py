"""``append_backward``: the gradients of a loss at the end of its Program, under Paddle's names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from engine.core.containers.identity import IdentitySet
from engine.core.context import Setting
from engine.core.errors import ArgumentError, DTypeError
from engine.core.operators.operator import Operator
from engine.ops.arrays import creation
from engine.program.backward.named import Named, extending, free_name, stopped
from engine.program.backward.walk import depends_on, walk_back
from engine.program.build.annotate import new_segment, note_attrs
from engine.program.graph.program import BACKWARD, Block, Program, Variable, writes

LOSS = 256
_checkpoints: Setting[Iterable[Any] | None] = Setting("checkpoints", None)


def append_backward(
    loss: Variable,
    parameter_list: Iterable[Any] | None = None,
    no_grad_set: Iterable[Any] | None = None,
    callbacks: object = None,
    checkpoints: Iterable[Variable | str] | None = None,
    distop_context: object = None,
) -> list[tuple[Variable, Variable]]:
    """Append to ``loss``'s Program the operators that compute its gradients.

    Returns pairs of parameter and gradient, for the trainable parameters that ``loss`` depends on (those of
    ``parameter_list`` only, if given, Parameters or names). ``no_grad_set`` names Variables that no gradient
    goes through. A fed Variable gets a gradient, too, if its ``stop_gradient`` is False; its name is that of
    the Variable and ``@GRAD``. ``callbacks`` and ``distop_context`` are accepted and ignored.

    With ``checkpoints`` (Variables or names; those of ``with_checkpoints`` where it is None) backward keeps
    these values, and those after the last of them. The operators up to the first, and those between two,
    run again in front of the operators that need their results: gradients are bitwise identical, random
    numbers and running statistics too.

    Raises DTypeError if ``loss`` is not a Variable, ArgumentError if it has several elements, or for a
    checkpoint that the Program does not have.
    """
    if not isinstance(loss, Variable):
        raise DTypeError(
            f"append_backward: loss must be a Variable of a Program: got {type(loss).__name__}; in eager "
            "mode call loss.backward()"
        )
    if loss.spec.size != 1:
        raise ArgumentError(
            f"append_backward: loss {loss.name!r} is {loss.spec}: it must have one element; take its "
            "mean() or sum()"
        )
    block = loss.block
    held = _cut(block, _checkpoints.get() if checkpoints is None else checkpoints)
    ops = list(block.ops)
    chosen = _parameters(block.program, parameter_list)
    stops = stopped(ops, no_grad_set)
    sources = [*chosen, *(_fed_with_gradients(block, chosen) if parameter_list is None else [])]
    for operator in ops:
        if any(v is loss for v in writes(operator)):
            note_attrs(operator, op_role=LOSS)
    with extending(block):
        starts = [(loss, _append_seed(block, loss))]
        # Gradients of Variables that depend on a source only through no_grad_set are emitted, as Paddle does.
        reached = IdentitySet(sources) | (depends_on(ops, sources) - stops)
        found = walk_back(ops, starts, sources, Named(block, chosen), reached, stops)
        if any(o.segment for o in ops):
            _compute_again(block, len(ops), [*held, loss])
    pairs = [(p, g) for p, g in zip(chosen, found, strict=False) if g is not None]
    block.program.gradients += [(p.name, g.name) for p, g in pairs]
    return pairs


def _compute_again(block: Block, begin: int, held: Iterable[Variable]) -> None:
    from engine.program.backward.compute_again import compute_again  # few Programs have segments

    known = IdentitySet(block.ops)
    compute_again(block, begin, held)
    for operator in block.ops:
        if operator not in known:  # a test Program has none of them
            note_attrs(operator, op_role=BACKWARD)


@contextmanager
def with_checkpoints(checkpoints: Iterable[Any] | None) -> Iterator[None]:
    """Within the block, every call of ``append_backward`` keeps only these Variables."""
    with _checkpoints.guard(checkpoints):
        yield


def _cut(block: Block, checkpoints: Iterable[Any] | None) -> list[Variable]:
    """Number the operators up to each of ``checkpoints`` as one segment; returns those Variables."""
    held = [_named(block, each) for each in checkpoints or ()]
    last = {id(v): n for n, o in enumerate(block.ops) for v in writes(o)}
    begin = 0
    for end in sorted({last[id(v)] + 1 for v in held if id(v) in last}):
        number = new_segment()
        for operator in block.ops[begin:end]:
            operator.segment = operator.segment or number
        begin = end
    return held


def _named(block: Block, checkpoint: Any) -> Variable:
    name = checkpoint if isinstance(checkpoint, str) else getattr(checkpoint, "name", None)
    where: Block | None = block
    while where is not None:
        if isinstance(name, str) and name in where.vars:
            return where.vars[name]
        where = where.parent
    raise ArgumentError(
        f"append_backward: checkpoints has {checkpoint!r}, which is not in the Program; pass Variables that "
        "the loss is computed from, or their names"
    )


def _parameters(program: Program, parameter_list: Iterable[Any] | None) -> list[Variable]:
    if parameter_list is None:
        return [p for p in program.all_parameters() if not p.stop_gradient]
    block = program.global_block()
    chosen = []
    for item in parameter_list:
        name = item if isinstance(item, str) else getattr(item, "name", None)
        found = block.vars.get(name) if isinstance(name, str) else None
        if found is None:
            raise ArgumentError(
                f"append_backward: parameter_list has {item!r}, which is not in the Program; pass "
                "Parameters of the loss's Program or their names"
            )
        if not found.stop_gradient:
            chosen.append(found)
    return chosen


def _fed_with_gradients(block: Block, parameters: Sequence[Variable]) -> list[Variable]:
    """Variables that no operator computes and that may have a gradient, besides ``parameters``."""
    known = IdentitySet([*(v for o in block.ops for v in writes(o)), *parameters])
    return [v for v in block.vars.values() if not (v.stop_gradient or v.is_parameter or v in known)]


def _append_seed(block: Block, loss: Variable) -> Variable:
    """The gradient of the loss itself, 1."""
    seed = block.create_var(free_name(block, f"{loss.name}@GRAD"), loss.spec, stop_gradient=False)
    opdef = creation.fill.opdef
    attrs = opdef.with_defaults({"shape": list(seed.spec.shape), "value": 1.0, "dtype": seed.dtype.name})
    operator = Operator(opdef, (None,) * len(opdef.inputs), attrs)
    operator.outputs = (seed,)
    operator.notes = {"bare": True, "plain": True}
    note_attrs(operator, op_role=LOSS | BACKWARD, op_namescope="")
    block.append(operator)
    return seed
