"""Data parallel training of a Program: gradients are reduced over processes before anything reads them."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.containers.identity import IdentityMap, IdentitySet
from engine.core.operators.operator import Operator
from engine.core.values.dtype import DType
from engine.ops.control import collectives
from engine.program.build.annotate import note_attrs
from engine.program.graph.program import BACKWARD, Block, Program, Variable, reads, writes
from engine.program.passes.rewriter import Rewriter

LARGEST = 128 << 20  # bytes of one message, as in Paddle 1.5: its values are copied together


def all_reduce_gradients(program: Program, ring_id: int = 0, mean: bool = True, fuse: bool = True) -> None:
    """Put the mean (or the sum) over processes between the backward part and the readers of gradients.

    ::

        w@GRAD = matmul_v2_grad(...)           w@GRAD = matmul_v2_grad(...)
        b@GRAD = elementwise_add_grad(...)     b@GRAD = elementwise_add_grad(...)
        sgd(w, w@GRAD)                     ->  w@GRAD, b@GRAD = c_allreduce_coalesced([w@GRAD, b@GRAD])
        sgd(b, b@GRAD)                         sgd(w, w@GRAD)
                                               sgd(b, b@GRAD)

    The gradients are those that ``append_backward`` gave for parameters; clipping, weight decay and loss
    scaling come after it. Without ``fuse`` each has its own operator: the bits are the same. A Program
    where it was done has no gradients left for a second time.
    """
    block = program.global_block()
    pairs = IdentityMap((block.vars[g], p) for p, g in program.gradients if g in block.vars)
    program.gradients = []
    made = _Reductions(block, ring_id, mean, fuse, pairs)
    last = {id(v): n for n, o in enumerate(block.ops) for v in writes(o) if v in pairs}
    ops: list[Operator] = []
    ready: IdentitySet[Variable] = IdentitySet()
    for position, operator in enumerate(block.ops):
        if any(v in ready for v in reads(operator)):
            ops += made.of(list(ready))
            ready = IdentitySet()
        ops.append(operator)
        ready.update(v for v in writes(operator) if last.get(id(v)) == position)
    added = made.of(list(ready))
    Rewriter(program).substitute(made.found)  # before the reductions, which read the old ones, are inserted
    program.rebound.update({id(old): (old, new) for old, new in made.found.items()})
    block.ops = ops + added
    program.changed()


class _Reductions:
    """Makes the operators; ``found`` maps each gradient to its replacement behind them."""

    def __init__(
        self, block: Block, ring_id: int, mean: bool, fuse: bool, pairs: IdentityMap[Variable, str]
    ) -> None:
        self.block, self.ring_id, self.mean, self.fuse, self.pairs = block, ring_id, mean, fuse, pairs
        self.found: IdentityMap[Variable, Variable] = IdentityMap()

    def of(self, gradients: Sequence[Variable]) -> list[Operator]:
        """The operators that reduce ``gradients``: one for each message."""
        if not self.fuse:
            opdef = (collectives.c_allreduce_avg if self.mean else collectives.c_allreduce_sum).opdef
            return [
                self._noted(Operator(opdef, (g,), opdef.with_defaults({"ring_id": self.ring_id})), [g])
                for g in gradients
            ]
        opdef = collectives.c_allreduce_coalesced.opdef
        attrs = opdef.with_defaults({"ring_id": self.ring_id, "reduce_type": "avg" if self.mean else "sum"})
        return [self._noted(Operator(opdef, (group,), dict(attrs)), group) for group in _messages(gradients)]

    def _noted(self, operator: Operator, gradients: list[Variable]) -> Operator:
        operator.outputs = tuple(self._result(g) for g in gradients)
        names = [name for g in gradients for name in (self.pairs[g], g.shown_name or g.name)]
        note_attrs(operator, op_role=BACKWARD, op_role_var=names)
        return operator

    def _result(self, gradient: Variable) -> Variable:
        name = f"{gradient.name}@ALLREDUCE"  # a gradient is reduced once
        made = self.block.create_var(name, gradient.spec, stop_gradient=gradient.stop_gradient)
        made.shown_name = gradient.shown_name or gradient.name  # Paddle reduces in place
        self.found[gradient] = made
        return made


def _messages(gradients: Sequence[Variable]) -> list[list[Variable]]:
    """Gradients of one dtype together, up to the largest message."""
    made: list[list[Variable]] = []
    current: dict[DType, tuple[list[Variable], int]] = {}
    for gradient in gradients:
        size = max(gradient.spec.size, 0) * gradient.dtype.itemsize
        group, before = current.get(gradient.dtype, ([], LARGEST))
        if before + size > LARGEST:
            group, before = [], 0
            made.append(group)
        group.append(gradient)
        current[gradient.dtype] = (group, before + size)
    return made
