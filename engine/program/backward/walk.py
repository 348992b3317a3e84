"""The one walk backwards over the operators of a Program.

It finds the operators between Variables with gradients and those whose gradients are wanted, asks an
``Emitter`` for the gradients of each, last operator first, and adds up the gradients of each Variable. The
emitter decides which operators are written into the Program: ``Inlined`` writes the operators of gradient
rules, ``Named`` one gradient operator each under Paddle's names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from typing import NamedTuple, Protocol

from engine.autodiff.symbolic import flat_inputs
from engine.core.containers.identity import IdentityMap, IdentitySet
from engine.core.errors import GradientError
from engine.core.operators import traits
from engine.core.operators.operator import Operator, at_line
from engine.program.graph.program import Variable, reads, writes

# Gradients that flow back from one operator: an input, and the term to add to its gradient.
Contributions = Iterable[tuple[Variable, Variable]]
Incoming = Sequence[Variable | None]  # the gradient of every output, None where nothing flows back
RegionRule = Callable[[Operator, Incoming, Set[Variable]], Contributions]  # OpDef.grad_regions


class Step(NamedTuple):
    """One operator on the way back, and the inputs that gradients flow to: a position among all, a Variable.

    An input that is read twice appears twice, but once for an operator with regions.
    """

    operator: Operator
    targets: list[tuple[int, Variable]]


class Emitter(Protocol):
    """How gradients are written into a Program."""

    sums_at_once: bool
    """Whether contributions to one gradient are added as they come, or all together when it is needed."""

    def begin(self, path: Sequence[Step]) -> None:
        """Take note of the whole way, in the order of the walk."""

    def gradients(self, step: Step, incoming: Incoming) -> Contributions:
        """Emit the gradients of the step's targets."""

    def regions(
        self, rule: RegionRule, step: Step, incoming: Incoming, reached: Set[Variable]
    ) -> Contributions:
        """Emit the gradients of an operator with regions by applying ``rule``."""

    def total(self, variable: Variable, parts: Sequence[Variable]) -> Variable:
        """Emit the sum of several contributions to the gradient of ``variable``."""


def depends_on(
    ops: Iterable[Operator], sources: Iterable[Variable], stops: Set[Variable] = frozenset()
) -> IdentitySet[Variable]:
    """``sources`` and every Variable that depends on them through operators with gradients.

    No dependence passes through ``stops`` or a Variable with ``stop_gradient``.
    """
    reached = IdentitySet(sources)
    for operator in ops:
        if operator.opdef.differentiable and any(v in reached for v in reads(operator)):
            reached.update(v for v in writes(operator) if not v.stop_gradient and v not in stops)
            if operator.opdef in traits.loops and operator.saved_state is not None:
                reached.add(operator.saved_state)
    return reached


class _Sums:
    """The gradient of each Variable so far."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.parts: IdentityMap[Variable, list[Variable]] = IdentityMap()

    def add(self, variable: Variable, contribution: Variable) -> None:
        found = self.parts.get(variable)
        if found is None:
            self.parts[variable] = [contribution]
            return
        found.append(contribution)
        if self.emitter.sums_at_once:
            self.gradient(variable)

    def gradient(self, variable: Variable) -> Variable | None:
        """The sum, emitted where there are several contributions; None where nothing flowed back."""
        found = self.parts.get(variable)
        if found is None:
            return None
        if len(found) > 1:
            found[:] = [self.emitter.total(variable, found)]
        return found[0]


def walk_back(
    ops: Sequence[Operator],
    starts: Iterable[tuple[Variable, Variable]],
    sources: Sequence[Variable],
    emitter: Emitter,
    reached: Set[Variable],
    stops: Set[Variable] = frozenset(),
) -> list[Variable | None]:
    """Emit the gradients of ``sources`` through ``ops``, from ``starts``: Variables and their gradients.

    A Variable that ``starts`` contains twice begins with the sum. ``reached`` says which Variables depend on
    the sources. Nothing flows into ``stops``. Returns one gradient a source, None for one that is not
    reached. Raises GradientError where a gradient would flow through a value that was replaced in place, or
    through an operator whose gradient is not defined.
    """
    sums = _Sums(emitter)
    for variable, start in starts:
        sums.add(variable, start)
    path = _path(ops, sums.parts, reached, stops)
    emitter.begin(path)
    for step in path:
        operator = step.operator
        incoming = [None if v is None else sums.gradient(v) for v in operator.outputs]
        if all(g is None for g in incoming):
            continue
        rule = operator.opdef.region_rule
        if rule is None:
            _refuse(operator, incoming)
            made = emitter.gradients(step, incoming)
        else:
            made = emitter.regions(rule, step, incoming, reached)
        for variable, contribution in made:
            if _flows(variable, stops):
                sums.add(variable, contribution)
    return [sums.gradient(s) for s in sources]


def _path(
    ops: Sequence[Operator], begun: Iterable[Variable], reached: Set[Variable], stops: Set[Variable]
) -> list[Step]:
    """The operators between ``reached`` Variables and those that have a gradient already, last first."""
    flowing = IdentitySet(begun)
    path: list[Step] = []
    for operator in reversed(ops):
        if any(v in flowing for v in writes(operator)):
            targets = _targets(operator, reached, stops)
            if targets:
                path.append(Step(operator, targets))
                flowing.update(v for _, v in targets)
    return path


def _targets(operator: Operator, reached: Set[Variable], stops: Set[Variable]) -> list[tuple[int, Variable]]:
    opdef = operator.opdef
    control = opdef.region_rule is not None
    found = [
        (n, variable)
        for n, (name, _, variable) in enumerate(flat_inputs(operator))
        if opdef.differentiable_by(name) and variable in reached and _flows(variable, stops)
    ]
    if not control:
        return found
    first = IdentityMap((variable, n) for n, variable in reversed(found))
    return [(n, variable) for n, variable in found if first[variable] == n]


def _flows(variable: Variable, stops: Set[Variable]) -> bool:
    return not variable.stop_gradient and variable not in stops


def _refuse(operator: Operator, incoming: Incoming) -> None:
    """Raise GradientError where no gradient can flow back through ``operator``."""
    opdef = operator.opdef
    if traits.order.get(opdef) == 0:
        error = GradientError(
            f"{opdef.name}: is a gradient that can't be differentiated itself; detach() it, or call "
            "grad(create_graph=False)"
        )
        raise at_line(error, operator)
    if any(operator.replaced(n) is not None and g is not None for n, g in enumerate(incoming)):
        raise GradientError(f"{opdef.name}: a gradient flows back through a value that it replaces in place")
