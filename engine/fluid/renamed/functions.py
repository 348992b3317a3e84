"""Functions of fluid that only rename, reorder or default the arguments of a function of today.

Each is a ``row`` of a table ``ROWS`` in the file of its subject: its name, the function that it calls, its
parameters, its docstring, and which argument goes where. ``functions`` makes functions of the rows. They have
the signatures and docstrings that functions written out would have, and are as fast.
"""

from __future__ import annotations
import __future__

import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.fluid.layers.adapting import activated
from engine.fluid.values.variable import result
from engine.tensor.creation import assign

__all__ = ["Argument", "Converted", "Default", "Fixed", "Row", "functions", "row"]

_PARAMETER = re.compile(r"(?:^|(?<=, ))([A-Za-z_]\w*)(?=[,:=]|$)")
_UNTYPED = re.compile(r"(?:^|(?<=, ))([A-Za-z_]\w*)(?=[,=]|$)")


@dataclass(frozen=True)
class Fixed:
    """The value of an argument of the new function, whatever the old one is called with."""

    value: Any


@dataclass(frozen=True)
class Converted:
    """``function`` of old arguments, whose names are in ``names``, separated by spaces."""

    function: Callable[..., Any]
    names: str


@dataclass(frozen=True)
class Default:
    """The old function's argument ``name``, or ``value`` where that is None."""

    name: str
    value: Any


Argument = str | Fixed | Converted | Default


def _names(value: Argument) -> list[str]:
    """The old arguments that a new one is made of."""
    if isinstance(value, Fixed):
        return []
    text = value if isinstance(value, str) else value.names if isinstance(value, Converted) else value.name
    return text.split()


@dataclass(frozen=True)
class Row:
    """One name of fluid; see ``row``."""

    name: str
    new: Callable[..., Any]
    signature: str
    doc: str
    arguments: Mapping[str, Argument]
    unused: tuple[str, ...]
    into: str
    as_is: bool
    line: int
    parameters: list[str]

    def call(self) -> dict[str, Argument]:
        """The arguments that the new function is called with, by its own names."""
        given = dict(self.arguments)
        taken = {"act", self.into, *self.unused}
        taken.update(name for value in given.values() for name in _names(value))
        return given | {name: name for name in self.parameters if name not in taken}


def row(
    name: str,
    new: Callable[..., Any],
    signature: str,
    doc: str | None = None,
    arguments: Mapping[str, Argument] | None = None,
    *,
    unused: str = "",
    into: str = "",
    as_is: bool = False,
) -> Row:
    """``name(signature)`` of fluid is a call of ``new``.

    Each argument goes to the argument of the same name. ``arguments`` lists the others: new name -> old name,
    a ``Fixed`` value, a ``Converted`` argument, or one with a ``Default``. Those in ``unused``, separated by
    spaces, have no effect. ``act`` names an activation, through which the result goes. The result is written
    into the argument ``into`` where that is given.

    A parameter without a type is ``Any``, so is the result. ``doc`` is that of ``new`` where it is None. The
    result gets fluid's form (``values.variable.result``), unless ``as_is``.
    """
    text = inspect.cleandoc(doc) if doc is not None else new.__doc__ or ""
    words, parameters = tuple(unused.split()), _PARAMETER.findall(signature)
    # The function's code gets the row's line, which tracebacks and inspect.getsource then show.
    line = sys._getframe(1).f_lineno
    return Row(name, new, signature, text, arguments or {}, words, into, as_is, line, parameters)


def functions(rows: Sequence[Row], module: str) -> dict[str, Callable[..., Any]]:
    """The functions that ``rows`` describe, by name; they belong to ``module``, which has the table."""
    namespace: dict[str, Any] = {
        "__name__": module,
        "Any": Any,
        "_result": result,
        "_activated": activated,
        "_assign": assign,
    }
    lines = [""] * max(each.line for each in rows)
    for number, each in enumerate(rows):
        lines[each.line - 1] = _definition(each, number, namespace)
    file = sys.modules[module].__file__
    code = compile("\n".join(lines), str(file), "exec", __future__.annotations.compiler_flag, True)
    exec(code, namespace)
    for each in rows:
        namespace[each.name].__doc__ = each.doc
    return {each.name: namespace[each.name] for each in rows}


def _definition(row: Row, number: int, namespace: dict[str, Any]) -> str:
    """The source of one function, in one line; what it refers to goes into ``namespace``."""

    def known(what: str, value: Any) -> str:
        name = f"_{what}_{number}"
        namespace[name] = value
        return name

    given = []
    for name, value in row.call().items():
        if isinstance(value, Fixed):
            text = known(f"fixed_{name}", value.value)
        elif isinstance(value, Converted):
            text = f"{known(f'converted_{name}', value.function)}({', '.join(_names(value))})"
        elif isinstance(value, Default):
            text = f"{known(f'default_{name}', value.value)} if {value.name} is None else {value.name}"
        else:
            text = value
        given.append(f"{name}={text}")
    found = f"{known('new', row.new)}({', '.join(given)})"
    if "act" in row.parameters:
        found = f"{found} if act is None else _activated({found}, act)"
    if not row.as_is:
        found = f"_result({found})"
    if row.into:
        found = f"{found} if {row.into} is None else _assign({found}, {row.into})"
    signature = _UNTYPED.sub(r"\1: Any", row.signature)
    return f"def {row.name}({signature}) -> Any: return {found}"
