"""CodeOutline: imports, classes and the error of a Python source, from one parse of it."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from resources.syntax_trees import without_collections

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_MOST_KNOWN = 2000


@dataclass(frozen=True)
class Import:
    """One import statement: ``names`` of ``module``, which is relative if ``level`` is not 0.

    ``module`` is None for ``import a, b``."""

    level: int
    module: str | None
    names: tuple[str, ...]


@dataclass(frozen=True)
class CodeOutline:
    """What a source contains; nothing in it is run.

    Attributes:
        imports: all, at any depth.
        classes: those at the top, each with the last names of its bases.
        error: why it is not Python; it has neither imports nor classes then.
    """

    imports: tuple[Import, ...] = ()
    classes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    error: Exception | None = None

    @cached_property
    def layers(self) -> tuple[str, ...]:
        """The classes that derive from some ``Layer``."""
        found: list[str] = []
        for name, bases in self.classes:
            if any(base in ("Layer", *found) for base in bases):
                found.append(name)
        return tuple(found)


_known: dict[bytes, CodeOutline] = {}


def code_outline(data: bytes) -> CodeOutline:
    """The outline of a source. It is cached: the page Code asks for it several times after each pause in
    typing."""
    key = hashlib.sha256(data).digest()
    if key not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        with without_collections():
            _known[key] = _read(data)
    return _known[key]


def _read(data: bytes) -> CodeOutline:
    try:
        tree = ast.parse(data)
    except UNREADABLE as error:
        return CodeOutline(error=error.with_traceback(None))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    named = [(node.name, tuple(filter(None, map(_last_name, node.bases)))) for node in classes]
    return CodeOutline(tuple(_imports(tree)), tuple(named))


def _imports(tree: ast.Module) -> Iterator[Import]:
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            yield Import(0, None, tuple(alias.name for alias in node.names))
        elif isinstance(node, ast.ImportFrom):
            yield Import(node.level, node.module or "", tuple(alias.name for alias in node.names))


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """All statements, without their expressions, which are most of a tree and import nothing."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            for each in getattr(node, name, ()):
                yield each
                waiting.append(each)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
