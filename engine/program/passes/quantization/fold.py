"""Folding before quantization: batch norms into filters, and a separate Variable for each weight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.core.containers.identity import IdentityMap, IdentitySet
from engine.core.operators.operator import Operator
from engine.eager.tensor import wrap
from engine.program.graph.liveness import Liveness
from engine.program.graph.program import Program, reads, variables_of
from engine.program.graph.variable import Variable
from engine.program.passes.dead_code import remove_dead_code
from engine.program.passes.fold_batch_norm import fold_batch_norms
from engine.program.passes.quantization.quantizable import TABLE, values_of
from engine.program.passes.rewriter import is_pure

Evaluate = Callable[[Program, Sequence[Variable]], Sequence[Any]]
"""Gives the arrays of Variables that depend on weights alone."""

_RESHAPES = ("reshape2", "unsqueeze2", "flatten_contiguous_range")


def fold_for_quantization(program: Program, evaluate: Evaluate) -> dict[str, str]:
    """Let the operators that can be quantized read weights that nothing has to compute.

    The folded weight takes the name of its source, unless something else has that name;
    returns the names of such folded weights, each with the name of its source::

        a = conv2d(x, w)
        b = batch_norm(a, scale, bias,       ->    a = conv2d(x, w)        w has the batch norm in it
                       mean, variance)             b = a + reshape2(bias)  bias too
    """
    before = IdentitySet(program.global_block().ops)
    fold_batch_norms(program)
    made_now = IdentitySet(o for o in program.global_block().ops if o not in before)
    roots = _roots(program)
    targets = _targets(program, roots, made_now)
    if targets:
        for variable, array in zip(targets, evaluate(program, list(targets)), strict=True):
            tensor = wrap(array)
            tensor.name, tensor.persistable = variable.name, True
            variable.persistable = True
            variable.stop_gradient = True
            program.bind(variable, tensor)
        block = program.global_block()
        held = IdentitySet(targets)
        block.ops = [o for o in block.ops if not any(v in held for v in variables_of(o.outputs))]
        program.changed()
    remove_dead_code(program)
    _drop_unread(program)
    for variable in targets:
        _rename(program, variable, roots[variable])
    return {v.name: roots[v].name for v in targets if v.name != roots[v].name}


def _roots(program: Program) -> IdentityMap[Variable, Variable]:
    """For each Variable that depends on weights alone, the weight that it is computed from.

    That is the largest of those that its operators read first.
    """
    unstable = Liveness.of(program).unstable
    block = program.global_block()
    roots: IdentityMap[Variable, Variable] = IdentityMap()
    for variable in block.vars.values():
        if variable.persistable and variable.tensor is not None and variable not in unstable:
            roots[variable] = variable
    constants: IdentitySet[Variable] = IdentitySet()
    for operator in block.ops:
        read = list(reads(operator))
        results = list(variables_of(operator.outputs))
        if not is_pure(operator) or any(v in unstable or v.persistable for v in results):
            continue
        made_of = [roots[v] for v in read if v in roots]
        if made_of and all(v in roots or v in constants for v in read):
            largest = max(made_of, key=lambda v: v.spec.size)
            roots.update((v, largest) for v in results)
        elif not read or all(v in constants for v in read):
            constants.update(results)
    return roots


def _targets(
    program: Program, roots: IdentityMap[Variable, Variable], made_now: IdentitySet[Operator]
) -> IdentitySet[Variable]:
    """The computed weights to fold: those that a product reads, and biases that a batch norm left."""
    block = program.global_block()
    makers: IdentityMap[Variable, Operator] = IdentityMap(
        (v, o) for o in block.ops for v in variables_of(o.outputs)
    )
    found: IdentitySet[Variable] = IdentitySet()
    for operator in block.ops:
        if any(v in roots for v in variables_of(operator.outputs)):
            continue  # folded itself, or only read by folded operators
        entry = TABLE.get(operator.opdef.name)
        weights = {id(v) for s, v in values_of(operator) if s in entry.weights} if entry else set()
        for variable in reads(operator):
            if variable not in roots or variable.persistable:
                continue
            if id(variable) in weights:
                found.add(variable)
            elif operator in made_now:
                maker = makers[variable]
                bias = maker.inputs[0] if maker.opdef.name in _RESHAPES else variable
                if not bias.persistable:
                    found.add(bias)
    return found


def _drop_unread(program: Program) -> None:
    """Forget the weights that no operator reads any more."""
    block = program.global_block()
    read = IdentitySet(v for o in block.ops for v in reads(o))
    for variable in list(block.vars.values()):
        if variable.persistable and variable not in read and variable.name not in program.outputs:
            del block.vars[variable.name]
    program.changed()


def _rename(program: Program, variable: Variable, root: Variable) -> None:
    """Give a folded weight the name of its source, if that is free."""
    names = program.global_block().vars
    if root.name in names:
        return
    names.pop(variable.name)
    variable.name = variable.tensor.name = root.name
    names[root.name] = variable
