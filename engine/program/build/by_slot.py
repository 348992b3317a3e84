"""Appends operators by Paddle's slots, writing results into Variables that exist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.core.errors import EngineError, ProgramError
from engine.core.frames import user_frame
from engine.core.layer_calls import layer_call
from engine.core.operators.opdef import OPS, OpDef
from engine.core.operators.operator import Operator
from engine.core.strictness import tolerate
from engine.program.graph import delegates
from engine.program.graph.program import Block, Variable, variables_of
from engine.program.text.forms import FORMS, Form


def append_into(
    block: Block,
    opdef: OpDef,
    inputs: tuple[Any, ...],
    attrs: Mapping[str, Any],
    outputs: tuple[Any, ...],
    notes: dict[str, Any] | None = None,
) -> Operator:
    """Append ``opdef`` to ``block``, writing Variables that exist.

    Raises the errors of its inference, and ProgramError where an output has another shape or dtype than
    inferred.
    """
    full = opdef.with_defaults(attrs)
    specs = opdef.infer_specs([_spec_of(v) for v in inputs], full)
    # Outputs that attributes switch off are not written.
    outputs = tuple([None if s is None else v for v, s in zip(outputs, specs, strict=True)])
    for variable, spec in zip(outputs, specs, strict=True):
        if variable is not None and variable.waits:
            variable.spec, variable.waits = spec, False
        elif variable is not None and not variable.spec.agrees(spec):
            raise ProgramError(
                f"{opdef.name}: the result is {spec}: {variable.name!r} is {variable.spec}; "
                "create it with the shape and dtype of the result"
            )
    operator = Operator(opdef, inputs, full)
    operator.outputs = outputs
    operator.notes = notes
    operator.set_place(user_frame(), layer_call())
    return block.append(operator)


def _spec_of(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_spec_of(v) for v in value]
    return None if value is None else value.spec


@delegates.append_by_slot.define
def append_by_slot(
    block: Block, type: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], attrs: Mapping[str, Any]
) -> Operator:
    """See ``Block.append_op``."""
    opdef = OPS.get(type)
    if opdef is None:
        raise ProgramError(f"append_op: there is no operator {type!r} here; build it from public functions")
    given = {slot: _variables(block, value) for slot, value in inputs.items()}
    values: list[Any] = []
    for declared in opdef.inputs:
        found = given.pop(declared.slot, [])
        if declared.is_list:
            values.append(found)
        elif len(found) > 1 or (not found and not declared.optional):
            raise ProgramError(
                f"append_op: {type}: slot {declared.slot} takes one Variable: got {len(found)}; "
                f"its slots are {[i.slot for i in opdef.inputs]}"
            )
        else:
            values.append(found[0] if found else None)
    unknown = [slot for slot, found in given.items() if found]
    if unknown:
        raise ProgramError(
            f"append_op: {type}: no slot {unknown}; its slots are {[i.slot for i in opdef.inputs]}"
        )
    results: list[Any] = []
    wanted = {slot: _variables(block, value) for slot, value in outputs.items()}
    for out in opdef.outputs:
        found = wanted.get(out.slot, [])
        results += found if opdef.listed else [found[0] if found else None]
        if out.writes and found:
            place = opdef.index_of[out.writes]
            slot = opdef.inputs[place].slot
            if slot == out.slot and found[0].persistable:  # Paddle's operator reads it, too
                values[place] = found[0]
            if values[place] is None or values[place] is found[0]:
                continue
            raise ProgramError(
                f"append_op: {type}: {out.slot} replaces {slot} in place: got {found[0].name!r}; give both "
                "the same Variable"
            )
    known = attributes_by_name(opdef, attrs)
    try:
        return append_into(block, opdef, tuple(values), known, tuple(results))
    except EngineError as error:
        raise error.__class__(f"append_op: {error}") from None


def attributes_by_name(opdef: OpDef, attrs: Mapping[str, Any]) -> dict[str, Any]:
    """The operator's attributes, which may have Paddle's names: ``keep_dim``.

    Those that choose how to compute are ignored. Another one that is set is a ProgramError, or a warning
    where the engine is lenient.
    """
    form = FORMS.get(opdef.name, Form())
    names = {form.rename.get(name, name): name for name in opdef.attributes}
    known = {names.get(name, name): value for name, value in attrs.items()}
    unknown = [
        name for name in known if name not in opdef.attributes and not _is_ignored(form, name, attrs[name])
    ]
    if unknown:
        tolerate(
            ProgramError(
                f"append_op: {opdef.name}: no attribute {unknown}; its attributes are {sorted(names)}"
            )
        )
    found = {name: value for name, value in known.items() if name in opdef.attributes}
    if form.rename.get("axis") == "dim" and not found.get("reduce_all"):
        found.setdefault("axis", [0])
    return found


def _is_ignored(form: Form, name: str, value: object) -> bool:
    chooses = name.startswith(("op_", "use_")) or any(part in name for part in ("mkldnn", "cudnn"))
    return chooses or name in form.attrs or value in (False, 0, -1, "", [], (), None)


def _variables(block: Block, value: Any) -> list[Variable]:
    """The Variables given for a slot: one, a list, or names."""
    if isinstance(value, str):
        return [block.var(value)]
    if isinstance(value, (list, tuple)):
        return [v for each in value for v in _variables(block, each)]
    return list(variables_of(value))
