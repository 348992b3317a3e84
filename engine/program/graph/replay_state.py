"""State that operators store in their first run for a second one: random keys and iterations of loops.

An operator that draws random numbers stores its key, a loop a list with the values and the keys of every
iteration (``Operator.saved_state``). A second run reads them (``Operator.replayed_state``) instead of drawing
anew.
"""

from __future__ import annotations

from engine.core.operators import traits
from engine.core.operators.opdef import OpDef
from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.ops.control.flow import while_again, while_loop
from engine.program.graph.program import Block, Variable, variables_of

runs_again_as: dict[OpDef, OpDef] = {while_loop.opdef: while_again.opdef}
"""For loops that may draw random numbers, the operator that runs their last region a second time: once for
each iteration that the first run stored, with its random keys."""

KEY = Spec((2,), "int64")
ITERATIONS = Spec((), "int64")


def draws(operator: Operator) -> bool:
    """Whether a second run takes random numbers: the operator draws some, or it loops over one that does.

    A branch does not count: its numbers are drawn at most once, and its operators store their keys.
    """
    return (
        _draws_anew(operator)
        if operator.opdef in traits.loops
        else operator.opdef.random and not operator.replay
    )


def _draws_anew(operator: Operator) -> bool:
    if operator.opdef.random and not operator.replay:
        return True
    return any(_draws_anew(inner) for region in operator.regions for inner in region.block.ops)


def store_state(operator: Operator) -> Variable:
    """The Variable that stores the state for a second run of ``operator``; created if there is none yet.

    Keys that the operators of a loop draw are stored, too.
    """
    if operator.saved_state is None:
        home = next(variables_of(operator.outputs)).block
        name, spec = ("while_steps", ITERATIONS) if operator.opdef in traits.loops else ("random_key", KEY)
        # Gradients flow through the values of iterations: a second derivative must find the way and be
        # refused.
        operator.saved_state = home.create_var(
            home.program.unique_name(name), spec, stop_gradient=operator.opdef not in traits.loops
        )
    if operator.opdef in traits.loops:
        for region in operator.regions:
            store_keys(region.block)
    kept: Variable = operator.saved_state
    return kept


def store_keys(block: Block) -> None:
    """Let the operators of a block store the keys that they draw, in branches and loops too."""
    for operator in block.ops:
        if draws(operator):
            store_state(operator)
        if operator.opdef not in traits.loops:
            for region in operator.regions:
                store_keys(region.block)


def state_in(block: Block) -> list[Variable]:
    """The stored state of a block's operators, also those in branches. Iterations of
    a loop contain that of its body."""
    found: list[Variable] = []
    for operator in block.ops:
        if operator.saved_state is not None:
            found.append(operator.saved_state)
        if operator.opdef not in traits.loops:
            for region in operator.regions:
                found += state_in(region.block)
    return found


def iteration_state(operator: Operator) -> list[Variable]:
    """State that a loop stores for each iteration besides its values: that of its body, and that it takes."""
    body = operator.regions[-1]
    return [*body.arguments[len(operator.inputs[0]) :], *state_in(body.block)]
