"""Programs as text, in the form that Paddle 2.6.2 prints."""

from __future__ import annotations

from typing import Any

from engine.core.dtype import DType
from engine.core.operator import Operator
from engine.program.program import Block, Program, Variable, variables_of


def variable_text(variable: Variable) -> str:
    """``persist trainable param w : LOD_TENSOR.shape(3, 2).dtype(float32).stop_gradient(False)``."""
    kind = "param" if variable.is_parameter else "var"
    prefix = "persist " if variable.persistable else ""
    if variable.is_parameter:
        prefix += "trainable " if variable.trainable else ""
    shape = ", ".join(str(d) for d in variable.shape) + ("," if len(variable.shape) == 1 else "")
    return (
        f"{prefix}{kind} {variable.name} : LOD_TENSOR.shape({shape})"
        f".dtype({variable.dtype.name}).stop_gradient({variable.stop_gradient})"
    )


def _names(value: Any) -> str:
    return "[" + ", ".join(f"'{v.name}'" for v in variables_of(value)) + "]"


def attribute_text(value: Any) -> str:
    """An attribute's value as Paddle writes it: strings bare, dtypes by name, lists in brackets."""
    if isinstance(value, str):
        return value
    if isinstance(value, DType):
        return value.name
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(attribute_text(v) for v in value) + "]"
    return str(value)


def operator_text(operator: Operator) -> str:
    """``{Out=['y']} = relu(inputs={X=['x']}, ...)``."""
    opdef = operator.opdef
    outputs = _by_slot(opdef.outputs, operator.outputs, opdef)
    inputs = ", ".join(
        f"{i.slot}={_names(v)}" for i, v in zip(opdef.inputs, operator.inputs, strict=True) if v is not None
    )
    shown = {k: v for k, v in operator.attrs.items() if k not in opdef.hidden and v is not None}
    attrs = "".join(f", {k} = {attribute_text(v)}" for k, v in sorted(shown.items()))
    return f"{{{outputs}}} = {opdef.name}(inputs={{{inputs}}}{attrs})"


def _by_slot(declared: Any, values: Any, opdef: Any) -> str:
    if opdef.listed:
        return f"{declared[0].slot}={_names(values)}"
    return ", ".join(f"{d.slot}={_names(v)}" for d, v in zip(declared, values, strict=True))


def block_text(block: Block) -> str:
    lines = [f"{{ // block_idx:{block.idx}  parent_idx:{block.parent_idx}  forward_idx:-1  backward_idx:-1"]
    lines += [f"    {variable_text(v)}" for v in block.vars.values()]
    lines.append("")
    lines += [f"    {operator_text(o)}" for o in block.ops]
    return "\n".join([*lines, "}"])


def program_text(program: Program) -> str:
    return "\n".join(block_text(b) for b in program.blocks) + "\n"
