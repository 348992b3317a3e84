"""Count the branches of functions: ``python -m tests.arch.complexity engine`` lists the most branched ones.

The number is McCabe's cyclomatic complexity: the ways that a function may take independently of each other.
Each of these adds one: a branch, a loop and its ``else``, a handler, an assertion, a conditional expression,
a lambda, a comprehension and its conditions, each further operand of ``and`` and ``or``. A function within
another one counts by itself.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_ONE = (ast.If, ast.IfExp, ast.ExceptHandler, ast.Assert, ast.Lambda, ast.match_case)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Branched(NamedTuple):
    """A function, as ``Class.name``, in a file below the root."""

    complexity: int
    path: str
    name: str


def functions_of(root: Path, package: str) -> list[Branched]:
    """All functions of a package, the most branched ones first."""
    found = [
        Branched(complexity(node), path.relative_to(root).as_posix(), name)
        for path in sorted((root / package).rglob("*.py"))
        for name, node in _functions(ast.parse(path.read_text(encoding="utf-8")), "")
    ]
    return sorted(found, reverse=True)


def complexity(function: ast.AST) -> int:
    """The complexity of one function."""
    found, waiting = 1, list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, _ONE):
            found += 1
        elif isinstance(node, _LOOPS):
            found += 1 + bool(node.orelse)
        elif isinstance(node, ast.comprehension):
            found += 1 + len(node.ifs)
        elif isinstance(node, ast.BoolOp):
            found += len(node.values) - 1
        elif isinstance(node, (ast.Try, ast.TryStar)):
            found += bool(node.orelse)
    return found


def _functions(node: ast.AST, within: str) -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        name = f"{within}{child.name}" if isinstance(child, (*_FUNCTIONS, ast.ClassDef)) else within
        if isinstance(child, _FUNCTIONS):
            yield name, child
        yield from _functions(child, f"{name}." if name != within else within)


def main(packages: list[str]) -> None:
    for package in packages:
        for each in functions_of(Path.cwd(), package)[:40]:
            print(each.complexity, each.path, each.name)


if __name__ == "__main__":
    main(sys.argv[1:])
