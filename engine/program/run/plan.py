"""Compiles operators of a Program into one flat function: slots are local variables, kernels are bound.

A plan is created once per (Program version, concrete specs of the feeds, wanted results). Branches and loops
are written out as ``if`` and ``while``; small constants are computed once, with the plan. An elementwise
operator writes into the array of an input that nothing reads any more, where an eager call would lay its
result out alike; all other results are allocated by
malloc, which hands out memory that is still in the cache (measured: buffers planned in advance made LeNet's
step 12 to 17% slower, see docs/decisions).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.dtype import bfloat16
from engine.core.errors import ProgramError
from engine.core.operator import Operator
from engine.core.place import array_module, backend, current_place
from engine.core.random import reserve_for
from engine.core.spans import watch
from engine.core.spec import Spec
from engine.kernels import choice
from engine.ops.training.flat_updates import FLAT
from engine.program.backward.gradient_operator import lowered
from engine.program.graph.liveness import Liveness, needed
from engine.program.graph.program import Block, Program, Variable, variables_of
from engine.program.passes.pipeline import level
from engine.program.run.concrete import concrete_specs
from engine.program.run.constants import constants
from engine.program.run.fuse_elementwise import compiles, fuse_elementwise, way
from engine.program.run.meter import Gauge, made, metered, step
from engine.program.run.reuse import fitting, reusable

if TYPE_CHECKING:
    from engine.program.run.explain import Explained
    from engine.program.run.kernels import Call
    from engine.program.run.replay import Replay
    from engine.program.run.report import Report
    from engine.program.run.updates import Update

Array = Any


class Plan:
    """A compiled sequence of operators: takes arrays for ``inputs``, in order, returns those of ``outputs``.

    The results belong to the caller: one that may share its array with an argument is copied; two of them may
    share one. Only constants are retained between calls. ``takes_weights`` is False where the weights are
    part of the plan. ``passes`` is the level of passes, by default the one in force: above 0 attention and
    elementwise operators are fused. One that ``consumes`` its arguments empties the list of them, and lets
    go of each after its last reader.
    """

    takes_weights = True
    update_groups: Sequence[Sequence[int]] = ()  # the positions of updates that are one call
    updates: Sequence[Update] = ()  # those calls
    consumes = False
    replay: Replay | None = None  # on a GPU: as a CUDA graph, once it was recorded
    bound: Container[int] = ()  # operators, by id, whose kernels are bound to arrays that stay

    def __init__(
        self,
        program: Program,
        ops: Sequence[Operator],
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        feeds: Mapping[str, Spec],
        xp: Any = np,
        passes: int | None = None,
        consumes: bool = False,
    ) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.consumes = consumes
        live = Liveness(needed(lowered(program, needed(ops, outputs)), outputs))
        # The meter of an untrusted Program knows what NumPy's kernels need, one by one.
        self.constants = {} if program.foreign else constants(live)
        if xp is not np:
            self.constants = {key: xp.asarray(value) for key, value in self.constants.items()}
        self.specs = concrete_specs(program, live.ops, feeds)
        fuses = not program.foreign and bool(level.get() if passes is None else passes)
        if fuses and any(o.opdef.name.startswith("softmax") for o in live.ops):
            from engine.program.run.fuse_attention import fuse_attention  # most have none

            live = fuse_attention(live, outputs, self.specs, self.constants)
        # NumPy gains by a fused operator too; on a GPU only our kernel makes one launch of it.
        if fuses and (xp is np or choice.kernels.get() != "numpy"):
            by = way(xp is np and compiles(), on_gpu=xp is not np)
            live = fuse_elementwise(live, outputs, self.specs, self.constants, by)
            if any(o.opdef.name in FLAT for o in live.ops):
                from engine.program.run.updates import update_groups  # with the first step, not the engine

                self.update_groups = update_groups(live.ops, self.specs)
        self.live, self.ops = live, live.ops
        writer = Writer(self, program, xp)
        function = self._compiled(writer)
        self._function = metered(function) if program.foreign else function
        if xp is not np:
            from engine.program.run.recorded import next_key  # with the first plan on a GPU
            from engine.program.run.replay import Replay

            writer.namespace["reserve"] = next_key
            self._function = self.replay = Replay(self, program, self._lines, self._function)
        track(self)

    def _compiled(self, writer: Writer) -> Any:
        """The function that a writer writes, with its globals."""
        self.source = writer.source()
        scope: dict[str, Any] = {}
        exec(compile(self.source, "<plan>", "exec"), writer.namespace, scope)
        self._lines = writer.lines
        self._kernels = writer.kernels
        self._called = writer.called
        self._kernels.ask()
        return scope["plan"]

    def settle(self, tensor_of: Callable[[Variable], Any]) -> None:
        """Let parameters that the last call updated one by one move into an arena, where they may.

        ``tensor_of`` gives the Tensor whose array a call gets for a Variable.
        """
        for update in self.updates:
            if update.missed:
                update.settle(tensor_of)

    def text(self) -> str:
        """The operators after all passes, one a line, with the user's lines that they come from."""
        from engine.program.run.listing import listing  # few ask

        return listing(self.ops)

    def follow_recording(self) -> None:
        """Call kernels as operators give them now: timed ones while a profiler records."""
        self._kernels.follow()

    def report(self) -> Report:
        """The memory of a call at its peak, by operator and line; see :class:`Report`."""
        from engine.program.run.report import report_of  # few ask

        return report_of(self)

    def explain(self) -> list[Explained]:
        """Each operator of :meth:`text`: how it runs, whose kernel it calls and why; see
        :mod:`engine.program.run.explain`."""
        from engine.program.run.explain import explain  # few ask

        return explain(self)

    def kernels(self) -> list[tuple[str, str]]:
        """The operators in the order of the source, then the grouped updates, and whose
        kernel each calls: "numpy", "fast", or "compiling" where NumPy's serves until the compiled one is
        there."""
        return [*self._kernels.report(), *((update.name, update.kernel()[0]) for update in self.updates)]

    def __call__(self, values: Sequence[Array]) -> tuple[Array, ...]:
        if self._kernels.ready:
            self._kernels.swap()
        try:
            result: tuple[Array, ...] = self._function(values)
            return result
        except Exception as error:
            raise self.explained(error) from error.__cause__

    def explained(self, error: Exception) -> Exception:
        """The error with the operator and the user's line that created it."""
        from engine.program.run.failures import explained  # with the first error

        return explained(self, self._lines, error)

    @property
    def graph(self) -> str:
        """On a GPU "graph" where calls replay a CUDA graph, else "plain" with the reason where there is one;
        empty on the CPU."""
        return "" if self.replay is None else self.replay.how

    def spec_of(self, value: Any) -> Any:
        """The Spec of an operator's input in this plan; None for an absent one."""
        if isinstance(value, list):
            return [self.spec_of(v) for v in value]
        return None if value is None else self.specs.get(id(value), value.spec)


_plans: weakref.WeakSet[Plan] = weakref.WeakSet()


def track(plan: Plan) -> None:
    """Let the plan follow recordings as long as it lives."""
    _plans.add(plan)


def _follow_recording(_: bool) -> None:
    for plan in list(_plans):
        plan.follow_recording()


watch.changing.append(_follow_recording)


class Writer:
    """Writes the source of a plan, line by line, remembering which operator each line runs."""

    def __init__(self, plan: Plan, program: Program, xp: Any) -> None:
        self.plan = plan
        from engine.program.run.kernels import Kernels  # with the first plan, not with the engine

        self.program = program
        self.backend = "cpu" if xp is np else "cupy"
        self.metered = program.foreign
        self.known = plan.constants
        self.reused = reusable(plan.live, plan.outputs, plan.specs, self.known)
        self.namespace: dict[str, Any] = {
            "xp": xp,
            "asarray": xp.asarray,
            "write": _write,
            "fitting": fitting,
            "reserve": reserve_for(xp),
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

    def slot(self, variable: Variable) -> str:
        """The name of a Variable: local, or global where its value is known."""
        found = self._slots.get(id(variable))
        if found is None:
            known = self.known.get(id(variable))
            found = f"v{len(self._slots)}" if known is None else self.constant(known)
            self._slots[id(variable)] = found
            self._variables.append(variable)
        return found

    def slots(self, value: Any) -> str:
        """The argument of an operator's input: a slot, a list of slots, or None."""
        if value is None:
            return "None"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(self.slots(v) for v in value) + "]"
        return self.slot(value)

    def names(self, variables: Iterable[Variable]) -> list[str]:
        """The local names of Variables."""
        return [self.slot(v) for v in variables]

    def constant(self, value: Any) -> str:
        """The global name of a value that does not change."""
        name = f"c{self._constants}"
        self._constants += 1
        self.namespace[name] = value
        return name

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
        inputs, outputs = self.plan.inputs, self.plan.outputs
        self.line(0, "def plan(values):")
        if inputs:
            self.line(1, ", ".join(self.slot(v) for v in inputs) + ", = values")
        ops = self.plan.ops
        live = self.plan.live
        keep = {id(v) for v in outputs}
        dying: dict[int, list[Variable]] = {}
        for operator in ops:
            for variable in variables_of(operator.outputs):
                position = live.last.get(id(variable))
                stays = id(variable) in keep or variable.persistable or id(variable) in self.known
                if position is not None and not stays:
                    dying.setdefault(position, []).append(variable)
        updates = {group[0]: group for group in self.plan.update_groups}
        grouped = {position for group in self.plan.update_groups for position in group}
        if self.plan.consumes:
            self.line(1, "values.clear()")
            for variable in inputs:
                position = live.last.get(id(variable))
                if position is not None and id(variable) not in keep:
                    dying.setdefault(position, []).append(variable)
        for position, operator in enumerate(ops):
            if position in updates:
                self.update(1, [ops[n] for n in updates[position]])
            elif position not in grouped:
                self.operator(1, operator)
            gone = {id(v): v for v in dying.get(position, ())}
            if gone:
                self.line(1, " = ".join(self.slot(v) for v in gone.values()) + " = None")
        shared = {id(v) for v in inputs} | live.handed_on | self.known.keys()
        results = ", ".join(
            f"{self.slot(v)}.copy()" if live.owner(v) in shared else self.slot(v) for v in outputs
        )
        self.line(1, f"return ({results}{',' if outputs else ''})")
        return "\n".join(self._text) + "\n"

    def update(self, depth: int, operators: Sequence[Operator]) -> None:
        """The call of several updates, see ``engine/program/run/updates.py``."""
        from engine.program.run.updates import Update

        made = Update(operators)
        self.plan.updates = (*self.plan.updates, made)
        given = (made.variables, made.gradients, made.shared)
        arguments = ", ".join(self.slots(variables) for variables in given)
        self.line(depth, f"{self.constant(made)}({arguments})", operators[0])

    def operator(self, depth: int, operator: Operator) -> None:
        if operator.outputs and id(operator.outputs[0]) in self.known:
            return
        write = operator.opdef.plan_rule
        if write is not None:
            write(self, depth, operator)
        elif self.metered:
            gauge = self.constant(Gauge(operator))
            self.line(depth, f"{gauge}({', '.join(self.slots(v) for v in operator.inputs)})", operator)
            self._kernel_call(depth, operator)
            self.line(depth, f"made({', '.join(self.names(variables_of(operator.outputs)))})", operator)
        else:
            self._kernel_call(depth, operator)

    def _kernel_call(self, depth: int, operator: Operator) -> None:
        from engine.program.run.kernels import Call  # with the first plan, not with the engine

        opdef = operator.opdef
        specs = [self.plan.spec_of(v) for v in operator.inputs]
        direct = opdef.kernel_for(self.backend)[1]
        is_low = [self.plan.spec_of(v).dtype is bfloat16 for v in variables_of(operator.inputs)]
        low = [v is not None and self.plan.spec_of(v).dtype is bfloat16 for v in operator.outputs]
        narrow = any(is_low) or any(low)
        bound = not narrow and self.kernels.takes_fast(opdef, specs)
        direct = bound or (direct and not narrow)
        name = self.constant(None)
        self.kernels.add(Call(name, opdef, operator.attrs, specs, low if narrow else None, bound))
        self.called[id(operator)] = self.kernels.calls[-1]
        arguments = [self.slots(v) for v in operator.inputs]
        if not direct:
            arguments.insert(0, "xp")
            for key, value in operator.attrs.items():
                simple = value is None or isinstance(value, (bool, int))
                arguments.append(f"{key}={value if simple else self.constant(value)}")
        if opdef.random:
            key = operator.replayed_state
            if operator.saved_state is not None:
                key = operator.saved_state
                self.line(depth, f"{self.slot(key)} = reserve()")
            arguments.append("key=" + ("reserve()" if key is None else self.slot(key)))
        outputs = list(operator.outputs)
        if id(operator) in self.reused and not narrow:
            targets = [self._fitting(operator, target) for target in self.reused[id(operator)]]
            arguments.append(f"out={targets[0] if opdef.single else '[' + ', '.join(targets) + ']'}")
        call = f"{name}({', '.join(arguments)})"
        if not outputs:
            self.line(depth, call, operator)
            return
        # A replay changes nothing outside: an output written in place becomes a new value.
        written = [operator.replaced(n) is not None and not operator.replay for n in range(len(outputs))]
        targets = [
            "_" if v is None else f"w{n}" if written[n] else self.slot(v) for n, v in enumerate(outputs)
        ]
        self.line(depth, (targets[0] if opdef.single else ", ".join(targets) + ",") + f" = {call}", operator)
        for n, variable in enumerate(outputs):
            if written[n] and variable is not None:
                self.line(depth, f"write({self.slot(variable)}, w{n})", operator)

    def _fitting(self, operator: Operator, target: Variable | None) -> str:
        """The expression of the array of ``target`` to write into, if its layout is that of the other
        inputs."""
        if target is None:
            return "None"
        others = [self.slot(v) for v in variables_of(operator.inputs) if v is not target]
        return f"fitting({', '.join([self.slot(target), *others])})"


def _write(target: Array, value: Array) -> None:
    if value is not target:
        target[...] = value


def module_for(values: Sequence[Array]) -> Any:
    """The array module of the inputs, without any that of the place of new tensors.

    Raises ProgramError where they are on different devices.
    """
    modules = {array_module(v).__name__: array_module(v) for v in values}
    if len(modules) > 1:
        raise ProgramError(f"plan: inputs live on different devices: {sorted(modules)}; move them to one")
    return next(iter(modules.values())) if modules else backend(current_place()).xp
