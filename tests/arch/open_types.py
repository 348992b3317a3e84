"""How many parameters of public functions are open (``Any``): ``python -m tests.arch.open_types``."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.arch.repository_files import ROOT, repository_files

_CALLED = ("__init__", "__call__")


def _public_functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    for node in body:
        if isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name in _CALLED):
            yield node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _public_functions(node.body)


def _annotations(function: ast.FunctionDef) -> Iterator[ast.expr | None]:
    given = function.args
    for each in (*given.posonlyargs, *given.args, *given.kwonlyargs):
        if each.arg not in ("self", "cls"):
            yield each.annotation


def open_types() -> dict[str, tuple[int, int]]:
    """By room of the engine: parameters that are ``Any``, and all of them.

    Results are open: a Tensor, or a Variable while a Program is built.
    """
    opened: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for path in repository_files("engine/*.py"):
        room = Path(*path.relative_to(ROOT).parts[:2]).stem
        for function in _public_functions(ast.parse(path.read_text("utf-8")).body):
            for annotation in _annotations(function):
                every[room] += 1
                opened[room] += isinstance(annotation, ast.Name) and annotation.id == "Any"
    return {room: (opened[room], every[room]) for room in sorted(every)}


if __name__ == "__main__":
    found = open_types()
    for name, (count, total) in found.items():
        print(f"{name:14}{count:6} of {total}")
    print(f"{'all':14}{sum(c for c, _ in found.values()):6} of {sum(t for _, t in found.values())}")
