"""Fusion in plans: batch normalization and relu become one operator, and so do their gradients.

It runs over the operators of a plan, after gradients are built and with the shapes that are fed, as
:mod:`elementwise` does, before it. Only compiled kernels gain: they walk over the memory once less.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from engine.core.operators.opdef import OpDef
from engine.core.operators.operator import Operator
from engine.core.values.dtype import float32, float64
from engine.core.values.spec import Spec
from engine.ops.normalization.batch_norm import (
    fused_batch_norm_relu,
    fused_batch_norm_relu_grad,
    uses_given,
)
from engine.program.graph.liveness import Liveness
from engine.program.graph.program import Variable

_STATISTICS = ("is_test", "use_global_stats", "trainable_statistics")


def fuse_batch_norm(
    live: Liveness, outputs: Sequence[Variable], specs: Mapping[int, Spec], known: Container[int]
) -> Liveness:
    """Replace a batch normalization of the batch's statistics and its relu by one operator.

    ::

        a, _, _, m, i = batch_norm(x, ...)         y, _, _, m, i = fused_batch_norm_relu(x, ...)
        y = relu(a)                          ->    dx, ds, db = fused_batch_norm_relu_grad(x, s, dy, y, m, i)
        da = relu_grad(dy, y)
        dx, ds, db = batch_norm_grad(x, s, da, m, i)

    ``specs`` are those of a run, ``known`` the constants of the plan, both by id of the Variable. Forward
    and gradient are found each by itself: where another operator reads a or da, that one stays.
    """
    found = _Search(live, outputs, specs, known)
    pairs = [pair for n in range(len(live.ops)) if (pair := found.pair(n)) is not None]
    if not pairs:
        return live
    ops: list[Operator | None] = list(live.ops)
    for norm, relu, fused in pairs:
        ops[norm], ops[relu] = fused, None
    return Liveness([operator for operator in ops if operator is not None])


class _Search:
    """The pairs among the operators of a plan."""

    def __init__(
        self, live: Liveness, outputs: Sequence[Variable], specs: Mapping[int, Spec], known: Container[int]
    ) -> None:
        self.live, self.specs, self.known = live, specs, known
        self.fetched = {id(v) for v in outputs}

    def pair(self, position: int) -> tuple[int, int, Operator] | None:
        """The positions of a batch normalization (or its gradient) and of its relu, and what replaces
        them."""
        operator = self.live.ops[position]
        if operator.opdef.name == "batch_norm" and self._fits(operator):
            return self._forward(position, operator)
        if operator.opdef.name == "batch_norm_grad" and self._fits(operator):
            return self._gradient(position, operator)
        return None

    def _forward(self, position: int, norm: Operator) -> tuple[int, int, Operator] | None:
        relu = self._only_reader(norm.outputs[0])
        if relu is None or self.live.ops[relu].opdef.name != "relu":
            return None
        (result,) = self.live.ops[relu].outputs
        if id(result) not in self.live.once or id(result) in self.known or result.persistable:
            return None
        one = _one(fused_batch_norm_relu.opdef, norm.inputs, norm, self.live.ops[relu])
        one.outputs = (result, *norm.outputs[1:])
        return position, relu, one

    def _gradient(self, position: int, norm: Operator) -> tuple[int, int, Operator] | None:
        x, scale, g, *statistics = norm.inputs
        relu = self.live.makers.get(id(g))
        if relu is None or self._only_reader(g) != position:
            return None
        masked = self.live.ops[relu]
        if masked.opdef.name != "relu_grad" or masked.replay:
            return None
        given, y = masked.inputs
        if any(self._spec(v) != self._spec(x) for v in (given, y)):
            return None
        read = self.live.owners((given, y))
        if any(not read.isdisjoint(self.live.changed_by(o)) for o in self.live.ops[relu + 1 : position]):
            return None
        one = _one(fused_batch_norm_relu_grad.opdef, (x, scale, given, y, *statistics), masked, norm)
        one.outputs = norm.outputs
        return position, relu, one

    def _fits(self, norm: Operator) -> bool:
        """Whether it is one of statistics of the batch, in training, that has compiled code."""
        spec = self._spec(norm.inputs[0])
        if norm.replay or not spec.known or spec.dtype not in (float32, float64):
            return False
        if any(self._spec(v).dtype is not spec.dtype for v in norm.inputs):
            return False
        return not uses_given(*[bool(norm.attrs.get(n)) for n in _STATISTICS])

    def _only_reader(self, value: Variable | None) -> int | None:
        """The position of the one operator that reads a value, once; None where there are others, or it is
        fetched, stored or known."""
        key = id(value)
        readers = self.live.readers.get(key, ())
        if value is None or value.persistable or len(readers) != 1 or key not in self.live.once:
            return None
        return None if key in self.fetched or key in self.known else readers[0]

    def _spec(self, variable: Variable) -> Spec:
        return self.specs.get(id(variable), variable.spec)


def _one(opdef: OpDef, inputs: Sequence[Variable], first: Operator, last: Operator) -> Operator:
    """The operator that replaces two, without outputs so far."""
    norm = first if first.opdef.name == "batch_norm" else last
    attrs = {name: value for name, value in norm.attrs.items() if name not in _STATISTICS}
    made = Operator(opdef, inputs, attrs)
    made.take_place(last, first) if norm is first else made.take_place(first, last)
    made.notes = {"parts": (first, last)}
    return made
