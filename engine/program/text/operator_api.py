"""What an Operator of a Program answers about itself, in Paddle's words; attached to the class Operator."""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from typing import Any

from engine.core.errors import ArgumentError
from engine.core.operator import Operator
from engine.program.graph.variable import Variable
from engine.program.text.describe import OpDesc, describe, form_of

_CALLSTACK = "op_callstack"


def _type(self: Operator) -> str:
    """The operator's name, as in Paddle's OpDesc: ``relu``, ``relu_grad``, ``adam``."""
    notes = getattr(self, "notes", None) or {}  # the tape leaves it out
    return notes.get("type") or form_of(self).type or self.opdef.name


def _slot(self: Operator, where: str, slots: Mapping[str, list[str]], name: str) -> list[str]:
    if name not in slots:
        raise ArgumentError(f"{where}: {self.type} has no slot {name!r}; its slots are {list(slots)}")
    return slots[name]


def _input(self: Operator, name: str) -> list[str]:
    """The names of the Variables that it reads in a slot. Raises ArgumentError for a slot it has not."""
    return _slot(self, "Operator.input", describe(self).inputs, name)


def _output(self: Operator, name: str) -> list[str]:
    """The names of the Variables that it writes in a slot. Raises ArgumentError for a slot it has not."""
    return _slot(self, "Operator.output", describe(self).outputs, name)


def _input_names(self: Operator) -> list[str]:
    """The slots that it reads."""
    return list(describe(self).inputs)


def _output_names(self: Operator) -> list[str]:
    """The slots that it writes."""
    return list(describe(self).outputs)


def _input_arg_names(self: Operator) -> list[str]:
    """The names of the Variables that it reads, slot by slot."""
    return [name for names in describe(self).inputs.values() for name in names]


def _output_arg_names(self: Operator) -> list[str]:
    """The names of the Variables that it writes, slot by slot."""
    return [name for names in describe(self).outputs.values() for name in names]


def _attributes(operator: Operator, desc: OpDesc) -> dict[str, Any]:
    """All attributes by name, with the lines that made the operator."""
    position = operator.position
    made = [] if position is None else [f'  File "{position[0]}", line {position[1]}']
    text = "" if position is None else linecache.getline(*position).strip()
    return dict(sorted({**desc.attrs, _CALLSTACK: made + ([f"    {text}"] if text else [])}.items()))


def _all_attrs(self: Operator) -> dict[str, Any]:
    """Its attributes by name."""
    return _attributes(self, describe(self))


def _attr_names(self: Operator) -> list[str]:
    """The names of its attributes."""
    return list(_attributes(self, describe(self)))


def _attr(self: Operator, name: str) -> Any:
    """An attribute's value. Raises ArgumentError for one that it has not."""
    found = _attributes(self, describe(self))
    if name not in found:
        raise ArgumentError(f"Operator.attr: {self.type} has no attribute {name!r}; it has {list(found)}")
    return found[name]


def _has_attr(self: Operator, name: str) -> bool:
    """Whether it has an attribute of that name."""
    return name in _attributes(self, describe(self))


def _to_string(self: Operator, throw_on_error: bool = True, **_: Any) -> str:
    """The line that stands for it in its Program's text."""
    return describe(self).text()


def _repr(self: Operator) -> str:
    in_block = isinstance(self.outputs, tuple) and any(
        isinstance(v, Variable) for each in self.outputs for v in (each if isinstance(each, list) else [each])
    )
    return describe(self).text() if in_block else f"<Operator {self.opdef.name}>"


def _made_by(self: Variable) -> Operator | None:
    """The operator that writes it last; None for what is fed, and for parameters in the main Program."""
    for operator in reversed(self.block.ops):
        for written in operator.outputs or ():
            if written is self or (isinstance(written, list) and any(v is self for v in written)):
                return operator
    return None


def attach() -> None:
    """Give Operator and Variable what is defined here."""
    for function in (_type, _input_names, _output_names, _input_arg_names, _output_arg_names, _attr_names):
        setattr(Operator, function.__name__[1:], property(function))
    for function in (_input, _output, _all_attrs, _attr, _has_attr, _to_string):
        setattr(Operator, function.__name__[1:], function)
    Operator.__repr__ = _repr  # type: ignore[method-assign]
    Variable.op = property(_made_by)  # type: ignore[attr-defined]
