"""Operators as Paddle's OpDescs: type, inputs and outputs by slot, attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.core.operators.operator import Operator, described, paddle_type
from engine.core.values.dtype import DType
from engine.core.values.spec import Spec
from engine.program.graph.variable import Variable
from engine.program.text.form import Form
from engine.program.text.forms import FORMS, number

_PLAIN = Form()
NUMBERED = frozenset(("dtype", "in_dtype", "out_dtype"))
# Attributes of every operator.
COMMON: dict[str, Any] = {
    "op_device": "",
    "op_namescope": "/",
    "op_role": 0,
    "op_role_var": [],
    "with_quant_attr": False,
}


class OpDesc:
    """One operator as Paddle shows it; slots and attributes by name, sorted."""

    __slots__ = ("attrs", "inputs", "outputs", "type")

    def __init__(
        self, type: str, inputs: dict[str, list[str]], outputs: dict[str, list[str]], attrs: dict[str, Any]
    ) -> None:
        self.type = type
        self.inputs = dict(sorted(inputs.items()))
        self.outputs = dict(sorted(outputs.items()))
        self.attrs = dict(sorted(attrs.items()))

    def text(self) -> str:
        """``{Out=['y']} = relu(inputs={X=['x']}, ...)``."""
        outputs = ", ".join(f"{slot}={names}" for slot, names in self.outputs.items())
        inputs = ", ".join(f"{slot}={names}" for slot, names in self.inputs.items())
        attrs = ", ".join(f"{name} = {attribute_text(value)}" for name, value in self.attrs.items())
        return f"{{{outputs}}} = {self.type}(inputs={{{inputs}}}, {attrs})"


class BlockNumber:
    """A block as an attribute."""

    def __init__(self, index: int) -> None:
        self.index = index

    def __str__(self) -> str:
        return f"block[{self.index}]"


def attribute_text(value: object) -> str:
    """An attribute's value as Paddle writes it: strings bare, lists in brackets."""
    return str(value)


def form_of(operator: Operator) -> Form:
    return FORMS.get(operator.opdef.name, _PLAIN)


@paddle_type.define
def type_of(operator: Operator) -> str:
    """The type of its OpDesc."""
    notes = getattr(operator, "notes", None) or {}  # the tape leaves it out
    return notes.get("type") or form_of(operator).type or operator.opdef.name


def _names(value: Any) -> list[str]:
    if isinstance(value, (list, tuple)):
        return [name for each in value for name in _names(each)]
    return [shown_name(value)] if isinstance(value, Variable) else []


def shown_name(variable: Variable) -> str:
    """The name in the text: Paddle's loops write their values in place."""
    return variable.shown_name or variable.name


def shown_stop_gradient(variable: Variable) -> bool:
    """The flag in the text: Paddle lets integers computed from trained values have gradients."""
    flag = variable.shown_stop_gradient
    return variable.stop_gradient if flag is None else flag


def describe(operator: Operator) -> OpDesc:
    """The operator as Paddle shows it."""
    if operator.notes and "own" in operator.notes:  # its notes have all: gradients
        notes = operator.notes
        own = {**COMMON, **notes["own"], **notes.get("attrs", {})}
        return OpDesc(notes["type"], dict(notes["inputs"]), dict(notes["outputs"]), own)
    opdef, notes = operator.opdef, operator.notes or {}
    inputs = inputs_of(operator, _names, bare="bare" in notes) | notes.get("inputs", {})
    outputs = _outputs_of(operator)
    outputs |= {slot: [shown_name(variable)] for slot, variable in notes.get("extra", {}).items()}
    attrs = {**COMMON, **attributes_of(operator)}
    for name, region in zip(opdef.regions, operator.regions, strict=True):
        attrs[f"{name}_block"] = BlockNumber(region.block.idx)
        attrs[f"{name}_arguments"] = [shown_name(v) for v in region.arguments]
        attrs[f"{name}_results"] = [shown_name(v) for v in region.results]
    if "instead" in notes:
        inputs = {slot: names for slot, names in inputs.items() if names}
        attrs = {**COMMON, **notes["instead"]}
    attrs |= notes.get("attrs", {})
    return OpDesc(type_of(operator), inputs, outputs, attrs)


def inputs_of(
    operator: Operator, names: Callable[[Any], list[str]], bare: bool = False
) -> dict[str, list[str]]:
    """Its inputs by the slots that Paddle has, with the names that ``names`` gives for a value; ``bare``
    omits slots that stay empty."""
    form = form_of(operator)
    inputs: dict[str, list[str]] = {} if bare else {slot: [] for slot in form.empty}
    return inputs | {
        form.slots_in.get(declared.slot, declared.slot): names(value)
        for declared, value in operator.opdef.named_inputs(operator.inputs)
        if value is not None and declared.slot not in form.without
    }


def _outputs_of(operator: Operator) -> dict[str, list[str]]:
    opdef, form, outputs = operator.opdef, form_of(operator), {}
    if opdef.listed:
        return {opdef.outputs[0].slot: _names(operator.outputs)}
    for n, (out, value) in enumerate(zip(opdef.outputs, operator.outputs, strict=True)):
        if value is None and out.slot in form.always:
            value = operator.replaced(n)
        if value is not None and out.slot not in form.hidden:
            outputs[form.slots.get(out.slot, out.slot)] = _names(value)
    return outputs


def attributes_of(operator: Operator) -> dict[str, Any]:
    """Its attributes by the names that Paddle has."""
    form, attrs = form_of(operator), {}
    for name, value in operator.attrs.items():
        if name in form.drop or value is None:
            continue
        shown = _shown(name, value)
        attrs[form.rename.get(name, name)] = float(np.float32(shown)) if name in form.floats else shown
    for name, value in form.attrs.items():
        attrs[name] = value(operator) if callable(value) else value
    return attrs


described.define(describe)


def _shown(name: str, value: Any) -> Any:
    """A value as Paddle stores it: floating numbers in float32, dtypes by their number."""
    if isinstance(value, DType) or (name in NUMBERED and isinstance(value, str)):
        return number(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, (float, np.floating)):
        return float(np.float32(value))
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, (list, tuple)):
        return [_shown("", v) for v in value]
    return str(value) if isinstance(value, Spec) else value
