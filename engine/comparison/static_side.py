"""Records a step of a Program: each operator with its layer call, values and gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.autodiff.symbolic import flat_inputs
from engine.comparison.recorded import Applied
from engine.comparison.values import Value, ValueStore
from engine.core.operators.operator import Operator
from engine.core.place import ArrayModule, moved
from engine.core.values.bfloat import adopt
from engine.core.values.spec import Spec
from engine.eager.tensor import Tensor
from engine.jit.differentiated import Differentiated, differentiate
from engine.jit.run_program import ProgramRunner
from engine.program.graph.liveness import with_sub_blocks
from engine.program.graph.program import Variable
from engine.program.run.concrete import concrete_specs
from engine.program.run.stepping.plan import SteppingPlan
from engine.program.run.stepping.stepping import Moment


class Recording:
    """The operators that a Program ran, its results, and the gradients of its weights by name."""

    def __init__(self) -> None:
        self.operators: list[Applied] = []
        self.results: list[Value] = []
        self.gradients: dict[str, Value] = {}
        self.inputs: list[Value] = []


def record_program(
    runner: ProgramRunner,
    tensors: Sequence[Tensor],
    store: ValueStore,
    weights: Mapping[int, str],
    gradients: bool = True,
    xp: ArrayModule = np,
    drawn: Sequence[Applied] = (),
) -> Recording:
    """Run the Program of ``runner`` operator by operator, and the gradients of its first output.

    Nothing is written to the weights. ``weights`` are the names of parameters and buffers, by id of Tensor;
    one without a name has that of its Variable. ``xp`` is the array
    module that computes. Operators that draw random numbers give those of ``drawn``, where that is not empty.
    """
    everything = [*tensors, *[v.tensor for v in runner.bound]]
    wanted = tuple([n for n, t in enumerate(everything) if t._edge is not None]) if gradients else ()
    noted: list[tuple[Operator, Sequence[Any], list[tuple[Variable, Variable]]]] = []
    whole = differentiate(runner, wanted, (0,), lambda *note: noted.append(note))
    arrays = [moved(xp, t._array) for t in everything]
    count = len(runner.inputs)
    feeds = {
        v.name: Spec(a.shape, a.dtype.name) for v, a in zip(whole.everything[:count], arrays, strict=False)
    }
    inputs, ops = list(whole.everything), list(whole.forward_ops)
    outputs = [*whole.outputs]
    if whole.fed:
        root = concrete_specs(whole.program, whole.forward_ops, feeds).get(id(whole.outputs[0]))
        shape = root.shape if root is not None and root.known else ()
        arrays.append(xp.ones(shape, whole.outputs[0].dtype.np))
        feeds[whole.fed[0].name] = Spec(shape, whole.outputs[0].dtype.name)
        inputs.append(whole.fed[0])
        ops += whole.backward_ops
        outputs += whole.gradients
    names = {
        id(v): weights.get(id(t), v.name)
        for v, t in zip(whole.everything[count:], everything[count:], strict=False)
    }
    made = _Maker(store, names, whole, noted)
    for variable, array in zip(inputs, arrays, strict=True):
        made.keep(variable, array)
    made.recording.inputs = [store.put(v.name, a) for v, a in zip(inputs[:count], arrays, strict=False)]
    waiting = list(reversed(drawn))
    for moment in SteppingPlan(whole.program, ops, inputs, outputs, feeds, xp).begin(arrays):
        if waiting and moment.operator.opdef.random and not moment.operator.replay:
            _draw(moment, waiting.pop(), store)
        made.take(moment)
    return made.finish()


def _draw(moment: Moment, drawn: Applied, store: ValueStore) -> None:
    """Let a random operator give the results of one of another side, where they are of its shapes."""
    for (name, array), value in zip(moment.outputs, drawn.outputs, strict=False):
        if tuple(array.shape) == value.shape:
            moment.replace(name, adopt(store.bits(value)))


class _Maker:
    """Makes a Recording of steps."""

    def __init__(
        self,
        store: ValueStore,
        names: Mapping[int, str],
        whole: Differentiated,
        noted: Sequence[tuple[Operator, Sequence[Any], list[tuple[Variable, Variable]]]],
    ) -> None:
        self.recording = Recording()
        self._store, self._names, self._whole, self._noted = store, names, whole, noted
        self._forward = {id(each) for each in with_sub_blocks(whole.forward_ops)}
        self._wanted = {id(v) for v in (*whole.gradients, *whole.outputs)}
        self._wanted |= {id(v) for _, given, _ in noted for v in given if v is not None}
        self._wanted |= {id(g) for _, _, found in noted for _, g in found}
        self._values: dict[int, Value] = {}
        self._of: dict[int, Applied] = {}
        self._orders: dict[tuple[str, str], dict[int, int]] = {}

    def keep(self, variable: Variable, array: Any) -> None:
        if id(variable) in self._wanted:
            self._values[id(variable)] = self._store.put(variable.name, array)

    def take(self, moment: Moment) -> None:
        operator, step = moment.operator, moment.step
        written = [(v, a) for v, a in zip(step.outputs, moment.made, strict=True) if hasattr(a, "dtype")]
        for variable, array in written:
            if id(variable) in self._wanted:
                self._values[id(variable)] = self._store.put(variable.name, array)
        if id(operator) not in self._forward:
            return
        made = self._of[id(operator)] = Applied(
            operator.opdef.name,
            operator.layer,
            attrs=operator.attrs,
            random=operator.opdef.random,
            iterations=moment.iterations,
            contains=bool(operator.regions),
        )
        made.order = self._order(operator, made)
        position = operator.position
        if position is not None:
            made.file, made.line = position
        replaced = {id(v) for n, _ in enumerate(operator.outputs) if (v := operator.replaced(n)) is not None}
        read = {id(v): array for v, array in zip(step.inputs, moment.given, strict=True)}
        for parameter, n, variable in flat_inputs(operator):
            if id(variable) in replaced:
                continue
            made.variables[parameter if n is None else f"{parameter}[{n}]"] = variable.name
            name, array = self._names.get(id(variable)), read.get(id(variable))
            if array is None or not hasattr(array, "dtype"):
                made.inputs.append(None)
            elif name is None:
                made.inputs.append(self._store.put(variable.name, array))
            else:
                made.weights.append(self._store.put(name, array))
        made.outputs = [self._store.put(variable.name, array) for variable, array in written]
        self.recording.operators.append(made)

    def _order(self, operator: Operator, made: Applied) -> int:
        """The number of an operator among those of its type in its layer call; in a loop it is one."""
        found = self._orders.setdefault((made.layer, made.type), {})
        return found.setdefault(id(operator), len(found))

    def finish(self) -> Recording:
        """The Recording, with the gradients of its operators."""
        found = self.recording
        for operator, given, gradients in self._noted:
            made = self._of.get(id(operator))
            if made is None:
                continue
            made.given = [None if each is None else self._values.get(id(each)) for each in given]
            left = list(gradients)
            for name, place, variable in flat_inputs(operator):
                if left and left[0][0] is variable:
                    _, gradient = left.pop(0)
                    shown = name if place is None else f"{name}[{place}]"
                    if id(gradient) in self._values:
                        made.made.append(self._values[id(gradient)].named(shown))
        for n, gradient in zip(self._whole.made, self._whole.gradients, strict=True):
            if id(gradient) in self._values:
                name = self._names.get(id(self._whole.everything[n]), self._whole.everything[n].name)
                found.gradients[name] = self._values[id(gradient)].named(name)
        found.results = [
            self._values[id(v)].named(f"result {n}")
            for n, v in enumerate(self._whole.outputs)
            if id(v) in self._values
        ]
        return found
