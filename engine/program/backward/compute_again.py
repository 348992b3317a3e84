"""Recomputed blocks in a Program: backward recomputes values instead of reading stored ones.

Operators that are built within ``recompute`` have the number of that call as their ``segment``. Behind them
nothing differs: the pass below runs after the backward operators are built.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.core.containers.identity import IdentityMap, IdentitySet
from engine.core.operators import traits
from engine.core.operators.operator import Operator
from engine.ops.arrays import shape
from engine.program.graph.liveness import Liveness, arguments
from engine.program.graph.program import Block, Program, Variable, reads, variables_of, writes
from engine.program.passes.rewriter import Rewriter


def compute_again(block: Block, begin: int, outputs: Iterable[Variable] = ()) -> int:
    """Let the operators of ``block`` from number ``begin`` on, which are backward, keep nothing of a segment.

    ::

        h = exp(x)        # segment 1              h = exp(x)
        y = tanh(h)       # segment 1              y = tanh(h)
        ...                                 ->     ...
        g = tanh_grad(y, gy)                       g = tanh_grad(y, gy)
        gx = elementwise_mul(g, h)                 h2 = exp(x)       # a replay
                                                   gx = elementwise_mul(g, h2)

    Values of a segment that other operators read, and ``outputs``, stay as before, as are results of control
    flow. The copies precede the first operator that reads one of their results. They take the random keys
    that the first run drew and write nothing in place; of Variables that change in place they read copies,
    made where the first run reads them, so the results are bitwise identical. Returns the number of operators
    in front of backward.
    """
    forward, backward = block.ops[:begin], block.ops[begin:]
    if not any(o.segment for o in forward):
        return begin
    unstable = Liveness.of(block.program).unstable
    inner = _inner(forward, backward, [*outputs, *unstable])
    again: dict[int, list[Operator]] = {}
    wanted = IdentitySet(v for o in backward for v in reads(o) if v in inner)
    for operator in reversed(forward):
        if any(v in wanted for v in writes(operator)):
            again.setdefault(operator.segment, []).append(operator)
            wanted.update(v for v in reads(operator) if v in inner)
    snapshots: IdentityMap[Operator, list[Operator]] = IdentityMap()
    found: IdentityMap[Variable, Variable] = IdentityMap()
    inserted: dict[int, list[Operator]] = {}  # in front of which number of backward
    for operators in again.values():
        operators.reverse()
        made = {id(v) for o in operators for v in writes(o) if v in inner}
        place = next(n for n, o in enumerate(backward) if any(id(v) in made for v in reads(o)))
        rewriter = _Again(block.program, unstable)
        inserted[place] = [*inserted.get(place, ()), *rewriter.copies(operators, block)]
        found.update((v, new) for v, new in rewriter.mapped.items() if id(v) in made)
        snapshots.update(rewriter.snapshots.items())
    stands = Rewriter(block.program)
    stands.mapped = found
    for operator in backward:
        operator.inputs = tuple([stands.read(v) for v in operator.inputs])
    front = [each for o in forward for each in (*snapshots.get(o, ()), o)]
    back = [each for n, o in enumerate(backward) for each in (*inserted.get(n, ()), o)]
    block.ops[:] = [*front, *back]
    block.program.changed()
    return len(front)


def _inner(
    forward: Sequence[Operator], backward: Sequence[Operator], held: Iterable[Variable]
) -> IdentitySet[Variable]:
    """The values that only their own segment and backward read, and that can be computed again."""
    maker = {id(v): o.segment for o in forward if _repeats(o) for v in writes(o)}
    out = {id(v) for v in held}
    out |= {id(v) for o in forward for v in arguments(o) if maker.get(id(v)) != o.segment}
    out |= {id(v) for o in backward if o.regions for v in arguments(o)}
    return IdentitySet(
        v
        for o in forward
        if _repeats(o)
        for v in writes(o)
        if not (v.persistable or v.is_data or id(v) in out)
    )


def _repeats(operator: Operator) -> bool:
    """Whether a second run of an operator of a segment gives the same and does nothing else."""
    opdef = operator.opdef
    effect = opdef.effect and not (opdef.only_writes or opdef in traits.passes_on)
    return bool(operator.segment) and not (
        opdef in traits.opaque or operator.regions or operator.replay or effect
    )


class _Again(Rewriter):
    """Copies operators of a segment as their second run."""

    def __init__(self, program: Program, unstable: IdentitySet[Variable]) -> None:
        super().__init__(program, replay=True)
        self.unstable = unstable
        self.snapshots: IdentityMap[Operator, list[Operator]] = IdentityMap()

    def copies(self, operators: Sequence[Operator], block: Block) -> list[Operator]:
        """The second run of ``operators``, which are in ``block``; its operators are in no block yet."""
        count = len(block.ops)
        for operator in operators:
            for variable in IdentitySet(v for v in reads(operator) if v in self.unstable):
                self.mapped[variable] = self._snapshot(operator, variable)
            copied = self.copy(operator, block)
            if copied is not None:
                copied.segment = 0
        made = block.ops[count:]
        del block.ops[count:]
        return made

    def made(self, variable: Variable, target: Block) -> Variable:
        new = self.mapped[variable] = target.create_var(
            self.program.unique_name(f"{variable.name}@again"),
            variable.spec,
            stop_gradient=variable.stop_gradient,
        )
        return new

    def _snapshot(self, operator: Operator, variable: Variable) -> Variable:
        """A Variable with the value that ``variable`` has when the first run of ``operator`` reads it."""
        opdef = shape.assign.opdef
        made = Operator(opdef, (variable,), opdef.with_defaults({}))
        block = next(variables_of(operator.outputs)).block
        result = block.create_var(
            self.program.unique_name(f"{variable.name}@before"),
            variable.spec,
            stop_gradient=variable.stop_gradient,
        )
        made.outputs = (result,)
        made.take_place(operator)
        self.snapshots[operator] = [*self.snapshots.get(operator, ()), made]
        return result
