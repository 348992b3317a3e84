"""``append_backward`` and ``gradients``: gradient operators at the end of a Program, under Paddle's names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, GradientError
from engine.core.operator import Operator
from engine.ops.arrays import shape
from engine.ops.elementwise import math
from engine.program.backward.control import CONTROL_GRADIENTS
from engine.program.backward.gradient_ops import GRADIENT, gradient_operator, lowered
from engine.program.backward.in_block import depends_on
from engine.program.build.builder import Builder, current_builder
from engine.program.graph.program import Block, Program, Variable, reads, variables_of, writes
from engine.program.passes.clone import BACKWARD
from engine.program.text.gradient_forms import note_gradient
from engine.program.text.printed import is_hidden

LOSS = 256


def append_backward(
    loss: Variable,
    parameter_list: Iterable[Any] | None = None,
    no_grad_set: Iterable[Any] | None = None,
    callbacks: Any = None,
    checkpoints: Any = None,
) -> list[tuple[Variable, Variable]]:
    """Append to ``loss``'s Program the operators that compute its gradients.

    Returns pairs of parameter and gradient, for the trainable parameters that ``loss`` depends on (those of
    ``parameter_list`` only, if given, Parameters or names). ``no_grad_set`` names Variables that no gradient
    goes through. What is fed gets a gradient, too, where its ``stop_gradient`` is False; its name is that of
    the Variable and ``@GRAD``. ``checkpoints`` would trade time for memory: it is accepted and nothing is
    recomputed.
    Raises DTypeError for what is no Variable, ArgumentError for a loss of several elements.
    """
    if not isinstance(loss, Variable):
        raise DTypeError(
            f"append_backward: loss must be a Variable of a Program: got {type(loss).__name__}; in eager "
            "mode call loss.backward()"
        )
    if loss.spec.size != 1:
        raise ArgumentError(
            f"append_backward: loss {loss.name!r} is {loss.spec}: it must have one element; take its "
            "mean() or sum()"
        )
    block = loss.block
    program = block.program
    for operator in block.ops:
        if any(v is loss for v in writes(operator)):
            _set(operator, op_role=LOSS)
    chosen = _parameters(program, parameter_list)
    names_before = set(block.vars)
    with _building(program) as builder:
        seed = block.create_var(_grad_name(block, loss), loss.spec, stop_gradient=False)
        _append_seed(block, seed)
        writer = _Backward(builder, block, _names(no_grad_set), chosen)
        fed = [] if parameter_list is not None else _fed_with_gradients(block, chosen)
        found = writer.run(list(block.ops[:-1]), {id(loss): seed}, [*chosen, *fed])
    _sort_new(block, names_before)
    return [(p, g) for p, g in zip(chosen, found, strict=False) if g is not None]


def _fed_with_gradients(block: Block, parameters: Sequence[Variable]) -> list[Variable]:
    """What no operator computes and may have a gradient, besides ``parameters``: ``name@GRAD`` is fetched."""
    known = {id(v) for o in block.ops for v in writes(o)} | {id(p) for p in parameters}
    return [v for v in block.vars.values() if not (v.stop_gradient or v.is_parameter or id(v) in known)]


def gradients(
    targets: Any,
    inputs: Any,
    target_gradients: Any = None,
    no_grad_set: Iterable[Any] | None = None,
) -> list[Variable | None]:
    """Append the operators that compute the gradients of ``targets`` with respect to ``inputs``.

    Returns one Variable an input, None where no target depends on it. ``target_gradients`` are what the
    targets' gradients begin with, 1 where not given. Gradients of gradients work: what computed the first
    is written out as the operators of its rules. Raises DTypeError or ArgumentError for wrong arguments.
    """
    wanted = _listed("inputs", inputs)
    results = _listed("targets", targets)
    starts = (
        [None] * len(results) if target_gradients is None else _listed("target_gradients", target_gradients)
    )
    if len(starts) != len(results):
        raise ArgumentError(
            f"gradients: {len(results)} targets and {len(starts)} target_gradients; give one a target, or "
            "None"
        )
    block = results[0].block
    program = block.program
    expand_gradients(block)
    before = list(block.ops)
    names_before = set(block.vars)
    with _building(program) as builder:
        grads: dict[int, Variable] = {}
        for target, start in zip(results, starts, strict=True):
            if start is None:
                start = _ones_like(block, target)
            elif list(start.spec.shape) != list(target.spec.shape):
                raise ArgumentError(
                    f"gradients: the gradient given for {target.name!r} {target.spec} is {start.spec}; "
                    "make their shapes equal"
                )
            first = grads.get(id(target))
            grads[id(target)] = start if first is None else math.add(first, start)
        writer = _Backward(builder, block, _names(no_grad_set), [])
        found = writer.run(before, grads, wanted)
    _sort_new(block, names_before)
    return found


def expand_gradients(block: Block) -> None:
    """Write out gradient operators as those of their rules, so that they can be differentiated themselves."""
    if any(o.opdef is GRADIENT for o in block.ops):
        expanded = lowered(block.program, block.ops)
        known = {id(v) for v in block.vars.values()}
        for operator in expanded:
            for variable in writes(operator):
                if id(variable) not in known and variable.block.idx == 0 and variable.block is not block:
                    variable.name = block.program.unique_name("gradient_part")
                    variable.block = block
                    block.vars[variable.name] = variable
        block.ops[:] = expanded
        block.program.changed()


class _Backward:
    """Walks back over operators and appends their gradients."""

    def __init__(
        self, builder: Builder, block: Block, stops: set[str], parameters: Sequence[Variable]
    ) -> None:
        self.builder = builder
        self.block = block
        self.stops = stops
        self.parameters = {id(p): p for p in parameters}
        self.contributions: dict[int, list[Variable]] = {}
        self.counts: dict[int, int] = {}
        self.summed: dict[int, Variable] = {}
        self.shown: dict[int, Variable] = {}  # whose gradient Paddle has where an operator is not shown

    def run(
        self, ops: Sequence[Operator], grads: dict[int, Variable], sources: Sequence[Variable]
    ) -> list[Variable | None]:
        """Append the gradients of ``sources`` given those of later Variables; None for one not reached."""
        reached = depends_on(ops, {id(s) for s in sources}) - self._stopped(ops)
        reached |= {id(s) for s in sources}
        self.summed.update(grads)
        path = self._path(ops, grads, reached)
        self.shown = {id(v): o.inputs[0] for o in path if is_hidden(o) for v in writes(o)}
        for operator in path:
            for variable in self._targets(operator, reached):
                self.counts[id(variable)] = self.counts.get(id(variable), 0) + 1
        for operator in path:
            incoming = [None if v is None else self._gradient(v) for v in operator.outputs]
            if all(g is None for g in incoming):
                continue
            special = CONTROL_GRADIENTS.get(operator.opdef.name)
            if special is not None:
                self._control(special, operator, incoming, reached)
            else:
                self._operator(operator, incoming, reached)
        return [self._gradient(s) for s in sources]

    def _stopped(self, ops: Sequence[Operator]) -> set[int]:
        return {id(v) for o in ops for v in (*reads(o), *writes(o)) if v.name in self.stops}

    def _path(self, ops: Sequence[Operator], grads: dict[int, Variable], reached: set[int]) -> list[Operator]:
        """The operators between ``reached`` and what has a gradient, last first."""
        flowing = set(grads)
        path = []
        for operator in reversed(ops):
            made = [v for v in writes(operator) if id(v) in flowing]
            if made and self._targets(operator, reached):
                path.append(operator)
                flowing |= {id(v) for v in self._targets(operator, reached)}
        return path

    def _targets(self, operator: Operator, reached: set[int]) -> list[Variable]:
        """The inputs that a gradient goes to; one that is read twice stands there twice."""
        control = operator.opdef.name in CONTROL_GRADIENTS
        found = []
        for declared, value in operator.opdef.named_inputs(operator.inputs):
            if control or declared.name in operator.opdef.rule_of:
                found += [v for v in variables_of(value) if id(v) in reached and self._flows(v)]
        return list(dict.fromkeys(found)) if control else found

    def _flows(self, variable: Variable) -> bool:
        return not variable.stop_gradient and variable.name not in self.stops

    def _gradient(self, variable: Variable) -> Variable | None:
        """The sum of what flowed back to ``variable``, made when it is first asked for."""
        parts = self.contributions.pop(id(variable), [])
        known = self.summed.get(id(variable))
        if known is not None and parts:
            parts.insert(0, known)
        if len(parts) > 1:
            name = _grad_name(self.block, variable)
            made = self.block.create_var(name, variable.spec, stop_gradient=False)
            operator = Operator(math.add_n.opdef, (parts,), {})
            operator.outputs = (made,)
            self._append(operator, variable, op_namescope="")
            known = made
        elif parts:
            known = parts[0]
        if known is not None:
            self.summed[id(variable)] = known
        return known

    def _new(self, variable: Variable) -> Variable:
        """A Variable for one contribution to the gradient of ``variable``."""
        name = f"{variable.name}@GRAD"
        parts = self.contributions.setdefault(id(variable), [])
        if self.counts.get(id(variable), 1) > 1:
            name = f"{name}@RENAME@block{self.block.idx}@{len(parts)}"
        if name in self.block.vars:
            name = self.builder.program.unique_name(name)
        made = self.block.create_var(name, variable.spec, stop_gradient=False)
        if id(variable) in self.shown:
            made.says_name = f"{self.shown[id(variable)].name}@GRAD"
        parts.append(made)
        return made

    def _operator(self, operator: Operator, incoming: list[Any], reached: set[int]) -> None:
        flat: list[tuple[str, Variable]] = []
        for declared, value in operator.opdef.named_inputs(operator.inputs):
            flat += [(declared.name, v) for v in variables_of(value)]
        targets = [
            n
            for n, (name, v) in enumerate(flat)
            if name in operator.opdef.rule_of and id(v) in reached and self._flows(v)
        ]
        if operator.opdef is math.add_n.opdef and len(targets) > 1:  # Paddle has one operator a summand
            for n in targets:
                self._part(operator, incoming, flat, [n])
        else:
            self._part(operator, incoming, flat, targets)

    def _part(
        self, operator: Operator, incoming: list[Any], flat: list[tuple[str, Variable]], targets: list[int]
    ) -> None:
        """Append the gradient operator of those inputs."""
        results = [self._new(flat[n][1]) for n in targets]
        made = gradient_operator(operator, incoming, targets, results)
        note_gradient(made, operator, incoming, dict(zip(targets, results, strict=True)))
        if is_hidden(operator):
            made.note("hidden", "operator")  # its result is shown
        slots = {i.name: i.slot for i in operator.opdef.inputs}
        ordered = sorted(targets, key=lambda n: slots[flat[n][0]])
        variables = [flat[n][1] for n in ordered]
        self._append(made, *(self.shown.get(id(v), v) for v in variables), single=True)

    def _append(self, operator: Operator, *variables: Variable, single: bool = False, **attrs: Any) -> None:
        pairs: list[str] = []
        for variable in variables:
            if id(variable) in self.parameters and (not single or self.counts.get(id(variable), 1) == 1):
                pairs += [variable.name, f"{variable.name}@GRAD"]
        _set(operator, op_role=BACKWARD, **({"op_role_var": pairs} if pairs else {}), **attrs)
        self.block.append(operator)

    def _control(self, special: Any, operator: Operator, incoming: list[Any], reached: set[int]) -> None:
        before = len(self.block.ops)
        for variable, value in special(operator, incoming, reached):
            if self._flows(variable):
                self.contributions.setdefault(id(variable), []).append(value)
        for made in self.block.ops[before:]:
            _set(made, op_role=BACKWARD)


def _set(operator: Operator, **attrs: Any) -> None:
    operator.note("attrs", {**(operator.notes or {}).get("attrs", {}), **attrs})


def _grad_name(block: Block, variable: Variable) -> str:
    name = f"{variable.name}@GRAD"
    return block.program.unique_name(name) if name in block.vars else name


def _ones_like(block: Block, target: Variable) -> Variable:
    """What the gradient of ``target`` begins with."""
    made = block.create_var(_grad_name(block, target), target.spec, stop_gradient=False)
    opdef = shape.fill_like.opdef
    operator = Operator(opdef, (target,), opdef.with_defaults({"value": 1.0}))
    operator.outputs = (made,)
    _set(operator, op_role=BACKWARD, op_namescope="")
    block.append(operator)
    return made


def _append_seed(block: Block, seed: Variable) -> None:
    opdef = shape.fill.opdef
    attrs = opdef.with_defaults({"shape": list(seed.spec.shape), "value": 1.0, "dtype": seed.dtype.name})
    operator = Operator(opdef, (None,) * len(opdef.inputs), attrs)
    operator.outputs = (seed,)
    operator.notes = {"bare": True, "plain": True}
    _set(operator, op_role=LOSS | BACKWARD, op_namescope="")
    block.append(operator)


def _building(program: Program) -> AbstractContextManager[Any]:
    """The mode in which operators are appended to ``program``, whatever is being built now."""
    builder = current_builder()
    startup = builder.startup if builder is not None else None
    return modes.use(Builder(program, startup=startup))


def _parameters(program: Program, parameter_list: Iterable[Any] | None) -> list[Variable]:
    if parameter_list is None:
        return [p for p in program.all_parameters() if not p.stop_gradient]
    block = program.global_block()
    chosen = []
    for item in parameter_list:
        name = item if isinstance(item, str) else getattr(item, "name", None)
        found = block.vars.get(name) if isinstance(name, str) else None
        if found is None:
            raise ArgumentError(f"append_backward: parameter_list has {item!r}, which the Program has not")
        if not found.stop_gradient:
            chosen.append(found)
    return chosen


def _names(no_grad_set: Iterable[Any] | None) -> set[str]:
    if no_grad_set is None:
        return set()
    if not isinstance(no_grad_set, (set, frozenset, list, tuple)):
        raise DTypeError(f"no_grad_set is a set of Variables or names: got {type(no_grad_set).__name__}")
    return {v if isinstance(v, str) else v.name for v in no_grad_set}


def _listed(what: str, value: Any) -> list[Any]:
    listed = list(value) if isinstance(value, (list, tuple)) else [value]
    for item in listed:
        if not isinstance(item, Variable) and not (what == "target_gradients" and item is None):
            raise DTypeError(
                f"gradients: {what} are Variables of a Program: got {type(item).__name__}; in eager mode use "
                "paddle.grad()"
            )
    if not listed:
        raise GradientError(f"gradients: {what} is empty; pass at least one Variable")
    return listed


def _sort_new(block: Block, before: set[str]) -> None:
    """Paddle lists what its backward declares by name."""
    for name in sorted(set(block.vars) - before):
        block.vars[name] = block.vars.pop(name)
