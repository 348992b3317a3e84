"""What operators keep of their first run for a second one: random keys, and the iterations of loops.

An operator that draws random numbers keeps its key, a loop a list with the values and the keys of every
iteration (``Operator.kept``). A second run takes them (``Operator.taken``) in place of drawing anew.
"""

from __future__ import annotations

from engine.core.operator import Operator
from engine.core.spec import Spec
from engine.program.graph.program import Block, Variable, variables_of

KEY = Spec((2,), "int64")
ITERATIONS = Spec((), "int64")


def draws(operator: Operator) -> bool:
    """Whether a second run takes random numbers: the operator draws some, or it loops over one that does.

    A branch does not count: what it draws is drawn at most once, and kept by its operators.
    """
    return _draws_anew(operator) if operator.opdef.loops else operator.opdef.random and not operator.replay


def _draws_anew(operator: Operator) -> bool:
    if operator.opdef.random and not operator.replay:
        return True
    return any(_draws_anew(inner) for region in operator.regions for inner in region.block.ops)


def keep(operator: Operator) -> Variable:
    """The Variable that keeps what a second run of ``operator`` takes; made where there is none yet.

    What the operators of a loop draw is kept, too.
    """
    if operator.kept is None:
        home = next(variables_of(operator.outputs)).block
        name, spec = ("while_steps", ITERATIONS) if operator.opdef.loops else ("random_key", KEY)
        # Gradients flow through the values of iterations: a second derivative must find the way and be
        # refused.
        operator.kept = home.create_var(
            home.program.unique_name(name), spec, stop_gradient=not operator.opdef.loops
        )
    if operator.opdef.loops:
        for region in operator.regions:
            keep_drawn(region.block)
    kept: Variable = operator.kept
    return kept


def keep_drawn(block: Block) -> None:
    """Let the operators of a block keep what they draw, in branches and loops too."""
    for operator in block.ops:
        if draws(operator):
            keep(operator)
        if not operator.opdef.loops:
            for region in operator.regions:
                keep_drawn(region.block)


def kept_in(block: Block) -> list[Variable]:
    """What the operators of a block keep, also those in branches. A loop's iterations hold what is kept in
    it."""
    found: list[Variable] = []
    for operator in block.ops:
        if operator.kept is not None:
            found.append(operator.kept)
        if not operator.opdef.loops:
            for region in operator.regions:
                found += kept_in(region.block)
    return found


def kept_of_iteration(operator: Operator) -> list[Variable]:
    """What a loop keeps of each iteration beside its values: what its body keeps, and what it takes."""
    body = operator.regions[-1]
    return [*body.arguments[len(operator.inputs[0]) :], *kept_in(body.block)]
