"""Fusion in plans: chains and trees of elementwise operators become one ``fused_elementwise``.

It runs over the operators of a plan, after gradients are built and with the shapes that are fed, so forward
and backward parts gain alike, and no file ever holds the fused operator.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from engine.core.operators.opdef import OpDef
from engine.core.operators.operator import Operator
from engine.core.values.dtype import DType, bfloat16, bool_, float16, float32, float64, int32, int64
from engine.core.values.spec import Spec
from engine.kernels.choice import wants_fast
from engine.kernels.cpu.fused_elementwise import LARGE
from engine.kernels.steps.cost import Cost, cost_of, is_candidate, is_one_call
from engine.ops.elementwise.fused import Step, Steps, fused_elementwise
from engine.program.graph.liveness import Liveness, arguments
from engine.program.graph.program import Variable, variables_of

# Below this work (elements times operators, functions counting more) the call of a compiled loop costs more
# than it gains: three sums of 4,096 elements take 1.45 times NumPy's time, of 65,536 elements 0.75.
LEAST = 1 << 14
_FUNCTION = 4
_ON_GPU = (float16, bfloat16, float32, float64, bool_, int32, int64)
# A compiled loop has a pointer for each value; more would not stay in registers and the first cache.
_MOST = 24


class Way(NamedTuple):
    """Which operators may be fused, by their costs and dtypes, and which groups gain."""

    fits: Callable[[Cost], bool]
    takes: Callable[[DType], bool]
    pays: Callable[[int, Sequence[tuple[OpDef, Cost]]], bool]  # by elements and the operators


def way(compiled: bool, on_gpu: bool = False) -> Way:
    """The way of a plan that is created now, in NumPy, in compiled loops, or on a GPU."""
    if on_gpu:
        # One alone has its kernel already; of two, one launch is saved whatever their size.
        return Way(lambda cost: True, _ON_GPU.__contains__, lambda size, group: len(group) > 1)
    if compiled:
        return Way(compilable, (float32, float64, bool_).__contains__, _pays_compiled)
    return Way(
        lambda cost: cost.operations > 0,
        lambda dtype: dtype is not bfloat16 and not dtype.is_complex,
        lambda size, group: size >= LARGE and len(group) > 2,
    )


def compilable(cost: Cost) -> bool:
    """Whether compiled loops have code for all that an operator computes."""
    return cost.operations > 0 and not cost.library


def _pays_compiled(size: int, group: Sequence[tuple[OpDef, Cost]]) -> bool:
    if len(group) == 1:
        return size >= LEAST and _pays_alone(*group[0])
    return size * sum(_FUNCTION if cost.functions else 1 for _, cost in group) >= LEAST


def _pays_alone(opdef: OpDef, cost: Cost) -> bool:
    """NumPy needs several walks over the arrays, or chooses element by element; functions have kernels of
    their own."""
    return not cost.functions and not is_one_call(opdef) and (cost.selects > 0 or cost.own_limit)


def cost_in_plan(operator: Operator, specs: Mapping[int, Spec]) -> Cost | None:
    """The cost of an operator of a plan; None where it is not a formula of single elements, or of objects."""
    values = [*operator.inputs, *operator.outputs]
    if not is_candidate(operator.opdef) or not all(isinstance(v, Variable) for v in values):
        return None
    found = [specs.get(id(v), v.spec) for v in values]
    return _cost(operator, found) if all(s.known for s in found) else None


def _cost(operator: Operator, found: Sequence[Spec]) -> Cost | None:
    """The cost for values of these Specs, the result's last."""
    names = [s.dtype.name for s in found[:-1]]
    cost = cost_of(operator.opdef, names, operator.attrs)
    if cost is None and any(s.dtype.is_integer for s in found):  # NumPy computes them all the same
        floats = ["float32" if s.dtype.is_integer else s.dtype.name for s in found[:-1]]
        cost = cost_of(operator.opdef, floats, operator.attrs)
    return cost


def compiles() -> bool:
    """Whether a plan that is created now requests compiled loops."""
    return wants_fast() and fused_elementwise.opdef.fast is not None


class _Group:
    """Operators that become one: they give arrays of one shape, and nothing else has read them so far.

    ``read`` are the owners of the arrays that they read, by id. A closed group takes no more operators.
    """

    def __init__(self) -> None:
        self.members: list[int] = []  # positions
        self.costs: list[tuple[OpDef, Cost]] = []  # of the members, in any order
        self.read: set[int] = set()
        self.closed = False


def fuse_elementwise(
    live: Liveness,
    outputs: Sequence[Variable],
    specs: Mapping[int, Spec],
    known: Container[int],
    by: Way,
) -> Liveness:
    """Replace several elementwise operators by one, where its kernel is faster.

    ::

        b = elementwise_add(a, bias)           c, d = fused_elementwise(a, bias, g)
        c = relu(b)                    ->      return c, d
        d = relu_grad(g, c)
        return c, d

    ``specs`` are those of a run, ``known`` the constants of the plan, both by id of the Variable.
    Compiled loops gain in smaller groups, too; in NumPy only large ones do (decision 92), on a GPU all. A
    group replaces its last operator; no operator in between changes its inputs in place.
    """
    ops = live.ops
    made_by: dict[int, _Group] = {}  # the group that gives a Variable
    groups: list[_Group] = []
    for position, operator in enumerate(ops):
        joined = None
        cost = _cost_where_it_fits(operator, specs, known, live.once, by)
        if cost is not None:
            joined = _join(position, operator, ops, made_by, specs)
            joined.costs.append((operator.opdef, cost))
            joined.read |= live.owners(variables_of(operator.inputs))
            groups.append(joined)
        for variable in arguments(operator):
            group = made_by.get(id(variable))
            if group is not None and group is not joined:
                group.closed = True
        changed = live.changed_by(operator)
        if changed:
            for group in groups:
                group.closed = group.closed or not changed.isdisjoint(group.read)
        if joined is not None:
            made_by[id(operator.outputs[0])] = joined
    paying = [g for g in groups if _pays(g, ops, specs, by)]
    return Liveness(_replaced(live, paying, {id(v) for v in outputs})) if paying else live


def _cost_where_it_fits(
    operator: Operator,
    specs: Mapping[int, Spec],
    known: Container[int],
    once: Container[int],
    by: Way,
) -> Cost | None:
    """The cost of ``operator`` where it may be part of a group; a second run of one may be, too."""
    if len(operator.outputs) != 1 or not is_candidate(operator.opdef):
        return None
    (made,) = operator.outputs
    values = [*operator.inputs, made]
    if not all(isinstance(v, Variable) for v in values) or id(made) in known or id(made) not in once:
        return None
    found = [specs.get(id(v), v.spec) for v in values]
    if not all(s.known and by.takes(s.dtype) for s in found):
        return None
    shape = found[-1].shape
    if found[-1].size <= 1 or made.persistable:
        return None
    cost = _cost(operator, found)
    if cost is None or not by.fits(cost):
        return None
    given = [s.shape for s in found[:-1]]
    return cost if shape in given or shape == np.broadcast_shapes(*given) else None


def _join(
    position: int,
    operator: Operator,
    ops: Sequence[Operator],
    made_by: dict[int, _Group],
    specs: Mapping[int, Spec],
) -> _Group:
    """The group of ``operator``: those of the values that it reads, together, or a new one."""
    shape = specs[id(operator.outputs[0])].shape
    joined = _Group()
    for variable in variables_of(operator.inputs):
        group = made_by.get(id(variable))
        if group is None or group is joined or group.closed:
            continue
        same = specs[id(ops[group.members[0]].outputs[0])].shape == shape
        if same and len(group.members) + len(joined.members) < _MOST:
            joined.members += group.members
            joined.read |= group.read
            joined.costs += group.costs
            for member in group.members:
                made_by[id(ops[member].outputs[0])] = joined
            group.members, group.closed = [], True
    joined.members = sorted([*joined.members, position])
    return joined


def _pays(group: _Group, ops: Sequence[Operator], specs: Mapping[int, Spec], by: Way) -> bool:
    """Whether one operator is faster than those of the group."""
    if not group.members:
        return False
    size = specs[id(ops[group.members[0]].outputs[0])].size
    return by.pays(size, group.costs)


def _replaced(live: Liveness, groups: Sequence[_Group], fetched: Container[int]) -> list[Operator]:
    """The operators with one for each group, at the position of its last one."""
    ops, readers = live.ops, live.readers
    place = {group.members[-1]: group for group in groups}
    inside = {position: group for group in groups for position in group.members}
    made: list[Operator] = []
    for position, operator in enumerate(ops):
        group = inside.get(position)
        if group is None:
            made.append(operator)
        elif position in place:
            members = set(group.members)
            given = [
                v
                for n in group.members
                for v in ops[n].outputs
                if id(v) in fetched or not members.issuperset(readers.get(id(v), ()))
            ]
            made.append(fused([ops[n] for n in group.members], given))
    return made


def fused(parts: Sequence[Operator], given: Sequence[Variable]) -> Operator:
    """The operator that runs ``parts`` one after the other, and gives the Variables ``given``."""
    numbers: dict[int, int] = {}
    own = {id(v) for part in parts for v in part.outputs}
    inputs: list[Variable] = []
    for part in parts:
        for variable in variables_of(part.inputs):
            if id(variable) not in own and id(variable) not in numbers:
                numbers[id(variable)] = len(inputs)
                inputs.append(variable)
    steps: list[Step] = []
    for part in parts:
        read = tuple([numbers[id(v)] for v in variables_of(part.inputs)])
        numbers[id(part.outputs[0])] = len(inputs) + len(steps)
        steps.append((part.opdef.name, read, tuple(part.attrs.items())))
    attrs = {"steps": Steps(steps), "outputs": tuple([numbers[id(v)] for v in given])}
    made = Operator(fused_elementwise.opdef, (inputs,), attrs)
    made.outputs = tuple(given)
    made.take_place(*parts)
    made.notes = {"parts": tuple(parts)}
    return made
