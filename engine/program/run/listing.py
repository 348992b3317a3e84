"""The operators of a plan or a Program as text, after the passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from engine.core.operators.operator import Operator
from engine.program.graph.liveness import sub_blocks
from engine.program.graph.positions import positions


class Line(NamedTuple):
    """One operator as text, and how many branches and loops contain it."""

    operator: Operator
    depth: int
    text: str


def name_with_parts(name: str, attrs: Mapping[str, Any]) -> str:
    """The name of an operator; that of a fused one with the operators that it combines."""
    if name != "fused_elementwise":
        return name
    return f"{name}({', '.join(step[0] for step in attrs['steps'])})"


def listing(ops: Iterable[Operator]) -> str:
    """One line an operator: results, name, inputs, and the places in the user's code that it comes from.

    ::

        c, d = fused_elementwise(elementwise_add, relu)(a, bias)  # net.py:12, net.py:13

    Those in branches and loops follow theirs, further in.
    """
    return "".join(f"{'    ' * line.depth}{_with_places(line)}\n" for line in lines_of(ops))


def lines_of(ops: Iterable[Operator], depth: int = 0) -> Iterator[Line]:
    """The operators as text without their places, each followed by those in its branches and loops."""
    for operator in ops:
        yield Line(operator, depth, _text(operator))
        for block in sub_blocks(operator):
            yield from lines_of(block.ops, depth + 1)


def _with_places(line: Line) -> str:
    places = ", ".join(f"{file}:{number}" for file, number in positions(line.operator))
    return f"{line.text}  # {places}" if places else line.text


def _text(operator: Operator) -> str:
    results = ", ".join("_" if v is None else _name(v) for v in operator.outputs)
    inputs = ", ".join(_name(v) for v in operator.inputs)
    if operator.opdef.name == "fused_elementwise":
        inputs = inputs[1:-1]  # its one input is a list
    text = f"{results} = " if results else ""
    return text + f"{name_with_parts(operator.opdef.name, operator.attrs)}({inputs})"


def _name(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_name(v) for v in value) + "]"
    return "None" if value is None else str(value.name)
