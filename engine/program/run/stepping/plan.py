"""SteppingPlan: operators of a Program one at a time, without fusion, reuse of arrays or folded constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from engine.core.errors import EngineError
from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.kernels.choice import gate_now
from engine.program.backward.gradient_operator import lowered_each
from engine.program.graph.liveness import Liveness, needed
from engine.program.graph.program import Program, Variable
from engine.program.run.inspected import Inspected
from engine.program.run.stages.choose import drafted
from engine.program.run.stages.place import copied, dying
from engine.program.run.stepping.stepping import Stepping
from engine.program.run.stepping.write_steps import Step, StepWriter

Array = Any


class SteppingPlan(Inspected):
    """Operators of a Program that run one at a time; takes what a :class:`Plan` takes.

    Its results are those of the plan, bit by bit where that one computes by NumPy's kernels. It does too, in
    all runs, unless plans take compiled ones from their first run on. An operator that the shapes fed do not
    fit raises its error when it would run.

    Attributes:
        program: the places in ``Step.where`` count in it.
        steps: the operators in the order of the source.
        changing: the numbers of the inputs that operators write into.
    """

    steps: Sequence[Step]

    def __init__(
        self,
        program: Program,
        ops: Sequence[Operator],
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        feeds: Mapping[str, Spec],
        xp: ModuleType = np,
        consumes: bool = False,
    ) -> None:
        self.program = program
        places = {id(o): (b.idx, n) for b in program.blocks for n, o in enumerate(b.ops)}
        chosen = needed(ops, outputs)
        for operator, made in zip(chosen, lowered := lowered_each(program, chosen), strict=True):
            places |= dict.fromkeys(map(id, made), places[id(operator)])
        refused: dict[int, EngineError] = {}
        live = Liveness(needed([o for made in lowered for o in made], outputs))
        draft = drafted(program, live, inputs, outputs, feeds, xp, consumes, folds=False, refused=refused)
        draft = replace(draft, dying=dying(draft, ()), copied=copied(draft, ()))
        self._describe(draft)
        writer = StepWriter(draft, places, refused)
        self._take(writer.written())
        self.steps, self._step_of = writer.steps, writer.step_of
        gate = gate_now()
        if gate.is_open and not gate.runs:  # compiled kernels from the first run on, and in all runs
            self._kernels.ask()
            if self._kernels.due:
                self._kernels.before_run()
        changing = live.owners(live.written)
        self.changing = [n for n, v in enumerate(inputs) if id(v) in changing]

    def begin(self, values: Sequence[Array]) -> Stepping:
        """Start a run on arrays for ``inputs``; they stay as they are, whatever the operators write."""
        values = list(values)
        for n in self.changing:
            values[n] = values[n].copy(order="K")
        changed = [(self.inputs[n].name, values[n]) for n in self.changing]
        foreign = self.program.foreign
        return Stepping(self._function, values, changed, self._step_of, self.explained, foreign)
