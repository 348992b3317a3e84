"""`global` and `nonlocal` anywhere in a function -> at its start, since they hold for all of it.

Before: `def f(): if a: global n; n = 1`
After: `def f(): global n; if a: n = 1`
"""

from __future__ import annotations

import ast

from engine.jit.convert.quote import quote
from engine.jit.convert.scope import Names
from engine.jit.convert.transform import Context, FunctionPass, or_pass


class Declarations(FunctionPass):
    def function(self, node: ast.FunctionDef) -> ast.AST:
        names = Names(node.body)
        start = node.body[0]
        node.body = or_pass(self.block(node.body), start)
        docstring = 1 if ast.get_docstring(node, clean=False) is not None else 0
        declared = quote("global shared", start, shared=list(names.globals))
        declared += quote("nonlocal outer", start, outer=list(names.nonlocals))
        node.body[docstring:docstring] = declared
        return node

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
