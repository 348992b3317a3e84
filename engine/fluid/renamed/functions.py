"""Functions of fluid that only rename, reorder or default the arguments of a function of today.

Each is a ``row`` of a table ``ROWS`` in the file of its subject: its name, the function that it calls, its
parameters, its docstring, and which argument goes where. ``functions`` makes functions of the rows. They have
the signatures and docstrings that functions written out would have, and are as fast.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from engine.fluid.layers.adapting import activated
from engine.fluid.values.variable import result
from engine.tensor.creation import assign

__all__ = ["Argument", "Converted", "Default", "Fixed", "Row", "functions", "row"]

# A parameter: its name, its type where it has one, its default where it has one.
_SIGNATURE = re.compile(r"([A-Za-z_]\w*)(?:: ([\w| ]*\w))?(?: ?= ?(.+?))?(?:, (?=[A-Za-z_])|$)")
_NUMBER = "<number of the row>"


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
    words, parameters = tuple(unused.split()), [found[0] for found in _SIGNATURE.findall(signature)]
    # The function's code gets the row's line, which tracebacks and inspect.getsource then show.
    line = sys._getframe(1).f_lineno
    return Row(name, new, signature, text, arguments or {}, words, into, as_is, line, parameters)


def functions(rows: Sequence[Row], module: str) -> dict[str, Callable[..., Any]]:
    """The functions that ``rows`` describe, by name; they belong to ``module``, which has the table.

    The body of a function is compiled at its first call: a script uses few of them, and compiling all takes
    a tenth of the import.
    """
    namespace: dict[str, Any] = {
        "__name__": module,
        "Any": Any,
        "_result": result,
        "_activated": activated,
        "_assign": assign,
    }
    file = str(sys.modules[module].__file__)
    made: dict[str, FunctionType] = {}

    def first_call(number: int, args: tuple[Any, ...]) -> Any:
        each = rows[number]
        source = "\n" * (each.line - 1) + _definition(each, number, namespace)
        written: dict[str, Any] = {}
        exec(compile(source, file, "exec"), namespace, written)
        function = made[each.name]
        function.__code__ = written[each.name].__code__
        return function(*args)

    namespace["first_call"] = first_call
    for number, each in enumerate(rows):
        made[each.name] = _unwritten(each, number, file, namespace)
    return dict(made)


def _unwritten(row: Row, number: int, file: str, namespace: dict[str, Any]) -> FunctionType:
    """The function of ``row``, complete but for its body, which is that of all with as many parameters."""
    found = _SIGNATURE.findall(row.signature)
    names = tuple(name for name, _, _ in found)
    shared = _body(len(names))
    code = shared.replace(
        co_consts=tuple([number if const == _NUMBER else const for const in shared.co_consts]),
        co_varnames=names,
        co_name=row.name,
        co_qualname=row.name,
        co_filename=file,
        co_firstlineno=row.line,
    )
    defaults = tuple(_value(text) for _, _, text in found if text)
    made = FunctionType(code, namespace, row.name, defaults or None)
    made.__annotations__ = {name: kind or "Any" for name, kind, _ in found} | {"return": "Any"}
    made.__doc__ = row.doc
    return made


@functools.cache
def _body(count: int) -> CodeType:
    """The code of a function of ``count`` parameters whose body is not written yet."""
    names = "".join(f"p{n}, " for n in range(count))
    namespace: dict[str, Any] = {}
    exec(f"def unwritten({names}): return first_call({_NUMBER!r}, ({names}))", namespace)
    code: CodeType = namespace["unwritten"].__code__
    return code


@functools.cache
def _value(text: str) -> Any:
    """The value of a default; it is a constant, as a signature should have it."""
    return eval(text, {})


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
    return f"def {row.name}({', '.join(row.parameters)}): return {found}"
