"""Chains in plans: small operators that follow each other become one call of compiled code.

An operator of a small plan takes about a microsecond to be called, as long as it computes. The operators stay
what they are, and a chain only takes their place once compiled kernels do. They run one by one before that,
while a profiler records, and where a chain can't compute: for arrays that are not contiguous, and invalid
labels, whose error the operator's own kernel raises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engine.core.operators.operator import Operator
from engine.core.values.dtype import bool_, float32, float64, int32, int64
from engine.core.values.spec import Spec
from engine.kernels.fast import PARTS, part_maker
from engine.program.graph.program import Variable, variables_of
from engine.program.run.fusion.elementwise import compilable, cost_in_plan
from engine.program.run.stages.draft import Draft

# Operators of a chain, at least: its call takes as long as those of three.
LEAST = 4
# Elements of a value, at most, and multiplications from which on a product stays alone: more compute longer
# than a call takes, have other kernels, or may be shared among threads.
MOST, WORK = 1 << 14, 1 << 19
_KINDS, _LABELS = (float32, float64, bool_), (int32, int64)


# Views with the elements of their input in their order: they need no call, as all values are contiguous.
_VIEWS = frozenset(("flatten_contiguous_range", "reshape2", "squeeze2", "unsqueeze2"))


class Chain(NamedTuple):
    """Operators at ``parts``, neighbours from ``begin`` to ``end`` but for constants, that are one call: it
    takes ``given`` and returns ``results``; ``inside`` are the other values, but for views."""

    begin: int
    end: int
    parts: list[int]
    given: list[Variable]
    results: list[Variable]
    inside: list[Variable]

    def made(self, ops: Sequence[Operator], specs: Mapping[int, Spec]) -> Any:
        """The compiled call, or None; called in the compiler's thread."""
        from engine.kernels.fast.chain import Chain as Compiled

        values = [*self.given, *self.results, *self.inside]
        numbers = {id(v): n for n, v in enumerate(values)}
        parts = []
        for n in self.parts:
            operator = ops[n]
            if operator.opdef.view:
                numbers[id(operator.outputs[0])] = numbers[id(operator.inputs[0])]
                continue
            inputs, outputs = list(variables_of(operator.inputs)), list(variables_of(operator.outputs))
            found = [[specs.get(id(v), v.spec) for v in side] for side in (inputs, outputs)]
            part = part_maker(operator.opdef)(*found, operator.attrs)
            if part is None:
                return None
            parts.append((part, [numbers[id(v)] for v in (*inputs, *outputs)]))
        results = [numbers[id(v)] for v in self.results]
        return Compiled(parts, [specs.get(id(v), v.spec) for v in values], len(self.given), results)


def chains(draft: Draft) -> list[Chain]:
    """The chains among the operators of a plan of the CPU, in their order."""
    runs: list[list[int]] = [[]]
    for position, operator in enumerate(draft.ops):
        if operator.outputs and id(operator.outputs[0]) in draft.constants:
            continue
        if _fits(operator, draft):
            runs[-1].append(position)
        else:
            runs.append([])
    parts = [part for run in runs for part in _without_views_that_leave(run, draft)]
    made = [_chain(draft, part) for part in parts if _calls(part, draft) >= LEAST]
    return [chain for chain in made if chain.results]  # nothing needs the others' values


def _without_views_that_leave(run: list[int], draft: Draft) -> list[list[int]]:
    """A run, in parts where the result of a view is read by others: it shares the array of its input."""
    for n, position in enumerate(run):
        operator = draft.ops[position]
        if operator.opdef.view and _leaves(operator.outputs[0], draft, run[-1] + 1):
            return [run[:n], *_without_views_that_leave(run[n + 1 :], draft)]
    return [run]


def _leaves(value: Variable, draft: Draft, end: int) -> bool:
    return draft.live.last[id(value)] >= end or any(v is value for v in draft.outputs)


def _calls(parts: Sequence[int], draft: Draft) -> int:
    return sum(not draft.ops[n].opdef.view for n in parts)


def _chain(draft: Draft, parts: list[int]) -> Chain:
    begin, end = parts[0], parts[-1] + 1
    ops = [draft.ops[n] for n in parts]
    read = {id(v): v for operator in ops for v in variables_of(operator.inputs)}
    own = {id(v) for operator in ops for v in operator.outputs}
    made = [v for operator in ops if not operator.opdef.view for v in operator.outputs]
    results = [v for v in made if _leaves(v, draft, end)]
    inside = [v for v in made if not _leaves(v, draft, end)]
    return Chain(begin, end, parts, [v for key, v in read.items() if key not in own], results, inside)


def _fits(operator: Operator, draft: Draft) -> bool:
    """Whether an operator may be part of a chain."""
    name, values = operator.opdef.name, [*operator.outputs]
    for value in operator.inputs:
        values += value if isinstance(value, list) else [value]
    if operator.replay or operator.regions or operator.saved_state is not None or not operator.outputs:
        return False
    if not all(isinstance(v, Variable) for v in values) or any(o.writes for o in operator.opdef.outputs):
        return False
    if not all(id(v) in draft.live.once for v in operator.outputs):
        return False
    specs = [draft.spec_of(v) for v in values]
    if not all(s.known and 0 < s.size <= MOST for s in specs):
        return False
    if name in PARTS or name in _VIEWS:
        fits = all(s.dtype in (*_KINDS, *_LABELS) for s in specs)
        return fits and (name != "matmul_v2" or _is_small_product(operator, specs))
    return all(s.dtype in _KINDS for s in specs) and _is_elementwise(operator, specs, draft)


def _is_elementwise(operator: Operator, specs: Sequence[Spec], draft: Draft) -> bool:
    if operator.attrs.get("axis", -1) != -1 and len({s.ndim for s in specs}) > 1:
        return False
    cost = cost_in_plan(operator, draft.specs)
    return cost is not None and compilable(cost)


def _is_small_product(operator: Operator, specs: Sequence[Spec]) -> bool:
    product, x, _ = specs
    if any(s.ndim != 2 or min(s.shape) < 2 for s in specs):
        return False
    return bool(product.size * x.shape[0 if operator.attrs.get("trans_x") else 1] < WORK)
