"""Numbers, texts and flags of Python that a traced function reads: attributes, globals, closures.

They are part of the trace like arguments; where one changes, the function is traced again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

PLAIN = (int, float, complex, str, bytes, bool, type(None))
MISSING: Any = object()


class PlainValues:
    """What ``functions`` may read, as it is now: attributes of ``owners`` by the names in their code, globals
    of their modules, and closures.
    """

    def __init__(self, functions: Iterable[Any], owners: Iterable[Any]) -> None:
        self._fields: list[tuple[dict[str, Any], str, Any]] = []
        self._cells: list[tuple[CellType, Any]] = []
        names: set[str] = set()
        for function in functions:
            if not isinstance(function, FunctionType):
                continue
            own = set(_names(function.__code__))
            names |= own
            self._note(function.__globals__, own)
            for cell in function.__closure__ or ():
                value = _content(cell)
                if isinstance(value, PLAIN):
                    self._cells.append((cell, value))
        for owner in {id(o): o for o in owners}.values():
            fields = getattr(owner, "__dict__", None)
            if isinstance(fields, dict):
                self._note(fields, names - {"training"})  # a part of the key of the call

    def _note(self, fields: dict[str, Any], names: set[str]) -> None:
        for name in names & fields.keys():
            if isinstance(fields[name], PLAIN):
                self._fields.append((fields, name, fields[name]))

    def unchanged(self) -> bool:
        """Whether all of them are what they were."""
        for fields, name, value in self._fields:
            now = fields.get(name, MISSING)
            if now is not value and (type(now) is not type(value) or now != value):
                return False
        for cell, value in self._cells:
            now = _content(cell)
            if now is not value and (type(now) is not type(value) or now != value):
                return False
        return True


def _names(code: CodeType) -> Iterator[str]:
    """The names of attributes and globals in a function and in the functions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return MISSING
