"""Gradients in a Program as Paddle's static mode writes them: gradient operators under Paddle's names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any

from engine.autodiff.symbolic import flat_inputs
from engine.core import mode as modes
from engine.core.containers.identity import IdentityMap, IdentitySet
from engine.core.errors import DTypeError
from engine.core.operators.operator import Operator
from engine.ops.elementwise import arithmetic
from engine.program.backward.gradient_operator import gradient_operator
from engine.program.backward.walk import Contributions, Incoming, RegionRule, Step
from engine.program.build.annotate import note_attrs
from engine.program.build.builder import Builder, current_builder
from engine.program.graph.program import BACKWARD, Block, Variable, reads, writes
from engine.program.text.gradient_forms import note_gradient
from engine.program.text.printed import is_hidden


class Named:
    """Appends one gradient operator for each operator to ``block``.

    The gradient of ``x`` is called ``x@GRAD``; where several contributions are expected each is called
    ``x@GRAD@RENAME@block0@n``, and one ``add_n`` gives their sum the name. Optimizers find those of
    ``parameters`` in ``op_role_var``.
    """

    sums_at_once = False

    def __init__(self, block: Block, parameters: Iterable[Variable] = ()) -> None:
        self.block = block
        self.parameters = IdentitySet(parameters)
        self.expected: IdentityMap[Variable, int] = IdentityMap()
        self.received: IdentityMap[Variable, int] = IdentityMap()
        # If Paddle has no such operator, its result's gradient has the name of its input's.
        self.shown: IdentityMap[Variable, Variable] = IdentityMap()

    def begin(self, path: Sequence[Step]) -> None:
        for operator, targets in path:
            if is_hidden(operator):
                self.shown.update((v, operator.inputs[0]) for v in writes(operator))
            for _, variable in targets:
                self.expected[variable] = self.expected.get(variable, 0) + 1

    def gradients(self, step: Step, incoming: Incoming) -> Contributions:
        operator, targets = step
        if operator.opdef is arithmetic.add_n.opdef:  # Paddle has one operator a summand
            return [pair for target in targets for pair in self._operator(operator, incoming, [target])]
        return self._operator(operator, incoming, targets)

    def _operator(
        self, operator: Operator, incoming: Incoming, targets: list[tuple[int, Variable]]
    ) -> Contributions:
        results = {n: self._contribution(variable) for n, variable in targets}
        made = gradient_operator(operator, incoming, list(results), list(results.values()))
        note_gradient(made, operator, incoming, results)
        if is_hidden(operator):
            made.note("hidden", "operator")  # its result is shown
        last = [self.shown.get(v, v) for v in _by_slot(operator, targets)]
        self._append(made, [v for v in last if self.expected.get(v, 1) == 1])
        return [(variable, results[n]) for n, variable in targets]

    def _contribution(self, variable: Variable) -> Variable:
        """A Variable for one contribution to the gradient of ``variable``."""
        name = f"{variable.name}@GRAD"
        number = self._count(variable)
        if self.expected.get(variable, 1) > 1:
            name = f"{name}@RENAME@block{self.block.idx}@{number}"
        made = self.block.create_var(free_name(self.block, name), variable.spec, stop_gradient=False)
        if variable in self.shown:
            made.shown_name = f"{self.shown[variable].name}@GRAD"
        return made

    def _count(self, variable: Variable) -> int:
        number = self.received.get(variable, 0)
        self.received[variable] = number + 1
        return number

    def regions(
        self, rule: RegionRule, step: Step, incoming: Incoming, reached: Set[Variable]
    ) -> Contributions:
        before = len(self.block.ops)
        made = list(rule(step.operator, incoming, reached))
        for operator in self.block.ops[before:]:
            note_attrs(operator, op_role=BACKWARD)
        for variable, _ in made:
            self._count(variable)
        return made

    def total(self, variable: Variable, parts: Sequence[Variable]) -> Variable:
        name = free_name(self.block, f"{variable.name}@GRAD")
        made = self.block.create_var(name, variable.spec, stop_gradient=False)
        operator = Operator(arithmetic.add_n.opdef, (list(parts),), {})
        operator.outputs = (made,)
        self._append(operator, [variable], op_namescope="")
        return made

    def _append(self, operator: Operator, complete: Iterable[Variable], **attrs: Any) -> None:
        """Append an operator that gives the whole gradient of the ``complete`` Variables."""
        pairs = [name for v in complete if v in self.parameters for name in (v.name, f"{v.name}@GRAD")]
        note_attrs(operator, op_role=BACKWARD, **({"op_role_var": pairs} if pairs else {}), **attrs)
        self.block.append(operator)


def _by_slot(operator: Operator, targets: list[tuple[int, Variable]]) -> list[Variable]:
    """The Variables of ``targets`` in the order of Paddle's slots."""
    if len(targets) > 1:
        slots = {i.name: i.slot for i in operator.opdef.inputs}
        slot_at = [slots[name] for name, _, _ in flat_inputs(operator)]
        targets = sorted(targets, key=lambda target: slot_at[target[0]])
    return [variable for _, variable in targets]


def free_name(block: Block, name: str) -> str:
    """``name``, or a unique one derived from it if ``block`` has a Variable of that name."""
    return block.program.unique_name(name) if name in block.vars else name


def stopped(ops: Iterable[Operator], no_grad_set: Iterable[Any] | None) -> IdentitySet[Variable]:
    """The Variables of ``ops`` that ``no_grad_set`` names. Raises DTypeError if it is not a collection."""
    if no_grad_set is None:
        return IdentitySet()
    if not isinstance(no_grad_set, (set, frozenset, list, tuple)):
        raise DTypeError(f"no_grad_set is a set of Variables or names: got {type(no_grad_set).__name__}")
    named = {v if isinstance(v, str) else v.name for v in no_grad_set}
    return IdentitySet(v for o in ops for v in (*reads(o), *writes(o)) if v.name in named)


@contextmanager
def extending(block: Block) -> Iterator[None]:
    """Within the block operators are appended to the Program of ``block``, regardless of the one being built
    now.

    Variables that are declared meanwhile are listed by name at the end, as Paddle lists those of gradients.
    """
    before = set(block.vars)
    current = current_builder()
    with modes.use(Builder(block.program, startup=None if current is None else current.startup)):
        yield
    for name in sorted(set(block.vars) - before):
        block.vars[name] = block.vars.pop(name)
