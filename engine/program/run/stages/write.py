"""The last stage of a plan: its operators as the source of one flat Python function, and that function.

Slots are local variables, kernels are bound as globals. Branches and loops are written out as ``if`` and
``while``; constants are globals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from engine.core.operators.operator import Operator
from engine.core.random.generator import reserve_for
from engine.core.values.dtype import bfloat16
from engine.program.graph.program import Block, Variable, variables_of
from engine.program.run.kernels import Call, Kernels
from engine.program.run.meter import Gauge, made, metered, step
from engine.program.run.stages.draft import Draft
from engine.program.run.stages.place import fitting
from engine.program.run.write_control import CONTROL

Array = Any


class Written(NamedTuple):
    """The function of a plan with its source; which operator each line of it runs, the calls of kernels by
    id of the operator, and the updates that are one call."""

    function: Callable[[Sequence[Array]], tuple[Array, ...]]
    source: str
    lines: dict[int, Operator]
    kernels: Kernels
    called: dict[int, Call]
    updates: Sequence[Any]


def write(draft: Draft) -> Written:
    """The function that takes the arrays of the inputs and returns those of the outputs.

    ::

                                       def plan(values):
        a = relu(x)                     v0, = values
        b = exp(a)             ->       v1 = c0(v0)
        return b                        v2 = c1(v1, out=fitting(v1))
                                        v1 = None
                                        return (v2,)
    """
    writer = Writer(draft)
    writer.joins = writer.kernels.may_be_fast
    return writer.written()


class Writer:
    """Writes the source of a plan, line by line, remembering which operator each line runs."""

    joins = False  # whether operators may become chains

    def __init__(self, draft: Draft) -> None:
        xp = draft.xp
        self.draft = draft
        self.program = draft.program
        self.backend = "cpu" if xp is np else "cupy"
        self.metered = draft.program.foreign
        self.known, self.reused = draft.constants, draft.reused
        self.dying, self.copied = draft.dying, draft.copied
        self.updates: list[Any] = []
        self.namespace: dict[str, Any] = {
            "xp": xp,
            "asarray": xp.asarray,
            "write": _write,
            "fitting": fitting,
            "reserve": _reserve(xp),
            "step": step,
            "made": made,
        }
        self.lines: dict[int, Operator] = {}
        self.called: dict[int, Call] = {}  # the calls of kernels, by id of the operator
        self.namespace["operators"] = self.lines  # where a profiler finds the line of the user's code
        self.kernels = Kernels(xp, self.backend, self.namespace, foreign=self.metered)
        self._text: list[str] = []
        self._slots: dict[int, str] = {}
        self._variables: list[Variable] = []  # keeps ids unique while compiling
        self._constants = 0

    def written(self) -> Written:
        """The function, compiled; kernels that are faster are requested for it."""
        source = self.source()
        scope: dict[str, Any] = {}
        exec(compile(source, "<plan>", "exec"), self.namespace, scope)
        self.kernels.ask()
        function = metered(scope["plan"]) if self.metered else scope["plan"]
        return Written(function, source, self.lines, self.kernels, self.called, self.updates)

    # -- names -----------------------------------------------------------------------------------------------
    def slot(self, variable: Variable) -> str:
        """The name of a Variable: local, or global where its value is known."""
        found = self._slots.get(id(variable))
        if found is None:
            known = self.known.get(id(variable))
            found = f"v{len(self._slots)}" if known is None else self.constant(known)
            self._slots[id(variable)] = found
            self._variables.append(variable)
        return found

    def slots(self, value: Variable | list[Any] | tuple[Any, ...] | None) -> str:
        """The argument of an operator's input: a slot, a list of slots, or None."""
        if value is None:
            return "None"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(self.slots(v) for v in value) + "]"
        return self.slot(value)

    def names(self, variables: Iterable[Variable]) -> list[str]:
        """The local names of Variables."""
        return [self.slot(v) for v in variables]

    def constant(self, value: object) -> str:
        """The global name of a value that does not change."""
        name = f"c{self._constants}"
        self._constants += 1
        self.namespace[name] = value
        return name

    # -- lines -----------------------------------------------------------------------------------------------
    def line(self, depth: int, text: str, operator: Operator | None = None) -> None:
        self._text.append(" " * depth + text)
        if operator is not None:
            self.lines[len(self._text)] = operator

    def assign(
        self, depth: int, targets: Sequence[Variable], sources: Sequence[Variable], operator: Operator
    ) -> None:
        """Give Variables the values of others, all at once."""
        if targets:
            left, right = ", ".join(self.names(targets)), ", ".join(self.names(sources))
            self.line(depth, f"{left}, = {right},", operator)

    def block(self, depth: int, block: Block) -> None:
        """The operators of a sub-block."""
        for operator in block.ops:
            self.operator(depth, operator)

    def source(self) -> str:
        """The text of the whole function."""
        draft = self.draft
        ops, inputs, outputs = draft.ops, draft.inputs, draft.outputs
        self.line(0, "def plan(values):")
        if inputs:
            self.line(1, ", ".join(self.slot(v) for v in inputs) + ", = values")
        if draft.consumes:
            self.line(1, "values.clear()")
        begin = 0
        for chain in self._chains():
            self._range(1, begin, chain.begin)
            self._chain(chain)
            begin = chain.end
        self._range(1, begin, len(ops))
        results = ", ".join(
            self.slot(v) + (".copy()" if n in self.copied else "") for n, v in enumerate(outputs)
        )
        self.line(1, f"return ({results}{',' if outputs else ''})")
        return "\n".join(self._text) + "\n"

    def _range(self, depth: int, begin: int, end: int) -> None:
        """The operators of these positions, and the values that are let go of after each."""
        ops, groups = self.draft.ops, self.draft.groups
        updates = {group[0]: group for group in groups}
        products = {group[0]: group for group in self.draft.products}
        grouped = {position for group in (*groups, *self.draft.products) for position in group}
        for position in range(begin, end):
            if position in updates:
                self.update(depth, [ops[n] for n in updates[position]])
            elif position in products:
                self.products(depth, [ops[n] for n in products[position]])
            elif position not in grouped:
                self.operator(depth, ops[position])
            if position in self.dying:
                self.line(depth, " = ".join(self.names(self.dying[position])) + " = None")

    def _chains(self) -> Sequence[Any]:
        if not self.joins:
            return ()
        from engine.program.run.fusion.chains import chains  # with the first plan that compiles

        return chains(self.draft)

    def _chain(self, chain: Any) -> None:
        """Operators that are one call, once it is compiled and where it can compute.

        ::

            joined = c0 and c0(v0, v1)
            if joined:
             v4, v5, = joined
             joined = None
            else:
             v3 = c1(v0, v1)
             ...
        """
        begin, end = chain.begin, chain.end
        ops, name, calls = self.draft.ops, self.constant(None), len(self.kernels.calls)
        self.line(1, f"joined = {name} and {name}({', '.join(self.names(chain.given))})", ops[begin])
        self.line(1, "if joined:")
        self.line(2, "".join(f"{each}, " for each in self.names(chain.results)) + "= joined")
        self.line(2, "joined = None")
        made = {id(v) for n in chain.parts for v in ops[n].outputs}
        gone = [v for n in range(begin, end) for v in self.dying.get(n, ()) if id(v) not in made]
        if gone:
            self.line(2, " = ".join(self.names(gone)) + " = None")
        self.line(1, "else:")
        self._range(2, begin, end)
        make = partial(chain.made, ops, self.draft.specs)
        joined = [call for call in self.kernels.calls[calls:] if not call.opdef.view]
        self.kernels.join(name, joined, make)

    # -- operators -------------------------------------------------------------------------------------------
    def update(self, depth: int, operators: Sequence[Operator]) -> None:
        """The call of several updates, see ``engine/program/run/fusion/updates.py``."""
        from engine.program.run.fusion.updates import Update  # with the first step

        made = Update(operators)
        self.updates.append(made)
        given = (made.variables, made.gradients, made.shared)
        arguments = ", ".join(self.slots(variables) for variables in given)
        self.line(depth, f"{self.constant(made)}({arguments})", operators[0])

    def products(self, depth: int, operators: Sequence[Operator]) -> None:
        """The call of several products, see ``engine/program/run/fusion/products.py``."""
        from engine.program.run.fusion.products import Products  # with the first group

        calls = [self._call(operator)[0] for operator in operators]
        made = Products(operators, partial(_kernels_of, self.namespace, calls))
        self.kernels.add_together(calls, made.follow)
        results = ", ".join(self.names(variables_of([o.outputs[0] for o in operators])))
        arguments = ", ".join(self.slots(v) for o in operators for v in o.inputs)
        self.line(depth, f"{results} = {self.constant(made)}({arguments})", operators[0])

    def operator(self, depth: int, operator: Operator) -> None:
        """The lines of one operator; those of a constant are none."""
        if operator.outputs and id(operator.outputs[0]) in self.known:
            return
        control = CONTROL.get(operator.opdef)
        if control is not None:
            control(self, depth, operator)
        elif self.metered:
            gauge = self.constant(Gauge(operator))
            self.line(depth, f"{gauge}({', '.join(self.slots(v) for v in operator.inputs)})", operator)
            self._kernel_call(depth, operator)
            self.line(depth, f"made({', '.join(self.names(variables_of(operator.outputs)))})", operator)
        else:
            self._kernel_call(depth, operator)

    def _kernel_call(self, depth: int, operator: Operator) -> None:
        """The call of a kernel, its results, and what they replace."""
        call, narrow = self._call(operator)
        direct = call.bound or (operator.opdef.kernel_for(self.backend)[1] and not narrow)
        arguments = self._arguments(depth, operator, direct)
        if not narrow:
            arguments += self._targets(operator)
        self._results(depth, operator, f"{call.name}({', '.join(arguments)})")

    def _call(self, operator: Operator) -> tuple[Call, bool]:
        """The call of the operator's kernel by a new name, and whether any value is bfloat16."""
        opdef, spec_of = operator.opdef, self.draft.spec_of
        specs = [spec_of(v) for v in operator.inputs]
        low = [v is not None and spec_of(v).dtype is bfloat16 for v in operator.outputs]
        narrow = any(low) or any(spec_of(v).dtype is bfloat16 for v in variables_of(operator.inputs))
        bound = not narrow and self.kernels.takes_fast(opdef, specs)
        name = self.constant(None)
        call = Call(name, opdef, operator.attrs, specs, low if narrow else None, bound)
        self.kernels.add(call)
        self.called[id(operator)] = call
        return call, narrow

    def _arguments(self, depth: int, operator: Operator, direct: bool) -> list[str]:
        """The arguments of a kernel; a line before the call stores a random key that a gradient reads."""
        arguments = [self.slots(v) for v in operator.inputs]
        if not direct:
            arguments.insert(0, "xp")
            for key, value in operator.attrs.items():
                simple = value is None or isinstance(value, (bool, int))
                arguments.append(f"{key}={value if simple else self.constant(value)}")
        if operator.opdef.random:
            key = operator.replayed_state
            if operator.saved_state is not None:
                key = operator.saved_state
                self.line(depth, f"{self.slot(key)} = reserve()")
            arguments.append("key=" + ("reserve()" if key is None else self.slot(key)))
        return arguments

    def _targets(self, operator: Operator) -> list[str]:
        """The argument ``out`` of a kernel that may write into arrays of its inputs."""
        if id(operator) not in self.reused:
            return []
        targets = [self._fitting(operator, target) for target in self.reused[id(operator)]]
        return [f"out={targets[0] if operator.opdef.single else '[' + ', '.join(targets) + ']'}"]

    def _fitting(self, operator: Operator, target: Variable | None) -> str:
        """The expression of the array of ``target`` to write into, if its layout is that of the other
        inputs."""
        if target is None:
            return "None"
        others = [self.slot(v) for v in variables_of(operator.inputs) if v is not target]
        return f"fitting({', '.join([self.slot(target), *others])})"

    def _results(self, depth: int, operator: Operator, call: str) -> None:
        """The line that calls the kernel, and those that write results in place."""
        outputs = operator.outputs
        if not outputs:
            self.line(depth, call, operator)
            return
        # A replay changes nothing outside: an output written in place becomes a new value.
        written = [operator.replaced(n) is not None and not operator.replay for n in range(len(outputs))]
        targets = [
            "_" if v is None else f"w{n}" if written[n] else self.slot(v) for n, v in enumerate(outputs)
        ]
        left = targets[0] if operator.opdef.single else ", ".join(targets) + ","
        self.line(depth, f"{left} = {call}", operator)
        for n, variable in enumerate(outputs):
            if written[n] and variable is not None:
                self.line(depth, f"write({self.slot(variable)}, w{n})", operator)


def _reserve(xp: Any) -> Callable[[], Any]:
    """The function that draws the next random key."""
    if xp is np:
        return reserve_for(xp)
    from engine.program.run.cuda_graph.recorded import next_key  # with the first plan on a GPU

    return next_key


def _kernels_of(namespace: Mapping[str, Any], calls: Sequence[Call]) -> list[Callable[..., Any]]:
    """The kernels that a plan calls now."""
    return [namespace[call.name] for call in calls]


def _write(target: Array, value: Array) -> None:
    if value is not target:
        target[...] = value
