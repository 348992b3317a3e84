"""Programs as text, in the form that Paddle 2.6.2 prints."""

from __future__ import annotations

from typing import Any

from engine.core.operator import Operator
from engine.program.describe import describe
from engine.program.program import Block, Program, Variable


def variable_text(variable: Variable) -> str:
    """``persist trainable param w : LOD_TENSOR.shape(3, 2).dtype(float32).stop_gradient(False)``."""
    kind = "param" if variable.is_parameter else "var"
    prefix = "persist " if variable.persistable else ""
    if variable.is_parameter:
        prefix += "trainable " if variable.trainable else ""
    if variable.type != "LOD_TENSOR":
        return f"{prefix}{kind} {variable.name} : {variable.type})"
    return (
        f"{prefix}{kind} {variable.name} : LOD_TENSOR.shape{tuple(variable.spec.shape)}"
        f".dtype({variable.dtype.name}).stop_gradient({says_stop_gradient(variable)})"
    )


def says_stop_gradient(variable: Variable) -> bool:
    said = variable.says_stop_gradient
    return variable.stop_gradient if said is None else said


def variable_details(variable: Variable) -> str:
    """The line, and under it what else is known."""
    known: dict[str, Any] = {"persistable": variable.persistable, "is_data": variable.is_data}
    for field in ("trainable", "optimize_attr", "regularizer", "do_model_average", "need_clip"):
        if variable.is_parameter and hasattr(variable, field):
            known[field] = getattr(variable, field)
    return "\n".join([variable_text(variable), *(f"    {name}: {value}" for name, value in known.items())])


def operator_text(operator: Operator) -> str:
    """``{Out=['y']} = relu(inputs={X=['x']}, ...)``."""
    return describe(operator).text()


def block_text(block: Block, with_details: bool = False) -> str:
    show = variable_details if with_details else variable_text
    lines = [f"{{ // block_idx:{block.idx}  parent_idx:{block.parent_idx}  forward_idx:-1  backward_idx:-1"]
    lines += [f"    {line}" for v in block.vars.values() for line in show(v).split("\n")]
    lines.append("")
    lines += [f"    {operator_text(o)}" for o in block.ops]
    return "\n".join([*lines, "}"])


def program_text(program: Program, with_details: bool = False) -> str:
    return "\n".join(block_text(b, with_details) for b in program.blocks) + "\n"
