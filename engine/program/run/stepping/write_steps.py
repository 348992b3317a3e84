"""Writes the function of a stepping plan: that of a plan, as a generator that yields after each operator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.core.operators import traits
from engine.core.operators.operator import Operator
from engine.ops.control import flow
from engine.program.graph.program import Block, Variable, variables_of
from engine.program.run.stages.draft import Draft
from engine.program.run.stages.write import Writer, Written

Place = tuple[int, int]
"""The index of a Block and the position of an operator in it."""


@dataclass(frozen=True, eq=False)
class Step:
    """An operator at its place in a stepping plan: what is the same each time that it runs.

    ``where`` are the places of the branches and loops around it, outermost first, and its own. ``written``
    are the numbers of the outputs that are written into an input's array. ``changing``: an array of its
    results may be written into later: a caller that keeps it copies it.
    """

    operator: Operator
    where: tuple[Place, ...]
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    written: frozenset[int]
    changing: bool
    slots: tuple[str, ...]  # the local names of the inputs
    counters: tuple[str, ...]  # those of the numbers of iterations


class StepWriter(Writer):
    """Writes a plan whose function yields ``(step, inputs, outputs, iterations)`` after each operator.

    ::

        v1 = c0(v0)
        r = yield c1, (v0,), (v1,), ()
        if r: v1, = r

    What is sent are the outputs to go on with, or None. An input that the operator writes into is yielded as
    it was before.
    """

    def __init__(self, draft: Draft, places: Mapping[int, Place], refused: Mapping[int, Exception]) -> None:
        super().__init__(draft)
        self.steps: list[Step] = []
        self.step_of: dict[int, Step] = {}  # by line
        self._places, self._refused = places, refused
        live = draft.live
        self._changing = live.owners(live.written)
        if self._changing:  # a value that enters or leaves a branch or loop may share its array
            self._changing |= live.handed_on
        self._around: list[Place] = []
        self._counters: list[str] = []  # the local names of the numbers of iterations
        self._begins: dict[int, str] = {}  # what each iteration begins with, by id of its first block
        self._loops = 0

    def written(self) -> Written:
        source = self.source()
        scope: dict[str, Any] = {}
        exec(compile(source, "<plan>", "exec"), self.namespace, scope)
        return Written(scope["plan"], source, self.lines, self.kernels, self.called, self.updates)

    def source(self) -> str:
        return super().source() + " yield\n"  # a generator where there is no operator, too

    def operator(self, depth: int, operator: Operator) -> None:
        """The lines of one operator, and the stop behind them."""
        error = self._refused.get(id(operator))
        where = (*self._around, self._places[id(operator)])
        inputs, outputs = (tuple(variables_of(v)) for v in (operator.inputs, operator.outputs))
        written = frozenset(n for n in range(len(outputs)) if self._writes(operator, n))
        given = self._before(depth, operator, inputs, {id(outputs[n]) for n in written})
        changing = any(self.draft.live.owner(v) in self._changing for v in outputs)
        step = Step(operator, where, inputs, outputs, written, changing, tuple(given), tuple(self._counters))
        self.steps.append(step)
        begin = len(self._text)
        if error is not None:
            self.line(depth, f"raise {self.constant(error)}", operator)
        elif operator.regions:
            self._flow(depth, operator)
        else:
            super().operator(depth, operator)
        parts = given, self.names(outputs), self._counters
        what = ", ".join(f"({''.join(f'{name}, ' for name in names)})" for names in parts)
        self.line(depth, f"r = yield {self.constant(step)}, {what}", operator)
        if outputs:
            targets = [f"{name}[...]" if n in written else name for n, name in enumerate(parts[1])]
            self.line(depth, f"if r: {', '.join(targets)}, = r", operator)
        for line in range(begin + 1, len(self._text) + 1):
            self.step_of.setdefault(line, step)

    def block(self, depth: int, block: Block) -> None:
        begin = self._begins.get(id(block))
        if begin is not None:
            self.line(depth, begin)
        super().block(depth, block)

    @staticmethod
    def _writes(operator: Operator, number: int) -> bool:
        return not operator.regions and not operator.replay and operator.replaced(number) is not None

    def _before(
        self, depth: int, operator: Operator, inputs: tuple[Variable, ...], written: set[int]
    ) -> list[str]:
        """The names of the inputs' values before the operator; copies of those that it writes into."""
        if not written:
            return self.names(inputs)
        copies: dict[int, str] = {}
        for variable in inputs:
            if id(variable) in written and id(variable) not in copies:
                copies[id(variable)] = name = f"b{self.slot(variable)}"
                self.line(depth, f"{name} = {self.slot(variable)}.copy()", operator)
                if self.metered:
                    self.line(depth, f"made({name})", operator)
        return [copies.get(id(v)) or self.slot(v) for v in inputs]

    def _flow(self, depth: int, operator: Operator) -> None:
        """A branch or loop, whose operators step too."""
        loop = operator.opdef in traits.loops
        if loop:
            counter = f"i{self._loops}"
            self._loops += 1
            backwards = operator.opdef is flow.while_grad.opdef  # numbered as they ran forward
            start = f"len({self.slot(operator.inputs[3])})" if backwards else "-1"
            self.line(depth, f"{counter} = {start}", operator)
            self._begins[id(operator.regions[0].block)] = f"{counter} {'-' if backwards else '+'}= 1"
            self._counters.append(counter)
        self._around.append(self._places[id(operator)])
        super().operator(depth, operator)
        self._around.pop()
        if loop:
            self._counters.pop()
