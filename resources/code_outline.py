"""CodeOutline: imports, classes and the error of a Python source, from one parse of it."""

from __future__ import annotations

import ast
import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from resources.without_collections import without_collections

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_MOST_KNOWN = 2000
QUICK = 16 << 10
"""Bytes of a source whose parse takes little time: no other thread of Python's runs during it."""
_CHILD = Path(__file__).with_name("outline_child.py")
_TIMEOUT = 20.0  # seconds


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
        found = {"Layer": None}
        for name, bases in self.classes:
            if not found.keys().isdisjoint(bases):
                found.setdefault(name)
        return tuple(found)[1:]


_known: dict[bytes, CodeOutline] = {}


def code_outline(data: bytes) -> CodeOutline:
    """The outline of a source. It is cached: the page Code asks for it several times after each pause in
    typing.

    In a thread a child process parses a large source: the main thread, in which a window is drawn, would wait
    for a parse in this process.
    """
    key = hashlib.sha256(data).digest()
    if key not in _known:
        in_child = len(data) > QUICK and threading.current_thread() is not threading.main_thread()
        found = _read_in_child(data) if in_child else _read(data)
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = found
    return _known[key]


def is_known(data: bytes) -> bool:
    """Whether ``code_outline`` gives the outline without delay."""
    return len(data) <= QUICK or hashlib.sha256(data).digest() in _known


def _read_in_child(data: bytes) -> CodeOutline:
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-B", str(_CHILD)], input=data, capture_output=True, timeout=_TIMEOUT
        )
        return outline_from_plain(json.loads(done.stdout))
    except subprocess.TimeoutExpired:
        return CodeOutline(error=ValueError(f"it takes over {_TIMEOUT:.0f} s to parse"))
    except OSError:  # no process can be started
        return _read(data)
    except (ValueError, LookupError, TypeError):
        return CodeOutline(error=ValueError(f"the parser ended with exit code {done.returncode}"))


_ERRORS = {each.__name__: each for each in (SyntaxError, ValueError, RecursionError, MemoryError)}
_POSITION = ("lineno", "offset", "text", "end_lineno", "end_offset")


def outline_to_plain(outline: CodeOutline) -> dict[str, Any]:
    """An outline as JSON takes it."""
    error = outline.error
    plain = None
    if isinstance(error, SyntaxError):
        plain = ["SyntaxError", error.msg, *(getattr(error, name) for name in _POSITION)]
    elif error is not None:
        plain = [next(name for name, kind in _ERRORS.items() if isinstance(error, kind)), str(error)]
    imports = [[each.level, each.module, each.names] for each in outline.imports]
    return {"imports": imports, "classes": outline.classes, "error": plain}


def outline_from_plain(plain: dict[str, Any]) -> CodeOutline:
    """The outline that ``outline_to_plain`` was given."""
    error = None
    if plain["error"] is not None:
        kind, message, *position = plain["error"]
        error = _ERRORS[kind](message)
        if isinstance(error, SyntaxError) and position[0] is not None:
            error = SyntaxError(message, ("<unknown>", *position))
    return CodeOutline(
        tuple(Import(level, module, tuple(names)) for level, module, names in plain["imports"]),
        tuple((name, tuple(bases)) for name, bases in plain["classes"]),
        error,
    )


def _read(data: bytes) -> CodeOutline:
    with without_collections():
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
