"""`global`, `nonlocal` and bare annotations anywhere in a function -> at its start: they hold for all of it.

Before: `def f(): if a: global n; n = 1` `else: x: int = 2`
After: `def f(): global n; if a: n = 1` `else: x = 2`

An annotation of a local name is never evaluated, and a name that is `nonlocal` in a helper can't have one.
"""

from __future__ import annotations

import ast

from engine.jit.convert.quote import quote
from engine.jit.convert.scope import Names
from engine.jit.convert.transform import Context, FunctionPass, or_pass


class Declarations(FunctionPass):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.bare: list[ast.AnnAssign] = []

    def function(self, node: ast.FunctionDef) -> ast.AST:
        names = Names(node.body)
        start = node.body[0]
        outer_bare, self.bare = self.bare, []
        node.body = or_pass(self.block(node.body), start)
        docstring = 1 if ast.get_docstring(node, clean=False) is not None else 0
        declared = quote("global shared", start, shared=list(names.globals))
        declared += quote("nonlocal outer", start, outer=list(names.nonlocals))
        node.body[docstring:docstring] = [*declared, *self.bare]
        self.bare = outer_bare
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if not isinstance(node.target, ast.Name):
            return node
        if node.value is None:
            self.bare.append(node)
            return None
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_Global(self, node: ast.Global) -> None:
        return None

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        return None

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if (
            isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case)
            and getattr(node, "body", None) == []
        ):
            node.body = or_pass([], node)  # type: ignore[union-attr]
        return node


def run(tree: ast.Module, context: Context) -> ast.Module:
    Declarations(context).visit(tree)
    return tree
