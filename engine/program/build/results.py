"""Makes the Variables that an operator writes, in Paddle's order and under its names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.core.operator import Operator
from engine.core.spec import Spec
from engine.ops.arrays.creation import fill
from engine.program.graph.program import variables_of
from engine.program.text.forms import FORMS, Form

if TYPE_CHECKING:
    from engine.program.build.builder import Builder

_PLAIN = Form()


def make_results(builder: Builder, operator: Operator, specs: tuple[Any, ...]) -> list[Any]:
    """The outputs of ``operator``; None for one that the attributes say is not wanted.

    What only Paddle has (``XShape``) becomes a Variable in the operator's notes, which nothing computes.
    """
    opdef, form = operator.opdef, FORMS.get(operator.opdef.name, _PLAIN)
    inputs = list(variables_of(operator.inputs))
    stop = not builder.grad or not opdef.rules or all(
        v.stop_gradient for n, value in enumerate(operator.inputs) if opdef.input_names[n] in opdef.rule_of
        for v in variables_of(value)
    )  # fmt: skip
    unread = []
    if form.operands is not None and builder.startup is not None:
        unread = _append_operands(builder, operator, form.operands(operator))
    says_stop = not builder.grad or all(_says_stop(v) for v in inputs)
    naming, next_name = builder.calls.namer(builder.program, opdef.name, inputs[0].name if inputs else "")
    outputs: list[Any] = [None] * len(specs)
    wanted: dict[str, tuple[int, Spec]] = {}  # by slot; a list's are numbered
    for n, spec in enumerate(specs):
        declared = opdef.outputs[min(n, len(opdef.outputs) - 1)]
        if declared.writes:
            outputs[n] = operator.inputs[opdef.index_of[declared.writes]]
        elif spec is not None:
            wanted[declared.slot if not opdef.listed else f"{declared.slot} {n}"] = (n, spec)
    extra: dict[str, Any] = {}
    ordered = [s for s in naming.order or form.order if s in wanted or s in form.extra]
    for slot in dict.fromkeys((*ordered, *wanted, *form.extra)):
        spec = wanted[slot][1] if slot in wanted else form.extra[slot](operator)
        if spec is None:
            continue
        floating = spec.dtype.is_floating_point or spec.dtype.is_complex
        made = builder.block.create_var(next_name(), spec, stop_gradient=stop or not floating)
        if (said := says_stop or (slot in form.stopped and naming.form != "tmp")) != made.stop_gradient:
            made.says_stop_gradient = said
        if slot in form.says:
            made.says_spec = form.says[slot](operator, spec)
        if slot in wanted:
            outputs[wanted[slot][0]] = made
        else:
            extra[slot] = made
    for name in unread:  # Paddle declares it behind the results
        builder.block.vars[name] = builder.block.vars.pop(name)
    if extra:
        operator.note("extra", extra)
    if opdef.name == "fill_constant" and naming.form == "tmp":  # an operand
        operator.notes = {"bare": True, "plain": True}
    if naming.device:
        operator.note("attrs", {"op_device": naming.device})
    if opdef.name in naming.early and builder.block.ops:
        _move_before(builder.block.vars, outputs, builder.block.ops[-1])
    return outputs


def _append_operands(builder: Builder, operator: Operator, operands: list[tuple[str, Any, str]]) -> list[str]:
    """Numbers that Paddle makes Variables of, for the text; nothing reads them when the Program runs.

    Gives the names of those that Paddle does not read, either.
    """
    read, unread = {}, []
    for slot, value, dtype in operands:
        for _ in range(2):  # the first name is made in vain, as Paddle does
            name = builder.program.unique_name("fill_constant")
        made = builder.block.create_var(f"{name}.tmp_0", Spec((1,), dtype), stop_gradient=True)
        attrs = {"shape": [1], "value": value, "dtype": dtype}
        constant = Operator(fill.opdef, (None,), attrs)
        constant.outputs = (made,)
        if slot:
            constant.note("attrs", {"force_cpu": True, "op_device": "cpu"})
            read[slot] = [made.name]
        else:
            unread.append(made.name)
        builder.block.append(constant)
    if read:
        operator.note("inputs", read)
    return unread


def _says_stop(variable: Any) -> bool:
    said = variable.says_stop_gradient
    return variable.stop_gradient if said is None else bool(said)


def _move_before(variables: dict[str, Any], outputs: list[Any], operator: Operator) -> None:
    """Let the Block list ``outputs`` before the results of ``operator``."""
    extra = (operator.notes or {}).get("extra", {})
    behind = [v.name for v in (*variables_of(operator.outputs), *extra.values())]
    for name in behind:
        variables[name] = variables.pop(name)
