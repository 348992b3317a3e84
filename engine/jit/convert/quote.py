"""Code quoted from templates with holes: `quote("x = value", at=node, x="y", value=expression)` gives
statements.

A hole is a name of the template that is given as a keyword. What fills it decides what becomes of it: a
string renames (variables, functions, parameters, names in ``nonlocal``), an expression takes the name's
place, a list of expressions is spliced into a tuple, a list of statements replaces the name standing alone as
a statement, and a list of strings is spliced into ``nonlocal`` and ``global`` (with no strings left the
statement goes away). Every node of the template gets the position of `at`, so that tracebacks point at the
user's construct; what fills a hole keeps its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar, cast

Node = TypeVar("Node", bound=ast.AST)
Filling = str | ast.expr | Sequence[str] | Sequence[ast.expr] | Sequence[ast.stmt]


def quote(template: str, at: ast.AST, **holes: Filling) -> list[ast.stmt]:
    """The template's statements with their holes filled, at the position of `at`.

    Raises ValueError where a keyword names no hole, or fills it with something that can't stand there.
    """
    tree = copied(_parsed(template))
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt | ast.arg | ast.keyword):
            place(node, at)
    filler = _Filler(holes)
    statements = [new for old in tree.body for new in filler.statements(old)]
    unused = set(holes) - filler.used
    if unused:
        raise ValueError(f"quote: no such hole: {sorted(unused)}; the template is {template!r}")
    return statements


def place(node: ast.AST, at: ast.AST) -> None:
    """Give the node the first line of `at`: a call that spanned lines would count as made on its last one."""
    start = cast(ast.stmt, at)
    new = cast(ast.stmt, node)
    new.lineno = new.end_lineno = start.lineno
    new.col_offset = start.col_offset
    ends_here = start.end_lineno == start.lineno and start.end_col_offset is not None
    new.end_col_offset = start.end_col_offset if ends_here else start.col_offset + len("if")


def quote_expression(template: str, at: ast.AST, **holes: Filling) -> ast.expr:
    """The one expression that the template consists of, with its holes filled."""
    statement = quote(template, at, **holes)[0]
    return cast(ast.Expr, statement).value


def copied(node: Node) -> Node:
    """A deep copy of a tree, several times faster than `copy.deepcopy`."""
    fields: dict[str, Any] = {}
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            value = copied(value)
        elif isinstance(value, list):
            value = [copied(item) if isinstance(item, ast.AST) else item for item in value]
        fields[name] = value
    new = type(node)(**fields)  # Python 3.13 warns about a node that is made without its fields
    for name, value in vars(node).items():
        if name not in fields:
            setattr(new, name, value)
    return new


@lru_cache(maxsize=256)
def _parsed(template: str) -> ast.Module:
    return ast.parse(template)


class _Filler(ast.NodeTransformer):
    def __init__(self, holes: dict[str, Filling]) -> None:
        self.holes = holes
        self.used: set[str] = set()

    def statements(self, node: ast.stmt) -> list[ast.stmt]:
        """What a template's statement becomes: one statement, several, or none."""
        new = self.visit(node)
        if new is None:
            return []
        return new if isinstance(new, list) else [new]

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        if isinstance(node.value, ast.Name):
            filling = self.holes.get(node.value.id)
            if isinstance(filling, Sequence) and not isinstance(filling, str):
                return cast(list[ast.stmt], list(self._fresh(node.value.id, filling)))
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.holes:
            return node
        filling = self.holes[node.id]
        if isinstance(filling, str):
            self.used.add(node.id)
            return ast.copy_location(ast.Name(filling, node.ctx), node)
        if not isinstance(filling, ast.expr):
            raise ValueError(
                f"quote: hole {node.id!r} stands for one expression, not for {type(filling).__name__}"
            )
        (expression,) = self._fresh(node.id, [filling])
        if isinstance(node.ctx, ast.Store):
            _set_store(cast(ast.expr, expression))
        return expression

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        elements: list[ast.expr] = []
        for element in node.elts:
            filling = self.holes.get(element.id) if isinstance(element, ast.Name) else None
            if (
                isinstance(element, ast.Name)
                and isinstance(filling, Sequence)
                and not isinstance(filling, str)
            ):
                elements += cast(list[ast.expr], list(self._fresh(element.id, filling)))
            else:
                elements.append(self.visit(element))
        node.elts = elements
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._renamed(node.name)
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._renamed(node.arg)
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST | None:
        return self._declaration(node)

    def visit_Global(self, node: ast.Global) -> ast.AST | None:
        return self._declaration(node)

    def _declaration(self, node: ast.Nonlocal | ast.Global) -> ast.AST | None:
        names: list[str] = []
        for name in node.names:
            filling = self.holes.get(name)
            if filling is None:
                names.append(name)
                continue
            self.used.add(name)
            names += (
                [filling] if isinstance(filling, str) else cast(list[str], list(cast(Sequence[str], filling)))
            )
        node.names = names
        return node if names else None

    def _renamed(self, name: str) -> str:
        filling = self.holes.get(name)
        if filling is None:
            return name
        if not isinstance(filling, str):
            raise ValueError(f"quote: hole {name!r} stands for a name, not for {type(filling).__name__}")
        self.used.add(name)
        return filling

    def _fresh(self, hole: str, nodes: Sequence[object]) -> Iterator[ast.AST]:
        """The nodes themselves for the hole's first use and copies for later ones: a tree shares no nodes."""
        again = hole in self.used
        self.used.add(hole)
        for node in nodes:
            yield copied(cast(ast.AST, node)) if again else cast(ast.AST, node)


def _set_store(target: ast.expr) -> None:
    target.ctx = ast.Store()  # type: ignore[attr-defined]
    if isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            _set_store(element)
    elif isinstance(target, ast.Starred):
        _set_store(target.value)
