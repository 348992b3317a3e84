"""The backward of a Program, appended to a copy of it."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from engine.core import mode as modes
from engine.core.operators import traits
from engine.core.operators.operator import Operator
from engine.program.backward.compute_again import compute_again
from engine.program.backward.inline_gradients import Noting, inline_gradients
from engine.program.backward.walk import depends_on
from engine.program.build.annotate import note_attrs
from engine.program.build.builder import Builder
from engine.program.graph.liveness import sub_blocks, with_sub_blocks
from engine.program.graph.program import BACKWARD, Program, Variable
from engine.program.graph.replay_state import draws, store_state
from engine.program.passes.inference import copy_program


class Runner(Protocol):
    """What is differentiated: a Program, its inputs, bound Variables, keys and outputs."""

    program: Program
    inputs: tuple[Variable, ...]
    bound: tuple[Variable, ...]
    keys: tuple[Variable, ...]
    outputs: tuple[Variable, ...]


@dataclass(frozen=True, eq=False)
class Differentiated:
    """A copy of a Program with the operators of its backward behind those of the forward part.

    ``everything`` are the copy's inputs, bound Variables and keys; ``made`` the positions among them whose
    gradient is computed, ``gradients`` those; ``fed`` the incoming gradients of the outputs ``fed_grads``;
    ``drawn`` what operators of the forward part draw.
    """

    program: Program
    everything: list[Variable]
    outputs: list[Variable]
    forward_ops: tuple[Operator, ...]
    backward_ops: tuple[Operator, ...]
    drawn: list[Variable]
    fed: list[Variable]
    fed_grads: list[int]
    made: list[int]
    gradients: list[Variable]


def differentiate(
    runner: Runner,
    wanted: tuple[int, ...],
    roots: Sequence[int] | None = None,
    note: Noting | None = None,
) -> Differentiated:
    """A copy of the Program of ``runner`` with the gradients of its outputs, or of those at ``roots``.

    They are those of the inputs and bound Variables at ``wanted``. ``note`` sees each operator of the copy
    that gradients flow back through.
    """
    program, copied = copy_program(runner.program, runner.inputs, runner.outputs)
    everything = [copied.get(v, v) for v in (*runner.inputs, *runner.bound, *runner.keys)]
    outputs = [copied[v] for v in runner.outputs]
    forward_ops = tuple(program.global_block().ops)
    drawn = _replay_state(forward_ops)
    sources = [everything[n] for n in wanted]
    for source in sources:
        source.stop_gradient = False
    reached = depends_on(forward_ops, sources)
    fed, fed_grads = _output_gradients(program, outputs, reached, roots)
    starts = zip((outputs[n] for n in fed_grads), fed, strict=True)
    with modes.use(Builder(program)):
        found = inline_gradients(forward_ops, starts, sources, note=note)
    begin = compute_again(program.global_block(), len(forward_ops), outputs)
    ops = tuple(program.global_block().ops)
    forward_ops, backward_ops = ops[:begin], ops[begin:]
    for operator in with_sub_blocks(backward_ops):  # as those of append_backward have it
        note_attrs(operator, op_role=BACKWARD)
    made = [(n, g) for n, g in zip(wanted, found, strict=True) if g is not None]
    return Differentiated(
        program,
        everything,
        outputs,
        forward_ops,
        backward_ops,
        drawn,
        fed,
        fed_grads,
        [n for n, _ in made],
        [g for _, g in made],
    )


def _replay_state(ops: Sequence[Operator]) -> list[Variable]:
    """The stored state of operators: random keys, in branches too, and the iterations of loops."""
    found: list[Variable] = []
    for operator in ops:
        if draws(operator):
            found.append(store_state(operator))
        if operator.opdef not in traits.loops:
            for block in sub_blocks(operator):
                found += _replay_state(block.ops)
    return found


def _output_gradients(
    program: Program, outputs: Sequence[Variable], reached: Set[Variable], roots: Sequence[int] | None
) -> tuple[list[Variable], list[int]]:
    """Variables that the outputs' gradients are fed to, and the positions of the outputs they belong to.

    They have gradients themselves, and so has what is computed of them alone: third derivatives lead there.
    Only outputs in ``reached``, and of ``roots`` where given, have one: the others depend on nothing that
    takes gradients.
    """
    positions = [
        n
        for n, output in enumerate(outputs)
        if output in reached
        and not output.stop_gradient
        and output.dtype.is_inexact
        and (roots is None or n in roots)
    ]
    block = program.global_block()
    fed = [
        block.create_var(program.unique_name(f"{v.name}@GRAD"), v.spec, is_data=True, stop_gradient=False)
        for v in (outputs[n] for n in positions)
    ]
    return fed, positions
