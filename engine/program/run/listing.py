"""The operators of a plan as text: what its passes made of a Program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.core.operator import Operator
from engine.program.graph.positions import positions


def name_with_parts(name: str, attrs: Mapping[str, Any]) -> str:
    """The name of an operator; that of a fused one with the operators that it is made of."""
    if name != "fused_elementwise":
        return name
    return f"{name}({', '.join(step[0] for step in attrs['steps'])})"


def listing(ops: Iterable[Operator]) -> str:
    """One line an operator: results, name, inputs, and the places in the user's code that it comes from.

    ::

        c, d = fused_elementwise(elementwise_add, relu)(a, bias)  # net.py:12, net.py:13
    """
    return "".join(f"{_line(operator)}\n" for operator in ops)


def _line(operator: Operator) -> str:
    results = ", ".join("_" if v is None else v.name for v in operator.outputs)
    inputs = ", ".join(_name(v) for v in operator.inputs)
    if operator.opdef.name == "fused_elementwise":
        inputs = inputs[1:-1]  # its one input is a list
    places = ", ".join(f"{file}:{line}" for file, line in positions(operator))
    text = f"{results} = " if results else ""
    text += f"{name_with_parts(operator.opdef.name, operator.attrs)}({inputs})"
    return f"{text}  # {places}" if places else text


def _name(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_name(v) for v in value) + "]"
    return "None" if value is None else str(value.name)
